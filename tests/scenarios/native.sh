#!/bin/sh
# The reply path native while another person speaks: two members talk at the same time, one of them to the bot. The voice model gets
# the samples of that one, all of them and nobody else's. A stand-in that is the voice model records what it receives, another
# one what the recogniser receives of each member.
#
#   tests/scenarios/native.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-native-XXXXXX)
. tests/scenarios/common
BOB=502

start_guildd
start_brain
hears=$(echo "$PARLEY_BRAIN_URL" | sed -E 's,.*:([0-9]+)/.*,\1,')
unset PARLEY_BRAIN_URL
start_mediad bot
start_mediad caller
start_mediad other
# standin NAME [OPTION]…: its port goes to $port.
standin() {
	local name=$1
	shift
	start "$name" "$B/standin" openai --record "$D/record-$name" "$@"
	until_ok 10 grep -qs '"port"' "$D/$name.out" || bad "$name" "no stand-in"
	port=$(field port <"$D/$name.out")
}
# What the voice model answers does not matter here; the recogniser hears real words.
echo 'commit * transcript what time is it' >"$D/voice.script"
standin voice --script "$D/voice.script"
voice=$port
standin recogniser --offlined "$hears"
cat >"$D/config.json" <<END
{"providers": [{"name": "voice", "dialect": "openai", "url": "http://127.0.0.1:$voice/v1"},
               {"name": "recogniser", "dialect": "openai", "url": "http://127.0.0.1:$port/v1"}],
 "roles": {"voice": ["voice"], "transcribe": ["recogniser"]}, "reply_path": "native"}
END
start control env PARLEY_LOG_WORDS=1 PARLEY_ASR_WAIT_MS=60000 "$B/control" --media-sock "$D/bot.sock" --state-dir "$D/state" --ca "$CA" \
	--config "$D/config.json"
until_ok 10 registered && until_ok 10 grep -aq mediad_synced "$D/control.log" || bad control "it did not start"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad join "the bot did not join"

# says NAME USER VOICE SOCKET TEXT: a member, in the background.
says() {
	mkdir "$D/$1"
	"$B/caller" --api "http://127.0.0.1:$API" --media-sock "$D/$4.sock" --offlined "$B/offlined" --record "$D/record-voice" \
		--out "$D/$1" --guild $GUILD --channel $VOICE --user "$2" --bot $BOT --voice "$3" --say "$5" --wait 60 --line "60000 bye" \
		>"$D/$1.out" 2>&1 &
	started="$started $!"
}
says bob $BOB slt caller "did you see the match on sunday it was really the best match of the whole year and everybody was there"
says alice $ALICE rms other "parley what time is it"
answered() { grep -aq " turn .*user=$ALICE .*stage=ended.* reason=answered" "$D/control.log"; }
until_ok 90 answered && ok "the one who asked was answered" || bad answer "none"

# arrived NAME FILE: whether what this member said stands within the samples.
arrived() { "$B/caller" --wav "$D/$1/question.wav" --arrived "$2" >/dev/null; }
mine='' theirs=''
for f in "$D"/record-recogniser/item_*.pcm; do
	if arrived alice "$f"; then mine=$f; elif arrived bob "$f"; then theirs=$f; fi
done
[ -n "$mine" ] && ok "the recogniser heard the one who asked" || bad recogniser "it did not hear Alice"
[ -n "$theirs" ] && ok "and the other one" || bad recogniser "it did not hear Bob"
# Both talked at the same time: from the first to the last append of their sessions.
span() { # item_SESSION_N.pcm: "FIRST LAST" in ms
	grep "\"link\": *$(basename "$1" | cut -d_ -f2)[,}]" "$D/record-recogniser/events.jsonl" | grep 'input_audio_buffer.append' |
		sed -nE 's/.*"at": *([0-9]+)[0-9]{6}[,}].*/\1/p' | sed -n '1p;$p' | tr '\n' ' '
}
both=$(echo "$(span "$mine") $(span "$theirs")" |
	awk '{ first = $1 > $3 ? $1 : $3; last = $2 < $4 ? $2 : $4; print int(last - first) }')
within "ms in which both talked" "$both" 1000 60000
# A question that was asked again is there again.
sent=0
for f in "$D"/record-voice/item_*.pcm; do
	[ -s "$f" ] || continue
	sent=$((sent + 1))
	cmp -s "$f" "$mine" && ok "the voice model got exactly the samples of the one who asked" ||
		bad samples "$(wc -c <"$f") bytes were sent, $(wc -c <"$mine") heard, or others"
	arrived alice "$f" && ok "which are what was said" || bad said "another sound"
	arrived bob "$f" && bad others "what the other member said was sent as well" || ok "and hold nothing of the other member"
done
within "questions that were sent as sound" $sent 1 4
report
