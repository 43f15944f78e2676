#!/bin/sh
# The dashboard in headless Chromium against a live conversation: make ui-test. SHOTS=docs takes the pictures of the README.
#
#   tests/dashboard.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-ui-XXXXXX)
. tests/scenarios/common
. tests/scenarios/spoken

# tone FILE HERTZ: a WAV file of two minutes.
tone() {
	perl -e '($hz, $s) = (@ARGV, 120); $n = $s * 16000; binmode STDOUT;
		print pack("a4Va4a4VvvVVvva4V", "RIFF", 36 + 2 * $n, "WAVE", "fmt ", 16, 1, 1, 16000, 32000, 2, 16, "data", 2 * $n);
		print pack("s<", 800 * sin($_ * $hz * 6.2831853 / 16000)) for 0 .. $n - 1' "$2" >"$1"
}
# music SUBCOMMAND QUERY: alice, who is in the channel, asks for a track.
music() {
	api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"music\",\"options\":[{\"name\":\"$1\",\"type\":1,\"options\":[{\"name\":\"query\",\"type\":3,\"value\":\"$2\"}]}]}" >/dev/null
}

tests/interop/modules.sh dashboard
# First against a control that the test plays.
node tests/dashboard/page.mjs >"$D/page.out" 2>&1
is "the page does what it should in what a live conversation does not bring" $? 0
grep -E '^(ok|FAILED) ' "$D/page.out" || cat "$D/page.out"
export PARLEY_LOG_WORDS=1 PARLEY_WEB_LISTEN=127.0.0.1:0 PARLEY_MUSIC_FOLDERS="$D/music"
export PARLEY_KEEP_AUDIO_HOURS=1 PARLEY_KEEP_CONTEXTS=1 PARLEY_ROOM_JOURNALS="$D/rooms"
mkdir -p "$D/rooms"
mkdir -p "$D/music/The Waves"
tone "$D/music/The Waves/Sea Song.wav" 330
tone "$D/music/The Waves/Night Train.wav" 440
tone "$D/music/The Waves/Old Bell.wav" 550
program=$(realpath "$B/tests/mcp_server")
start_guildd
(umask 077; printf 'hush.hush.hush.hush' >"$D/secret")
echo "{\"web_discord_client\": \"$BOT\", \"web_discord_guild\": \"$GUILD\", \"web_discord_secret_file\": \"$D/secret\",
	\"web_discord_page\": \"$PARLEY_DISCORD_API/oauth2/authorize\", \"web_discord_operator\": \"manage_guild\", \"web_discord_viewer\": \"member\",
	\"mcp_servers\": [{\"name\": \"toy\", \"command\": [\"$program\", \"good\"], \"read\": [\"$program\"], \"effects\": \"none\"}]}" >"$D/config.json"
start_brain
start mediad "$B/mediad" --listen "$D/mediad.sock" --ca "$CA" --threads 1 --music-root "$D/music"
until_ok 5 test -S "$D/mediad.sock" || bad start "no mediad"
start_mediad caller
mediad_of_caller=$last
start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" --config "$D/config.json"
control=$last
until_ok 10 registered || bad commands "not registered"
WEB=$(sed -nE 's/.*web_up .*port=([0-9]+).*/\1/p' "$D/control.log" | tail -1)
api PATCH /bots/$BOT "{\"application\":{\"client_secret\":\"hush.hush.hush.hush\",\"redirect_uris\":[\"http://127.0.0.1:$WEB/api/auth/discord/callback\"]}}" >/dev/null
join $TEXT $VOICE
until_ok 10 up $GUILD || bad join "the call is not up"
# So that the views of the memory and the tools have rows: a fact, and the same once more. On a busy machine words get lost.
written() { [ "$(grep -ac ' tool_called .*name=memory_write code=ok' "$D/control.log")" -ge "$1" ]; }
for i in 1 2 3 4 5 6; do written 2 || says "parley remember that my bike is red"; done
written 2 || bad memory "nothing was remembered: $(turns | tail -2)"
link=$(PARLEY_WEB_LISTEN=127.0.0.1:$WEB "$B/control" --sign-in=admin --state-dir "$D/state")
node tests/dashboard/view.mjs "$link" "$D/go" "http://127.0.0.1:$API/users/$ALICE/authorize" >"$D/view.out" 2>&1 &
view=$!
until_ok 180 test -e "$D/go" && ask --quiet 20000
until_ok 120 test -e "$D/go.music" && {
	music play "sea song"
	music add "night train"
	music add "old bell"
}
until_ok 180 test -e "$D/go.alone" && kill "$caller" "$mediad_of_caller"
wait "$view"
is "the page does what it should" $? 0
grep -E '^(ok|FAILED) ' "$D/view.out" || cat "$D/view.out"
is "control is still there" "$(kill -0 "$control" && echo yes)" yes
report
