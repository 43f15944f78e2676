#!/bin/sh
# The memory through the real programs, with the embedded engine: a member has something remembered, control is killed, the next one
# knows it, the member has it forgotten, and an erasure leaves no word in the files.
#
#   tests/scenarios/memory.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-memory-XXXXXX)
. tests/scenarios/common
. tests/scenarios/spoken
ALICE=501777123456789012


export PARLEY_LOG_WORDS=1
start_guildd --set long_ids=1
start_brain
open_room

says "parley remember that my bike is red"
is "a fact is remembered" "$answer" 'said="I will remember that your bike is red."'
holds "bike is red" && ok "it is in the database" || bad "it is in the database" "it is not"
kill9 "$control"
control 2
until_ok 20 up $GUILD || bad "the call" "not up after a restart"
says "parley what colour is my bike"
is "the next control knows it" "$answer" 'said="You told me that your bike is red."'
says "parley what do you know about me"
is "it tells what she had it remember" "$answer" 'said="You told me that your bike is red."'
says "parley remember that the meeting is on friday"
is "another one is remembered" "$answer" 'said="I will remember that the meeting is on friday."'
says "parley what colour is my bike"
says "parley forget that"
is "what was told last is forgotten" "$answer" 'said="I have forgotten it."'
says "parley what colour is my bike"
is "and is not known any more" "$answer" 'said="Nobody has told me anything about that."'
holds "meeting is on friday" && ok "what was remembered after it is kept" || bad "the meeting" "it is gone"
"$B/control" --erase "$ALICE" --state-dir "$D/state" >"$D/erased" 2>&1 || bad "the erasure" "$(cat "$D/erased")"
holds "bike" && bad "nothing of her words is left" "$(grep -aoi '.\{20\}bike.\{20\}' "$D/state/parley.db" | head -3)" ||
	ok "nothing of her words is left"
report
