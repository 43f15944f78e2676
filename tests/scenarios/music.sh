#!/bin/sh
# Music from a folder, through the real programs: decoderd decodes two files, mediad plays one after the other without a gap, and
# somebody in the call hears them. A file that is not there is refused with its reason. The journal of that mediad replays.
#
#   tests/scenarios/music.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-music-XXXXXX)
. tests/scenarios/common
CAROL=503

make -s build/tests/listener || exit 1
start_guildd --set op4_same_server=1
mkdir "$D/music"
"$B/offlined" --speak "one two three four five six" -o "$D/music/a.wav" || bad music "not made"
"$B/offlined" --speak "seven eight nine ten" -o "$D/music/b.wav" || bad music "not made"
# frames FILE: how many samples of 48 kHz a WAV file of 16-bit mono holds.
frames() {
	rate=$(od -An -tu4 -j24 -N4 "$1")
	echo $((($(wc -c <"$1") - 44) / 2 * 48000 / rate))
}
start player "$B/mediad" --listen "$D/player.sock" --ca "$CA" --threads 1 --journal "$D/journal" --music-root "$D/music"
player=$last
until_ok 5 test -S "$D/player.sock" || bad start "no player"
start_mediad listener

# enter USER NAME: $lease is a lease of this user.
enter() {
	api POST /users "{\"id\":\"$1\",\"name\":\"$2\"}" >/dev/null
	api POST "/guilds/$GUILD/members" "{\"user_id\":\"$1\"}" >/dev/null
	lease=$(api POST /users/$1/join "{\"guild_id\":\"$GUILD\",\"channel_id\":\"$VOICE\"}")
}
# attend NAME USER MS ARGUMENTS…: a control of this user, with its output in NAME.out.
attend() {
	name=$1 user=$2 ms=$3 epoch=$((epoch + 1))
	shift 3
	build/tests/listener "$D/$name.sock" $epoch $user $GUILD $VOICE "$(echo "$lease" | field session_id)" \
		"$(echo "$lease" | field token)" "$(echo "$lease" | field endpoint)" "$ms" yes "$@" >"$D/$name.told" 2>>"$D/$name.err"
}
epoch=0
enter $CAROL carol
attend listener $CAROL 10000 listen $BOT &
carol=$!
started="$started $carol"
until_ok 10 grep -qs up "$D/listener.told" || bad carol "not in the call"
enter $BOT parley
attend player $BOT 7500 play:a.wav play:b.wav listen $CAROL
is "the first file plays to its last sample" "$(sed -n 's/^music 1 ended \([0-9]*\).*/\1/p' "$D/player.told")" "$(frames "$D/music/a.wav")"
is "and the second one" "$(sed -n 's/^music 2 ended \([0-9]*\).*/\1/p' "$D/player.told")" "$(frames "$D/music/b.wav")"
wait $carol
heard=$(sed -n 's/^heard [0-9]* //p' "$D/listener.told")
all=$((($(frames "$D/music/a.wav") + $(frames "$D/music/b.wav")) / 2))
within "carol hears all of it" $((heard * 100 / all)) 95 110
attend player $BOT 1000 play:none.wav listen $CAROL
is "a file that is not there" "$(grep -m1 -o 'music 1 failed.*' "$D/player.told")" "music 1 failed 0 not_found"
kill -TERM $player
until_ok 10 grep -qs digest "$D/player.out" || bad journal "no digest"
"$B/mediad" --replay "$D/journal" >"$D/replay.out" 2>&1
is "the journal replays" $? 0
report
