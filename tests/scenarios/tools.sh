#!/bin/sh
# Built-in tools that act, through the real programs, called by a text model: the links of a search in the text channel, a sound of the
# soundboard, and another voice channel.
#
#   tests/scenarios/tools.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-tools-XXXXXX)
. tests/scenarios/common

turns() { grep -aE ' turn .*stage=ended' "$D/control.log" | grep -av reason=merged; }
ended() { [ "$(turns | wc -l)" -ge "$1" ]; }
written() { api GET "/channels/$VOICE/messages" | grep -q "$1"; }
gone() { ! up "$GUILD"; }
in_channel() { session "$GUILD" | grep -q "\"channel_id\":\"$1\""; }
# question N: alice asks, and the N-th turn ends.
question() {
	rm -rf "$D/out" && mkdir "$D/out"
	ask
	until_ok 60 ended "$1" || bad "question $1" "its turn does not end"
	kill "$caller" 2>/dev/null
	wait "$caller" 2>/dev/null
}

cat >"$D/chat.script" <<'END'
response 1 call soundboard {"name":"AirHorn"}
response 2 call web_search {"query":"moon"}
response 3 say Site one says that the moon is new.
response 4 call soundboard {"name":"AirHorn"}
response 5 say Shall I?
response 6 call voice_join {"channel":"Lounge"}
response 7 say I go there.
END
echo 'answer moon => The moon is new.' >"$D/searxng.script"
start_guildd
new_guild "A room"
GUILD=$NEW TEXT=$NEW_TEXT VOICE=$NEW_VOICE
LOUNGE=$(api POST "/guilds/$GUILD/channels" '{"type":"voice","name":"Lounge"}' | field id)
start_brain
start_standin chat
export PARLEY_TEXT_URL="http://127.0.0.1:$port/v1" PARLEY_REPLY_PATH=brain PARLEY_LOG_WORDS=1
start_standin searxng
export PARLEY_SEARCH_URL="http://127.0.0.1:$port"
start_mediad one
start_mediad caller
start control "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --ca "$CA"
until_ok 10 registered || bad commands "not registered"
join "$TEXT" "$VOICE"
until_ok 10 up "$GUILD" || bad "the call" "not up"

question 1
is "a sound of the soundboard is played" "$(grep -ac 'tool_called .*name=soundboard code=ok' "$D/control.log")" 1
is "and the answer is silent" "$(turns | grep -c 'reason=no_answer')" 1

question 2
until_ok 10 written '<https://site1.example.org/page>' && ok "the link of a search is written into the text channel" ||
	bad "the link of a search is written into the text channel" "$(api GET "/channels/$VOICE/messages" | head -c 300)"
is "its address was not spoken" "$(turns | grep -c 'said=".*http')" 0

question 3
is "after it a sound needs a yes" "$(grep -ac 'tool_called .*name=soundboard code=needs_yes' "$D/control.log")" 1
api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"leave\"}" >/dev/null
until_ok 10 gone && join "$TEXT" "$VOICE"
until_ok 10 up "$GUILD" || bad "the next call" "not up"

question 4
is "in the next voice session a moderator is taken to another channel" "$(grep -ac 'tool_called .*name=voice_join code=ok' "$D/control.log")" 1
until_ok 20 in_channel "$LOUNGE" && ok "the bot goes to another channel after its words" ||
	bad "the bot goes to another channel after its words" "$(turns | tail -1)"

report
