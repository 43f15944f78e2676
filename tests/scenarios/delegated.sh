#!/bin/sh
# A question that a text model hands to a worker: the task in its sandbox, the answer of the worker, and a replay of it all. Workers that
# are commands or models, an answer that is long, a task that is cancelled by voice, and one that a kill of control ends.
#
#   tests/scenarios/delegated.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-delegated-XXXXXX)
. tests/scenarios/common

# A worker that is a program of tests/standins: worker PROGRAM [MEMBERS]
worker() {
	echo "{\"name\": \"helper\", \"command\": [\"/bin/sh\", \"$PWD/tests/standins/$1\"${3:-}],
		\"read\": [\"$PWD/tests/standins\"], \"effects\": \"none\"${2:-}}"
}
# hand NAME TASK ANSWER [WORKER]: a conversation in which the model gives this task, and answers so when it has the result. $more: further
# lines of the model's script, $settings: further settings.
hand() {
	echo "answer what time => call ask {\"task\":\"$2\"}
${more:-response 2 say $3}" >"$D/$1.script"
	start "standin-$1" "$B/standin" chat --script "$D/$1.script" --record "$D/record-$1"
	until_ok 10 grep -qs '"port"' "$D/standin-$1.out" || bad "$1" "no stand-in"
	echo "{\"workers\": [${4:-$(worker worker.sh)}]${settings:-}}" >"$D/$1.json"
	"$B/control" --config "$D/$1.json" --check >"$D/$1.check" 2>&1
	env BIN="$B" OUT="$D/$1" CONFIG="$D/$1.json" PARLEY_REPLY_PATH=brain JOURNAL="$D/journal-$1" \
		PARLEY_TEXT_URL="http://127.0.0.1:$(field port <"$D/standin-$1.out")/v1" timeout 90 tests/demo.sh >"$D/$1.txt" 2>&1
}
told() { cat "$D/record-$1/events.jsonl"; }
replays() {
	"$B/control" --log fatal --replay "$D/journal-$1.control" >"$D/again" 2>&1
	is "a replay of $1 has the same digest" "$(cat "$D/again")" "$(cat "$D/journal-$1.control.digest")"
}

hand whole "tell" "The worker has told it."
is "--check says that the worker can run" "$(grep -c '^ok *worker helper: /[^ ]*/worker.sh runs in the sandbox, without a network' "$D/whole.check")" 1
cat >"$D/faults.json" <<END
{"workers": [{"name": "script", "command": ["/bin/sh", "/opt/nothing/run.sh"], "read": ["/opt/nothing"]},
   {"name": "hidden", "command": ["/bin/sh", "-e", "$PWD/tests/standins/worker.sh"]},
   {"name": "model", "kind": "model", "tools": ["roll", "web_serch", "voice_leave", "web_search", "far__say"]}],
 "mcp_servers": [{"name": "far", "transport": "http", "url": "http://127.0.0.1:9/mcp?key=hush"}]}
END
"$B/control" --config "$D/faults.json" --check >"$D/faults" 2>&1
is "--check tells that a script is not there, and its folder" "$(grep -cE '^warn.*worker script: (/opt/nothing/run.sh is not there|/opt/nothing of)' "$D/faults")" 2
is "--check tells that the sandbox does not show a script" "$(grep -c 'worker hidden: the sandbox does not show .*worker.sh' "$D/faults")" 1
is "--check tells of each tool that a model cannot call" "$(grep -cE 'worker model: (there is no tool (web_serch|voice_leave)|web_search has no service)' "$D/faults")" 3
is "--check has a line for a server over HTTP, without its key" "$(grep -c '^ok *MCP server far: is at http://127.0.0.1:9/mcp;' "$D/faults")" 1
is "the model is told the worker's answer in a fence" "$(told whole | grep -a 'worker helper' | grep -c 'NAME is unset, KEY is unset')" 1
is "the turn was answered" "$(grep -aE ' turn .*stage=ended' "$D/whole/log/control.log" | grep -c 'reason=answered')" 1
is "the worker ended with the room" "$(grep -c 'task_ended task=1 outcome="done"' "$D/whole/log/control.log")" 1
replays whole

hand dead "die" "The worker is gone."
is "a worker that dies is told" "$(told dead | grep -ac 'ended with status 9')" 1
replays dead

hand command "look" "The command has told it." "$(worker command.sh ', "kind": "command"' ', "told", "{task}"')"
is "--check says that the command can run" "$(grep -c '^ok *worker helper: /[^ ]*/command.sh runs in the sandbox' "$D/command.check")" 1
is "a command does a task" "$(told command | grep -a 'worker helper' | grep -c 'Told: look')" 1
replays command

# The worker's model is the one that answers: its first request is the second of the provider.
more='answer look it up => call roll {"count":2,"sides":6}
response 3 say I rolled it for you.
response 4 say The model has told it.'
hand model "look it up" "" '{"name": "helper", "kind": "model", "tools": ["roll"], "effects": "none"}'
is "--check says which provider does the tasks" "$(grep -c '^ok *worker helper: provider .* does its tasks' "$D/model.check")" 1
is "a model with tools does a task" "$(told model | grep -a 'worker helper' | grep -c 'I rolled it for you')" 1
is "it called its tool" "$(told model | grep -a '"role":"tool"' | grep -cF '\"dice\"')" 1
replays model

more='answer Line 0 of => It has forty lines.'
hand long "be long" ""
is "a long answer is spoken short" "$(grep -aE ' turn .*stage=ended' "$D/long/log/control.log" | grep -c 'said="It has forty lines.')" 1
is "and written long" "$(grep -ac ' told .*text="Line 0 of a long answer' "$D/long/log/control.log")" 1

# The task becomes a job, of which the caller is told; then the caller thinks better of it.
more='answer can you do => call ask {"task":"be slow"}
answer running => A helper looks at it.'
settings=', "tool_ms": 4000' THEN="9000 parley never mind" hand spoken "be slow" ""
ended=$(grep -a 'task_ended task=1 outcome="cancelled"' "$D/spoken/log/control.log")
is "a task is cancelled by voice" "$(echo "$ended" | grep -c .)" 1
is "after the caller was told that it runs" "$(grep -aE ' turn .*stage=ended' "$D/spoken/log/control.log" | grep -c 'A helper looks at it')" 1
is "its call ends as cancelled" "$(grep -ac 'tool_called .*name=ask code=cancelled' "$D/spoken/log/control.log")" 1
replays spoken

# control is killed within a task: the next one tells so.
control() { # LOG
	start "$1" "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --ca "$CA" --config "$D/spoken.json"
}
start_guildd
start_brain
start_mediad one
start_mediad caller
export PARLEY_REPLY_PATH=brain PARLEY_TEXT_URL="http://127.0.0.1:$(field port <"$D/standin-spoken.out")/v1"
control control
killed=$last
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
ask
until_ok 40 grep -qs '"what": *1' "$D/state/session.json" || bad "a task" "does not begin"
kill9 $killed
control next
written() { api GET "/channels/$VOICE/messages" | grep -q "$1"; }
until_ok 30 written 'I was restarted while a worker did a task' && ok "a task that a restart ends is told" ||
	bad "a task that a restart ends is told" "$(grep -a tasks_inherited "$D/next.log" | tail -1)"

cat "$D"/*/log/*.log >"$D/all.log"
report
