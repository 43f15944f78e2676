#!/bin/sh
# The visualizer of the bot's music as a stream ("Go Live"), by the real programs with the account of a person: a tool of the voice
# conversation starts it while music plays, a decoder process draws what is heard as VP8 in its jail, and somebody with a mediad of
# their own watches it under DAVE. Their pictures are decoded and must show the tones of the music, one after the other, in each mode.
# It goes on while the music is paused, and stops when somebody says so.
#
#   tests/scenarios/golive_visualizer.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-visualizer-XXXXXX)
. tests/scenarios/common
LATCH=0
. tests/scenarios/members
BOB=602 CAROL=603 ACCOUNT=700
. tests/scenarios/shown
needs golive visualized
# Else the music stands while the bot is spoken to.
export PARLEY_GO_LIVE=true PARLEY_MUSIC_WAKE_PAUSE=0

# watched [every] FRAMES: what bob got goes to $D/golive.out.
watched() { "$B/golive" "$GATEWAY" "$CA" $GUILD $VOICE vp8 - user:$ACCOUNT bob.token - "$D/bob.sock" "$@" into "$D/seen.ivf" >"$D/golive.out" 2>&1; }
music() { # SUBCOMMAND OPTIONS
	api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"music\",\"options\":[{\"name\":\"$1\",\"type\":1,\"options\":[$2]}]}" >/dev/null
}

mkdir "$D/music"
# Rounds of 1.5 s each of nothing, a low tone at the left, nothing, and a high tone (tests/visualized).
perl -e '$rate = 16000; $n = 240 * $rate; binmode STDOUT; print pack("a4Va4a4VvvVVvva4V", "RIFF", 36 + 4 * $n, "WAVE", "fmt ", 16, 1, 2, $rate, 4 * $rate, 4, 16, "data", 4 * $n);
	for (0 .. $n - 1) { $part = int($_ / 1.5 / $rate) % 4; $t = $_ * 6.2831853 / $rate;
		$left = $part == 1 ? 16000 * sin(130.813 * $t) : $part == 3 ? 16000 * sin(2093.005 * $t) : 0;
		print pack("s<s<", $left, $part == 3 ? $left : 0); }' >"$D/music/Night Train.wav"
make -s build/tests/listener || exit 1
start_guildd
GATEWAY=$(field gateway <"$D/ready")
start_brain
unset PARLEY_BRAIN_URL
answers=$(cat <<-END
	answer show the music => call start_music_visualizer {}
	answer show the cqt => call start_music_visualizer {"mode":"cqt"}
	answer show the spectrum => call start_music_visualizer {"mode":"spectrum"}
	answer show the waves => call start_music_visualizer {"mode":"waves"}
	answer show the vectorscope => call start_music_visualizer {"mode":"vectorscope"}
	answer stop the video => call stop_video_share {}
	END
)
brain "show the music"
cat >"$D/config.json" <<-END
	{"music_folders": "$D/music",
	 "providers": [{"name": "eyes", "dialect": "openai", "url": "http://127.0.0.1:$port/v1"}],
	 "roles": {"voice": ["eyes"], "transcribe": ["eyes"]}, "answer_audio": "own"}
END
add_people
start mediad "$B/mediad" --listen "$D/mediad.sock" --ca "$CA" --threads 1 --music-root "$D/music"
until_ok 5 test -S "$D/mediad.sock" || bad start "no mediad"
start_mediad bob
start_mediad caller
# The music stands while nobody is there who has the key.
enter carol $CAROL
start control "$B/control" --media-sock "$D/mediad.sock" --guild "$GUILD" --channel "$VOICE" --state-dir "$D/state" --ca "$CA" \
	--config "$D/config.json" --log debug
control=$last
until_ok 20 logged ' golive_ready account=700' || bad "the account" "$(grep -a golive "$D/control.log")"
until_ok 20 up "$GUILD" || bad "the call" "it is not up"
api POST "/users/$ALICE/join" "{\"channel_id\":\"$VOICE\"}" >/dev/null
hears

asks "show the music"
answered 'playing\":false' && turns | tail -1 | grep -aqF 'no music plays' && ok "without music there is nothing to show" || bad "without music" "$(turns | tail -1)"
wait "$caller"
api POST "/users/$ALICE/join" "{\"channel_id\":\"$VOICE\"}" >/dev/null
music play '{"name":"query","type":3,"value":"Night Train"}'
until_ok 15 logged ' command .*kind=music' || bad "music" "nobody asked for it"
sleep 1
shown_as() { # MODE
	asks "show the $1"
	answered 'playing\":true' && ok "$1: a tool shows it" || bad "$1: the tool" "$(turns | tail -1) $(grep -a golive "$D/control.log" | tail -3)"
	wait "$caller"
	watched every 200 || bad "$1: what bob sees" "$(tail -3 "$D/golive.out")"
	"$B/visualized" "$D/seen.ivf" "$1" >"$D/visualized.out" 2>&1 && ok "bob sees the music as $(cat "$D/visualized.out")" ||
		bad "$1: the pictures" "$(cat "$D/visualized.out")"
}
stopped() {
	api POST "/users/$ALICE/join" "{\"channel_id\":\"$VOICE\"}" >/dev/null
	asks "stop the video"
	answered 'stopped\":true' && ok "a tool ends it" || bad "the stop" "$(turns | tail -1)"
	until_ok 10 streaming 0 && ok "and the stream is over" || bad "the stream" "it goes on"
	wait "$caller"
}
for mode in cqt spectrum waves; do
	shown_as $mode
	for other in cqt spectrum waves vectorscope; do
		[ $other = $mode ] || ! "$B/visualized" "$D/seen.ivf" $other >/dev/null 2>&1 || bad "$mode" "it looks like $other"
	done
	stopped
done
shown_as vectorscope
watched 2 && ok "with key frames for a viewer who comes later" || bad "key frames" "$(tail -3 "$D/golive.out")"
api POST "/users/$ALICE/join" "{\"channel_id\":\"$VOICE\"}" >/dev/null
music pause ""
watched every 20 && ok "also while the music is paused" || bad "a pause" "$(tail -3 "$D/golive.out")"
"$B/visualized" "$D/seen.ivf" vectorscope >"$D/visualized.out" 2>&1 && bad "a pause" "it is taken for music: $(cat "$D/visualized.out")" || ok "when its picture stands still"
stopped
is "video in the clear" "$(count $ACCOUNT video_plaintext)" 0
is "control is still there" "$(kill -0 "$control" && echo yes)" yes
report
