#!/bin/sh
# An incident for others: a conversation is copied by one command while control runs, and on "another machine" (another folder, no token,
# no mediad, no Discord) --why, --costs and a control with gateway=none show it: its dashboard has the turn with its decisions, without
# words, names and ids of people.
#
#   tests/scenarios/incident.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-incident-XXXXXX)
. tests/scenarios/common
# A busy machine recognises slowly.
export PARLEY_ASR_WAIT_MS=60000

# get PATH: of the other machine's dashboard, as its operator.
get() {
	exec 4<>"/dev/tcp/127.0.0.1/$WEB" || return 1
	printf 'GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\nAuthorization: Bearer %s\r\n\r\n' "$1" "$WEB" "$(cat "$D/incident/web-token")" >&4
	cat <&4
	exec 4>&-
}

start_guildd
start_brain
start_mediad mediad
start_mediad caller
start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
control=$last
until_ok 20 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad join "the call is not up"
# On a busy machine words get lost.
for i in 1 2 3; do ask; wait "$caller" && break; done
is "alice has her answer" $? 0
kept() { "$B/control" --why --state-dir "$D/state" 2>/dev/null | grep -q answered; }
until_ok 10 kept || bad why "no turn is kept"
perl -MSocket -e 'socket(my $s, PF_INET, SOCK_STREAM, 0); bind($s, sockaddr_in(0, INADDR_LOOPBACK)); listen($s, 4); $| = 1;
	print +(sockaddr_in(getsockname($s)))[0], "\n"; accept(my $c, $s) and print "somebody came\n"' >"$D/listener" &
listener=$!
until_ok 5 test -s "$D/listener"
"$B/control" --incident "$D/incident" --state-dir "$D/state" >"$D/made" 2>&1
is "the copy is made beside a control that runs" $? 0
kill -TERM "$control"
wait "$control"
"$B/control" --why --state-dir "$D/incident" >"$D/why" 2>&1
is "--why opens it" "$? $(grep -c answered "$D/why")" "0 1"
"$B/control" --costs --state-dir "$D/incident" >"$D/costs" 2>&1
is "and --costs" $? 0
is "with the counters of the program" "$(grep -c '"turns_answered": [1-9]' "$D/incident/counters.json")" 1

# Its maker may have put a server of MCP into the settings document, to which whoever looks at it would go.
sqlite3 "$D/incident/parley.db" "INSERT INTO settings_documents VALUES('global', 9, '{\"version\":9,\"updatedAt\":\"2026-11-22T12:00:00.000Z\",
	\"author\":\"m\",\"intent\":{\"hold_ms\":77,\"mcp_servers\":[{\"name\":\"evil\",\"transport\":\"http\",
	\"url\":\"http://127.0.0.1:$(head -1 "$D/listener")/\"}]}}', 'm', 1)" || bad document "it is not put in"
# Another machine: nothing of Discord, no mediad.
unset DISCORD_TOKEN PARLEY_DISCORD_API
PARLEY_GATEWAY=none PARLEY_WEB_LISTEN=127.0.0.1:0 start shown "$B/control" --media-sock "$D/none.sock" --state-dir "$D/incident"
until_ok 20 grep -qa web_up "$D/shown.log" || bad shown "$(tail -2 "$D/shown.log")"
WEB=$(sed -nE 's/.*web_up .*port=([0-9]+).*/\1/p' "$D/shown.log" | tail -1)
get /api/turns >"$D/answer"
is "the dashboard of another machine lists the turn" "$(grep -c '"reason":"answered"' "$D/answer")" 1
get "/api/turns/$(field id <"$D/answer")" >"$D/turn"
is "opens it to its decisions" "$(grep -c '"why":\[{"rule"' "$D/turn")" 1
is "and has the sessions and the page" "$(get /api/voice/history/sessions | grep -c '"turns":[1-9]') $(get / | grep -c '<title>')" "1 1"
is "without words, names and ids of people" "$(cat "$D/answer" "$D/turn" "$D/why" | grep -ciE 'what can you|I am Parley|alice|"501"')" 0
is "of which the copy has none either" "$(cat "$D/incident"/parley.db* | grep -caiE 'what can you|I am Parley')" 0
is "the settings document is shown, and takes no effect" \
	"$(get /api/settings | grep -o '"intent":{"hold_ms":77') $(get /api/settings | grep -c '"effective":{.*"hold_ms":77') $(get /api/mcp/status | grep -c evil)" \
	'"intent":{"hold_ms":77 0 0'
is "nobody is asked" "$(wc -l <"$D/listener")" 1
kill -TERM "$last"
kill "$listener"
report
