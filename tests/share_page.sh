#!/bin/sh
# The page of shares in headless Chromium, which shows a tab of its own to the real programs: part of make ui-test. SHOTS=docs takes pictures.
#
#   tests/share_page.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-share-page-XXXXXX)
. tests/scenarios/common

tests/interop/modules.sh dashboard
export PARLEY_WEB_LISTEN=127.0.0.1:0
start_guildd
start_brain
start_mediad mediad
start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" --log debug
until_ok 20 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad join "the call is not up"
api POST "/users/$ALICE/join" "{\"channel_id\":\"$VOICE\"}" >/dev/null
id=$(api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"share\"}" | field id)
answered() { api GET "/interactions/$id" | grep -oE 'http://127.0.0.1:[0-9]+/share/[A-Za-z0-9_-]{24}' | head -1 >"$D/link"; [ -s "$D/link" ]; }
until_ok 10 answered || bad "/share" "no link"
cat >"$D/shown.html" <<-END
	<!doctype html><title>Shown</title><body style="background: white; font: 40px sans-serif"><h1>What the bot sees</h1>
	<p style="font-size: 16px; line-height: 1; color: #222">$(for i in 0 1 2 3 4 5 6 7 8 9; do echo "Step $i: <span id=s$i>error 403</span><br>"; done)</p>
END
node tests/dashboard/share.mjs "$(cat "$D/link")" "file://$D/shown.html" "$D/control.log" "http://127.0.0.1:$API" "$ALICE" "$VOICE" >"$D/view.out" 2>&1
is "the page does what it should" $? 0
grep -E '^(ok|FAILED) ' "$D/view.out" || cat "$D/view.out"
report
