#!/bin/sh
# How much of Discord's main gateway control owns: all of it, voice alone (another program answers the commands), or nothing at all.
#
#   tests/scenarios/gateway.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-gateway-XXXXXX)
. tests/scenarios/common

# run_control GATEWAY: starts it with a channel to join at the start, and a state directory of its own.
run_control() {
	: >"$D/control.log"
	PARLEY_GATEWAY=$1 PARLEY_BRAIN_URL=ws://127.0.0.1:9/ start control "$B/control" --media-sock "$D/mediad.sock" \
		--state-dir "$D/state-$1" --ca "$CA" --config /dev/null --guild $GUILD --channel $VOICE --log debug
	control=$last
}
logged() { grep -qaE "$1" "$D/control.log"; }
stop_control() {
	kill -TERM "$control"
	wait "$control"
	is "it ends in order" $? 0
}

start_guildd
start_mediad mediad

run_control none
until_ok 10 logged gateway_not_owned && ok "none: the log says so" || bad none "no gateway_not_owned"
stop_control
is "none: no Identify" "$(count $BOT main_identified)" 0
is "none: no call, although a channel is given" "$(session $GUILD)" ""
registered && bad none "commands are registered" || ok "none: no commands"

run_control voice
until_ok 10 up $GUILD && ok "voice: it joins" || bad voice "the call is not up"
is "voice: one Identify" "$(count $BOT main_identified)" 1
registered && bad voice "commands are registered" || ok "voice: no commands are registered"
# The commands of another program with this token arrive here, too, and are not answered. session.json has the number of the last event.
cp "$D/state-voice/session.json" "$D/before"
id=$(api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"leave\"}" | field id)
differs() { ! cmp -s "$D/before" "$D/state-voice/session.json"; }
until_ok 10 differs || bad voice "the command did not arrive"
is "voice: a command gets no answer" "$(api GET "/interactions/$id" | grep -c '"content"')" 0
up $GUILD && ok "voice: and the call goes on" || bad voice "the call is not up any more"
stop_control

run_control full
until_ok 10 registered && ok "full: commands are registered" || bad full "no commands"
until_ok 10 up $GUILD && ok "full: it joins" || bad full "the call is not up"
api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"leave\"}" >/dev/null
gone() { [ -z "$(session $GUILD)" ]; }
until_ok 10 gone && ok "full: a command is answered" || bad full "it does not leave"
stop_control
report
