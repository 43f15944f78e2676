#!/bin/sh
# How a stream of the account ("Go Live") ends, by the real programs. It has the encryption that its voice channel's call had: Discord cannot
# make it go out in the clear, unless the setting e2ee is prefer, and then the room is told. A rate limit ends it for good, and no other
# one begins for a minute.
#
#   tests/scenarios/golive_lost.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-lost-XXXXXX)
. tests/scenarios/common
ACCOUNT=700 FILMS=tests/data/golive
. tests/scenarios/shown
needs film_file

settings_read() { grep -ac ' settings_read ' "$D/control.log"; }
read_again() { [ "$(settings_read)" -gt "$settings_n" ]; }
setting() { # e2ee: in the file, which control reads again
	sed -E 's/"e2ee": "[a-z]*"/"e2ee": "'"$1"'"/' "$D/config.json" >"$D/config.new" && cp "$D/config.new" "$D/config.json"
	settings_n=$(settings_read)
	kill -HUP "$control"
	until_ok 20 read_again || bad "the settings" "they are not read again"
}
told() { for c in $TEXT $VOICE; do api GET "/channels/$c/messages"; done | grep -qF -- "$1"; }
in_clear() { count $ACCOUNT video_plaintext; }
sessions() { grep -ac ' golive_show_lease .*err=0' "$D/control.log"; }
close() { api POST /users/$ACCOUNT/close "{\"which\":\"voice\",\"code\":$1}" >/dev/null; }
golive_log() { grep -a golive "$D/control.log" | tail -4; }

mkdir "$D/films"
"$B/film_file" vp8 "$FILMS/film.vp8.ivf" "$D/films/vp8.webm" 60 || bad vp8.webm "it was not made"
start_guildd
start_brain
unset PARLEY_BRAIN_URL
answers=$(cat <<-END
	answer show the film => call play_video_url {"url":"file:vp8.webm","includeAudio":false}
	answer stop the video => call stop_video_share {}
	END
)
brain "show the film"
cat >"$D/config.json" <<-END
	{"music_folders": "$D/films", "e2ee": "require",
	 "providers": [{"name": "eyes", "dialect": "openai", "url": "http://127.0.0.1:$port/v1"}],
	 "roles": {"voice": ["eyes"], "transcribe": ["eyes"]}, "answer_audio": "own"}
END
api POST /bots "{\"id\":\"$ACCOUNT\",\"name\":\"account\",\"token\":\"guildd.person.token\",\"person\":true}" >/dev/null
api POST "/guilds/$GUILD/members" "{\"user_id\":\"$ACCOUNT\"}" >/dev/null
start mediad "$B/mediad" --listen "$D/mediad.sock" --ca "$CA" --threads 1 --music-root "$D/films"
until_ok 5 test -S "$D/mediad.sock" || bad start "no mediad"
start_mediad caller
export PARLEY_GO_LIVE=true
start control "$B/control" --media-sock "$D/mediad.sock" --guild "$GUILD" --channel "$VOICE" --state-dir "$D/state" --ca "$CA" \
	--config "$D/config.json" --log debug
control=$last
until_ok 20 logged ' golive_ready account=700' || bad "the account" "$(golive_log)"
until_ok 20 up "$GUILD" || bad "the call" "it is not up"
until_ok 20 logged ' call_secure .*version=1' || bad "the call" "it is not encrypted"
api POST "/users/$ALICE/join" "{\"channel_id\":\"$VOICE\"}" >/dev/null
hears

CLEAR="The stream is not end-to-end encrypted" REFUSED="The stream would not be end-to-end encrypted"
switch '{"dave_version":0}'
n=$(sessions)
asks "show the film"
answered 'playing\":false' && turns | tail -1 | grep -aqF 'would not be end-to-end encrypted' && ok "a stream in the clear is none, where the call is encrypted" ||
	bad "a stream in the clear" "$(turns | tail -1) $(golive_log)"
until_ok 5 told "$REFUSED" && ok "the room is told" || bad "the room" "it is not told"
until_ok 5 streaming 0 || bad "the stream" "it goes on"
sleep 3
is "and it is not tried again" "$(($(sessions) - n)) $(in_clear)" "1 0"
wait "$caller"

setting prefer
asks "show the film"
answered 'playing\":true' && ok "with e2ee at prefer it goes out" || bad "prefer" "$(turns | tail -1) $(golive_log)"
until_ok 2 told "$CLEAR" && ok "and the room is told that it is in the clear" || bad "the room" "it is not told"
n=$(sessions)
setting require
until_ok 5 streaming 0 && ok "with require again it ends" || bad "require again" "$(golive_log)"
sleep 2
is "and is not tried again" "$(sessions)" "$n"
wait "$caller"

switch '{"dave_version":1}'
asks "show the film"
answered 'playing\":true' || bad "an encrypted stream" "$(turns | tail -1) $(golive_log)"
wait "$caller"
n=$(sessions)
close 4006
renewed() { [ "$(sessions)" -gt "$n" ]; }
until_ok 10 renewed && until_ok 5 streaming 1 && ok "a film outlives a session that is invalid" || bad "4006" "$(golive_log)"
sleep 2
n=$(sessions)
close 4021
until_ok 5 streaming 0 && ok "a rate limit ends a stream" || bad "4021" "$(golive_log)"
until_ok 5 told "Discord asked me to slow down, so I ended the stream" && ok "and the room is told" || bad "the room" "it is not told"
sleep 3
asks "show the film"
answered 'playing\":false' && turns | tail -1 | grep -aqF 'in a minute' && ok "none is shown in the minute after it" || bad "the minute" "$(turns | tail -1) $(golive_log)"
is "and Discord is not asked" "$(sessions)" "$n"
wait "$caller"
report
