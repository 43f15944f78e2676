#!/bin/sh
# What the bot says is true: encryption that is not there, outages of mediad and of the main gateway, two controls on one state
# directory, and SIGTERM.
#
#   tests/scenarios/truth.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-truth-XXXXXX)
. tests/scenarios/common

start_guildd
start_mediad mediad
mediad=$last
export PARLEY_BRAIN_URL=ws://127.0.0.1:9/
control() { # NAME OPTION…: starts a control, pid in $control
	local name=$1
	shift
	start "$name" "$B/control" --state-dir "$D/state" --ca "$CA" "$@"
	control=$last
}
control control --media-sock "$D/mediad.sock"
until_ok 10 registered || bad commands "not registered"
room() { api GET "/channels/$VOICE/messages"; }
said() { room | grep -qF "$1"; }
times_said() { room | grep -oF "$1" | wc -l; }
answered() { STATUS=$(api GET "/interactions/$1" | sed -nE 's/.*"content": ?"((\\.|[^"\\])*)".*/\1/p') && [ -n "$STATUS" ]; }
status() { # asks; the answer is in STATUS
	local id
	id=$(api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"status\"}" | field id)
	STATUS=
	until_ok 5 answered "$id"
}
status_has() { status && case $STATUS in *"$1"*) true ;; *) false ;; esac; }
listed() { api GET /world | grep -qE "\"user_id\": ?\"$BOT\""; }

# ---- encryption: never there, then agreed on, then lost ----
PLAIN="is not end-to-end encrypted: Discord can hear" AGAIN="This call is end-to-end encrypted now"
switch '{"dave_version":0,"dave_required":0}'
api POST /users/$ALICE/join "{\"channel_id\":\"$VOICE\"}" >/dev/null
join $TEXT $VOICE
until_ok 6 said "$PLAIN" && ok "a call without encryption is told" || bad "a call without encryption is told" "$(room)"
status_has "none end to end, although this is no stage" && ok "and status says so" || bad "and status says so" "$STATUS"
switch '{"dave_version":1}'
api POST /users/$BOT/new-server >/dev/null
until_ok 8 said "$AGAIN" && ok "encryption that begins is told" || bad "encryption that begins is told" "$(room)"
status_has "end to end; waiting for a key" && ok "and status says so" || bad "and status says so" "$STATUS"
api POST /users/$ALICE/leave >/dev/null

# ---- two controls on one state directory ----
"$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" >"$D/second.out" 2>&1
is "a second control ends with a status of its own" $? 4
grep -q "another control is running with $D/state" "$D/second.out" && ok "and says why" || bad "and says why" "$(cat "$D/second.out")"
"$B/control" --spawn-mediad="$B/mediad" --state-dir "$D/state" --ca "$CA" >"$D/second.out" 2>&1
is "also with a mediad of its own" $? 4
status_has "**Call:** up" && is "the first one goes on" "$(count $BOT main_identified)" 1 || bad "the first one goes on" "$STATUS"
# Another control may use a directory that cannot be locked.
mkdir -m 700 "$D/unlocked"
ln -s control.lock "$D/unlocked/control.lock"
"$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/unlocked" --ca "$CA" >"$D/unlocked.out" 2>&1
is "a control without a lock ends" $? 1
grep -q "control.lock cannot be used" "$D/unlocked.out" && ok "and says why" || bad "and says why" "$(tail -3 "$D/unlocked.out")"
is "and writes no state" "$(ls "$D/unlocked")" control.lock

# ---- the main gateway is away, the call is lost, mediad restarts: nothing false ----
switch '{"main_away":1}'
api POST /users/$BOT/drop '{"which":"main"}' >/dev/null
api POST /users/$BOT/close '{"which":"voice","code":4006}' >/dev/null
sleep 1
kill9 "$mediad"
start_mediad mediad
mediad=$last
until_ok 15 said "I lost the connection to this call" && ok "the lost call is told" || bad "the lost call is told" "$(room)"
is "nobody says that mediad has stopped" "$(times_said "has stopped")" 0
is "nor that the bot is back" "$(times_said "I am back in the call")" 0
switch '{"main_away":0}'
until_ok 20 said "I am back in the call" && ok "its end is told" || bad "its end is told" "$(room)"
up $GUILD && ok "when it is true" || bad "when it is true" "the call is not up"
is "and the outage was told once" "$(times_said "I lost the connection to this call")" 1

# ---- mediad is dead ----
kill9 "$mediad"
until_ok 3 status_has "0 of 1 audio processes connected" && ok "status tells a dead mediad" || bad "status tells a dead mediad" "$STATUS"
until_ok 15 said "has stopped" && ok "so is the room told" || bad "so is the room told" "$(room)"
start_mediad mediad
until_ok 8 said "hears and speaks runs again" && ok "and that it runs again" || bad "and that it runs again" "$(room)"
is "nothing else" "$(times_said "I lost the connection to this call") $(times_said "I am back in the call")" "1 1"
until_ok 5 up $GUILD || bad "the call" "not up"

# ---- SIGTERM ----
kill "$control"
wait "$control"
until_ok 1 up $GUILD && ok "without a mediad of its own a control leaves the call to the next one" || bad "the call stays" "gone"
control spawned --spawn-mediad="$B/mediad"
until_ok 10 grep -q 'call_state.*phase=up' "$D/spawned.log" || bad "the next control" "not up"
at=$(date +%s%3N)
kill "$control"
wait "$control"
is "control ends well" $? 0
listed && bad "it has left before it ends" "it is still listed" || ok "it has left before it ends"
left=$(api GET /history | tr '{' '\n' | grep '"left"' | grep "\"user_id\":\"$BOT\"" | tail -1 | sed -nE 's/.*"from_ms":([0-9]+).*/\1/p')
within "so many ms after SIGTERM" $((left - at)) 0 300
report
