#!/bin/sh
# A restarted control has another default consent, or has not been told of the consent of a user: from its first CALL_SET on mediad
# hears nobody without a consent that this control knows. The control here is a small one of the tests' (tests/scenarios/listener.c),
# with control's own link to mediad.
#
#   tests/scenarios/consent.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-consent-XXXXXX)
. tests/scenarios/common
CAROL=503

make -s build/tests/listener || exit 1
start_guildd --set op4_same_server=1
mkdir "$D/brain" "$D/out"
"$B/offlined" --speak "$(yes 'one two three four five six seven eight nine ten.' | head -8 | tr '\n' ' ')" -o "$D/long.wav" || bad speech "not made"
start_mediad mediad
start_mediad caller
start_mediad listener
start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
api POST /users "{\"id\":\"$CAROL\",\"name\":\"carol\"}" >/dev/null
api POST "/guilds/$GUILD/members" "{\"user_id\":\"$CAROL\"}" >/dev/null
lease=$(api POST /users/$CAROL/join "{\"guild_id\":\"$GUILD\",\"channel_id\":\"$VOICE\"}")
epoch=0
# listen MS DEFAULT [+USER]…: carol's next control; $heard is how much of alice it heard, in tenths of a second.
listen() {
	epoch=$((epoch + 1))
	ms=$1
	shift
	build/tests/listener "$D/listener.sock" $epoch $CAROL $GUILD $VOICE "$(echo "$lease" | field session_id)" \
		"$(echo "$lease" | field token)" "$(echo "$lease" | field endpoint)" "$ms" "$@" listen $ALICE >"$D/heard.$epoch" 2>>"$D/listener.log"
	heard=$(($(sed -n 's/^heard [0-9]* //p' "$D/heard.$epoch") / 2400))
}

listen 300 yes
is "carol is in the call" "$(grep -c up "$D/heard.1")" 1
"$B/caller" --api "http://127.0.0.1:$API" --media-sock "$D/caller.sock" --offlined "$B/offlined" --record "$D/brain" --out "$D/out" \
	--guild $GUILD --channel $VOICE --user $ALICE --bot $BOT --wav "$D/long.wav" >"$D/ask.out" 2>&1 &
caller=$!
started="$started $caller"
until_ok 20 told "the caller begins to speak" || bad "alice speaks" "$(tail -1 "$D/ask.out")"
listen 1000 yes
within "by default she is heard" $heard 5 15
listen 1000 no
is "the next control's default is no: nobody is heard" $heard 0
listen 1000 no +$ALICE
within "her own consent: she is heard again" $heard 5 15
listen 1000 no
is "the next one was not told of that: nobody is heard" $heard 0
listen 600 yes -$ALICE
is "default yes, but not for her" $heard 0
listen 1000 yes
within "and yes again" $heard 5 15
is "all in one session of carol's" "$(count $GUILD voice_op_0)" 3
is "alice spoke all the time" "$(grep -c "has spoken" "$D/ask.out")" 0
report
