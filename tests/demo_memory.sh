#!/bin/bash
# demo_memory.sh BIN OUT: the scene memory of `make demo`. Two people tell the bot things on one day. It restarts, and on the next day
# it answers with who said it and when, takes a correction, and after an erasure does not know. The second day is a wall clock of
# control that is one day ahead (tests/chaos/preload/clock.c).
set -u
B=$1
out=$2
D=$(mktemp -d /tmp/parley-demo-XXXXXX)
# shellcheck source=tests/scenarios/common
. tests/scenarios/common
ALICE=501777123456789012 BOB=502777123456789012
export PARLEY_LOG_WORDS=1 PARLEY_ASR_WAIT_MS="${PARLEY_ASR_WAIT_MS:-10000}"

control() { # DAY: starts the control of this day, with the state that the one before left
	perl -e 'print pack("q", ($ARGV[0] - 1) * 86400)' "$1" >"$D/clock"
	CHAOS_CLOCK="$D/clock" LD_PRELOAD="$PWD/$B/chaos_clock.so" start "control$1" "$B/control" --media-sock "$D/one.sock" \
		--state-dir "$D/state" --ca "$CA"
	control=$last
	until_ok 20 grep -qs commands_registered "$D/control$1.log" || bad commands "not registered"
	join $TEXT $VOICE
	until_ok 20 up $GUILD || fail "the call" "not up"
}
# fail WHAT WHY: the scene cannot go on.
fail() {
	bad "$1" "$2"
	report
	exit 1
}
turns() { cat "$D"/control*.log | grep -aE ' turn .*stage=ended' | grep -avE 'reason=(merged|eot_revoked|speculation_(unused|failed))'; }
ended() { [ "$(turns | wc -l)" -ge "$1" ]; }
# fits ANSWER LINES: is it the last turn's? If not, says how that turn ended, and what was warned of behind these lines of the logs.
fits() {
	[ "$answer" = "$1" ] && return
	bad "the answer" "it should have been: $1"
	echo "  how the turn ended: $(turns | tail -1 | sed -nE 's/.* reason=([a-z_]+).*/\1/p')"
	cat "$D"/control*.log | tail -n "+$(($2 + 1))" | grep -aE '^[^ ]+ (warn|fatal) ' | tail -5 | sed 's/^/  /'
}
n=0
# says NAME WORDS ANSWER: the member says the words, and the bot answers.
says() {
	local user=$ALICE lines
	[ "$1" = Alice ] || user=$BOB
	lines=$(cat "$D"/control*.log | wc -l)
	n=$((n + 1))
	rm -rf "$D/out" && mkdir "$D/out"
	"$B/caller" --api "http://127.0.0.1:$API" --media-sock "$D/$1.sock" --offlined "$B/offlined" --record "$D/brain" --out "$D/out" \
		--guild "$GUILD" --channel "$VOICE" --user "$user" --bot "$BOT" --say "$2" >"$D/ask.out" 2>&1 &
	caller=$!
	started="$started $caller"
	until_ok 60 ended $n || fail "$1: $2" "no answer"
	kill "$caller" 2>/dev/null
	wait "$caller" 2>/dev/null
	answer=$(turns | tail -1 | sed -nE 's/.* said="([^"]*)".*/\1/p')
	printf '%-6s %s\nParley %s\n' "$1" "$2" "$answer"
	fits "$3" "$lines"
}
holds() { cat "$D/state"/parley.db* 2>/dev/null | grep -aqiE 'friday|sunday'; }

echo "starting guildd (a Discord on this machine), offlined (the embedded engine), mediad and control (the bot)"
start_guildd --set long_ids=1
start_brain
start_mediad one
start_mediad Alice
start_mediad Bob
control 1
echo "-- the first day --"
says Alice "parley remember that the meeting is on friday" "I will remember that the meeting is on friday."
says Bob "parley remember that my bike is blue" "I will remember that your bike is blue."
kill "$control"
wait "$control" 2>/dev/null
echo "-- the second day, after a restart --"
control 2
says Bob "parley when is the meeting" "Yesterday Alice told me: the meeting is on friday."
says Alice "parley remember that the meeting is on sunday" "I will remember that the meeting is on sunday."
says Bob "parley when is the meeting" "Alice told me: the meeting is on sunday. Before that I was told: the meeting is on friday."
echo "-- Alice is erased: control --erase $ALICE --"
kept=
if holds; then
	kept=1
else
	bad "the files" "they hold nothing of what Alice said before it is erased"
fi
"$B/control" --erase "$ALICE" --state-dir "$D/state" >"$D/erased" 2>&1 || bad "the erasure" "$(cat "$D/erased")"
cat "$D/erased"
if holds; then
	bad "the files" "they still hold what Alice said"
elif [ "$kept" ]; then
	ok "no file of the memory holds what she said"
fi
says Bob "parley when is the meeting" "Nobody has told me anything about that."
says Bob "parley what colour is my bike" "Yesterday you told me that your bike is blue."
mkdir -p "$out/log"
cp "$D"/*.log "$out/log/"
keep
report
