#!/bin/sh
# Export of metrics and traces by OTLP, through the real program and a strict receiver: a conversation arrives as metrics and as the
# trace of its turn without words and ids, 503 is tried again, a collector that never answers delays nothing and is not waited for at
# the end, and without the setting nothing is sent.
#
#   tests/scenarios/exported.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-exported-XXXXXX)
. tests/scenarios/common
# A busy machine recognises slowly.
export PARLEY_ASR_WAIT_MS=60000

requests() { [ "$(grep -c "^$1" "$D/otlp/log" 2>/dev/null)" -ge "$2" ]; }
run_control() {
	: >"$D/control.log"
	start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" --log debug "$@"
	control=$last
	until_ok 20 registered || bad commands "not registered"
}

mkdir "$D/otlp"
(umask 077; echo hush.hush.hush.hush >"$D/token")
start receiver perl tests/standins/otlp_receiver.pl "$D/otlp" hush.hush.hush.hush
until_ok 5 test -s "$D/receiver.out" || { bad receiver "it is not there"; exit 1; }
port=$(head -1 "$D/receiver.out")
start_guildd
start_brain
start_mediad mediad
start_mediad caller
export PARLEY_OTLP_ENDPOINT=http://127.0.0.1:$port PARLEY_OTLP_TOKEN_FILE="$D/token" PARLEY_OTLP_SECONDS=1
run_control --journal "$D/journal"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad join "the call is not up"
# On a busy machine words get lost.
for i in 1 2 3; do ask; wait "$caller" && break; done
is "alice has her answer" $? 0
until_ok 20 requests 'ok /v1/metrics' 3 || bad metrics "$(tail -3 "$D/otlp/log")"
turn() { grep -q '^ok /v1/traces.*invoke_agent_parley' "$D/otlp/log"; }
until_ok 20 turn && ok "the turn arrives as a trace" || bad traces "$(grep traces "$D/otlp/log" | tail -3)"
is "nothing is malformed" "$(grep -c '^bad' "$D/otlp/log")" 0
grep '^bad' "$D/otlp/log" | head -3
for name in speech speech_to_text model playback; do
	grep -q "^ok /v1/traces.* $name\( \|$\)" "$D/otlp/log" && ok "with its $name" || bad traces "no $name"
done
for name in parley.turn_first_audio parley.turn_stage parley.turns_ended parley.voice_sessions parley.cost; do
	grep '^ok /v1/metrics' "$D/otlp/log" | tail -1 | grep -qF " $name" && ok "$name" || bad metrics "no $name"
done
is "no id and no word is in it" "$(grep -cE "$GUILD|$VOICE|\"$ALICE\"|alice|what can you" "$D/otlp/bodies")" 0
before=$(grep -c '^ok /v1/metrics' "$D/otlp/log")
echo 503 >"$D/otlp/mode"
again() { requests later 1 && requests 'ok /v1/metrics' $((before + 2)); }
until_ok 20 again && ok "503 is tried again" || bad again "$(tail -3 "$D/otlp/log")"
echo hang >"$D/otlp/mode"
until_ok 20 requests hung 1 || bad hang "it does not hang"
begin=$(date +%s)
kill -TERM "$control"
wait "$control"
is "it ends in order" $? 0
within "and does not wait for a collector that is silent" "$(($(date +%s) - begin))" 0 4
"$B/control" --log fatal --replay "$D/journal" >"$D/again" 2>"$D/again.log"
is "it runs again to the same digest" "$? $(cmp -s "$D/control.out" "$D/again" && echo same)" "0 same"
"$B/control" --log fatal --no-subscribers --replay "$D/journal" >"$D/again" 2>"$D/again.log"
is "without subscribers, too" "$? $(cmp -s "$D/control.out" "$D/again" && echo same)" "0 same"
is "no token is in journal or log" "$(grep -cae hush.hush "$D/journal" "$D/control.log" | grep -vc ':0$')" 0
rm "$D/otlp/mode"
sent=$(wc -l <"$D/otlp/log")
unset PARLEY_OTLP_ENDPOINT
run_control
sleep 3
is "without the setting nothing is sent" "$(wc -l <"$D/otlp/log")" "$sent"
kill -TERM "$control"
wait "$control"
report
