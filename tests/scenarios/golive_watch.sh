#!/bin/sh
# Streams of Discord ("Go Live"), watched by the real programs with the account of a person: off unless go_live and its token are set; then
# a member's stream is listed, watched by a tool when that member asks for it, and its key frames are decoded in the jail of framed and reach
# the model. The stream shows a number; a stand-in of OpenAI's realtime API decodes the picture that it received and says it, so its answers prove
# which frame it saw. A member who is blocked is not watched any more, and a token of a bot is none of a person.
# rules 115
#
#   tests/scenarios/golive_watch.sh [build folder] [codec]      default: build, h264; vp8 and av1 as well
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
codec=${2:-h264}
D=$(mktemp -d /tmp/parley-watch-XXXXXX)
. tests/scenarios/common
needs streamer standin caller
BOB=502 ACCOUNT=700
export PARLEY_LOG_WORDS=1 PARLEY_ASR_WAIT_MS="${PARLEY_ASR_WAIT_MS:-10000}" PARLEY_GO_LIVE_TOKEN_FILE="$D/account"
(umask 077; printf 'guildd.person.token' >"$D/account")
first=$((RANDOM % 9000 + 1000))
second=$(((first + 1 + RANDOM % 8000) % 9000 + 1000))

turns() { grep -aE ' turn .*stage=ended' "$D/control.log" | grep -aE ' reason=answered'; }
# asks WORDS: alice asks in the voice conversation; answered TEXT: and the answer to it has this.
asks() {
	asked=$(turns | wc -l)
	api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$VOICE\",\"name\":\"ask\",\"options\":[{\"name\":\"question\",\"type\":3,\"value\":\"$1\"},{\"name\":\"voice\",\"type\":5,\"value\":true}]}" >/dev/null
}
told_more() { [ "$(turns | wc -l)" -gt "$asked" ]; }
answered() { until_ok 20 told_more && turns | tail -1 | grep -aqF -- "$1"; }
shown() { grep -q "^shows $1 " "$D/streamer.out"; }
frames() { grep -ac ' stream_watch_frame_ingested ' "$D/control.log"; }
more_frames() { [ "$(frames)" -gt "$1" ]; }
logged() { grep -qaE "$1" "$D/control.log"; }
viewers() { api GET /stats | grep -oE '"viewer_ids":\[[^]]*\]' | grep -c "\"$ACCOUNT\""; }
watched() { [ "$(viewers)" = "$1" ]; }
account_in() { api GET /world | grep -oE '"voice_states": ?\[[^]]*\]' | grep -c "\"$ACCOUNT\""; }
start_control() {
	start control "$B/control" --media-sock "$D/mediad.sock" --guild "$GUILD" --channel "$VOICE" --state-dir "$D/state" --ca "$CA" \
		--config "$D/config.json" --log debug
	control=$last
}

make -s build/tests/search-memory || exit 1
start_guildd
start_brain
unset PARLEY_BRAIN_URL
cat >"$D/standin.script" <<-END
	commit * transcript parley look at bob
	answer which screens => call list_screen_shares {}
	answer look at bob => call start_screen_watch {"target":"bob"}
	answer stop looking => call stop_screen_watch {}
END
start standin "$B/standin" openai --script "$D/standin.script" --record "$D/brain"
until_ok 10 grep -qs '"port"' "$D/standin.out" || bad "the stand-in" "it did not start"
cat >"$D/config.json" <<-END
	{"providers": [{"name": "eyes", "dialect": "openai", "url": "http://127.0.0.1:$(field port <"$D/standin.out")/v1"}],
	 "roles": {"voice": ["eyes"], "transcribe": ["eyes"]}, "answer_audio": "own"}
END
api POST /bots "{\"id\":\"$ACCOUNT\",\"name\":\"scout\",\"token\":\"guildd.person.token\",\"person\":true}" >/dev/null
api POST /users "{\"id\":\"$BOB\",\"name\":\"bob\"}" >/dev/null
for user in $ACCOUNT $BOB; do api POST "/guilds/$GUILD/members" "{\"user_id\":\"$user\"}" >/dev/null; done
start_mediad mediad
mediad=$last
start_mediad bob
start_mediad caller

# The gate: a token alone does nothing.
start_control
until_ok 20 up "$GUILD" || bad "the call" "it is not up"
is "a token without go_live connects nowhere" "$(count $ACCOUNT main_identified)" 0
kill "$control"
wait "$control" 2>/dev/null
export PARLEY_GO_LIVE=true
# start_refused TOKEN WHAT: with this token in the file.
start_refused() {
	(umask 077; printf %s "$1" >"$D/account")
	: >"$D/control.log"
	start_control
	until_ok 20 logged ' golive_refused ' && ok "$2" || bad "a bot's token" "$(grep -a golive "$D/control.log")"
	until_ok 20 up "$GUILD" || bad "the call" "it is not up"
	kill "$control"
	wait "$control" 2>/dev/null
}
(umask 077; printf %s "$DISCORD_TOKEN" >"$D/account")
"$B/control" --check --config "$D/config.json" --state-dir "$D/check" --ca "$CA" >"$D/checked" 2>&1
grep -q "holds the bot's own token" "$D/checked" && ok "--check notices the bot's own token" || bad "--check" "$(cat "$D/checked")"
start_refused "$DISCORD_TOKEN" "the bot's own token is refused before it connects"
api POST /bots '{"id":"701","name":"other","token":"guildd.other.token"}' >/dev/null
api POST "/guilds/$GUILD/members" '{"user_id":"701"}' >/dev/null
start_refused guildd.other.token "that of another bot is refused once Discord says what it is"
(umask 077; printf 'guildd.person.token' >"$D/account")
: >"$D/control.log"
"$B/control" --check --config "$D/config.json" --state-dir "$D/check" --ca "$CA" >"$D/checked" 2>&1
grep -q 'terms forbid to' "$D/checked" && ok "--check says what Discord forbids" || bad "--check" "$(cat "$D/checked")"
start_control
until_ok 20 logged ' golive_ready account=700' && ok "with both the account connects" || bad "the account" "$(grep -a golive "$D/control.log")"
logged ' golive_on .*terms forbid' && ok "and the log warns" || bad "the warning" "none"
until_ok 20 up "$GUILD" || bad "the call" "it is not up"

mkfifo "$D/numbers"
"$B/streamer" --api "http://127.0.0.1:$API" --media-sock "$D/bob.sock" --ca "$CA" --guild "$GUILD" --channel "$VOICE" --user "$BOB" \
	--number $first --codec "$codec" --out "$D/frame" <"$D/numbers" >"$D/streamer.out" 2>"$D/streamer.log" &
started="$started $!"
exec 7>"$D/numbers"
until_ok 10 grep -q '^streams' "$D/streamer.out" || bad "bob" "no stream: $(cat "$D/streamer.log")"
is "nobody watches bob yet" "$(viewers)" 0
# What is written may be of strangers, so a tool with effects runs for what is said.
asked=0
ask --wait 30 --say "parley look at bob"
answered 'Only the person whose screen it is' && ok "nobody else has it watched" || bad "the tool" "$(turns | tail -1)"
is "and it is not" "$(viewers)" 0
wait "$caller"
# bob_asks: bob says the words of the script.
bob_asks() {
	asked=$(turns | wc -l)
	echo say >&7
	answered 'watching\":true'
}
# written WORDS N: they stand there N times.
written() { [ "$(for c in $TEXT $VOICE; do api GET "/channels/$c/messages"; done | grep -oi "$1" | wc -l)" -ge "$2" ]; }
# An account without the right to join gets no answer of Discord.
api PUT "/channels/$VOICE/overwrites/$ACCOUNT" '{"type":"member","allow":"0","deny":"1048576"}' >/dev/null
bob_asks && turns | tail -1 | grep -qF 'sees\":false' && ok "a stream that has just been asked for is not seen yet" || bad "the tool" "$(turns | tail -1)"
until_ok 20 written 'cannot see the stream of bob' 1 && ok "that nothing is seen of it is told in writing" || bad "the failure" "$(grep -a golive "$D/control.log" | tail -5)"
api PUT "/channels/$VOICE/overwrites/$ACCOUNT" '{"type":"member","allow":"0","deny":"0"}' >/dev/null
bob_asks && ok "when bob asks, a tool watches it" || bad "the tool" "$(turns | tail -1)"
until_ok 10 watched 1 && ok "the account is among its viewers" || bad "the viewer" "$(grep -a golive "$D/control.log" | tail -5)"
until_ok 20 more_frames 0 && ok "key frames are decoded" || bad "frames" "$(grep -a golive "$D/control.log" | tail -5)"
until_ok 5 written 'look at the stream of bob' 2 && ok "and the room is told in writing" || bad "the room" "it is not told"
# block USERS: the setting, in the file.
block() {
	sed -E 's/^\{("blocked_users": "[0-9]*", )?/{"blocked_users": "'"$1"'", /' "$D/config.json" >"$D/config.new" && cp "$D/config.new" "$D/config.json"
	kill -HUP "$control"
}
block $BOB
until_ok 5 watched 0 && ok "who is blocked is not watched any more" || bad "a blocked member" "$(grep -a golive "$D/control.log" | tail -5)"
block ""
sleep 1
bob_asks && until_ok 10 watched 1 && ok "and is again when he asks, who is not blocked any more" || bad "again" "$(turns | tail -1)"
n=$(frames)
until_ok 20 more_frames "$n" || bad "frames" "$(grep -a golive "$D/control.log" | tail -5)"
api POST "/users/$ALICE/join" "{\"channel_id\":\"$VOICE\"}" >/dev/null
asks "what number do you see"
answered "I see the number $first" && ok "the model saw the number $first" || bad "the answer" "$(turns | tail -1)"
echo $second >&7
until_ok 10 shown $second || bad "bob" "$(cat "$D/streamer.out")"
n=$(frames)
until_ok 10 more_frames $((n + 1)) || bad "frames" "they do not come"
asks "what number do you see"
answered "I see the number $second" && ok "the model saw the number $second" || bad "the second answer" "$(turns | tail -1)"
# What is looked for: the key frame and the JPEG that was made of it, in base64 as well.
case $codec in h264) number=1 ;; vp8) number=2 ;; *) number=3 ;; esac
read -r frame frame64 <<<"$(piece "$D/frame" $(($(stat -c %s "$D/frame") / 6 * 3)))"
read -r jpeg jpeg64 <<<"$(kept framed $number "$D/frame")"
framed=$(pgrep -P "$control" framed)
seen() { found_in "$1" "frame=$frame" "frame64=text:$frame64" "jpeg=$jpeg" "jpeg64=text:$jpeg64"; }
within "the picture is in the memory of control" "$(seen "$control")" 1 100000
asks "stop looking"
until_ok 10 watched 0 && ok "a tool ends it" || bad "the end" "$(viewers)"
until_ok 20 told_more || bad "the end" "no answer"
sleep 1
asks "what number do you see"
answered "I see no number" && ok "and the model has forgotten what it saw" || bad "what it saw" "$(turns | tail -1)"
sleep 2
n=0
for of in "control $control" "framed $framed" "mediad $mediad"; do
	k=$(seen "${of#* }")
	is "no picture is in the memory of ${of% *}" "$k" 0
	[ "$k" = 0 ] || cut -c1-300 "$D/found"
	n=$((n + k))
done
echo "frames_kept $n"
n=$(frames)
sleep 2
is "and no frame comes any more" "$(frames)" "$n"
is "the account has left the channel" "$(account_in)" 0
asks "which screens are there"
answered 'state\":\"streaming' && ok "the stream is listed" || bad "the list" "$(turns | tail -1)"
grep -qa -- guildd.person.token "$D"/*.log "$D"/state/* && bad "the token" "it is in a log or a file" || ok "the token is in no log and no file"
is "control is still there" "$(kill -0 "$control" && echo yes)" yes
exec 7>&-
report
