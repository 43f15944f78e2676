#!/bin/sh
# Leaving and joining again, whatever Discord gives for it: a session id of each join or the main session's, a new token or the same.
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
report
