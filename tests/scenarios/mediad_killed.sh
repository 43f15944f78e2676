#!/bin/sh
# mediad is killed in the middle of an answer, as README starts it (--spawn-mediad): the bot is back in the call within 1.5 s and
# goes on with the answer at the sample that was due. Its audio thread has lost real-time priority before: the room learns that, and
# that the next mediad has it.
#
#   tests/scenarios/mediad_killed.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-killed-XXXXXX)
. tests/scenarios/common

start_guildd
start_brain
start_mediad caller
start control "$B/control" --spawn-mediad="$B/mediad" --state-dir "$D/state" --ca "$CA"
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
# sounds: prints the bot's sounds, a line each: first and last packet, in ms since 1970.
sounds() {
	api GET /history | tr '{' '\n' | grep '"sound"' | grep "\"user_id\":\"$BOT\"" | sed -nE 's/.*"from_ms":([0-9]+),"to_ms":([0-9]+).*/\1 \2/p'
}
MEDIAD=$(grep -oE 'child_started program=[^ ]*/mediad pid=[0-9]+' "$D/control.log" | tail -1 | grep -oE '[0-9]+$')
# The kernel sends SIGXCPU to a thread that computes for too long in real time.
for task in /proc/"$MEDIAD"/task/*; do [ "$(cat "$task/comm")" = audio ] && audio=${task##*/}; done
case $(uname -m) in aarch64) tgkill=131 ;; *) tgkill=234 ;; esac
perl -e 'syscall($ARGV[0] + 0, $ARGV[1] + 0, $ARGV[2] + 0, 24)' $tgkill "$MEDIAD" "$audio"
said() { api GET "/channels/$VOICE/messages" | grep -qF "$1"; }
until_ok 5 said "took the priority of my sound away" && ok "the room learns of a lost priority" || bad "the room learns of a lost priority" "$(grep mediad_fault "$D/control.log")"
unprioritized() { "$B/control" --health --state-dir "$D/state" | grep -q "lost real-time priority"; }
until_ok 5 unprioritized && ok "control --health says so, too" || bad "control --health says so, too" "$("$B/control" --health --state-dir "$D/state")"
ask
until_ok 25 told "the bot begins to speak" || bad "the bot answers" "$(tail -1 "$D/ask.out")"
sleep 1
killed=$(date +%s%3N)
kill -9 "$MEDIAD"
until_ok 10 sh -c "grep -q 'child_started.*mediad' '$D/control.log'"
back() { sounds | awk -v k="$killed" '$1 > k { print $1 - k; found = 1; exit } END { exit !found }' >"$D/back"; }
until_ok 10 back || bad "the answer goes on" "no sound after the kill"
within "the time without sound, in ms" "$(cat "$D/back")" 1 1500
wait $caller
is "the caller hears the answer to its end" $? 0
sleep 0.3
played=$(sounds | awk '{ n += $2 - $1 } END { print n }')
echo "silent for $(cat "$D/back") ms, sound for $played ms in all; $(tail -4 "$D/ask.out" | head -2 | tr '\n' ' ')"
until_ok 5 said "My sound has its priority back" && ok "the room learns that the priority is back" || bad "the room learns that the priority is back" "$(grep mediad_ "$D/control.log" | tail -3)"
is "each once" "$(grep -c "mediad_fault .*code=6" "$D/control.log") $(grep -c mediad_real_time "$D/control.log")" "1 1"
is "and the turn is answered" "$(grep -c 'turn .*reason=answered' "$D/control.log")" 1
is "the same main session" "$(count $BOT main_identified)" 1
report
