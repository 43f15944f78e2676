#!/bin/sh
# A voice connection is lost while the bot speaks: the audio continues, mediad resumes the session and sends Speaking again.
# Then messages of the voice gateway are lost: an unmapped SSRC makes mediad resume to get them again, soon enough for the
# question that was asked meanwhile.
# Then an update of an old generation arrives late.
#
#   tests/scenarios/resume.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-resume-XXXXXX)
. tests/scenarios/common

start_guildd --set op4_same_server=1 --set record_forwarded=1
start_brain
start_mediad mediad
start_mediad caller
start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"

# sent: prints how many packets of the bot's audio were sent to alice so far, and how many unbroken runs of them.
sent() {
	local row
	row=$(api GET /users/$ALICE/forwarded | tr '{' '\n' | grep "\"user_id\":\"$BOT\"")
	echo "$(echo "$row" | field count) $(echo "$row" | sed -nE 's/.*"runs": ?\[(.*)/\1/p' | grep -oE '\[[0-9]+, ?[0-9]+\]' | wc -l)"
}
odd() { echo "ssrc $(session $GUILD "$1" | field ssrc) jumps $(stream $VOICE "$1" | field seq_jumps) odd $(stream $VOICE "$1" | field ts_odd) identify $(count $GUILD voice_op_0 "$1")"; }
resumed() { [ "$(count $GUILD voice_op_7)" -ge "$1" ] && up $GUILD; }

# ---- the connection is lost while the bot speaks ----
ask
until_ok 20 told "the bot begins to speak" && ok "the bot answers" || bad "the bot answers" "$(tail -1 "$D/ask.out")"
before=$(api GET /stats)
api POST /users/$BOT/drop "{\"which\":\"voice\",\"guild_id\":\"$GUILD\"}" >/dev/null
until_ok 8 resumed 1 && ok "its session is resumed" || bad "its session is resumed" "$(session $GUILD)"
spoke_again() { [ "$(count $BOT voice_op_5)" -gt "$(count $BOT voice_op_5 "$before")" ]; }
until_ok 3 spoke_again && ok "and Speaking is sent again" || bad "and Speaking is sent again" "no op 5"
more() { read -r now _ < <(sent); [ "${now:-0}" -ge $((${count:-0} + 25)) ]; }
read -r count _ < <(sent)
until_ok 3 more && ok "it continues to speak" || bad "it continues to speak" "$(sent)"
read -r _ runs < <(sent)
is "without a gap in the sequence numbers she is sent" "$runs" 1
wait $caller
is "the caller heard the whole answer" $? 0
after=$(api GET /stats)
is "same session, no jump of sequence or of time" "$(odd "$after")" "$(odd "$before")"

# ---- the messages that map a speaker's SSRC are lost ----
api POST /users/$BOT/faults '{"op":5,"what":"lose","times":30}' >/dev/null
ask
until_ok 15 resumed 2 && ok "a resume brings the lost SSRC mappings" || bad "a resume brings the lost SSRC mappings" "$(session $GUILD)"
is "because of an unmapped SSRC" "$(grep -c speaker_unknown "$D/mediad.log")" 1
wait $caller
is "the question that was asked meanwhile was heard and answered" $? 0
is "one resume, and no other Identify" "$(count $GUILD voice_op_7) $(count $GUILD voice_op_0)" "2 3"

# ---- a late update of an old generation ----
# The bot gets another session, then another server; the first server's update is repeated after both.
identifies() { count $GUILD voice_op_0; }
more_identifies() { [ "$(identifies)" -ge "$1" ] && up $GUILD; }
had=$(identifies)
first=$(api POST /users/$BOT/join "{\"channel_id\":\"$VOICE\"}")
until_ok 8 more_identifies $((had + 1)) || bad "another session is joined" "$(session $GUILD)"
api POST /users/$BOT/new-server "{\"guild_id\":\"$GUILD\"}" >/dev/null
until_ok 8 more_identifies $((had + 2)) || bad "another server is joined" "$(session $GUILD)"
api POST /users/$BOT/send "{\"which\":\"main\",\"event\":\"VOICE_SERVER_UPDATE\",\"d\":{\"guild_id\":\"$GUILD\",\"token\":\"$(echo "$first" | field token)\",\"endpoint\":\"$(echo "$first" | field endpoint)\"}}" >/dev/null
sleep 3
until_ok 8 up $GUILD && ok "a late update of an old server does not end the call" || bad "a late update of an old server does not end the call" "$(session $GUILD)"
is "and costs no Identify" "$(identifies)" $((had + 2))
report
