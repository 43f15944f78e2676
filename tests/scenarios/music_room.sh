#!/bin/sh
# beside: the other scenarios in make check: four minutes of speech over music.
# rules 36 76 101 102 103 104 105 106 107 108
# The room and music in the running programs: two members talk while tones play. What the bot hears are the words that this script
# sets; what it answers, and which tools it calls, is the script of a stand-in. So neither a recogniser nor a model decides.
#
#   tests/scenarios/music_room.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-music-room-XXXXXX)
. tests/scenarios/common
LATCH=15
. tests/scenarios/members

mkdir -p "$D/music" "$D/web"
tone "$D/music/Night Train.wav" 330 300
for n in One Two Six; do tone "$D/music/Blue Moon $n.wav" 440 300; done
tone "$D/web/late.wav" 550 60

start_transcriber
long=$(seq -s ' ' 101 200)
cat >"$D/chat.script" <<ANSWERS
answer play the night train => call music_play {"query":"night train"}
answer play the moon => call music_play {"query":"blue moon"}
answer queue the moon => call music_queue_add {"query":"blue moon"}
answer play the late one => call play_music_url {"url":"http://127.0.0.1:$transcriber/late.wav"}
answer tell me a story => $long
answer what day is it => It is Tuesday.
answer what time is it => It is noon.
ANSWERS
echo >"$D/mouth.script"
start_guildd
start_standin chat
chat=$port
start_standin mouth openai
"$B/offlined" --speak "please listen to me for a moment" -o "$D/line.wav" || bad "the line" "not spoken"
cat >"$D/parley.json" <<SETTINGS
{"reply_path": "brain", "asr_sessions": "file", "asr_wait_ms": 40000, "log_words": true, "first_audio_ms": 40000,
 "music_folders": "$D/music", "music_web": true, "web_read_allowed": "127.0.0.1:$transcriber", "music_latch_s": $LATCH, "music_control": "everyone",
 "music_wake_pause": false, "text_chat": "all",
 "providers": [{"name": "transcriber", "dialect": "openai", "url": "http://127.0.0.1:$transcriber/v1"},
  {"name": "chat", "dialect": "chat", "url": "http://127.0.0.1:$chat/v1"}, {"name": "mouth", "dialect": "openai", "url": "http://127.0.0.1:$port/v1"}],
 "roles": {"text": ["chat"], "speech": ["mouth"], "transcribe": ["transcriber"]}}
SETTINGS
start mediad "$B/mediad" --listen "$D/mediad.sock" --ca "$CA" --threads 1 --music-root "$D/music" --music-address "127.0.0.1:$transcriber"
until_ok 5 test -S "$D/mediad.sock" || bad start "no mediad"
start control "$B/control" --media-sock "$D/mediad.sock" --guild "$GUILD" --channel "$VOICE" --state-dir "$D/state" --ca "$CA" --config "$D/parley.json"
control=$last
until_ok 20 grep -q commands_registered "$D/control.log" || bad commands "$(tail -3 "$D/control.log")"

make -s build/tests/listener || exit 1
enter alice $ALICE
enter bob $BOB
until_ok 10 up $GUILD || bad "the call" "not up"

says alice "parley play the night train"
shown 'Now playing.*Night Train' "a request plays"

# ---- who is heard (76, 101, 102) ----
latch_closes
says bob "what day is it"
because "102: with the latch closed chatter is swallowed" not_awake
says bob "stop the music"
shows 'Now playing.*Night Train' && ok "101: a command of somebody who may not is none" || bad "101: a stranger's command" "$turn"
ok "76: speech interrupts no music"
says alice "pause the music"
shown '\*\*Paused:' "101: the requester needs no name"
asked "pause the music" && bad "101: a command" "asked a model" || ok "101: a command asks no model"
says alice "resume"
shown 'Now playing.*Night Train' "101: it goes on"
says bob "parlay what time is it"
because "102: a name that sounds like its own is heard" answered
says bob "what day is it"
because "102: in the latch no name is needed" answered
begins alice "$((LATCH + 4)) what day is it"
ends
because "36, 102: what began in the latch counts, however late its words" answered

# ---- the latch and the level (105, 106) ----
# The amplitude of the music (a tone of 330 Hz) in each half second that Alice heard; line N on of them, the least but one.
levels() { grep -c "^level $BOT " "$D/alice-told.out"; }
tones() { sed -n "s/^level $BOT .* \([0-9]*\)$/\1/p" "$D/alice-told.out" | tail -n "+$(($1 + 1))"; }
plays_on() { [ "$(tones 0 | tail -1)" -gt $((loud * 8 / 10)) ]; }
least() { tones "$1" | sort -n | sed -n 2p; } # in the least one a packet may have been late
loud=$(tones 0 | tail -4 | sort -n | tail -1)
begins alice "parley tell me a story"
until_ok 30 answers || bad "the answer" "does not begin"
sleep 3
at=$(levels)
sleep 4
within "106: under an answer the music has 150 thousandths of its level; it has" $((1000 * $(least "$at") / loud)) 110 200
ends
because "a long answer ends" answered
sleep 3
within "106: and all of it afterwards" $((1000 * $(tones 0 | tail -3 | sort -n | sed -n 2p) / loud)) 900 1100
says bob "what day is it"
because "105: the latch is renewed when the answer was played" answered

# ---- choices (103) ----
says alice "parley play the moon"
says bob "parley number two"
shows 'Now playing.*Moon' && bad "103: another member chooses" "$turn" || ok "103: a choice is its requester's"
says alice "number two"
shown 'Now playing.*Moon' "103: a number chooses"
shows 'Now playing.*Moon Two' && other=One || other=Two
says alice "parley play the moon"
says alice "blue moon $other"
shown "Now playing.*Moon $other" "103: so does a title"
says alice "parley queue the moon"
says alice "never mind"
says alice "number one"
shows '\*\*Next' && bad "103: a cancelled choice" "$turn" || ok "103: a choice can be cancelled"
says alice "parley queue the moon"
says alice "the third one"
shown 'Next.*Moon' "103: a choice for the queue stays one"

# ---- the queue (108) ----
shown 'Now playing.*Moon' "108: add interrupts nothing"
music next "$(query "night train")"
shown 'Next.*Night Train' "108: next comes before what waits"
music stop
shown 'The music is over' "108: stop clears"

# ---- the pause for an answer (102, 104) ----
sed -i 's/"music_wake_pause": false/"music_wake_pause": true/' "$D/parley.json"
kill -HUP "$control"
until_ok 10 grep -q settings_read "$D/control.log"
music play "$(query "night train")"
shown 'Now playing.*Night Train' "music again"
begins bob "parley tell me a story"
until_ok 30 answers || bad "the answer" "does not begin"
sleep 1
at=$(levels)
sleep 4
within "104: a question pauses the music until the answer is over; there is of it" $((1000 * $(tones "$at" | sort -n | tail -1) / loud)) 0 60
begins alice "what day is it"
until_ok 60 plays_on && ok "104: it goes on after the answer" || bad "104: the music" "does not go on"
turns | tail -3 | grep -q 'tell me a story" reason=answered' && ok "which came to its end" || bad "the answer" "$(turns | tail -2)"
is_swallowed() { turns | grep -q "user=$ALICE .*heard=\"what day is it\" reason=not_awake"; }
until_ok 20 is_swallowed && ok "102: while it was paused for one speaker, others were swallowed" || bad "102: another speaker in the pause" "$(turns | tail -2)"
begins bob "parley tell me a story"
until_ok 30 answers || bad "the answer" "does not begin"
music stop
n=$(turns | wc -l)
until_ok 60 ended $((n + 1)) || bad "the answer" "does not end"
sleep 3
within "104: without a track there is nothing to go on with; of the music there is" $((1000 * $(tones 0 | tail -1) / loud)) 0 60

# ---- a late start (107) ----
sed -i 's/"music_wake_pause": true/"music_wake_pause": false/' "$D/parley.json"
kill -HUP "$control"
sleep 1
# An address of the model's own is not played once titles are known: a person wrote it.
where=$VOICE
writes "$ALICE" "http://127.0.0.1:$transcriber/late.wav"
sleep 1
says alice "parley play the late one"
begins alice "parley tell me a story"
until_ok 40 shows 'Now playing.*late' && ok "music starts late" || bad "music starts late" "$(grep -a music "$D/mediad.log" | tail -2)"
ended $n && bad "107" "the answer is already over" || ok "within the answer to a newer question"
ends
because "107: which it does not stop" answered
report
