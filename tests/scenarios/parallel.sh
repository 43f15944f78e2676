#!/bin/sh
# The call and the provider's session are opened at the same time: the session is up while Discord still keeps the call waiting.
#
#   tests/scenarios/parallel.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-parallel-XXXXXX)
. tests/scenarios/common

start_guildd
start_brain
start_mediad bot
start control "$B/control" --media-sock "$D/bot.sock" --state-dir "$D/state" --ca "$CA"
until_ok 10 registered && until_ok 10 grep -aq mediad_synced "$D/control.log" || bad control "it did not start"
said() { grep -acE "$1" "$D/control.log"; }
engine_up() { [ "$(said 'engine_up .*role=voice')" -ge 1 ]; }

# op 2 of the voice gateway, Ready, comes after 4 s.
api POST "/users/$BOT/faults" '{"op":2,"what":"delay","times":1,"ms":4000}' >/dev/null
join $TEXT $VOICE
until_ok 20 engine_up && ok "the provider's session is up" || bad engine "it is not up"
is "before the call" "$(said 'call_state .*phase=up')" 0
until_ok 20 up $GUILD && ok "the call is up" || bad call "it is not up"
is "with one session" "$(said 'engine_up .*role=voice')" 1
report
