#!/bin/sh
# Sound over a bad network and from a process that stood still: what is asked and answered through loss, duplicates, packets out of
# order, padding and bursts of nothing but padding is heard; what is sent keeps its pace, its numbers and its time, and is reported.
#
#   tests/scenarios/sound.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-sound-XXXXXX)
. tests/scenarios/common

start_guildd --set op4_same_server=1 --set rtcp_every=25
start_brain
start_mediad mediad
mediad=$last
start_mediad caller
start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
of() { stream $VOICE | field "$1"; }

# ---- a bad network ----
# Who is not understood at first asks again, as people do: what is lost is drawn anew.
switch '{"loss_permille":20,"dup_permille":100,"reorder_permille":100,"jitter_ms":15,"pad_every":5,"pad_only_every":7}'
for try in 1 2; do
	ask
	wait $caller && break
done
told "the bot begins to speak" && ok "a question is answered over a bad network" || bad "a question is answered over a bad network" "$(tail -1 "$D/ask.out")"
told "correlation" && wait $caller && ok "and so is the whole answer" || bad "and so is the whole answer" "$(tail -1 "$D/ask.out")"
switch '{"loss_permille":0,"dup_permille":0,"reorder_permille":0,"jitter_ms":0,"pad_every":0,"pad_only_every":0}'
within "what it sent is reported every five seconds" "$(of sender_reports)" 1 10
within "and what it heard, too" "$(of report_blocks)" 1 20
is "its sequence numbers and timestamps are correct" "$(of seq_jumps) $(of ts_odd)" "0 0"

# ---- recorded packets are sent again, in any order ----
switch '{"replay_every":2}'
ask
wait $caller
is "a question is heard and answered while old packets are sent again" $? 0
told "correlation" && ok "and the whole answer is heard" || bad "and the whole answer is heard" "$(tail -1 "$D/ask.out")"
within "many were sent" "$(of replayed)" 50 100000
switch '{"replay_every":0}'

# ---- the same where the transport's counters alone protect ----
switch '{"dave_version":0}'
with_dave="$GUILD $VOICE"
new_guild clear
join $NEW_TEXT $NEW_VOICE
until_ok 10 up $NEW || bad "the call without DAVE" "not up"
GUILD=$NEW VOICE=$NEW_VOICE
switch '{"replay_every":2}'
ask
wait $caller
is "a question is heard and answered without DAVE while old packets are sent again" $? 0
within "many were sent" "$(of replayed)" 50 100000
is "and the call was not encrypted" "$(api GET "/channels/$VOICE/messages" | grep -oF "This call is not end-to-end encrypted" | wc -l)" 1
switch '{"replay_every":0,"dave_version":1}'
read -r GUILD VOICE <<<"$with_dave"

# ---- a process that stands still ----
ask
until_ok 25 told "the bot begins to speak" || bad "the bot answers again" "$(tail -1 "$D/ask.out")"
sleep 0.5
kill -STOP "$mediad"
sleep 0.6
kill -CONT "$mediad"
wait $caller
is "an answer is played to its end although mediad was suspended" $? 0
is "its sequence numbers have no gap, its timestamps advance by frames" "$(of seq_jumps) $(of ts_odd)" "0 0"
within "and what was late does not come in a burst" "$(of burst)" 1 4
report
