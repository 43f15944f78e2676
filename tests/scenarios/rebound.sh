#!/bin/sh
# A router on the way forgets the bot in the middle of a call: from then on its datagrams come from another address, and what is sent
# to the address of before reaches nobody. The voice server drops datagrams of strangers. mediad notices, learns its new address and
# joins again with it; then the bot hears and is heard as before. Then the router forgets the bot while it listens, and the server
# echoes keepalives of strangers: the first resume of the gateway tells.
#
#   tests/scenarios/rebound.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-rebound-XXXXXX)
. tests/scenarios/common

start_guildd --set op4_same_server=1
start_brain
start_mediad mediad
start_mediad caller
start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
echoed() { [ "$(stream $VOICE | field keepalive)" -gt 0 ]; }
moved() { grep -q 'udp_lost .*our address is another one now' "$D/mediad.log"; }
room() { api GET "/channels/$VOICE/messages" | grep -oF "$1" | wc -l; }
room_says() { [ "$(room "$1")" -ge 1 ]; }
answered() { # WHAT
	ask
	wait $caller
	is "$1" $? 0
}
LOST="No sound gets through between me and Discord any more"
BACK="Sound gets through again"

until_ok 15 echoed || bad "a keepalive is answered" "none"
sleep 0.3
identifies=$(count $GUILD voice_op_0)
switch '{"nat":1}'
until_ok 30 moved && ok "another discovery finds the new address" || bad "another discovery finds the new address" "$(tail -1 "$D/mediad.log")"
until_ok 3 room_says "$LOST" && ok "the room is told" || bad "the room is told" "$(room "$LOST")"
until_ok 15 up $GUILD && ok "the call comes back" || bad "the call comes back" "$(session $GUILD)"
is "with one other session" "$(count $GUILD voice_op_0)" $((identifies + 1))
until_ok 15 echoed && ok "datagrams go both ways" || bad "datagrams go both ways" "$(stream $VOICE)"
until_ok 8 room_says "$BACK" && ok "and the room is told that, too" || bad "told that, too" "$(room "$BACK")"
answered "a question is heard, and its answer, too"
is "the path is lost once" "$(grep -c udp_lost "$D/mediad.log")" 1

# ---- keepalives are echoed to the new address, and the bot is silent ----
lost() { [ "$(grep -c 'udp_lost .*our address is another one now' "$D/mediad.log")" -ge "$1" ]; }
switch '{"nat":2,"keepalive_strangers":1}'
sleep 17
is "echoes hide that the address is another one" "$(grep -c udp_lost "$D/mediad.log")" 1
identifies=$(count $GUILD voice_op_0)
api POST /users/$BOT/drop "{\"which\":\"voice\",\"guild_id\":\"$GUILD\"}" >/dev/null
until_ok 10 lost 2 && ok "after a resume the new address is found" || bad "after a resume the new address is found" "$(tail -1 "$D/mediad.log")"
rejoined() { [ "$(count $GUILD voice_op_0)" -gt "$identifies" ] && up $GUILD; }
until_ok 15 rejoined && ok "and the call comes back with it" || bad "and the call comes back with it" "$(session $GUILD)"
until_ok 15 echoed || bad "a keepalive is answered" "none"
answered "a question is heard and answered there, too"
report
