#!/bin/sh
# Streams of Discord ("Go Live"), watched by the real programs with the account of a person: off unless go_live and its token are set; then
# a member's stream is listed, watched by a tool, and its key frames are decoded in the jail of framed and reach the model. The stream shows a
# number; a stand-in of OpenAI's realtime API decodes the picture that it received and says it, so its answers prove which frame it saw.
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
start_mediad bob
start_mediad caller

# The gate: a token alone does nothing.
start_control
until_ok 20 up "$GUILD" || bad "the call" "it is not up"
is "a token without go_live connects nowhere" "$(count $ACCOUNT main_identified)" 0
kill "$control"
wait "$control" 2>/dev/null
export PARLEY_GO_LIVE=true
"$B/control" --check --config "$D/config.json" --state-dir "$D/check" --ca "$CA" >"$D/checked" 2>&1
grep -q 'terms forbid to' "$D/checked" && ok "--check says what Discord forbids" || bad "--check" "$(cat "$D/checked")"
start_control
until_ok 20 logged ' golive_ready account=700' && ok "with both the account connects" || bad "the account" "$(grep -a golive "$D/control.log")"
logged ' golive_on .*terms forbid' && ok "and the log warns" || bad "the warning" "none"
until_ok 20 up "$GUILD" || bad "the call" "it is not up"

mkfifo "$D/numbers"
"$B/streamer" --api "http://127.0.0.1:$API" --media-sock "$D/bob.sock" --ca "$CA" --guild "$GUILD" --channel "$VOICE" --user "$BOB" \
	--number $first --codec "$codec" <"$D/numbers" >"$D/streamer.out" 2>"$D/streamer.log" &
started="$started $!"
exec 7>"$D/numbers"
until_ok 10 grep -q '^streams' "$D/streamer.out" || bad "bob" "no stream: $(cat "$D/streamer.log")"
is "nobody watches bob yet" "$(viewers)" 0
# What is written may be of strangers, so a tool with effects runs for what is said.
asked=0
ask --wait 30 --say "parley look at bob"
answered 'watching\":true' && ok "a tool watches it" || bad "the tool" "$(turns | tail -1)"
until_ok 10 watched 1 && ok "the account is among its viewers" || bad "the viewer" "$(grep -a golive "$D/control.log" | tail -5)"
until_ok 20 more_frames 0 && ok "key frames are decoded" || bad "frames" "$(grep -a golive "$D/control.log" | tail -5)"
wait "$caller"
api POST "/users/$ALICE/join" "{\"channel_id\":\"$VOICE\"}" >/dev/null
asks "what number do you see"
answered "I see the number $first" && ok "the model saw the number $first" || bad "the answer" "$(turns | tail -1)"
echo $second >&7
until_ok 10 shown $second || bad "bob" "$(cat "$D/streamer.out")"
n=$(frames)
until_ok 10 more_frames $((n + 1)) || bad "frames" "they do not come"
asks "what number do you see"
answered "I see the number $second" && ok "the model saw the number $second" || bad "the second answer" "$(turns | tail -1)"
asks "stop looking"
until_ok 10 watched 0 && ok "a tool ends it" || bad "the end" "$(viewers)"
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
