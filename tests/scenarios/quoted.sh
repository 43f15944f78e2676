#!/bin/sh
# A fact enters the prompt of a later question, as a quote: the model that answers (a stand-in) has it kept by a tool, and gets it with the
# question that asks for it. The turn's record names it, and the question that nothing fits has none.
#
#   tests/scenarios/quoted.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-quoted-XXXXXX)
. tests/scenarios/common

turns() { grep -aE ' turn .*stage=ended' "$D/control.log" | grep -avE 'reason=(merged|eot_revoked|speculation_(unused|failed))'; }
ended() { [ "$(turns | wc -l)" -ge "$1" ]; }
n=0
says() { # WORDS
	n=$((n + 1))
	rm -rf "$D/out" && mkdir "$D/out"
	"$B/caller" --api "http://127.0.0.1:$API" --media-sock "$D/caller.sock" --offlined "$B/offlined" --record "$D/brain" \
		--out "$D/out" --guild "$GUILD" --channel "$VOICE" --user "$ALICE" --bot "$BOT" --say "$1" >"$D/ask.out" 2>&1 &
	caller=$!
	started="$started $caller"
	until_ok 60 ended $n || bad "$1" "its turn does not end"
	kill "$caller" 2>/dev/null
	wait "$caller" 2>/dev/null
}
# quotes: how many requests to the model held the fact as a quote.
quotes() { cat "$D"/record-chat/* | grep -ac 'Your memory has this about the question.*my bike is red'; }

cat >"$D/chat.script" <<'END'
response 1 call memory_write {"items":[{"text":"my bike is red"}]}
response 2 say I keep that in mind.
response 3 say It is red.
response 4 say It is late.
END
start_guildd
start_brain
start_standin chat
export PARLEY_TEXT_URL="http://127.0.0.1:$port/v1" PARLEY_REPLY_PATH=brain PARLEY_LOG_WORDS=1 PARLEY_MEMORY_WAIT_MS=1000 PARLEY_SPECULATIVE=off
start_mediad one
start_mediad caller
start control "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --ca "$CA"
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"

says "parley remember that my bike is red"
is "the model has a fact kept" "$(grep -ac 'tool_called .*name=memory_write code=ok' "$D/control.log")" 1
before=$(quotes)
says "parley what colour is my bike"
within "the next question comes with the fact as a quote" $(($(quotes) - before)) 1 2
"$B/control" --why --state-dir "$D/state" >"$D/why" 2>&1
within "and its record names the fact" "$(grep -c 'memory_fact' "$D/why")" 1 2
before=$(quotes)
says "parley what time is it"
is "a question that nothing fits comes without" $(($(quotes) - before)) 0
report
