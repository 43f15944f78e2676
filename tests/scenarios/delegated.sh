#!/bin/sh
# A question that a text model hands to a worker: the task in its sandbox, the answer of the worker, and a replay of it all.
#
#   tests/scenarios/delegated.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-delegated-XXXXXX)
. tests/scenarios/common

# hand NAME TASK ANSWER: a conversation in which the model gives this task, and answers so when it has the result.
hand() {
	echo "answer what time => call ask {\"task\":\"$2\"}
response 2 say $3" >"$D/$1.script"
	start "standin-$1" "$B/standin" chat --script "$D/$1.script" --record "$D/record-$1"
	until_ok 10 grep -qs '"port"' "$D/standin-$1.out" || bad "$1" "no stand-in"
	cat >"$D/$1.json" <<-END
		{"workers": [{"name": "helper", "command": ["/bin/sh", "$PWD/tests/standins/worker.sh"],
		              "read": ["$PWD/tests/standins"], "effects": "none"}]}
	END
	"$B/control" --config "$D/$1.json" --check >"$D/$1.check" 2>&1
	env BIN="$B" OUT="$D/$1" CONFIG="$D/$1.json" PARLEY_REPLY_PATH=brain JOURNAL="$D/journal-$1" \
		PARLEY_TEXT_URL="http://127.0.0.1:$(field port <"$D/standin-$1.out")/v1" timeout 60 tests/demo.sh >"$D/$1.txt" 2>&1
}
told() { cat "$D/record-$1/events.jsonl"; }
replays() {
	"$B/control" --log fatal --replay "$D/journal-$1.control" >"$D/again" 2>&1
	is "a replay of $1 has the same digest" "$(cat "$D/again")" "$(cat "$D/journal-$1.control.digest")"
}

hand whole "tell" "The worker has told it."
is "--check says that the worker can run" "$(grep -c '^ok *worker helper: /bin/sh runs in the sandbox, without a network' "$D/whole.check")" 1
is "the model is told the worker's answer in a fence" "$(told whole | grep -a 'worker helper' | grep -c 'NAME is unset, KEY is unset')" 1
is "the turn was answered" "$(grep -aE ' turn .*stage=ended' "$D/whole/log/control.log" | grep -c 'reason=answered')" 1
is "the worker ended with the room" "$(grep -c 'task_ended task=1 outcome="done"' "$D/whole/log/control.log")" 1
replays whole

hand dead "die" "The worker is gone."
is "a worker that dies is told" "$(told dead | grep -ac 'ended with status 9')" 1
replays dead

cat "$D"/*/log/*.log >"$D/all.log"
report
