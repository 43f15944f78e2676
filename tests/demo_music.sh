#!/bin/bash
# demo_music.sh BIN OUT: the scene music of `make demo`. Alice asks for a track by voice, adds another one by /music, asks a question,
# skips, pauses and goes on by voice. The recording is judged: the music plays on under the answer, and is silent while it is paused.
set -u
B=$1
out=$2
D=$(mktemp -d /tmp/parley-demo-XXXXXX)
# shellcheck source=tests/scenarios/common
. tests/scenarios/common
# Words come late on a busy machine. Music plays on, more quietly, while the bot is asked and answers.
export PARLEY_LOG_WORDS=1 PARLEY_ASR_WAIT_MS="${PARLEY_ASR_WAIT_MS:-10000}" PARLEY_MUSIC_WAKE_PAUSE=0

messages() { api GET "/channels/$VOICE/messages"; }
shows() { messages | grep -q "$1"; }
shown() { # PATTERN WHAT
	until_ok "${3:-10}" shows "$1" && ok "$2" || bad "$2" "$(messages | tail -c 600)"
}
turn() { grep -aE ' turn ' "$D/control.log" | grep -aqE "$1"; }
# Prints the level in dB of a part of the recording, FROM TO in seconds: the least (min), third least (third) or greatest (max) half second.
part() {
	awk -v from="$2" -v to="$3" '$1 >= from && $1 < to { print $2 }' "$D/levels" | sort -n |
		awk -v what="$1" '{ v[NR] = $1 } END { print (NR ? v[what == "min" ? 1 : what == "third" && NR > 2 ? 3 : NR] : -99) }'
}
# Prints the second in which the caller began to say line N, on the recording's clock, and when it had been said.
said_at() { awk -v n="$1" -v what="$2" '/the caller begins to speak/ { t0 = $1 } /the caller speaks over the bot/ { k++; if (k == n && what == "from") print $1 - t0 } /the caller has spoken/ { e++; if (e == n + 1 && what == "to") print $1 - t0 }' "$out/timeline.txt"; }

echo "starting guildd (a Discord on this machine), offlined (the embedded engine), mediad and control (the bot)"
mkdir "$D/music"
"$B/demo_tracks" "$D/music" || exit 1
start_guildd
start_brain
PARLEY_MUSIC_FOLDERS=$D/music
export PARLEY_MUSIC_FOLDERS
start mediad "$B/mediad" --listen "$D/mediad.sock" --ca "$CA" --threads 1 --music-root "$D/music"
until_ok 5 test -S "$D/mediad.sock" || bad start "no mediad"
start_mediad alice
start control "$B/control" --media-sock "$D/mediad.sock" --guild "$GUILD" --channel "$VOICE" --state-dir "$D/state" --ca "$CA"
until_ok 20 grep -qs commands_registered "$D/control.log" || bad commands "not registered"

"$B/caller" --api "http://127.0.0.1:$API" --media-sock "$D/alice.sock" --offlined "$B/offlined" --record "$D/brain" --out "$out" \
	--guild "$GUILD" --channel "$VOICE" --user "$ALICE" --bot "$BOT" --wait 20 --say "parley play the night train" \
	--line "8000 parley what time is it" --line "19000 parley skip this song" --line "26000 parley pause the music" \
	--line "34000 parley resume the music" >"$out/timeline.txt" 2>"$D/caller.log" &
caller=$!
started="$started $caller"
echo '-- "parley play the night train" --'
shown 'Now playing.*Night Train' "the bot plays it, and says so in the chat" 40
api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"music\",\"options\":[{\"name\":\"add\",\"type\":1,\"options\":[{\"name\":\"query\",\"type\":3,\"value\":\"sea song\"}]}]}" >/dev/null
shown 'Next.*Sea Song' "/music add: another one waits"
echo '-- "parley what time is it", over the music --'
until_ok 30 turn 'what time is it.* reason=answered' && ok "the question is answered" || bad "the question" "$(grep -a ' turn ' "$D/control.log" | tail -2)"
echo '-- "parley skip this song" --'
shown 'Now playing.*Sea Song' "the next track plays" 30
echo '-- "parley pause the music" --'
shown '\*\*Paused:' "the music is paused" 30
echo '-- "parley resume the music" --'
shown 'Now playing.*Sea Song' "the music goes on" 30
shown 'The music is over' "the last track ends, and the message says so" 60
wait "$caller" && ok "the caller heard the music end" || bad "the caller" "$(tail -3 "$out/timeline.txt" "$D/caller.log")"

perl tests/demo_music/level.pl "$out/conversation.wav" "$out/level.png" >"$D/levels" || bad "the picture" "not written"
before=$(part max "$(awk -v t="$(said_at 1 from)" 'BEGIN { print t - 3 }')" "$(said_at 1 from)")
# A frame that came late makes one of these levels lower.
ducked=$(part third "$(said_at 1 to)" "$(said_at 2 from)")
paused=$(part min "$(said_at 3 to)" "$(said_at 4 to)")
after=$(part max "$(said_at 4 to)" 200)
echo "level of the music: $before dB, under the answer $ducked dB, while paused $paused dB, afterwards $after dB"
awk -v a="$before" -v b="$ducked" 'BEGIN { exit !(a - b > 10 && a - b < 24 && b > -59) }' &&
	ok "under the answer the music plays on, more quietly" || bad "the music under the answer" "$before and $ducked dB"
awk -v b="$paused" -v c="$after" 'BEGIN { exit !(b <= -59 && c > -40) }' && ok "the pause is silent" || bad "the pause" "$paused and $after dB"
mkdir -p "$out/log"
cp "$D"/*.log "$out/log/"
echo "written: $out/conversation.wav (caller left, bot right), $out/level.png (its level), $out/timeline.txt"
keep
report
