#!/bin/sh
# The dashboard in headless Chromium against a live conversation: make ui-test. SHOTS=docs takes the pictures of the README.
#
#   tests/dashboard.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-ui-XXXXXX)
. tests/scenarios/common

start_guildd
start_brain
start_mediad mediad
start_mediad caller
PARLEY_WEB_LISTEN=127.0.0.1:0 start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
control=$last
until_ok 10 registered || bad commands "not registered"
WEB=$(sed -nE 's/.*web_up .*port=([0-9]+).*/\1/p' "$D/control.log" | tail -1)
join $TEXT $VOICE
until_ok 10 up $GUILD || bad join "the call is not up"
link=$(PARLEY_WEB_LISTEN=127.0.0.1:$WEB "$B/control" --sign-in=admin --state-dir "$D/state")
node tests/dashboard/view.mjs "$link" "$D/go" >"$D/view.out" 2>&1 &
view=$!
until_ok 60 test -e "$D/go" && ask
wait "$view"
is "the page does what it should" $? 0
grep -E '^(ok|FAILED) ' "$D/view.out" || cat "$D/view.out"
is "control is still there" "$(kill -0 "$control" && echo yes)" yes
report
