#!/bin/sh
# The voice server executes a transition to version 0 before it describes the session as encrypted (op 4). The bot, with
# e2ee=require, sends nothing in the clear, and its answer is heard encrypted.
#
#   tests/scenarios/early_downgrade.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-early-downgrade-XXXXXX)
. tests/scenarios/common

start_guildd --set op4_same_server=1
start_brain
start_mediad mediad
start_mediad caller
PARLEY_E2EE=require start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
until_ok 10 registered || bad commands "not registered"
# plain: packets that the bot sent without end-to-end encryption.
plain() {
	local stats
	stats=$(api GET /stats)
	echo $(($(count $BOT dave_clear "$stats") + $(count $BOT dave_plaintext "$stats") + $(count $BOT dave_plaintext_early "$stats")))
}
is_up_again() { [ "$(grep -c 'phase=up' "$D/mediad.log")" = 2 ]; }
sent() { stream $VOICE | field sealed; }
speaks() { [ "$(sent || echo 0)" -gt 50 ] 2>/dev/null; }

join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
ask
until_ok 20 told "the bot begins to speak" || bad "the bot answers" "$(tail -1 "$D/ask.out")"
switch '{"dave_clear_first":1}'
api POST /users/$BOT/close "{\"which\":\"voice\",\"guild_id\":\"$GUILD\",\"code\":4006}" >/dev/null
until_ok 10 is_up_again && until_ok 10 speaks && ok "the bot joins anew and speaks" || bad "the bot joins anew and speaks" "$(sent)"
kill $caller
is "nothing goes in the clear" "$(plain)" 0
report
