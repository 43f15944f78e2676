#!/bin/sh
# slow: two minutes of speech, some of it over music.
# rules 68 70 84 109 110 111 112
# The bot's session in the running programs: how it joins, whom it tells of, what music locks, who may go on after an interruption, and
# how it ends. Members say the words that this script sets; the answers are the script of a stand-in.
#
#   tests/scenarios/session.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-session-XXXXXX)
. tests/scenarios/common
LATCH=0 CAROL=503
. tests/scenarios/members

mkdir -p "$D/music"
tone "$D/music/Night Train.wav" 330 300
start_transcriber
cat >"$D/chat.script" <<ANSWERS
answer play the night train => call music_play {"query":"night train"}
answer tell me a story => $(seq -s ' ' 101 200)
answer what day is it => It is Tuesday.
answer what time is it => It is noon.
ANSWERS
echo >"$D/mouth.script"
start_guildd
start_standin chat
chat=$port
start_standin mouth openai
"$B/offlined" --speak "please listen to me for a moment" -o "$D/line.wav" || bad "the line" "not spoken"
# settings MORE: writes the file, with more entries.
settings() {
	cat >"$D/parley.json" <<SETTINGS
{"reply_path": "brain", "asr_sessions": "file", "asr_wait_ms": 40000, "log_words": true, "first_audio_ms": 40000, "media_recover_s": 4,
 "music_folders": "$D/music", "music_latch_s": $LATCH, "music_control": "everyone", "music_wake_pause": false,
 "providers": [{"name": "transcriber", "dialect": "openai", "url": "http://127.0.0.1:$transcriber/v1"},
  {"name": "chat", "dialect": "chat", "url": "http://127.0.0.1:$chat/v1"}, {"name": "mouth", "dialect": "openai", "url": "http://127.0.0.1:$port/v1"}],
 "roles": {"text": ["chat"], "speech": ["mouth"], "transcribe": ["transcriber"]}$1}
SETTINGS
}
reloads() { # MORE
	local before
	before=$(grep -c settings_read "$D/control.log")
	settings "$1"
	kill -HUP "$control"
	until_ok 10 sh -c "[ \$(grep -c settings_read '$D/control.log') -gt $before ]" || bad "the settings" "not read again"
}
start_bots_mediad() {
	start mediad "$B/mediad" --listen "$D/mediad.sock" --ca "$CA" --threads 1 --music-root "$D/music"
	mediad=$last
	until_ok 5 test -S "$D/mediad.sock" || bad start "no mediad"
}
settings ""
start_bots_mediad
start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" --config "$D/parley.json" --log debug
control=$last
until_ok 20 registered || bad commands "$(tail -3 "$D/control.log")"
make -s build/tests/listener || exit 1
ends_as() { grep -qa "session_over .*why=$1" "$D/control.log"; }
overs() { grep -ca "session_over" "$D/control.log"; }
joins() {
	join $TEXT $VOICE
	until_ok 10 up $GUILD || bad "the call" "not up"
}

# ---- joins (109) ----
OTHER=$(api POST "/guilds/$GUILD/channels" '{"type":"voice","name":"other"}' | field id)
for n in 1 2 3; do
	join $TEXT "$OTHER"
	join $TEXT $VOICE
done
is_in() { session $GUILD | grep -q "\"channel_id\":\"$1\""; }
until_ok 10 is_in $VOICE && until_ok 10 up $GUILD && ok "109: of joins at the same time the last one counts" || bad "109: joins" "$(session $GUILD)"
sleep 1
is_in $VOICE && up $GUILD && ok "109: and it stays" || bad "109: joins" "$(session $GUILD)"
is "109: with one session" "$(api GET /stats | tr '{' '\n' | grep '"described"' | grep -c "\"user_id\":\"$BOT\"")" 1
echo "$(api GET /stats)" >"$D/stats"
enter alice $ALICE
enter bob $BOB

# ---- settings (110) ----
says bob "polly what day is it"
case $turn in *reason=answered*) bad "110: a name that is not its own" "$turn" ;; esac
before=$(count $BOT main_op_4)
reloads ', "aliases": "polly", "instructions": "Be brief about trains."'
says bob "polly what day is it"
because "110: a session of an allowed channel hears a new name" answered
grep -a 'polly what day is it' "$D/record-chat/events.jsonl" | tail -1 | grep -q 'Be brief about trains' && ok "110: and has the new instructions" || bad "110: the instructions" "$(tail -c 600 "$D/record-chat/events.jsonl")"
is "110: without joining again" "$(count $BOT main_op_4)" "$before"
reloads ", \"blocked_channels\": \"$VOICE\""
until_ok 5 ends_as channel_blocked && ok "110: the session of a blocked channel ends" || bad "110: a blocked channel" "$(grep -a session_over "$D/control.log")"
reloads ''
joins

# ---- members (111) ----
api POST /users "{\"id\":\"$CAROL\",\"name\":\"carol\"}" >/dev/null
api POST "/guilds/$GUILD/members" "{\"user_id\":\"$CAROL\"}" >/dev/null
moves() { api POST "/users/$CAROL/$1" "{\"guild_id\":\"$GUILD\",\"channel_id\":\"$VOICE\"}" >/dev/null; }
moves join
moves leave
moves join
sleep 1
says alice "parley what time is it"
because "a question" answered
grep -a 'parley what time is it' "$D/record-chat/events.jsonl" | tail -1 >"$D/question"
is "111: a member who comes twice at once is recorded once" "$(grep -o 'Carol came in' "$D/question" | wc -l)" 1
is "111: and has left once, too" "$(grep -o 'Carol left' "$D/question" | wc -l)" 1
grep -q 'people in the room: Alice, Bob, Carol' "$D/question" && ok "111: the instructions name the member" || bad "111: the instructions" "$(cat "$D/question")"
moves leave

# ---- what music locks (68) ----
says alice "parley play the night train"
shown 'Now playing.*Night Train' "music plays"
sleep 11 # until the asker of a tool no longer needs a name
says alice "parley what time is it"
because "a name is heard over music" answered
says alice "what day is it"
because "68: music that plays locks the output" not_awake
begins alice "parley tell me a story"
until_ok 30 answers || bad "the answer" "does not begin"
sleep 1
echo "what time is it" >"$D/words"
echo "$D/line.wav" >>"$D/bob.say"
deferred() { grep -aq "turn_deferred .*rule=bot_turn_open" "$D/control.log"; }
until_ok 20 deferred && ok "68: under an answer that is the reason, and not the music" || bad "68: the reason" "$(grep -a turn_deferred "$D/control.log" | tail -2)"
n=$((n + 1))
ends
turn=$(turns | tail -2 | grep "user=$ALICE ")
because "which goes on" answered
turn=$(turns | tail -2 | grep "user=$BOB ")
because "68: then the music is" not_awake
says alice "pause the music"
shown '\*\*Paused:' "the music is paused"
says alice "parley what time is it"
because "a question" answered
says alice "what day is it"
because "68: paused music locks nothing" answered
says alice "resume the music"
shown 'Now playing.*Night Train' "music plays again"

# ---- over an answer (70, 84) ----
begins alice "parley tell me a story"
until_ok 30 answers || bad "the answer" "does not begin"
sleep 2
echo "what day is it" >"$D/words"
echo "$D/line.wav" >>"$D/alice.say"
ends
because "70: an answer that drains under music is interrupted" interrupted
n=$((n + 1))
ends
because "84: what interrupted it needs no name, with the latch closed" answered
shows 'Now playing.*Night Train' && ok "70: the music plays on" || bad "70: the music" "$(messages | tail -c 300)"
says bob "what day is it"
because "84: which is the interrupter's right alone" not_awake
music stop

# ---- how it ends (112) ----
n=$(overs)
api POST /users/$BOT/kick "{\"guild_id\":\"$GUILD\"}" >/dev/null
kicked=$(date +%s%3N)
until_ok 10 ends_as bot_disconnected && ok "112: a session that was disconnected ends" || bad "112: a disconnect" "$(grep -a session_over "$D/control.log" | tail -2)"
within "112: after its grace, in ms:" $(($(date +%s%3N) - kicked)) 2400 4000
joins
kill9 "$mediad"
rm -f "$D/mediad.sock"
start_bots_mediad
until_ok 10 up $GUILD && ok "112: a mediad that comes back takes the session on" || bad "112: mediad" "$(tail -3 "$D/control.log")"
ends_as subprocess_crashed && bad "112: a short crash" "ends the session" || ok "112: which has not ended"
sleep 2
kill9 "$mediad"
crashed=$(date +%s%3N)
until_ok 15 ends_as subprocess_crashed && ok "112: after its grace a crash ends the session" || bad "112: a crash" "$(grep -a session_over "$D/control.log" | tail -2)"
within "112: in ms:" $(($(date +%s%3N) - crashed)) 3800 6500
report
