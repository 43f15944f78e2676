#!/bin/sh
# UDP alone is blocked while the call is up: on the way out, on the way in, and both. mediad notices, requests another session, the
# room is told, and the call comes back.
#
#   tests/scenarios/udp.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-udp-XXXXXX)
. tests/scenarios/common

start_guildd --set op4_same_server=1
export PARLEY_BRAIN_URL=ws://127.0.0.1:9/
start_mediad mediad
start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
noticed() { [ "$(grep -c "call_state guild=.*reason=udp_blocked\|call_state .*reason=udp_blocked" "$D/mediad.log")" -gt "$1" ]; }
seen() { grep -c "reason=udp_blocked" "$D/mediad.log"; }
echoed() { [ "$(stream $VOICE | field keepalive)" -gt "${1:-0}" ]; }
room() { api GET "/channels/$VOICE/messages" | grep -oF "$1" | wc -l; }
room_says() { [ "$(room "$1")" -ge "$2" ]; }
LOST="No sound gets through between me and Discord any more"
BACK="Sound gets through again"
# blocked NAME SWITCHES
n=0
blocked() {
	local before
	n=$((n + 1))
	until_ok 15 echoed 0 || bad "$1: a keepalive is answered" "none"
	sleep 0.3
	before=$(seen)
	switch "$2"
	until_ok 30 noticed "$before" && ok "$1: it is noticed" || bad "$1: it is noticed" "$(tail -1 "$D/mediad.log")"
	switch '{"udp_up":1,"udp_down":1}'
	until_ok 3 room_says "$LOST" $n && ok "$1: the room is told" || bad "$1: the room is told" "$(room "$LOST")"
	until_ok 15 up $GUILD && ok "$1: the call comes back" || bad "$1: the call comes back" "$(session $GUILD)"
	until_ok 8 room_says "$BACK" $n && ok "$1: and the room is told that, too" || bad "$1: told that, too" "$(room "$BACK")"
}
blocked "both ways" '{"udp_up":0,"udp_down":0}'
before=$(seen)
# A fault is told again after a minute at the earliest.
sleep 40
blocked "the way out" '{"udp_up":0}'
sleep 40
blocked "the way in" '{"udp_down":0}'
# Sound that goes both ways again before the limit is no reason for a new session.
identifies=$(count $GUILD voice_op_0)
until_ok 15 echoed 0
switch '{"udp_up":0}'
sleep 8
switch '{"udp_up":1}'
sleep 12
is "eight seconds change nothing" "$(count $GUILD voice_op_0)" "$identifies"
report
