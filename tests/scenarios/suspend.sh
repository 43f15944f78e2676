#!/bin/sh
# control is suspended (SIGTSTP) while two rooms wait for answers: both requests are aborted at the provider, control stops, and
# after SIGCONT it answers again.
#
#   tests/scenarios/suspend.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-suspend-XXXXXX)
. tests/scenarios/common
BOB=502

start_guildd
start_brain
hears=$(echo "$PARLEY_BRAIN_URL" | sed -E "s,.*:([0-9]+)/.*,\1,")
unset PARLEY_BRAIN_URL
new_guild Second
api POST "/guilds/$NEW/members" "{\"user_id\":\"$BOB\"}" >/dev/null
start_mediad bot
start_mediad caller
start_mediad other
printf 'response 1 delay 60000\nresponse 2 delay 60000\n' >"$D/writer.script"
start writer "$B/standin" chat --script "$D/writer.script" --record "$D/record"
until_ok 10 grep -qs '"port"' "$D/writer.out" || bad writer "no stand-in"
cat >"$D/config.json" <<END
{"providers": [{"name": "writer", "dialect": "chat", "url": "http://127.0.0.1:$(field port <"$D/writer.out")/v1"},
               {"name": "rest", "dialect": "embedded", "url": "http://127.0.0.1:$hears/v1"}],
 "roles": {"text": ["writer"], "speech": ["rest"], "transcribe": ["rest"]}, "reply_path": "brain"}
END
start control env PARLEY_LOG_WORDS=1 PARLEY_SPECULATIVE=off PARLEY_NOT_ANSWERING_MS=60000 PARLEY_FIRST_AUDIO_MS=60000 \
	PARLEY_ASR_WAIT_MS=60000 "$B/control" --media-sock "$D/bot.sock" --state-dir "$D/state" --ca "$CA" --config "$D/config.json"
control=$last
until_ok 10 registered && until_ok 10 grep -aq mediad_synced "$D/control.log" || bad control "it did not start"
join $TEXT $VOICE
join "$NEW_TEXT" "$NEW_VOICE"
until_ok 10 up $GUILD && until_ok 10 up "$NEW" || bad join "the bot did not join"

# says NAME SOCKET GUILD CHANNEL USER: a member asks, in the background.
says() {
	mkdir -p "$D/$1"
	"$B/caller" --api "http://127.0.0.1:$API" --media-sock "$D/$2.sock" --offlined "$B/offlined" --record "$D/record" \
		--out "$D/$1" --guild "$3" --channel "$4" --user "$5" --bot $BOT --wait 120 --say "parley what time is it" \
		--line "60000 bye" >"$D/$1.out" 2>&1 &
	caller=$!
	started="$started $caller"
}
requests() { [ "$(grep -c '"what": *"request"' "$D/record/events.jsonl")" -ge "$1" ]; }
aborted() { grep -c '"what": *"aborted"' "$D/record/events.jsonl"; }
ended() { grep -acE " turn .*stage=ended.* reason=$1 " "$D/control.log"; }
stopped() { grep -q 'State:.T' "/proc/$control/status"; }
says alice caller $GUILD $VOICE $ALICE
alice=$caller
says bob other "$NEW" "$NEW_VOICE" $BOB
until_ok 60 requests 2 || bad requests "both rooms have not asked"
is "nothing is aborted before" "$(aborted)" 0
kill -TSTP "$control"
both() { [ "$(aborted)" = 2 ]; }
until_ok 5 both
is "both requests are aborted at the provider" "$(aborted)" 2
until_ok 5 stopped && ok "control has stopped" || bad control "it runs on"
kill -CONT "$control"
both() { [ "$(ended suspended)" = 2 ]; }
until_ok 5 both
is "both turns ended as suspended" "$(ended suspended)" 2
kill "$alice"
wait "$alice" 2>/dev/null
says again caller $GUILD $VOICE $ALICE
answered() { [ "$(ended answered)" -ge 1 ]; }
until_ok 60 answered && ok "a new question is answered" || bad answer "none after it was continued"
report
