#!/bin/sh
# The voice server ends end-to-end encryption. With e2ee=prefer the bot follows at op 22, says so in the room, and encrypts again
# when it can; op 21 alone changes nothing of what it sends. With e2ee=require it leaves, says why, does not come back by itself,
# and refuses an unencrypted call in that channel, also after a restart of control, and after an encrypted call that ended.
#
#   tests/scenarios/encrypted.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-encrypted-XXXXXX)
. tests/scenarios/common

start_guildd --set op4_same_server=1
start_brain
start_mediad mediad
start_mediad caller
run_control() { # E2EE
	PARLEY_E2EE=$1 start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
	control=$last
	until_ok 10 registered || bad commands "not registered"
}
clear() { api POST /channels/$VOICE/dave "{\"what\":\"clear\",\"value\":$1}" >/dev/null; }
version() { api GET /channels/$VOICE/dave | field executed; }
is_clear() { [ "$(version)" = 0 ]; }
is_sealed() { [ "$(version)" = 1 ]; }
room() { api GET "/channels/$VOICE/messages" | grep -oF "$1" | wc -l; }
room_says() { [ "$(room "$1")" = "$2" ]; }
forgotten() { grep -q '"encrypted":\[\]' "$D/state/session.json"; }
gone() { [ -z "$(session $GUILD)" ]; }
CLEAR="This call is not end-to-end encrypted"
LEFT="my settings require it"

# ---- prefer ----
run_control prefer
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
ask
until_ok 20 told "the bot begins to speak" || bad "the bot answers" "$(tail -1 "$D/ask.out")"
api POST /users/$BOT/faults '{"op":22,"what":"skip","times":1}' >/dev/null
clear 1
until_ok 5 is_clear || bad "the server ends encryption" "$(version)"
sleep 3.5
is "op 21 without op 22: nothing is sent in the clear" "$(count $BOT dave_clear)" 0
is "and the room hears of nothing" "$(room "$CLEAR")" 0
wait $caller
clear 0
until_ok 8 is_sealed || bad "encryption comes back" "$(version)"
ask
until_ok 20 told "the bot begins to speak" && ok "the bot answers again" || bad "the bot answers again" "$(tail -1 "$D/ask.out")"
clear 1
until_ok 5 is_clear && began=$(date +%s%N)
until_ok 4 room_says "$CLEAR" 1
within "the room is told within 2 s that the call is not encrypted" $((($(date +%s%N) - began) / 1000000)) 0 2000
wait $caller
is "the whole answer was heard, part of it in the clear" $? 0
within "as it was sent" "$(count $BOT dave_clear)" 1 100000
clear 0
until_ok 8 is_sealed || bad "encryption comes back again" "$(version)"
until_ok 6 room_says "This call is end-to-end encrypted now" 1 && ok "and the room is told when it is encrypted again" || bad "told of encryption" "not"
kill "$control"
wait "$control" 2>/dev/null

# ---- require ----
run_control require
until_ok 10 up $GUILD || bad "the call is taken over" "not up"
plain=$(count $BOT dave_clear)
clear 1
until_ok 5 gone && ok "the call that lost its encryption is left" || bad "the call is left" "$(session $GUILD)"
until_ok 3 room_says "$LEFT" 1 && ok "and the room is told why" || bad "told why" "$(room "$LEFT")"
sleep 4
gone && ok "it does not come back by itself" || bad "it stays away" "$(session $GUILD)"
switch '{"dave_version":0}'
join $TEXT $VOICE
sleep 3
gone && ok "an unencrypted call in that channel is refused" || bad "refused" "$(session $GUILD)"
kill "$control"
wait "$control" 2>/dev/null
run_control require
join $TEXT $VOICE
sleep 3
gone && ok "also after a restart" || bad "refused after a restart" "$(session $GUILD)"
is "nothing was sent in the clear meanwhile" "$(count $BOT dave_clear)" "$plain"
switch '{"dave_version":1}'
join $TEXT $VOICE
until_ok 8 up $GUILD && ok "an encrypted call there is joined" || bad "an encrypted call is joined" "$(session $GUILD)"
# Discord ends the call instead of its encryption, and offers another one. $GUILD's channel is forgotten first.
kill "$control"
wait "$control" 2>/dev/null
run_control prefer
until_ok 10 up $GUILD || bad "the call is taken over again" "not up"
until_ok 5 forgotten || bad "prefer forgets the channel" "$(cat "$D/state/session.json")"
kill "$control"
wait "$control" 2>/dev/null
run_control require
until_ok 10 up $GUILD || bad "the call is taken over again" "not up"
api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"leave\"}" >/dev/null
until_ok 5 gone || bad "the call is left" "$(session $GUILD)"
join $TEXT $VOICE
until_ok 8 up $GUILD && until_ok 8 is_sealed || bad "an encrypted call" "$(version)"
api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"leave\"}" >/dev/null
until_ok 5 gone || bad "the call is left" "$(session $GUILD)"
switch '{"dave_version":0}'
join $TEXT $VOICE
sleep 3
gone && ok "a call after an encrypted one must be encrypted too" || bad "must be encrypted too" "$(session $GUILD)"
report
