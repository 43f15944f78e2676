#!/bin/sh
# Speculative generation in a pause, through the real programs: a member asks and pauses. control asks the provider before the end of
# the turn is certain and plays the answer once it is; if the member continues, no sound of that answer is played. If the bot leaves in
# the middle of an answer, the turn ends.
#
#   tests/scenarios/early.sh [build folder]      default: build
#   COMPARE=1    also without speculative generation
#
# The joined words are one sentence of the stand-in's grammar: it hears the sound of the whole utterance once more for its answer.
# The endpointing delay is four seconds here, so that the order of events does not depend on the speed of this machine.
# slow: runs in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-early-XXXXXX)
. tests/scenarios/common
END_MS=4000

# u32 N: four bytes, least first.
u32() { printf "\\x$(printf %02x $(($1 & 255)))\\x$(printf %02x $(($1 >> 8 & 255)))\\x$(printf %02x $(($1 >> 16 & 255)))\\x$(printf %02x $(($1 >> 24)))"; }
speak() { "$B/offlined" --speak "$1" --voice rms -o "$D/one.wav" && tail -c +45 "$D/one.wav"; }
silence() { head -c $(($1 * 48)) /dev/zero; }
# wav FILE: s16 mono at 24 kHz from stdin.
wav() {
	local n
	cat >"$D/pcm"
	n=$(wc -c <"$D/pcm")
	{
		printf RIFF
		u32 $((n + 36))
		printf 'WAVEfmt '
		u32 16
		printf '\1\0\1\0'
		u32 24000
		u32 48000
		printf '\2\0\20\0data'
		u32 "$n"
		cat "$D/pcm"
	} >"$1"
}
# run NAME WAV SETTINGS…: plays the recording to a new control; its turns go to NAME.turns, the caller's timeline to NAME.told.
run() {
	local name=$1 wav=$2
	shift 2
	env "$@" PARLEY_TURNS="$D/$name.turns" PARLEY_EOT_END_SHARE=0 PARLEY_SILENCE_MS=$END_MS PARLEY_END_LONG_MS=$END_MS PARLEY_END_MIDDLE_MS=$END_MS \
		PARLEY_CAPTURE_IDLE_MS=8000 PARLEY_ASR_WAIT_MS=30000 "$B/control" --media-sock "$D/mediad.sock" \
		--guild $GUILD --channel $VOICE --state-dir "$D/$name" --ca "$CA" >>"$D/control.log" 2>&1 </dev/null &
	last=$!
	started="$started $last"
	"$B/caller" --api "http://127.0.0.1:$API" --media-sock "$D/caller.sock" --offlined "$B/offlined" --record "$D/brain" \
		--out "$D/out" --guild $GUILD --channel $VOICE --user $ALICE --bot $BOT --wav "$wav" >"$D/$name.told" 2>&1
	kill "$last"
	wait "$last"
}
ended() { grep -a '"stage":"ended"' "$D/$1.turns" | grep -a "\"reason\":\"$2\"" | tail -1; }
# value TURN RULE: prints the value of a decision.
value() { echo "$1" | tr '{' '\n' | sed -nE "s/.*\"rule\":\"$2\".*\"value\":(-?[0-9]+).*/\\1/p" | tail -1; }
# figure TURN: prints the ms from the end of speech to the first sound, as control measured them.
figure() { echo "$1" | sed -nE 's/.*"first_audio_ms":([0-9]+).*/\1/p'; }

start_guildd
start_brain
start_mediad mediad
start_mediad caller
speak "parley what time is it" | wav "$D/asks.wav"
{
	speak "parley what time is it"
	silence 2800
	speak "please parley"
} | wav "$D/goes-on.wav"

if [ "${COMPARE:-}" ]; then
	run late "$D/asks.wav" PARLEY_SPECULATIVE=off
	late=$(ended late answered)
	within "without it the provider is asked when the utterance has ended" "$(value "$late" asked)" $END_MS 60000
	echo "end of speech to first sound without it: $(figure "$late") ms, $END_MS of them silence"
fi

run early "$D/asks.wav" PARLEY_SPECULATIVE=auto
early=$(ended early answered)
within "with it in the pause" "$(value "$early" asked)" 200 $((END_MS - 1))
is "by a probability that the record shows" "$([ "$(value "$early" eot_probability)" -ge 600 ] && echo yes)" yes
within "its sound waits until the utterance has ended" "$(figure "$early")" $END_MS 60000
is "the utterance was admitted by the same rule" "$(value "$early" direct_address)" 1
echo "end of speech to first sound: $(figure "$early") ms, $END_MS of them silence"

run goes-on "$D/goes-on.wav" PARLEY_SPECULATIVE=auto
revoked=$(ended goes-on eot_revoked)
is "continued speech rolls the speculative answer back" "$([ -n "$revoked" ] && echo yes)" yes
is "without a sound of it" "$(echo "$revoked" | grep -c '"said":""') $(grep -c 'bot begins to speak' "$D/goes-on.told")" "1 1"
is "the whole utterance is answered" "$(ended goes-on answered | grep -c '"heard":".*time.*please')" 1

# ---- a turn that is active when the bot leaves ----
# talking NAME: starts a control and waits until it is in the middle of an answer.
talking() {
	rm -f "$D/out"/*
	PARLEY_TURNS=$D/$1.turns start "$1" "$B/control" --media-sock "$D/mediad.sock" --guild $GUILD --channel $VOICE \
		--state-dir "$D/$1" --ca "$CA"
	control=$last
	ask
	until_ok 90 grep -qs '"stage":"speaking"' "$D/$1.turns" || bad "$1" "the bot does not speak"
}
over() { grep -qa '"reason":"shutdown"' "$D/$1.turns"; }

talking stopped
kill "$control"
wait "$control"
is "a stopped control exits with status 0" $? 0
over stopped && ok "its turn has ended and is recorded" || bad "turn" "has no end"
is "once, and its session" "$(ended stopped shutdown | wc -l) $(grep -ca 'session_over .*why=shutdown' "$D/stopped.log")" "1 1"
kill "$caller" 2>/dev/null
wait "$caller" 2>/dev/null

talking left
api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"leave\"}" >/dev/null
until_ok 10 over left && ok "so is the turn of a bot that is told to leave" || bad "turn" "has no end"
is "once, and its session for this reason" "$(ended left shutdown | wc -l) $(grep -ca 'session_over .*why=nl_leave' "$D/left.log")" "1 1"
kill "$control"
wait "$control"
report
