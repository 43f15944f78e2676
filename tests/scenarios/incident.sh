#!/bin/sh
# An incident for others: a conversation is copied by one command while control runs, and on "another machine" (another folder, no token,
# no mediad, no Discord) --why, --costs and --show open it: the dashboard has the turn with its decisions, without words, names and ids of
# people, and neither what its maker put in nor the settings of this machine take effect. However --show is ended, its copy is deleted.
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

# request METHOD PATH FIELDS: of the other machine's dashboard.
request() {
	exec 4<>"/dev/tcp/127.0.0.1/$WEB" || return 1
	printf '%s %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n%b\r\n' "$1" "$2" "$WEB" "$3" >&4
	cat <&4
	exec 4>&-
}
get() { request GET "$1" "$cookie"; }

start_guildd
start_brain
start_mediad mediad
start_mediad caller
PARLEY_WEB_LISTEN=127.0.0.1:0 start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
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
# The dashboard's button.
WEB=$(sed -nE 's/.*web_up .*port=([0-9]+).*/\1/p' "$D/control.log" | tail -1)
exec 4<>"/dev/tcp/127.0.0.1/$WEB"
printf 'POST /api/incidents HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{"hours":2}' \
	"$WEB" "$(cat "$D/state/web-token")" >&4
made=$(cat <&4)
exec 4>&-
folder=$(echo "$made" | sed -nE 's/.*"folder":"([^"]*)".*/\1/p')
is "the dashboard makes one, too" "$(echo "$made" | head -1 | cut -d' ' -f2) $("$B/control" --why --state-dir "${folder:-/nowhere}" 2>/dev/null | grep -c answered) $(stat -c %a "$folder")" "201 1 700"
kill -TERM "$control"
wait "$control"
"$B/control" --why --state-dir "$D/incident" >"$D/why" 2>&1
is "--why opens it" "$? $(grep -c answered "$D/why")" "0 1"
"$B/control" --costs --state-dir "$D/incident" >"$D/costs" 2>&1
is "and --costs" $? 0
"$B/control" --replay "$D/incident" >"$D/played" 2>&1
is "--replay tells it in order" "$? $(sed -nE 's/^(session in channel|turn [0-9]+ of person|tool [a-z_]+).*/\1/p' "$D/played" | head -1) $(grep -c 'answered' "$D/played") $(grep -ciE 'alice|what can you' "$D/played")" "0 session in channel 1 0"
is "with the counters of the program" "$(grep -c '"turns_answered": [1-9]' "$D/incident/counters.json")" 1

# Its maker may have put a server of MCP into the settings document, to which whoever looks at it would go.
sqlite3 "$D/incident/parley.db" "INSERT INTO settings_documents VALUES('global', 9, '{\"version\":9,\"updatedAt\":\"2026-11-22T12:00:00.000Z\",
	\"author\":\"m\",\"intent\":{\"hold_ms\":77,\"mcp_servers\":[{\"name\":\"evil\",\"transport\":\"http\",
	\"url\":\"http://127.0.0.1:$(head -1 "$D/listener")/\"}]}}', 'm', 1)" || bad document "it is not put in"
# A session of 2023, which a control that drops what is too old does not keep.
sqlite3 "$D/incident/parley.db" "INSERT INTO sessions VALUES($GUILD, 1700000000000, $VOICE, 1700000060000, 'left', 0)" || bad old "it is not put in"
# Files that a control would read, and a token that its maker knows.
hush=$(printf '%064d' 7)
(umask 077; echo "$hush" >"$D/incident/web-token"; echo '{"calls":[]}' >"$D/incident/session.json")
before=$(cd "$D/incident" && sha256sum -- * | sort)
"$B/control" --spawn-mediad="$B/mediad" --state-dir "$D/incident" >"$D/plain" 2>&1
is "control does not start with it" "$? $(grep -c -- '--show' "$D/plain")" "2 1"
# Another machine: nothing of Discord, no mediad; its own settings are not for what strangers made.
unset DISCORD_TOKEN PARLEY_DISCORD_API
mkdir "$D/tmp"
export TMPDIR="$D/tmp"
taken=
for given in "--ca $CA" "--channel $VOICE" "--scope all" "--since 1h" "--user 501" --health --counters "--mcp-login it" --check --again --no-subscribers; do
	# shellcheck disable=SC2086
	timeout 5 "$B/control" --show "$D/incident" $given >"$D/usage" 2>&1
	[ $? = 2 ] || taken="$taken $given"
done
is "--show takes no other option but --log" "$taken" ""
PARLEY_GREET=off PARLEY_GATEWAY=full PARLEY_HOLD_MS=55 PARLEY_WEB_LISTEN=127.0.0.1:0 start shown "$B/control" --log info --show "$D/incident"
until_ok 20 grep -qs '#k=' "$D/shown.out" || bad shown "$(tail -2 "$D/shown.log")"
WEB=$(sed -nE 's,^http://127.0.0.1:([0-9]+)/#k=.*$,\1,p' "$D/shown.out")
code=$(sed -nE 's,^http://127.0.0.1:[0-9]+/#k=(.*)$,\1,p' "$D/shown.out")
PARLEY_WEB_LISTEN=127.0.0.1:$WEB timeout 20 "$B/control" --show "$D/incident" >"$D/second.out" 2>"$D/second.log"
is "without the port there is no link, and no copy" "$? $(wc -c <"$D/second.out") $(ls "$D/tmp" | wc -l)" "1 0 1"
cookie=$(request POST /api/auth/session "Authorization: Bearer $code\r\nOrigin: http://127.0.0.1:$WEB\r\n" | sed -nE 's/^Set-Cookie: ([^;]*);.*/Cookie: \1\\r\\n/p')
is "a link signs in" "$(get /api/auth/session | grep -c '"role":"admin"')" 1
is "the token of its maker does not" "$(request GET /api/settings "Authorization: Bearer $hush\r\n" | grep -c '^HTTP/1.1 401')" 1
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
is "nor do the settings of this machine" "$(get /api/settings | grep -c '"effective":{.*"hold_ms":55')" 0
sleep 1.5 # by then the store of another control drops what is too old
is "nothing is too old to be shown" "$(get /api/voice/history/sessions | grep -c '2023-11-14T22:13:20')" 1
is "nobody is asked" "$(wc -l <"$D/listener")" 1
is "and no program runs but the jailed ones for pictures" "$(pgrep -lP "$last" | grep -vc imaged)" 0
# The terminal is closed, and signals go on to come.
for _ in $(seq 1000); do kill -HUP "$last" 2>/dev/null || break; sleep 0.01; done
wait "$last"
is "it ends, and the copy is gone" "$? $(ls "$D/tmp" | wc -l)" "0 0"
# While control makes the copy and begins.
PARLEY_WEB_LISTEN=127.0.0.1:0 start early "$B/control" --show "$D/incident"
until [ -n "$(ls "$D/tmp")" ] || ! kill -0 "$last" 2>/dev/null; do :; done
kill -HUP "$last"
wait "$last"
is "an end at the beginning leaves none" "$? $(ls "$D/tmp" | wc -l)" "0 0"
is "and the incident is as it was" "$(cd "$D/incident" && sha256sum -- * | sort)" "$before"
kill "$listener"
report
