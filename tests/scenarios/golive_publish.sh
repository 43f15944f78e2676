#!/bin/sh
# A video that the bot shows as a stream ("Go Live"), by the real programs with the account of a person: a tool of the voice conversation opens
# the file in the decoders' jail, the account announces the stream, and somebody with a mediad of their own watches it under DAVE. Every frame
# that the viewer gets is one of the film, byte for byte, although the file keeps H.264 in another form, and its sound is heard with it. What cannot be shown announces no
# stream and says why; a stop, the end of the file and the bot's leaving end the stream. Events tell its begin and its end, the list of
# screens has it, and the chat learns of an end that nobody asked for.
#
#   tests/scenarios/golive_publish.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-publish-XXXXXX)
. tests/scenarios/common
BOB=602 ACCOUNT=700 FILMS=tests/data/golive
. tests/scenarios/shown
needs golive film_file

created() { count $ACCOUNT golive_created; }
# watched CODEC FILM [every] [FRAMES]: what bob got goes to $D/golive.out.
watched() {
	local codec=$1 film=$2
	shift 2
	"$B/golive" "$GATEWAY" "$CA" $GUILD $VOICE "$codec" "$film" user:$ACCOUNT bob.token - "$D/bob.sock" "$@" >"$D/golive.out" 2>&1
}
start_control() {
	start control "$B/control" --media-sock "$D/mediad.sock" --guild "$GUILD" --channel "$VOICE" --state-dir "$D/state" --ca "$CA" \
		--config "$D/config.json" --log debug
	control=$last
}
# page TEXT: the dashboard has this of what the bot shows.
page() {
	local port=$(sed -nE 's/.*web_up .*port=([0-9]+).*/\1/p' "$D/control.log" | tail -1)
	exec 4<>"/dev/tcp/127.0.0.1/$port" || return 1
	printf 'GET /api/rooms HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\nAuthorization: Bearer %s\r\n\r\n' "$port" "$(cat "$D/state/web-token")" >&4
	tr '{' '\n' <&4 >"$D/rooms"
	exec 4>&-
	grep -a '"kind":"video"' "$D/rooms" | grep -qaF -- "$1"
}

mkdir "$D/films" "$D/more" "$D/web"
for film in "h264 film.h264 h264.mov sound" "vp8 film.vp8.ivf vp8.webm" "av1 film.av1.ivf av1.webm"; do
	set -- $film
	"$B/film_file" "$1" "$FILMS/$2" "$D/films/$3" 20 ${4:-} || bad "$3" "it was not made"
done
"$B/film_file" h264 "$FILMS/film.h264" "$D/web/short.mp4" 1 || bad short.mp4 "it was not made"
mv "$D/films/vp8.webm" "$D/more/"
printf 'no video at all' >"$D/films/text.mp4"

perl -MIO::Socket::INET -e '
	my ($dir, $s) = (shift, IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1")); $| = 1; print $s->sockport, "\n";
	while (my $c = $s->accept) {
		my ($from, $name, $line) = (0, ""); $line = <$c>; $name = $1 if $line && $line =~ m{^GET /(\S+\.mp4)};
		while (defined($line = <$c>) && $line =~ /\S/) { $from = $1 if $line =~ /^Range: bytes=(\d+)-/i; }
		my $all = ""; if (open(my $f, "<", "$dir/$name")) { local $/; $all = <$f>; }
		my $part = substr($all, $from);
		print $c $all eq "" ? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" :
			sprintf("HTTP/1.1 206 Partial Content\r\nContent-Type: video/mp4\r\nContent-Length: %d\r\nContent-Range: bytes %d-%d/%d\r\nConnection: close\r\n\r\n%s",
			length $part, $from, length($all) - 1, length $all, $part);
		close $c;
	}' "$D/web" >"$D/web.port" &
started="$started $!"
until_ok 5 test -s "$D/web.port" || bad "the web server" "did not start"
web=127.0.0.1:$(cat "$D/web.port")

start_guildd
GATEWAY=$(field gateway <"$D/ready")
start_brain
unset PARLEY_BRAIN_URL
answers=$(cat <<-END
	answer show the first => call play_video_url {"url":"file:h264.mov"}
	answer show the second => call play_video_url {"url":"file:vp8.webm","includeAudio":false}
	answer show the third => call play_video_url {"url":"file:av1.webm"}
	answer show the text => call play_video_url {"url":"file:text.mp4"}
	answer show the short one => call play_video_url {"url":"http://$web/short.mp4"}
	answer show what is missing => call play_video_url {"url":"http://$web/missing.mp4"}
	answer stop the video => call stop_video_share {}
	answer which screens => call list_screen_shares {}
	END
)
brain "show the first"
cat >"$D/config.json" <<-END
	{"music_folders": "$D/films:$D/more", "music_web": true, "web_read_allowed": "$web", "text_chat": "all",
	 "providers": [{"name": "eyes", "dialect": "openai", "url": "http://127.0.0.1:$port/v1"}],
	 "roles": {"voice": ["eyes"], "transcribe": ["eyes"]}, "answer_audio": "own"}
END
add_people
start_bot_mediad() {
	rm -f "$D/mediad.sock"
	start mediad "$B/mediad" --listen "$D/mediad.sock" --ca "$CA" --threads 1 --music-root "$D/films" --music-root "$D/more" --music-address "$web"
	mediad=$last
	until_ok 5 test -S "$D/mediad.sock" || bad start "no mediad"
}
start_bot_mediad
start_mediad bob
start_mediad caller

# The gate: without go_live there is no such tool.
start_control
until_ok 20 up "$GUILD" || bad "the call" "it is not up"
api POST "/users/$ALICE/join" "{\"channel_id\":\"$VOICE\"}" >/dev/null
asked=0
api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$VOICE\",\"name\":\"ask\",\"options\":[{\"name\":\"question\",\"type\":3,\"value\":\"show the first\"},{\"name\":\"voice\",\"type\":5,\"value\":true}]}" >/dev/null
sleep 3
is "without go_live nothing is shown" "$(created) $(grep -ac ' golive_show ' "$D/control.log")" "0 0"
kill "$control"
wait "$control" 2>/dev/null
export PARLEY_GO_LIVE=true PARLEY_WEB_LISTEN=127.0.0.1:0
heard=$(sessions_begun)
start_control
until_ok 20 logged ' golive_ready account=700' || bad "the account" "$(grep -a golive "$D/control.log")"
until_ok 20 up "$GUILD" || bad "the call" "it is not up"
hears

shown_film() { # WORDS CODEC FILM [FRAMES sound]
	asks "$1"
	answered 'playing\":true' && ok "$2: a tool shows it" || bad "$2: the tool" "$(turns | tail -1) $(grep -a golive "$D/control.log" | tail -3)"
	watched "$2" "$FILMS/$3" every ${4:-45} ${5:-} && ok "$2: bob sees it, byte for byte ($(tail -1 "$D/golive.out"))" || bad "$2: what bob sees" "$(tail -3 "$D/golive.out")"
	wait "$caller"
}
shown_film "show the first" h264 film.h264 120 sound
page '"title":"h264.mov"' && page '"askedByName":"Alice"' && ok "h264: the dashboard names it and who asked" || bad "h264: the dashboard" "$(cat "$D/rooms")"
ok "h264: with its sound, of which each tone begins with its frame"
watched h264 "$FILMS/film.h264" 2 &
late=$!
until_ok 20 page '"viewers":1' && ok "h264: the dashboard counts its viewer" || bad "h264: viewers" "$(cat "$D/rooms")"
wait "$late" && ok "h264: key frames for a viewer who comes later" || bad "h264: key frames" "$(tail -3 "$D/golive.out")"
# A new mediad opens the film in its middle: picture and sound begin with the key frame before it.
n=$(grep -ac ' golive_show_lease .*err=0' "$D/control.log")
kill -KILL "$mediad"
wait "$mediad" 2>/dev/null
start_bot_mediad
renewed() { [ "$(grep -ac ' golive_show_lease .*err=0' "$D/control.log")" -gt "$n" ]; }
until_ok 20 renewed && ok "h264: it outlives a mediad" || bad "h264: a new mediad" "$(grep -a golive "$D/control.log" | tail -4)"
watched h264 "$FILMS/film.h264" every 120 sound && ok "h264: and its sound is with its picture again ($(tail -1 "$D/golive.out"))" || bad "h264: the sound behind a new mediad" "$(tail -3 "$D/golive.out")"
until_ok 20 up "$GUILD" || bad "the call" "it is not up again"
stopped() { # CODEC
	asks "stop the video"
	answered 'stopped\":true' && ok "$1: a tool ends it" || bad "$1: the stop" "$(turns | tail -1)"
	until_ok 10 streaming 0 && ok "$1: and the stream is over" || bad "$1: the stream" "it goes on"
	wait "$caller"
}
stopped h264
shown_film "show the second" vp8 film.vp8.ivf
stopped vp8

n=$(created)
asks "show the text"
answered 'playing\":false' && turns | tail -1 | grep -aqF 'format is not supported' && ok "a file that is none says so" || bad "the text" "$(turns | tail -1)"
wait "$caller"
# The bot was told titles of films by now: it opens only addresses that a person gave.
asks "show what is missing"
answered 'after words of others' && ok "an address that nobody gave is not opened" || bad "an address of the model's own" "$(turns | tail -1)"
wait "$caller"
where=$VOICE
writes "$ALICE" "http://$web/missing.mp4"
writes "$ALICE" "http://$web/short.mp4"
sleep 1
asks "show what is missing"
answered 'playing\":false' && turns | tail -1 | grep -aqF 'server refused the request' && ok "a file that is missing says so" || bad "what is missing" "$(turns | tail -1)"
wait "$caller"
is "and no stream was announced for them" "$(created)" "$n"

asks "show the short one"
answered 'playing\":true' && ok "an address of the web is shown" || bad "the web" "$(turns | tail -1) $(grep -a golive "$D/control.log" | tail -3)"
"$B/golive" "$GATEWAY" "$CA" $GUILD $VOICE h264 "$FILMS/film.h264" user:$ACCOUNT bob.token - "$D/bob.sock" every 100000 >"$D/short.out" 2>&1 &
bob=$!
started="$started $bob"
until_ok 20 logged ' golive_show_ended .*it is over' && ok "and ends with the file" || bad "the end" "$(grep -a golive "$D/control.log" | tail -3)"
until_ok 10 streaming 0 && ok "with its stream" || bad "the stream" "it goes on"
page '"state":"over"' && page '"why":"it is over"' && ok "and the dashboard says why" || bad "the dashboard" "$(cat "$D/rooms")"
kill "$bob" 2>/dev/null
wait "$caller"

ends() { grep -a ' video_share_stop ' "$D/control.log" | tail -1; }
written() { [ "$(for c in $TEXT $VOICE; do api GET "/channels/$c/messages"; done | grep -oF "$1" | wc -l)" = "$2" ]; }
ends | grep -q ' kind=video why="it is over"' && ok "an event tells its end" || bad "the event" "$(ends)"
written "The video that I showed" 0 && ok "and the chat is not told what was to be expected" || bad "the chat" "it is told"

shown_film "show the third" av1 film.av1.ivf
asks "which screens"
answered 'own\":{\"kind\":\"video\",\"state\":\"' && turns | tail -1 | grep -aqF 'askedBy\":\"Alice' && ok "the list of screens has the bot's own" || bad "the list" "$(turns | tail -1)"
wait "$caller"
starts=$(grep -ac ' video_share_start ' "$D/control.log")
api POST "/users/$ACCOUNT/kick" '{}' >/dev/null
until_ok 10 logged ' golive_show_ended .*the stream was ended' && ok "a moderator throws the account out" || bad "thrown out" "$(grep -a golive "$D/control.log" | tail -3)"
until_ok 5 written "The video that I showed has ended: the stream was ended from outside" 1 && ok "the chat is told once that the video has ended" || bad "the chat" "it is not told"
ends | grep -q ' why="the stream was ended"' && ok "and an event tells why" || bad "the event" "$(ends)"
is "events of the begin, one for each film" "$starts" 4

shown_film "show the third" av1 film.av1.ivf
api POST "/users/$ALICE/join" "{\"channel_id\":\"$VOICE\"}" >/dev/null
api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"leave\"}" >/dev/null
until_ok 20 logged ' golive_show_ended .*left the voice channel' && ok "it ends where the bot leaves" || bad "leaving" "$(grep -a golive "$D/control.log" | tail -3)"
is "video in the clear" "$(count $ACCOUNT video_plaintext)" 0
grep -qa -- guildd.person.token "$D"/*.log "$D"/state/* && bad "the token" "it is in a log or a file" || ok "the token is in no log and no file"
is "control is still there" "$(kill -0 "$control" && echo yes)" yes
report
