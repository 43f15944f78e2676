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
. tests/scenarios/spoken

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
open_room

says "parley remember that my bike is red"
is "the model has a fact kept" "$(grep -ac 'tool_called .*name=memory_write code=ok' "$D/control1.log")" 1
before=$(quotes)
says "parley what colour is my bike"
within "the next question comes with the fact as a quote" $(($(quotes) - before)) 1 2
"$B/control" --why --state-dir "$D/state" >"$D/why" 2>&1
within "and its record names the fact" "$(grep -c 'memory_fact' "$D/why")" 1 2
before=$(quotes)
says "parley what time is it"
is "a question that nothing fits comes without" $(($(quotes) - before)) 0
report
