#!/bin/sh
# Consent and privacy through the real programs: nobody is remembered unasked, /consent changes that, /privacy exports and erases by
# buttons, a refusal to be heard survives a killed control, and `control --erase` reaches the memory of a control that runs.
#
#   tests/scenarios/privacy.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-privacy-XXXXXX)
. tests/scenarios/common
. tests/scenarios/spoken
ALICE=501777123456789012 BOB=502777123456789012
export PARLEY_CONSENT=heard PARLEY_LOG_WORDS=1

shown() { api GET "/interactions/$1"; }
content() { shown "$1" | sed -nE 's/.*"original": ?\{.*"content": ?"((\\.|[^"\\])*)".*/\1/p'; }
answered() { [ -n "$(content "$1")" ]; }
# command NAME [OPTIONS]: alice uses a slash command; its id goes to $id once it is answered.
command() {
	id=$(api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"$1\"${2:-}}" | field id)
	until_ok 10 answered "$id" || bad "/$1" "no answer"
}
# press ACTION [USER] [VALUES]: presses a component of the message of $id; the press becomes $id, the message stays $message.
press() {
	shown "$id" >"$D/shown"
	custom=$(grep -oE "parley:$1:[0-9]+:[0-9]+" "$D/shown" | head -1)
	message=$(tr '{' '\n' <"$D/shown" | grep -oE '"id": ?"[0-9]+", ?"channel_id' | grep -oE '[0-9]+' | head -1)
	[ -n "$message" ] || message=$(sed -nE 's/.*"original": ?\{ ?"id": ?"([0-9]+)".*/\1/p' "$D/shown")
	pressed=$(api POST /interactions "{\"user_id\":\"${2:-$ALICE}\",\"channel_id\":\"$TEXT\",\"type\":3,\"message_id\":\"$message\",\"data\":{\"custom_id\":\"$custom\",\"component_type\":2${3:-}}}" | field id)
	[ -n "$pressed" ] || bad "press $1" "no such component: $(cat "$D/shown")"
}

start_guildd --set long_ids=1
start_brain
open_room

says "parley remember that my bike is red"
is "who has not answered is heard, and not remembered" "$answer" 'said="I may not remember what you say. The command consent changes that."'
holds "bike" && bad "no word is kept" "$(grep -aoi '.\{20\}bike.\{20\}' "$D/state/parley.db" "$D/state/parley.db-wal" | head -3)" || ok "no word is kept"
command consent ',"options":[{"name":"answer","type":3,"value":"remembered"}]'
is "/consent remembered" "$(content "$id")" "**Your consent in this server:** heard and remembered."
says "parley remember that my bike is red"
is "now a fact is remembered" "$answer" 'said="I will remember that your bike is red."'
holds "bike is red" && ok "it is in the database" || bad "it is in the database" "it is not"

command privacy
case $(content "$id") in *"heard and remembered"*) ok "/privacy tells the consent" ;; *) bad "/privacy" "$(content "$id")" ;; esac
menu=$id
press export $BOB
until_ok 5 answered "$pressed"
case $(content "$pressed") in *"somebody else"*) ok "another user's press is refused" ;; *) bad "another user's press" "$(shown "$pressed")" ;; esac
press export
until_ok 10 answered "$pressed"
exported() { shown "$pressed" | grep -q 'parley-export-1'; }
until_ok 10 exported && ok "the export is attached" || bad "the export" "$(shown "$pressed" | head -c 2000)"
shown "$pressed" | grep -q 'bike is red' && ok "it holds her words" || bad "the export" "without her words"
id=$menu
press forget
until_ok 5 answered "$pressed"
id=$pressed
press forget_sure
erased() { shown "$pressed" | grep -q 'parley-erasure-1'; }
until_ok 20 erased && ok "the receipt is attached" || bad "the receipt" "$(shown "$pressed" | head -c 2000)"
shown "$pressed" | grep -q 'traces\\*":0' && ok "it tells of no trace" || bad "the receipt" "$(shown "$pressed" | grep -o 'scan.*' | head -c 300)"
holds "bike" && bad "nothing of her words is left" "$(grep -aoi '.\{20\}bike.\{20\}' "$D/state/parley.db" | head -3)" || ok "nothing of her words is left"
until_ok 10 up $GUILD
says "parley what colour is my bike"
is "the new conversation does not know it" "$answer" 'said="Nobody has told me anything about that."'

"$B/control" --erase "$ALICE" --state-dir "$D/state" >"$D/erased" 2>&1 || bad "control --erase" "$(cat "$D/erased")"
grep -q 'person_erased' "$D/control1.log" && [ "$(grep -c conversation_erased "$D/control1.log")" -ge 2 ] &&
	ok "the control that runs erased her, also from memory" || bad "control --erase" "$(cat "$D/erased")"

command consent ',"options":[{"name":"answer","type":3,"value":"neither"}]'
kill9 "$control"
control 2
until_ok 20 up $GUILD || bad "the call" "not up after a restart"
before=$(turns | wc -l)
speak "parley what colour is my bike"
sleep 12
is "after a restart she is still not heard" "$(turns | wc -l)" "$before"
kill "$caller" 2>/dev/null
report
