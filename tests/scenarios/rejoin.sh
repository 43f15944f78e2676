#!/bin/sh
# Leaving and joining again, whatever Discord gives for it: a session id of each join or the main session's, a new token or the same.
# Then a control is killed when Discord lists it in a channel and its own state does not yet: the next one takes up the call.
#
#   tests/scenarios/rejoin.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-rejoin-XXXXXX)
. tests/scenarios/common

start_guildd
start_mediad mediad
export PARLEY_BRAIN_URL=ws://127.0.0.1:9/
start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" --log debug
control=$last
until_ok 10 registered || bad commands "not registered"
gone() { ! up $GUILD; }
command() { # NAME: alice gives a command.
	api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"$1\"}" >/dev/null
}
for switches in '"session_per_join":0,"same_token":0' '"session_per_join":1,"same_token":0' \
	'"session_per_join":1,"same_token":1' '"session_per_join":0,"same_token":1'; do
	switch "{$switches}"
	before=$(count $BOT main_op_4)
	for n in 1 2 3; do
		join $TEXT $VOICE
		until_ok 4 up $GUILD && ok "join $n with $switches" || bad "join $n with $switches" "not up"
		command leave
		until_ok 4 gone || bad "leave $n with $switches" "still up"
	done
	is "each with one op 4, and one to leave" $(($(count $BOT main_op_4) - before)) 6
done

# ---- killed before the call was on the disk ----
# Discord tells of the channel only after the kill, so no state on the disk can name it.
sleep 7 # the state that is written at most 5 s later knows that the bot has left
kill9 "$control"
api POST /users/$BOT/join "{\"channel_id\":\"$VOICE\"}" >/dev/null
identifies=$(count $BOT main_op_2)
start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" --log debug
until_ok 15 up $GUILD && ok "a call that its state does not know is taken up" || bad "a call that its state does not know is taken up" "not up"
is "in a session that is resumed" "$(count $BOT main_op_2)" "$identifies"
command leave
until_ok 5 gone && ok "and ends by /leave" || bad "and ends by /leave" "still up"
listed() { api GET /world | grep -qE "\"user_id\": ?\"$BOT\""; }
not_listed() { ! listed; }
until_ok 5 not_listed && ok "for Discord, too" || bad "for Discord, too" "still listed"
report
