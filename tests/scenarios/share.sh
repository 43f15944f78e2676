#!/bin/sh
# A member shows a screen, through the real programs: the link comes by /share to the member alone, the first browser that opens it keeps
# it, pictures are decoded in the jail of imaged, and every refusal has the reason of the seeds. Hostile pictures end with a reason. No
# token, key or picture is in the log or the database, and none of a picture in a core of control after the share has ended, also when a model was
# asked about it.
# rules 115
#
#   tests/scenarios/share.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-share-XXXXXX)
. tests/scenarios/common
BOB=502

# web METHOD PATH BODY-FILE FIELD…: one request to control; the status is in $D/status, the head in $D/head, the body is printed.
web() {
	local method=$1 path=$2 body=$3 line n=0
	shift 3
	[ -z "$body" ] || n=$(stat -c %s "$body")
	exec 4<>"/dev/tcp/127.0.0.1/$WEB" || return 1
	{
		printf '%s %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n' "$method" "$path" "$WEB"
		[ "$method" = GET ] || printf 'Content-Length: %d\r\n' "$n"
		[ $# = 0 ] || printf '%s\r\n' "$@"
		printf '\r\n'
		[ -z "$body" ] || cat "$body"
	} >&4 2>/dev/null
	IFS= read -r line <&4
	echo "$line" | cut -d' ' -f2 >"$D/status"
	while IFS= read -r line <&4; do
		[ "$line" = $'\r' ] && break
		echo "${line%$'\r'}"
	done >"$D/head"
	cat <&4
	exec 4>&-
}
status() { cat "$D/status"; }
# share WHAT PATH BODY-FILE FIELD…: a request of the share $token by the browser with $cookie; the code of the answer.
post() {
	local path=$1 body=$2
	shift 2
	web POST "/api/voice/share-session/$token/$path" "$body" "Origin: http://127.0.0.1:$WEB" ${cookie:+"Cookie: $cookie"} "$@" >"$D/answer"
	echo "$(status) $(field error <"$D/answer")"
}
frame() { post frame "$1" "Content-Type: ${2:-image/png}"; }
# command: alice uses /share; the answer is in $D/reply, the token in $token.
share() {
	local id
	id=$(api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"share\"}" | field id)
	until_ok 5 replied "$id" || bad "/share" "no answer: $(cat "$D/reply")"
	token=$(grep -oE '/share/[A-Za-z0-9_-]{24}' "$D/reply" | head -1 | cut -c8-)
}
replied() {
	api GET "/interactions/$1" >"$D/reply"
	grep -qE '"content": ?"[^"]' "$D/reply"
}
frames() { grep -ac ' stream_watch_frame_ingested ' "$D/control.log"; }
reached() { [ "$(frames)" -ge "$1" ]; }
# png FILE WIDTH HEIGHT GREY: a grey picture with a mark of its own, not compressed, so that its bytes can be found.
png() {
	perl -MCompress::Zlib -e '
		my ($w, $h, $grey) = @ARGV;
		my $row = "\0" . ("PARLEYSCREEN" . chr($grey)) x ($w / 13 + 1);
		$row = substr($row, 0, $w + 1);
		sub chunk { my ($name, $data) = @_; pack("N", length $data) . $name . $data . pack("N", crc32($name . $data)) }
		binmode STDOUT;
		print "\x89PNG\r\n\x1a\n", chunk("IHDR", pack("NNC5", $w, $h, 8, 0, 0, 0, 0)),
			chunk("IDAT", compress($row x $h, 0)), chunk("IEND", "");' "$2" "$3" "$4" >"$1"
}

# seen PID: how often the picture that was shown last is in the memory of the process: as it came and as it is kept, in base64 as well.
seen() {
	found_in "$1" "png=text:PARLEYSCREEN" "png64=text:UEFSTEVZU0NSRUVO" "jpeg=$jpeg" "jpeg64=text:$jpeg64"
}
# Alice is there without a key, so nobody hears the answer.
asked() { grep -q 'data:image/jpeg' "$D/record-eyes/events.jsonl"; }
over() { grep -aqE ' turn .*stage=ended' "$D/control.log"; }

make -s build/tests/search-memory || exit 1
export PARLEY_SHARE_FRAMES_PER_MINUTE=20 PARLEY_SHARE_FRAME_BYTES=350000 PARLEY_WEB_LISTEN=127.0.0.1:0 PARLEY_SHARE_INGEST_TOKEN_FILE="$D/ingest"
(umask 077; printf 'ingest.ingest.ingest' >"$D/ingest")
start_guildd
start_brain
unset PARLEY_BRAIN_URL
: >"$D/eyes.script"
start_standin eyes openai
echo "{\"providers\":[{\"name\":\"eyes\",\"dialect\":\"openai\",\"url\":\"http://127.0.0.1:$port/v1\"}],\"roles\":{\"voice\":[\"eyes\"],\"transcribe\":[\"eyes\"]},
	\"answer_audio\":\"own\"}" >"$D/config.json"
start_mediad mediad
mediad=$last
start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" --config "$D/config.json" --log debug
control=$last
until_ok 20 registered || bad commands "not registered"
WEB=$(sed -nE 's/.*web_up .*port=([0-9]+).*/\1/p' "$D/control.log" | tail -1)
png "$D/one.png" 520 290 0
png "$D/two.png" 520 290 200
png "$D/large.png" 1040 340 7
cookie=

share
is "without the bot there is no link" "$token" ""
grep -q 'join me in a voice channel first' "$D/reply" && ok "and the member is told what to do" || bad reply "$(cat "$D/reply")"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad join "the call is not up"
api POST "/users/$ALICE/join" "{\"channel_id\":\"$VOICE\"}" >/dev/null
share
is "the link has 18 random bytes" "${#token}" 24
is "the model takes pictures, so nothing says that nobody sees" "$(grep -c 'No model of mine' "$D/reply")" 0
grep -qE '"flags": ?64' "$D/reply" && ok "which the member alone sees" || bad flags "$(cat "$D/reply")"
first=$token
share
is "it is the same when it is asked for again" "$token" "$first"
until_ok 5 grep -qa ' screen_share_session_reused ' "$D/control.log" && ok "which is told" || bad reused "no event"

# The page is the same for every token, so a preview of the link opens nothing.
page=$(web GET "/share/$token" "")
is "the page" "$(status) $(echo "$page" | grep -c 'Share screen')" "200 1"
is "with the strict policy" "$(grep -c "^Content-Security-Policy: default-src 'none'; script-src 'self'" "$D/head")" 1
is "a picture before the link is opened" "$(frame "$D/one.png")" "403 share_session_taken"
token=AAAAAAAAAAAAAAAAAAAAAAAA
is "an unknown token" "$(post open "")" "404 share_session_not_found"
is "its picture" "$(frame "$D/one.png")" "404 share_session_not_found"
token=$first
is "another site opens it" "$(web POST "/api/voice/share-session/$token/open" "" "Origin: http://evil.example" | field error)" cross_origin
is "its browser opens it" "$(post open "")" "200 "
cookie=$(sed -nE 's/^Set-Cookie: (parley_share=[^;]*);.*/\1/p' "$D/head")
is "with a cookie for this share alone" "$(grep -cE "^Set-Cookie: parley_share=[A-Za-z0-9_-]{24}; Path=/api/voice/share-session/$token; HttpOnly; SameSite=Strict$" "$D/head")" 1
is "and again" "$(post open "")" "200 "
key=$cookie cookie=
is "another browser is too late" "$(post open "")" "403 share_session_taken"
is "its picture is refused" "$(frame "$D/one.png")" "403 share_session_taken"
cookie=parley_share=AAAAAAAAAAAAAAAAAAAAAAAA
is "with a guessed cookie, too" "$(frame "$D/one.png")" "403 share_session_taken"
cookie=parley_share=$token
is "the token is no cookie" "$(frame "$D/one.png")" "403 share_session_taken"
cookie=$key

is "a picture" "$(frame "$D/one.png")" "200 "
until_ok 5 reached 1 && ok "is decoded" || bad frames "$(frames)"
until_ok 5 grep -qa " screen_share_share_start .*user=$ALICE" "$D/control.log" && ok "the room is told that a screen is shown" || bad shown "no event"
is "what is too large" "$(frame "$D/large.png")" "413 frame_too_large"
is "a type that is none of a picture" "$(frame "$D/one.png" text/html)" "415 invalid_mime_type"
head -c 200 "$D/one.png" >"$D/cut.png"
is "a damaged picture is taken" "$(frame "$D/cut.png")" "200 "
sleep 0.5
post state "" "Content-Type: application/json" >/dev/null
echo '{"paused":false}' >"$D/on"
is "the page learns what was wrong with it" "$(post state "$D/on" "Content-Type: application/json") $(grep -c 'damaged or incomplete' "$D/answer")" "200  1"
is "what is no picture" "$(frame tests/scenarios/share.sh)" "415 invalid_mime_type"
sleep 2
is "the next one" "$(frame "$D/two.png")" "200 "
until_ok 5 reached 2 && ok "is decoded as ever" || bad frames "$(frames)"
until_ok 5 grep -qa ' stream_watch_note_updated ' "$D/control.log" && ok "there is a note about the change" || bad note "none"
api POST "/users/$ALICE/leave" >/dev/null
refused() { [[ $(frame "$D/one.png") = *requester* ]]; }
until_ok 5 refused
is "who left the channel is refused" "$(frame "$D/one.png")" "403 requester_not_in_same_vc"
is "and is told so at each word" "$(post state "$D/on" "Content-Type: application/json")" "403 requester_not_in_same_vc"
other=$(api POST "/guilds/$GUILD/channels" '{"type":"voice","name":"other"}' | field id)
api POST "/users/$ALICE/join" "{\"channel_id\":\"$other\"}" >/dev/null
until_ok 5 grep -qaE " screen_share_share_stop .*why=away" "$D/control.log" && ok "the room is told" || bad away "no event"
is "who is in another channel, too" "$(frame "$D/one.png")" "403 requester_not_in_same_vc"
api POST "/users/$ALICE/move" "{\"channel_id\":\"$VOICE\"}" >/dev/null
wants() { post state "$D/on" "Content-Type: application/json" >/dev/null; grep -oE '"wants": ?[a-z]*' "$D/answer" | grep -oE '[a-z]*$'; }
back() { [ "$(wants)" = true ]; }
until_ok 5 back && ok "the page learns that its picture was wiped" || bad wiped "$(cat "$D/answer")"
taken() { [[ $(frame "$D/one.png") = 200* ]]; }
until_ok 5 taken && ok "and is back with the bot" || bad back "$(frame "$D/one.png")"
has() { [ "$(wants)" = false ]; }
until_ok 5 has && ok "and that the bot has one again" || bad "the new one" "$(cat "$D/answer")"

# Pictures of other programs.
ingest() {
	printf '{"guildId":"%s","streamerUserId":"%s","mimeType":"image/png","dataBase64":"%s"}' $GUILD "$1" "$(base64 -w0 "$D/one.png")" >"$D/ingested"
	web POST /api/voice/stream-ingest/frame "$D/ingested" "Content-Type: application/json" "X-Public-Api-Token: $2" >"$D/answer"
	echo "$(status) $(field error <"$D/answer")"
}
is "a program without the token" "$(ingest $ALICE wrong)" "401 unauthorized"
# One picture is decoded at a time; meanwhile the answer is 503.
ingested() { [ "$(ingest $ALICE ingest.ingest.ingest)" = "200 " ]; }
until_ok 10 ingested && ok "a program with the token" || bad "a program with the token" "$(ingest $ALICE ingest.ingest.ingest)"
is "of a person who is not watched" "$(ingest $BOB ingest.ingest.ingest)" "403 target_user_mismatch"

read -r jpeg jpeg64 <<<"$(kept imaged 0 "$D/one.png")"
post state "$D/on" "Content-Type: application/json" >/dev/null
api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$VOICE\",\"name\":\"ask\",\"options\":[{\"name\":\"question\",\"type\":3,\"value\":\"what do you see\"},{\"name\":\"voice\",\"type\":5,\"value\":true}]}" >/dev/null
until_ok 20 asked && ok "a model is asked about it, with the picture" || bad "the question" "$(tail -3 "$D/control.log")"
until_ok 60 over || bad "the question" "its turn does not end"
within "the picture is in the memory of control" "$(seen "$control")" 1 100000
for i in $(seq 60); do
	last_answer=$(frame "$D/one.png")
	[ "${last_answer%% *}" != 429 ] || break
done
is "too many pictures in a minute" "$last_answer" "429 frame_rate_limited"
is "the end" "$(post stop "")" "200 "
is "ends it" "$(frame "$D/one.png")" "404 share_session_not_found"
until_ok 5 grep -qaE ' screen_share_session_stopped .*why=stopped' "$D/control.log" && ok "which is told" || bad stopped "no event"

# What is left of the share.
# What is under way to the model ends with its connection.
sleep 2
n=$(seen "$control")
is "no picture is in the memory of control" "$n" 0
[ "$n" = 0 ] || cut -c1-300 "$D/found"
n=$((n + $(seen "$mediad")))
is "nor in that of mediad" "$n" 0
for pid in $(pgrep -P "$control" imaged); do n=$((n + $(seen "$pid"))); done
is "nor in that of imaged" "$n" 0
echo "frames_kept $n"
# Somebody else was faster, and shows something: a new link shuts them out.
share
thief=$token cookie=
is "somebody else opens a link" "$(post open "")" "200 "
cookie=$(sed -nE 's/^Set-Cookie: (parley_share=[^;]*);.*/\1/p' "$D/head")
starts=$(grep -ca " screen_share_share_start " "$D/control.log") ends=$(grep -ca " screen_share_share_stop " "$D/control.log")
is "and shows something" "$(frame "$D/one.png")" "200 "
told() { [ "$(grep -ca " screen_share_share_$1 " "$D/control.log")" -gt "$2" ]; }
until_ok 5 told start "$starts" || bad shown "no event"
share
[ ${#token} = 24 ] && [ "$token" != "$thief" ] && ok "a new link is another one" || bad "a new link" "$token"
until_ok 5 told stop "$ends" && ok "what they showed is over" || bad over "no event"
again=$token token=$thief
is "their page is over" "$(frame "$D/two.png")" "404 share_session_not_found"
token=$again
is "their cookie opens nothing" "$(frame "$D/two.png")" "403 share_session_taken"
cookie=
is "the member opens it" "$(post open "")" "200 "
# Whoever refuses to be heard is not watched either.
share
answer_consent() { api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"consent\",\"options\":[{\"name\":\"answer\",\"type\":3,\"value\":\"$1\"}]}" >/dev/null; }
stopped() { [ "$(grep -caE ' screen_share_session_stopped .*why=stopped' "$D/control.log")" -ge "$1" ]; }
stops=$(grep -caE ' screen_share_session_stopped .*why=stopped' "$D/control.log")
answer_consent neither
until_ok 5 stopped $((stops + 1)) && ok "a share ends with its member's consent" || bad "consent" "it goes on"
share
grep -q 'I do not read what you write' "$D/reply" && [ -z "$token" ] && ok "and there is no other" || bad "consent" "$(cat "$D/reply")"
for secret in "$first" "${key#parley_share=}" ingest.ingest.ingest; do
	grep -qa -- "$secret" "$D"/control.log "$D"/guildd.log "$D"/state/* 2>/dev/null && bad "a secret" "it is in a log or a file"
done
grep -qa PARLEYSCREEN "$D"/control.log "$D"/state/* 2>/dev/null && bad "a picture" "it is in a log or a file" || ok "nothing of it is in a log or a file"
is "control is still there" "$(kill -0 "$control" && echo yes)" yes
report
