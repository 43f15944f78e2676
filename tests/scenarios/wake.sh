#!/bin/sh
# A voice session that nobody uses is closed, and its history reaches the next one: a member tells the bot a code word, the session
# is closed as idle, and the question for the word is answered by a session that knows only what it was given at its start.
#
#   tests/scenarios/wake.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-wake-XXXXXX)
. tests/scenarios/common

start_guildd
start_mediad bot
start_mediad caller
mkdir "$D/brain" "$D/out"
# standin NAME: hears the words of its script; its port goes to $port.
standin() {
	start "$1" "$B/standin" openai --script "$D/script" --record "$D/record-$1"
	until_ok 10 grep -qs '"port"' "$D/$1.out" || bad "$1" "no stand-in"
	port=$(field port <"$D/$1.out")
}
echo "commit 1 transcript parley the code word is swan
commit 2 transcript parley what is the code word" >"$D/script"
standin voice
voice=$port
standin recogniser
cat >"$D/config.json" <<END_OF_CONFIG
{"providers": [{"name": "voice", "dialect": "openai", "url": "http://127.0.0.1:$voice/v1"},
               {"name": "recogniser", "dialect": "openai", "url": "http://127.0.0.1:$port/v1"}],
 "roles": {"voice": ["voice"], "transcribe": ["recogniser"]}, "reply_path": "bridge", "voice_idle_s": 2}
END_OF_CONFIG
start control env PARLEY_LOG_WORDS=1 PARLEY_ASR_WAIT_MS=60000 "$B/control" --media-sock "$D/bot.sock" --state-dir "$D/state" --ca "$CA" \
	--config "$D/config.json"
until_ok 10 registered && until_ok 10 grep -aq mediad_synced "$D/control.log" || bad control "it did not start"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad join "the bot did not join"

# says TEXT: alice says it and waits for an answer.
says() {
	"$B/caller" --api "http://127.0.0.1:$API" --media-sock "$D/caller.sock" --offlined "$B/offlined" --record "$D/brain" \
		--out "$D/out" --guild $GUILD --channel $VOICE --user $ALICE --bot $BOT --say "$1" --wait 60 --line "60000 bye" \
		>>"$D/caller.txt" 2>&1 &
	caller=$!
	started="$started $caller"
}
leaves() {
	kill "$caller" 2>/dev/null
	wait "$caller" 2>/dev/null
}
turns() { grep -acE " turn .*stage=ended.* reason=answered" "$D/control.log"; }
answered() { [ "$(turns)" -ge "$1" ]; }
# sessions: the connections of the voice model that were opened; closed: those that were closed.
sessions() { grep -ac '"what":"open"' "$D/record-voice/events.jsonl"; }
closed() { [ "$(grep -ac '"what":"closed"' "$D/record-voice/events.jsonl")" -ge 1 ]; }

says "parley the code word is swan"
until_ok 60 answered 1 && ok "the code word was told" || bad told "no answer"
told=$(sessions)
until_ok 60 closed && ok "the idle session was closed" || bad idle "the session is still open"
leaves
is "and is not opened again before it is needed" "$(sessions)" "$told"
says "parley what is the code word"
until_ok 60 answered 2 && ok "a question wakes it" || bad wake "no answer"
within "in a session of its own" "$(sessions)" $((told + 1)) $((told + 2))
grep -aE ' turn .*stage=ended.* reason=answered' "$D/control.log" | tail -1 | grep -aq 'said="[^"]*swan' &&
	ok "it answers from what the session before was told" ||
	bad history "$(grep -aE ' turn .*stage=ended' "$D/control.log" | tail -1 | grep -aoE 'said="[^"]*"')"
leaves
report
