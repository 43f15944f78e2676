#!/bin/sh
# The visualizer of the bot's music as a stream ("Go Live"), by the real programs with the account of a person: a tool of the voice
# conversation starts it while music plays, a decoder process draws what is heard as VP8 in its jail, and somebody with a mediad of
# their own watches it under DAVE. It goes on while the music is paused, and stops when somebody says so.
#
#   tests/scenarios/golive_visualizer.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-visualizer-XXXXXX)
. tests/scenarios/common
BOB=602 ACCOUNT=700
. tests/scenarios/shown
export PARLEY_GO_LIVE=true

# watched [every] FRAMES: what bob got goes to $D/golive.out.
watched() { "$B/golive" "$GATEWAY" "$CA" $GUILD $VOICE vp8 - user:$ACCOUNT bob.token - "$D/bob.sock" "$@" >"$D/golive.out" 2>&1; }
music() { # SUBCOMMAND OPTIONS
	api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"music\",\"options\":[{\"name\":\"$1\",\"type\":1,\"options\":[$2]}]}" >/dev/null
}

mkdir "$D/music"
perl -e '$n = 120 * 16000; binmode STDOUT; print pack("a4Va4a4VvvVVvva4V", "RIFF", 36 + 2 * $n, "WAVE", "fmt ", 16, 1, 1, 16000, 32000, 2, 16, "data", 2 * $n);
	print pack("s<", 8000 * sin($_ * 440 * 6.2831853 / 16000)) for 0 .. $n - 1' >"$D/music/Night Train.wav"
start_guildd
GATEWAY=$(field gateway <"$D/ready")
start_brain
unset PARLEY_BRAIN_URL
answers=$(cat <<-END
	answer show the music => call start_music_visualizer {"mode":"spectrum"}
	answer stop the video => call stop_video_share {}
	END
)
brain "show the music"
cat >"$D/config.json" <<-END
	{"music_folders": "$D/music",
	 "providers": [{"name": "eyes", "dialect": "openai", "url": "http://127.0.0.1:$port/v1"}],
	 "roles": {"voice": ["eyes"], "transcribe": ["eyes"]}, "answer_audio": "own"}
END
for person in "$ACCOUNT guildd.person.token" "$BOB bob.token"; do
	set -- $person
	api POST /bots "{\"id\":\"$1\",\"name\":\"person$1\",\"token\":\"$2\",\"person\":true}" >/dev/null
	api POST "/guilds/$GUILD/members" "{\"user_id\":\"$1\"}" >/dev/null
done
start mediad "$B/mediad" --listen "$D/mediad.sock" --ca "$CA" --threads 1 --music-root "$D/music"
until_ok 5 test -S "$D/mediad.sock" || bad start "no mediad"
start_mediad bob
start_mediad caller
start control "$B/control" --media-sock "$D/mediad.sock" --guild "$GUILD" --channel "$VOICE" --state-dir "$D/state" --ca "$CA" \
	--config "$D/config.json" --log debug
control=$last
until_ok 20 logged ' golive_ready account=700' || bad "the account" "$(grep -a golive "$D/control.log")"
until_ok 20 up "$GUILD" || bad "the call" "it is not up"
hears
api POST "/users/$ALICE/join" "{\"channel_id\":\"$VOICE\"}" >/dev/null

asks "show the music"
answered 'playing\":false' && turns | tail -1 | grep -aqF 'no music plays' && ok "without music there is nothing to show" || bad "without music" "$(turns | tail -1)"
wait "$caller"
api POST "/users/$ALICE/join" "{\"channel_id\":\"$VOICE\"}" >/dev/null
music play '{"name":"query","type":3,"value":"Night Train"}'
until_ok 15 logged ' command .*kind=music' || bad "music" "nobody asked for it"
sleep 1
asks "show the music"
answered 'playing\":true' && ok "a tool shows it" || bad "the tool" "$(turns | tail -1) $(grep -a golive "$D/control.log" | tail -3)"
watched every 50 && ok "bob sees it ($(tail -1 "$D/golive.out"))" || bad "what bob sees" "$(tail -3 "$D/golive.out")"
watched 2 && ok "with key frames for a viewer who comes later" || bad "key frames" "$(tail -3 "$D/golive.out")"
wait "$caller"
api POST "/users/$ALICE/join" "{\"channel_id\":\"$VOICE\"}" >/dev/null
music pause ""
watched 1 && ok "also while the music is paused" || bad "a pause" "$(tail -3 "$D/golive.out")"
asks "stop the video"
answered 'stopped\":true' && ok "a tool ends it" || bad "the stop" "$(turns | tail -1)"
until_ok 10 streaming 0 && ok "and the stream is over" || bad "the stream" "it goes on"
wait "$caller"
is "video in the clear" "$(count $ACCOUNT video_plaintext)" 0
is "control is still there" "$(kill -0 "$control" && echo yes)" yes
report
