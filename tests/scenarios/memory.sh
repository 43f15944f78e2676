#!/bin/sh
# The memory through the real programs, with the embedded engine: a member has something remembered, control is killed, the next one
# knows it, the member has it forgotten, and an erasure leaves no word in the files.
#
#   tests/scenarios/memory.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-memory-XXXXXX)
. tests/scenarios/common

turns() { cat "$D"/control*.log | grep -aE ' turn .*stage=ended' | grep -av reason=merged; }
ended() { [ "$(turns | wc -l)" -ge "$1" ]; }
n=0
# says WORDS: alice says them, and the turn ends; the answer goes to $answer.
says() {
	n=$((n + 1))
	rm -rf "$D/out" && mkdir "$D/out"
	"$B/caller" --api "http://127.0.0.1:$API" --media-sock "$D/caller.sock" --offlined "$B/offlined" --record "$D/brain" \
		--out "$D/out" --guild "$GUILD" --channel "$VOICE" --user "$ALICE" --bot "$BOT" --say "$1" >"$D/ask.out" 2>&1 &
	caller=$!
	started="$started $caller"
	until_ok 60 ended $n || bad "$1" "its turn does not end"
	kill "$caller" 2>/dev/null
	wait "$caller" 2>/dev/null
	answer=$(turns | tail -1 | grep -aoE 'said="[^"]*"')
}
control() { # starts the next control
	start "control$1" "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --ca "$CA"
	control=$last
	until_ok 20 grep -q 'call_state.*phase=up\|commands_registered' "$D/control$1.log"
}
holds() { grep -aqi "$1" "$D/state/parley.db" "$D/state/parley.db-wal" 2>/dev/null; }

start_guildd
start_brain
export PARLEY_LOG_WORDS=1
start_mediad one
start_mediad caller
control 1
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"

says "parley remember that my bike is red"
is "a fact is remembered" "$answer" 'said="I will remember that your bike is red."'
holds "bike is red" && ok "it is in the database" || bad "it is in the database" "it is not"
kill9 "$control"
control 2
until_ok 20 up $GUILD || bad "the call" "not up after a restart"
says "parley what colour is my bike"
is "the next control knows it" "$answer" 'said="You told me that your bike is red."'
says "parley what do you know about me"
is "it tells what she had it remember" "$answer" 'said="You told me that your bike is red."'
says "parley forget that"
is "it is forgotten" "$answer" 'said="I have forgotten it."'
says "parley what colour is my bike"
is "and is not known any more" "$answer" 'said="Nobody has told me anything about that."'
"$B/control" --erase "$ALICE" --state-dir "$D/state" >"$D/erased" 2>&1 || bad "the erasure" "$(cat "$D/erased")"
holds "bike" && bad "nothing of her words is left" "$(grep -aoi '.\{20\}bike.\{20\}' "$D/state/parley.db" | head -3)" ||
	ok "nothing of her words is left"
report
