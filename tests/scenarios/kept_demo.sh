#!/bin/sh
# `KEEP=1 make demo`: after the conversation there is somebody to speak with, the dashboard shows no fault and no dollars, an order is
# carried out, the commands that it prints work, and Ctrl-C leaves nothing behind.
#
#   tests/scenarios/kept_demo.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-kept-XXXXXX)
. tests/scenarios/common

# Of a job that has a group of its own, so that Ctrl-C reaches it.
set -m
env BIN="$B" OUT="$D/out" KEEP=1 tests/demo.sh >"$D/demo.log" 2>&1 </dev/null &
demo=$!
set +m
started="$started $demo"
goes_on() { grep -q 'Ctrl-C ends it' "$D/demo.log"; }
until_ok 90 goes_on && ok "the demo goes on" || bad "the demo goes on" "$(tail -3 "$D/demo.log")"
state=$(sed -nE "s/.*state is in (.*):$/\\1/p" "$D/demo.log")
WEB=$(sed -nE 's/.*PARLEY_WEB_LISTEN=([0-9.:]+) .*/\1/p' "$D/demo.log")
asks() { curl -s -m 10 -H "Authorization: Bearer $(cat "$state/web-token")" "$@"; }
turns() { asks "http://$WEB/api/turns" | grep -o '"reason":"answered"' | wc -l; }
is "the question was answered" "$(turns)" 1
sleep 3 # a fault of a call without members would begin now
is "nothing is wrong in the room" "$(asks "http://$WEB/api/rooms?whole=$GUILD" | grep -oE '"(faults":\[[^]]*\]|ready":[a-z]+|heardCount":[0-9]+|spentTodayUsd":[0-9.]+)' | tr '\n' ' ')" \
	'"heardCount":1 "ready":true "faults":[] "spentTodayUsd":0.0 '
is "and there was no fault" "$(asks "http://$WEB/api/errors" | grep -o '"errors":\[\]')" '"errors":[]'
asks -X POST -H 'Content-Type: application/json' -d '{"text":"hello everybody"}' "http://$WEB/api/rooms/$GUILD/say" >"$D/order"
said() { [ "$(turns)" = 2 ]; }
until_ok 15 said && ok "an order is heard" || bad "an order is heard" "$(cat "$D/order")"
is "control --why reads its state" "$("$B/control" --why --state-dir "$state" | grep -c 'answered')" 1
is "nothing was spent" "$("$B/control" --costs --state-dir "$state")" "Nothing was spent in that time."
kill -INT -- "-$demo"
wait "$demo" 2>/dev/null
is "Ctrl-C leaves nothing behind" "$(ls -d "$state" 2>/dev/null) $(pgrep -g "$demo" | wc -l)" " 0"
report
