#!/bin/sh
# Music from a folder survives SIGKILL: to mediad, after which it goes on where it was, within 40 ms; to control and to the decoder,
# which it outlasts without a gap; and to both programs, after which it goes on at the saved position. What is heard is compared with the length of the file.
#
#   tests/scenarios/music_killed.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-music-killed-XXXXXX)
. tests/scenarios/common
. tests/scenarios/spoken
CAROL=503 SECONDS_OF_SONG=14
WHOLE=$((SECONDS_OF_SONG * 1000 + 20)) # in ms; the encoder holds back 312 samples, which sender_flush_frame sends in one packet more

# tone FILE SECONDS: a WAV file of 16 kHz.
tone() {
	perl -e '$n = $ARGV[0] * 16000; binmode STDOUT;
		print pack("a4Va4a4VvvVVvva4V", "RIFF", 36 + 2 * $n, "WAVE", "fmt ", 16, 1, 1, 16000, 32000, 2, 16, "data", 2 * $n);
		print pack("s<", 8000 * sin($_ * 330 * 6.2831853 / 16000)) for 0 .. $n - 1' "$2" >"$1"
}
mkdir -p "$D/music" "$D/state"
tone "$D/music/song.wav" $SECONDS_OF_SONG
export PARLEY_MUSIC_FOLDERS=$D/music PARLEY_MUSIC_CONTROL=everyone

make -s build/tests/listener || exit 1
start_guildd
start_brain
start_mediad listener
media() { # starts the bot's next mediad: its pid in $mediad
	rm -f "$D/one.sock"
	start one "$B/mediad" --listen "$D/one.sock" --ca "$CA" --threads 1 --music-root "$D/music"
	mediad=$last
	until_ok 5 test -S "$D/one.sock" || bad mediad "not up"
}
media
control 1
until_ok 10 registered || bad commands "not registered"
# Carol, without whom there is no key to encrypt with.
api POST /users "{\"id\":\"$CAROL\",\"name\":\"carol\"}" >/dev/null
api POST "/guilds/$GUILD/members" "{\"user_id\":\"$CAROL\"}" >/dev/null
lease=$(api POST /users/$CAROL/join "{\"guild_id\":\"$GUILD\",\"channel_id\":\"$VOICE\"}")
build/tests/listener "$D/listener.sock" 1 $CAROL $GUILD $VOICE "$(echo "$lease" | field session_id)" "$(echo "$lease" | field token)" \
	"$(echo "$lease" | field endpoint)" 120000 yes listen $BOT >"$D/carol.out" 2>&1 &
started="$started $!"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"

answer_of() { api GET "/interactions/$1" | sed -nE 's/.*"(original|data)": ?\{.*"content": ?"((\\.|[^"\\])*)".*/\2/p'; }
answered() { [ -n "$(answer_of "$1")" ]; }
music() { # SUBCOMMAND [OPTIONS]: the answer goes to $answer
	id=$(api POST /interactions "{\"user_id\":\"$CAROL\",\"channel_id\":\"$TEXT\",\"name\":\"music\",\"options\":[{\"name\":\"$1\",\"type\":1,\"options\":[${2:-}]}]}" | field id)
	until_ok 10 answered "$id"
	answer=$(answer_of "$id")
}
# sounds: prints the bot's sounds, a line each: first and last packet, in ms since 1970, and their number.
sounds() {
	api GET /history | tr '{' '\n' | grep '"sound"' | grep "\"user_id\":\"$BOT\"" | sed -nE 's/.*"from_ms":([0-9]+),"to_ms":([0-9]+),"packets":([0-9]+).*/\1 \2 \3/p' |
		awk -v after="$began" '$1 >= after'
}
# heard: prints how much music was heard, in ms: packets of 20 ms.
heard() { sounds | awk '{ n += 20 * $3 } END { print n + 0 }'; }
heard_for() { [ "$(heard)" -ge "$1" ]; }
quiet() {
	local at
	at=$(sounds | tail -1 | cut -d' ' -f2)
	[ "$at" -lt $(($(date +%s%3N) - 1000)) ] 2>/dev/null
}
error_of() { local e=$(($1 - $2)); echo ${e#-}; }
# error_is WHAT MS WANTED: they differ by 40 at most; the row of tests/bench reads the line.
error_is() {
	echo "resume_error_ms $(error_of "${2:-0}" "$3")"
	within "$1, error in ms" "$(error_of "${2:-0}" "$3")" 0 40
}
position_in() { grep -aoE "$2 .*at_ms=[0-9]+" "$D/control$1.log" | tail -1 | grep -oE '[0-9]+$'; }
begin() { # the song from its start
	began=$(date +%s%3N)
	until_ok 20 plays || bad "the song" "$answer"
	until_ok 10 heard_for 2000 || bad "the song" "not heard: $(tail -3 "$D/one.log")"
}
plays() { music play '{"name":"query","type":3,"value":"song"}'; case $answer in *laying*) ;; *) false ;; esac; }

# ---- mediad ----
begin
kill9 "$mediad"
sleep 0.2
before=$(heard)
media
continued() { [ -n "$(position_in 1 music_continued)" ]; }
until_ok 10 continued || bad "mediad is killed" "the music does not go on"
error_is "mediad is killed: the music goes on where it was" "$(position_in 1 music_continued)" "$before"
until_ok 10 heard_for 5000 || bad "and is heard again" "$(sounds)"

# ---- control ----
kill9 "$control"
sleep 1
control 2
claimed() { [ -n "$(position_in 2 music_claimed)" ]; }
until_ok 20 claimed && ok "control is killed: the next one claims the music" || bad "control is killed" "$(tail -5 "$D/control2.log")"
until_ok 30 quiet || bad "the song" "does not end"
error_is "the song was heard once and whole" "$(heard)" $WHOLE
is "with one gap, that of mediad" "$(sounds | wc -l)" 2
music now
case $answer in *"Nothing plays"*) ok "and is over" ;; *) bad "and is over" "$answer" ;; esac

# ---- control is restarted ----
begin
kill -TERM "$control"
wait "$control" 2>/dev/null
sleep 1
control 3
claims() { [ -n "$(position_in 3 music_claimed)" ]; }
until_ok 20 claims && ok "control is restarted: the next one claims the music" || bad "control is restarted" "$(tail -5 "$D/control3.log")"
until_ok 30 quiet || bad "the song" "does not end"
error_is "the song was heard once and whole" "$(heard)" $WHOLE
is "without a gap" "$(sounds | wc -l)" 1

# ---- the decoder ----
# The process that decodes the track: the last one in the line from mediad.
decoder() {
	local at=$mediad next
	while next=$(pgrep -P "$at" | tail -1) && [ -n "$next" ]; do at=$next; done
	echo "$at"
}
begin
victim=$(decoder)
grep -q decoder "/proc/$victim/comm" && kill -9 "$victim" || bad "the decoder" "not found"
until_ok 30 quiet || bad "the song" "does not end"
grep -q 'music_failed .*reason=crashed' "$D/one.log" && ok "the decoder is killed" || bad "the decoder is killed" "$(tail -3 "$D/one.log")"
error_is "its successor goes on where it was: the song was heard once and whole" "$(heard)" $WHOLE
is "without a gap" "$(sounds | wc -l)" 1

# ---- both ----
begin
sleep 1.5
kill9 "$control"
kill9 "$mediad"
before=$(heard)
media
control 4
again() { [ -n "$(position_in 4 music_continued)" ]; }
until_ok 20 again || bad "both are killed" "$(tail -5 "$D/control4.log")"
within "both are killed: the music goes on at the saved position, in ms" "$(error_of "$(position_in 4 music_continued)" "$before")" 0 1200

# ---- the first process of the decoders, which mediad cannot start again ----
decoderd=$(pgrep -P "$mediad" -x decoderd)
kill9 "$decoderd"
warned() { grep -aq 'mediad_fault .*code=7' "$D/control4.log"; }
until_ok 10 warned && ok "decoderd is killed: operators are told" || bad "decoderd is killed" "$(tail -3 "$D/one.log" "$D/control4.log")"
sleep 1
kill -0 "$mediad" && ok "the call stays" || bad "the call" "mediad is gone"
api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"leave\"}" >/dev/null
gone() { ! kill -0 "$mediad" 2>/dev/null; }
if until_ok 20 gone; then
	wait "$mediad"
	is "after the call mediad ends as a failure, so that it is started again" $? 1
else
	bad "after the call" "mediad is still there: $(tail -2 "$D/one.log")"
fi
report
