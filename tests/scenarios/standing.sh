#!/bin/sh
# A voice server that does not answer: a call that was up is retried until it is back, and the room is told once; the person who
# asked for a first join is told that it failed. A mediad that dies is one outage, however long the call takes to follow.
#
#   tests/scenarios/standing.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-standing-XXXXXX)
. tests/scenarios/common

start_guildd
export PARLEY_BRAIN_URL=ws://127.0.0.1:9/
start_mediad mediad
mediad=$last
start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
until_ok 10 registered || bad commands "not registered"
listed() { api GET /world | grep -qE "\"user_id\": ?\"$BOT\""; }
room() { api GET "/channels/$VOICE/messages"; }
times_said() { room | grep -oF "$1" | wc -l; }
said() { [ "$(times_said "$1")" -gt 0 ]; }
# asks NAME OPTIONS: a command; its id is in ID, and answered puts the answer into ANSWER
asks() { ID=$(api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"$1\"$2}" | field id); }
answered() { ANSWER=$(api GET "/interactions/$ID" | sed -nE 's/.*"content": ?"((\\.|[^"\\])*)".*/\1/p') && [ -n "$ANSWER" ]; }
status_has() { asks status "" && ANSWER= && until_ok 5 answered && case $ANSWER in *"$1"*) true ;; *) false ;; esac; }

LOST="I lost the connection to this call" BACK="I am back in the call"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"

# ---- a mediad that dies, and a call that follows later ----
kill9 "$mediad"
until_ok 15 said "has stopped" && ok "a dead mediad is told" || bad "a dead mediad is told" "$(room)"
switch '{"voice_silent":1}'
start_mediad second
mv "$D/second.sock" "$D/mediad.sock"
until_ok 10 grep -q "phase=identifying" "$D/second.log" || bad "the new mediad" "does not identify"
sleep 2
is "the call that is still missing is no other outage" "$(times_said "$LOST")" 0
switch '{"voice_silent":0}'
until_ok 8 said "runs again" && ok "its end is told" || bad "its end is told" "$(room)"
until_ok 30 up $GUILD || bad "the call" "not back"
sleep 3

# ---- a call that was up ----
switch '{"voice_silent":1}'
api POST /users/$BOT/new-server >/dev/null
until_ok 20 said "$LOST" && ok "the lost call is told" || bad "the lost call is told" "$(room)"
until_ok 60 status_has "; retrying" && ok "after three sessions it waits" || bad "after three sessions it waits" "$ANSWER"
case $ANSWER in *"keep trying to get one"*) ok "and status says that it goes on" ;; *) bad "status says that it goes on" "$ANSWER" ;; esac
listed && ok "it stays in the channel" || bad "it stays in the channel" "it left"
# Two retries fail, the next one finds a server that answers.
sessions=$(grep -c 'phase=identifying' "$D/second.log")
retried() { [ "$(grep -c 'phase=identifying' "$D/second.log")" -ge $((sessions + 2)) ]; }
until_ok 60 retried && ok "it retries" || bad "it retries" "$(tail -2 "$D/second.log")"
switch '{"voice_silent":0}'
until_ok 60 up $GUILD && ok "the call comes back" || bad "the call comes back" "$(session $GUILD)"
until_ok 10 said "$BACK" && ok "and the room is told" || bad "and the room is told" "$(room)"
is "each of both once, and nothing else" "$(times_said "$LOST") $(times_said "$BACK") $(times_said "ask again")" "1 1 0"

# ---- withdrawn while it is lost ----
switch '{"voice_silent":1}'
api POST /users/$BOT/new-server >/dev/null
until_ok 60 status_has "; retrying" || bad "it waits again" "$ANSWER"
asks leave ""
gone() { ! listed; }
until_ok 10 gone || bad "/leave" "still listed"
joins=$(count $BOT main_op_4)
sleep 15
is "after /leave it does not retry" "$(count $BOT main_op_4)" "$joins"

# ---- a first join after a member disconnected the bot ----
switch '{"voice_silent":0}'
join $TEXT $VOICE
until_ok 30 up $GUILD || bad "the call" "not up"
OTHER=$(api POST "/guilds/$GUILD/channels" '{"type":"voice","name":"other"}' | field id)
api POST /users/$BOT/kick >/dev/null
until_ok 5 gone || bad "a disconnect" "still listed"
switch '{"voice_silent":1}'
join $TEXT $OTHER
sleep 15
is "a channel that the bot was never in hears of no lost call" "$(api GET "/channels/$OTHER/messages" | grep -cF "$LOST")" 0
asks leave ""
until_ok 10 gone || bad "/leave" "still listed"

# ---- a first join ----
asks join ",\"options\":[{\"name\":\"channel\",\"type\":7,\"value\":\"$VOICE\"}]"
until_ok 70 answered
case $ANSWER in *"took too long"*) ok "a failed first join answers the person who ran /join" ;; *) bad "a failed first join answers the person who ran /join" "$ANSWER" ;; esac
until_ok 5 gone && ok "and the bot is not left in the channel" || bad "and the bot is not left in the channel" "it is listed"
report
