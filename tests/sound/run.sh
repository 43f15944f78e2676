#!/bin/sh
# The sound instrument (docs/room-score.md): people with synthetic voices talk to the bot through guildd, mediad and control, and what
# the bot did is scored from the recordings.
#
#   tests/sound/run.sh [--items N] [--rooms N] [--half tuned|untouched] [--seed N] [--noise] [--open-mic SECONDS] [--check]
#
# OUT=folder keeps recordings and logs. B=folder of the programs, default: build. ROWS=file gets the rows in place of older ones.
# --check: fails if the bot yields to fewer than half of the takeovers, or to more than half of the backchannels.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
D=${OUT:-$(mktemp -d /tmp/parley-sound-XXXXXX)}
mkdir -p "$D" "$B/voices"
. tests/scenarios/common
[ -z "${OUT:-}" ] || trap 'for p in $started; do kill "$p" 2>/dev/null; done; wait 2>/dev/null' EXIT
items=7 rooms=10 half=tuned seed=1 noise= mic= check=
while [ $# -gt 0 ]; do
	case $1 in
	--items) items=$2 && shift ;;
	--rooms) rooms=$2 && shift ;;
	--half) half=$2 && shift ;;
	--seed) seed=$2 && shift ;;
	--noise) noise=--noise ;;
	--check) check=1 ;;
	--open-mic) mic=$2 && shift ;;
	*) sed -n '2,/^\[/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2 && exit 2 ;;
	esac
	shift
done

"$B/sound" plan --folder "$D" --voices "$B/voices" --wordings "tests/conversations/wordings/$half" --items "$items" --rooms "$rooms" \
	--seed "$seed" ${mic:+--questions} || exit 1
start_guildd ${noise:+--set loss_permille=50 --set seed="$seed"}
# hears and speaks the catalogue, at a time that the table in tests/standins/recognition.h tells; answers after 300 ms.
start hearing "$B/standin" xai --prompts "$D/prompts.tsv" --port-file "$D/hearing.port"
start brain "$B/standin" openai --prompts "$D/prompts.tsv" --script "$D/brain.txt" --port-file "$D/brain.port"
until_ok 30 test -s "$D/hearing.port" && until_ok 30 test -s "$D/brain.port" || { bad start "no stand-ins"; exit 1; }
brain=http://127.0.0.1:$(cat "$D/brain.port")/v1 hearing=http://127.0.0.1:$(cat "$D/hearing.port")/v1
cat >"$D/parley.json" <<END
{"providers": [{"name": "brain", "dialect": "chat", "url": "$brain"}, {"name": "voice", "dialect": "openai", "url": "$brain"},
  {"name": "hearing", "dialect": "xai_stt", "url": "$hearing"}],
 "roles": {"text": ["brain"], "speech": ["voice"], "transcribe": ["hearing"]}, "reply_path": "brain"}
END
start_mediad mediad
PARLEY_GUEST=off PARLEY_LOG_WORDS=1 PARLEY_TURNS="$D/turns" start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" \
	--config "$D/parley.json"
until_ok 15 registered || { bad start "control is not ready"; exit 1; }
"$B/sound" call --folder "$D" --api "http://127.0.0.1:$API" --ca "$CA" --mediad "$B/mediad" --seed "$seed" $noise \
	${mic:+--open-mic "$mic"} 2>"$D/call.log" || { bad call "$(grep -a '^sound' "$D/call.log")"; exit 1; }
rm -f "$D/rows"
"$B/sound_score" --folder "$D" ${noise:+--noise} ${mic:+--open-mic} --rows "$D/rows" | tee "$D/score" || exit 1
if [ "${ROWS:-}" ]; then
	# A new row replaces the older row of the same name.
	touch "$ROWS"
	awk -F'"' 'FILENAME == ARGV[1] { seen[$4] = 1; next } !($4 in seen)' "$D/rows" "$ROWS" >"$D/older"
	cat "$D/older" "$D/rows" >"$ROWS"
fi
# A run in which hardly anything could be played says nothing.
awk '/^energy:/ { exit $(NF - 3) * 2 > $(NF - 1) }' "$D/score" || { bad items "more than half of them could not be played"; exit 1; }
share() { sed -nE "s/.*\"sound_$1\", \"value\": ([0-9.]+).*/\1/p" "$D/rows"; }
for row in ${check:+backchannel yield}; do
	awk -v v="$(share $row)" 'BEGIN { exit v < 0.5 }' && ok "$row: $(share $row)" || bad "$row" "$(share $row), less than half"
done
[ -z "$check" ] || report
