#!/bin/sh
# `make smoke`: says in less than a minute whether an installation works, without account or key. Runs control as README does, on
# the simulated Discord, asks one spoken question, and names for each stage the counter that proves it. The first stage that fails
# is where to look: docs/operations.md, "Runbook", has the same counters for a real server.
#
#   BIN=folder    the programs to try: control, mediad, offlined (build)      TOOLS=folder    guildd and caller (build)
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/.." || exit 1
P=${BIN:-build} B=${TOOLS:-build}
D=$(mktemp -d /tmp/parley-smoke-XXXXXX)
. tests/scenarios/common
began=$(date +%s)
# stage NAME COUNTER VALUE LEAST: one line; a value below LEAST fails.
stage() {
	if [ "${3:-0}" -ge "$4" ] 2>/dev/null; then
		passed=$((passed + 1))
		printf 'ok      %-34s %s = %s\n' "$1" "$2" "$3"
	else
		failed=$((failed + 1))
		printf 'FAILED  %-34s %s = %s, at least %s wanted\n' "$1" "$2" "${3:-none}" "$4"
	fi
}
log() { # PATTERN: how many lines of control's log have it
	grep -acE "$1" "$D/control.log"
}
waited() { [ "$(log "$1")" -ge 1 ]; }

for p in control mediad offlined; do
	[ -x "$P/$p" ] || { echo "FAILED  there is no $P/$p"; exit 1; }
done
start_guildd
unset PARLEY_BRAIN_URL
out=$("$P/control" --spawn-mediad="$P/mediad" --state-dir "$D/state" --ca "$CA" --check 2>&1)
stage "the installation is complete" "control --check, lines without \"missing\"" "$(echo "$out" | grep -c '^ok')" "$(($(echo "$out" | grep -c '^missing') > 0 ? 1000 : 1))"
echo "$out" | grep '^missing' && echo "        (these lines say what to do)"

mkdir "$D/out" "$D/brain"
start_mediad caller
PARLEY_LOG_WORDS=1 start control "$P/control" --spawn-mediad="$P/mediad" --state-dir "$D/state" --ca "$CA"
control=$last
until_ok 10 registered
until_ok 20 waited ' embedded_brain '
join $TEXT $VOICE
until_ok 10 waited ' call_state .*phase=up'
until_ok 10 waited ' engine_up | session_started '
sleep 1
ask
until_ok 40 waited ' turn .*reason='
wait $caller
until_ok 3 waited ' turn .*reason=answered'
sleep 1.5 # the counters are kept once a second
stats=$(api GET /stats)
"$P/control" --counters --state-dir "$D/state" >"$D/counters"
# counts STAGE NAME LEAST: a counter of control --counters.
counts() { stage "$1" "$2" "$(awk -v n="$2" '$1 == n { print $2 }' "$D/counters")" "$3"; }
counts "control is logged in" logins 1
stage "its commands are registered" "commands" "$(api GET /bots/$BOT/commands | grep -o '"join"\|"leave"\|"status"' | sort -u | wc -l)" 3
stage "the embedded engine runs" "log embedded_brain" "$(log ' embedded_brain ')" 1
counts "a command was used" commands 1
counts "mediad is connected" mediad_up 1
counts "the bot is in the channel" calls_up 1
counts "the call is encrypted end to end" calls_encrypted 1
stage "it has a privacy code" "log call_secure privacy_code" "$(log ' call_secure .*ready=1 .*privacy_code="[0-9]')" 1
stage "the bot hears" "packets forwarded to it" "$(stream $VOICE "$stats" | field forwarded)" 50
counts "its sound comes to control" frames_heard 50
counts "the question is understood" transcripts 1
counts "it is decided to answer" turns_admitted 1
counts "the answer begins" answers_spoken 1
counts "it is answered" turns_answered 1
stage "the bot speaks" "packets of it" "$(stream $VOICE "$stats" | field ok)" 50
# The caller has a recogniser of its own, which makes mistakes.
said=$(grep -a ' turn .*reason=answered' "$D/control.log" | sed -nE 's/.* said="([^"]*)".*/\1/p' | tr 'A-Z' 'a-z' | tr -cd 'a-z ')
heard=" $(sed -n 's/^caller heard: //p' "$D/ask.out") "
common=0 words=0
for w in $said; do
	words=$((words + 1))
	case $heard in *" $w "*) common=$((common + 1)) ;; esac
done
stage "the caller hears what was said" "percent of the words" "$((words ? 100 * common / words : 0))" 30
kill "$control"
wait "$control"
stage "it leaves when it is stopped" "exit status 0" "$(($? == 0))" 1
echo "in $(($(date +%s) - began)) s"
[ $failed = 0 ] && echo "this installation works" || grep -aE ' (warn|fatal) ' "$D/control.log" | tail -5
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
