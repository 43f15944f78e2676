#!/bin/sh
# slow: 70 s of speech over music.
# rules 76 102
# While music plays, the bot hears those whom it may (statement 102), through the real programs: a question without its name in the
# wake latch is answered, one after the latch has closed is not, and one with its name is. The music plays on under all of them.
#
#   tests/scenarios/music_latch.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-latch-XXXXXX)
. tests/scenarios/common
# Words come late on a busy machine.
export PARLEY_LOG_WORDS=1 PARLEY_ASR_WAIT_MS="${PARLEY_ASR_WAIT_MS:-10000}" PARLEY_MUSIC_WAKE_PAUSE=0 PARLEY_MUSIC_LATCH_S="${PARLEY_MUSIC_LATCH_S:-12}" \
	PARLEY_MUSIC_FOLDERS=$D/music
LATCH=$PARLEY_MUSIC_LATCH_S
. tests/scenarios/members
turn() { grep -aE ' turn ' "$D/control.log" | grep -aqE "$1"; }

make -s "$B/demo_tracks" build/tests/listener || exit 1
mkdir "$D/music"
"$B/demo_tracks" "$D/music" || exit 1
start_guildd
start_brain
start mediad "$B/mediad" --listen "$D/mediad.sock" --ca "$CA" --threads 1 --music-root "$D/music"
until_ok 5 test -S "$D/mediad.sock" || bad start "no mediad"
start control "$B/control" --media-sock "$D/mediad.sock" --guild "$GUILD" --channel "$VOICE" --state-dir "$D/state" --ca "$CA"
until_ok 20 grep -q commands_registered "$D/control.log" || bad commands "not registered"

enter alice $ALICE
until_ok 10 up $GUILD || bad "the call" "not up"
# speaks WORDS: what comes next waits for what the bot made of it, however long that takes.
speaks() {
	"$B/offlined" --speak "$1" -o "$D/${1// /-}.wav" || bad "$1" "not spoken"
	echo "$D/${1// /-}.wav" >>"$D/alice.say"
}
speaks "parley play the night train"
until_ok 40 shows 'Now playing.*Night Train' && ok "the music plays" || bad "the music" "$(messages | tail -c 600)"
music loop '{"name":"mode","type":3,"value":"track"}'
speaks "what time is it"
until_ok 40 turn 'heard="[^"]*what time is it.* reason=answered' && ok "in the latch no name is needed" ||
	bad "the latch" "$(grep -a ' turn ' "$D/control.log" | tail -2)"
latch_closes # it was renewed when the answer was played
speaks "what can you do"
until_ok 60 turn 'heard="[^"]*what can you do' || bad "the second question" "not heard"
turn 'heard="[^"]*what can you do.* reason=answered' && bad "after the latch" "it was answered" || ok "after the latch nobody is answered"
speaks "parley what time is it"
until_ok 60 turn 'heard="[^"]*parley what time is it.* reason=answered' && ok "a name is heard over the music" ||
	bad "the name" "$(grep -a ' turn ' "$D/control.log" | tail -2)"
shows '\*\*Paused:' && bad "the music" "paused" || ok "the music was not paused"
music stop
until_ok 20 shows 'The music is over' && ok "the music stops on request" || bad "the end" "$(messages | tail -c 400)"
report
