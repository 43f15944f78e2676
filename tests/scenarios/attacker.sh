#!/bin/sh
# An attacker who can open connections to the dashboard's port: requests of other sites, names that were bound anew, guessed tokens and
# cookies, paths out of the folder, heads and bodies that are too large, smuggled or slow. Nothing gets through, nothing is changed,
# the program goes on, and the audit that it kept is whole.
#
#   tests/scenarios/attacker.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-attacker-XXXXXX)
. tests/scenarios/common

# raw BYTES: what comes back of one connection, within 5 s; BYTES as printf has them.
raw() {
	exec 4<>"/dev/tcp/127.0.0.1/$WEB" || return 1
	printf "$1" >&4 2>/dev/null
	timeout 5 cat <&4 2>/dev/null
	exec 4>&-
}
# code ANSWER: the status, or "closed".
code() { echo "$1" | sed -nE '1s,^HTTP/1.1 ([0-9]+).*,\1,p' | grep . || echo closed; }
# ask METHOD PATH FIELDS: with the right Host. FIELDS end with \r\n each.
ask() { raw "$1 $2 HTTP/1.1\r\nHost: 127.0.0.1:$WEB\r\nConnection: close\r\n$3\r\n"; }
# refused WHAT ANSWER CODES…: one of them.
refused() {
	local what=$1 got
	got=$(code "$2")
	shift 2
	case " $* " in *" $got "*) ok "$what: $got" ;; *) bad "$what" "$got, not one of $*" ;; esac
}
alive() { [ "$(code "$(ask GET /healthz '')")" = 200 ]; }

start_guildd
start_brain
start_mediad mediad
export PARLEY_WEB_DISCORD_CLIENT=$BOT PARLEY_WEB_DISCORD_GUILD=$GUILD PARLEY_WEB_DISCORD_SECRET=hush.hush.hush.hush
PARLEY_WEB_LISTEN=127.0.0.1:0 start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
control=$last
until_ok 10 grep -qa web_up "$D/control.log" || bad web "it does not listen"
WEB=$(sed -nE 's/.*web_up .*port=([0-9]+).*/\1/p' "$D/control.log" | tail -1)
TOKEN=$(cat "$D/state/web-token")
bearer="Authorization: Bearer $TOKEN\r\n"
until_ok 10 alive || bad web "it does not answer"
cookie=$(ask POST /api/auth/session "${bearer}Origin: http://127.0.0.1:$WEB\r\n" | sed -nE 's/^Set-Cookie: ([^;]*);.*/Cookie: \1\\r\\n/p')
is "the victim is signed in" "$(code "$(ask GET /api/settings "$cookie")")" 200

body='{"intent":{"silence_ms":901},"_meta":{"version":0}}'
json="Content-Type: application/json\r\nContent-Length: ${#body}\r\n"
put() { raw "PUT /api/settings HTTP/1.1\r\nHost: 127.0.0.1:$WEB\r\nConnection: close\r\n$cookie$1\r\n$body"; }
refused "a form of another site" "$(put "${json}Origin: http://evil.example\r\n")" 403
refused "of no site" "$(put "$json")" 403
refused "of an opaque one" "$(put "${json}Origin: null\r\n")" 403
refused "of another port" "$(put "${json}Origin: http://127.0.0.1:1\r\n")" 403
refused "of a name that begins alike" "$(put "${json}Origin: http://127.0.0.1:$WEB.evil.example\r\n")" 403
refused "that the browser calls foreign" "$(put "${json}Origin: http://127.0.0.1:$WEB\r\nSec-Fetch-Site: cross-site\r\n")" 403
refused "as text/plain" "$(put "Content-Type: text/plain\r\nContent-Length: ${#body}\r\nOrigin: http://127.0.0.1:$WEB\r\n")" 415

for path in /api/memory/guild/$GUILD "/api/memory/facts/1?guild=$GUILD&user=$ALICE" /api/auth/sessions; do
	refused "another site deletes $path" "$(ask DELETE "$path" "${cookie}Origin: http://evil.example\r\n")" 403
	refused "or does without saying who it is" "$(ask DELETE "$path" "$cookie")" 403
done

# Sign-in with Discord: answers that nobody asked for, foreign places, and a page that begins one for its reader.
state=$(printf '%043d' 1)
back="/api/auth/discord/callback?code=abc&state=$state"
refused "an answer of Discord to nobody" "$(ask GET "$back" '')" 401
refused "with the session's cookie" "$(ask GET "$back" "$cookie")" 401
refused "with a guessed one" "$(ask GET "$back" "Cookie: __Host-parley-$WEB-discord=$(printf '%064d' 0)\r\n")" 401
refused "with an empty one" "$(ask GET "/api/auth/discord/callback?code=abc&state=" "Cookie: __Host-parley-$WEB-discord=\r\n")" 401
for i in $(seq 40); do answer=$(ask GET "$back$i" ''); done
refused "so are many of them" "$answer" 401
refused "a state that ends the line" "$(ask GET '/api/auth/discord/callback?code=a&state=%%0d%%0aSet-Cookie:%%201' '')" 400
refused "a sign-in that another site begins" "$(ask GET /api/auth/discord "Sec-Fetch-Site: cross-site\r\n")" 403
is "a sign-in goes to Discord alone" "$(ask GET '/api/auth/discord?redirect_uri=http://evil.example/&next=//evil.example' '' | grep -c '^Location: https://discord.com/oauth2/authorize?.*evil')" 0
is "and back to this page" "$(ask GET /api/auth/discord '' | grep -c "^Location: https://discord.com/oauth2/authorize?.*redirect_uri=http%3A%2F%2F127.0.0.1%3A$WEB%2Fapi%2Fauth%2Fdiscord%2Fcallback")" 1
refused "a frame for a share that nobody made" "$(ask POST /api/voice/stream-ingest/frame "${cookie}Content-Length: 0\r\n")" 401
is "the answer sets no cookie" "$(ask GET /share/abc "$cookie" | grep -c '^Set-Cookie')" 0

# Any port of a loopback name is right: an SSH tunnel has one of its own.
for host in evil.example evil.example:$WEB 127.0.0.1.evil.example:$WEB "127.0.0.1:$WEB, evil.example" '' 0.0.0.0:$WEB; do
	refused "Host: $host" "$(raw "GET /api/settings HTTP/1.1\r\nHost: $host\r\nConnection: close\r\n$bearer\r\n")" 421 400 closed
done
refused "no Host" "$(raw "GET /api/settings HTTP/1.1\r\nConnection: close\r\n$bearer\r\n")" 421 400 closed
refused "two Hosts" "$(raw "GET / HTTP/1.1\r\nHost: 127.0.0.1:$WEB\r\nHost: evil.example\r\nConnection: close\r\n\r\n")" 421 400 closed

for path in /../../../../etc/passwd /%%2e%%2e/%%2e%%2e/etc/passwd //etc/passwd /page.js/../../state/web-token /..%%5cweb-token /page.js%%00 /./web-token '/api/turns/..%%2f..%%2fweb-token' '/a%%0d%%0aX-Admin:%%201'; do
	answer=$(ask GET "$path" "$bearer")
	refused "$path" "$answer" 404 400 closed
	case $answer in *root:* | *"$TOKEN"* | *X-Admin*) bad path "it shows what it must not" ;; esac
done

refused "a head of 256 KB" "$(ask GET / "X: $(head -c 262144 /dev/zero | tr '\0' x)\r\n")" 431 400 413 closed
refused "5000 fields" "$(ask GET / "$(for i in $(seq 5000); do printf 'X%d: y\\r\\n' "$i"; done)")" 431 400 413 closed
refused "a body of 4 GB" "$(ask PUT /api/settings "${bearer}Content-Type: application/json\r\nContent-Length: 4294967296\r\n")" 413 400 closed
refused "a negative length" "$(ask PUT /api/settings "${bearer}Content-Type: application/json\r\nContent-Length: -1\r\n")" 400 413 closed
refused "two lengths" "$(ask PUT /api/settings "${bearer}Content-Type: application/json\r\nContent-Length: 3\r\nContent-Length: 5\r\n")" 400 closed
refused "a chunked body" "$(ask PUT /api/settings "${bearer}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n")" 400 411 501 closed
refused "both" "$(ask PUT /api/settings "${bearer}Content-Type: application/json\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n")" 400 411 501 closed
smuggled="GET /api/settings HTTP/1.1\r\nHost: 127.0.0.1:$WEB\r\n$bearer\r\n"
answer=$(raw "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:$WEB\r\nConnection: close\r\nContent-Length: 400\r\n\r\n$smuggled")
is "the body of a request is none itself" "$(echo "$answer" | grep -c silence_ms)" 0
refused "HTTP/1.0" "$(raw "GET /api/settings HTTP/1.0\r\nHost: 127.0.0.1:$WEB\r\n\r\n")" 400 401 505 closed
refused "no HTTP" "$(raw '\0\1\2\3\r\n\r\n')" 400 closed

# Twenty heads and bodies that never end, while others are served.
slow=
for i in $(seq 10); do
	{ printf 'GET / HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n' "$WEB"; sleep 4; } >"/dev/tcp/127.0.0.1/$WEB" 2>/dev/null &
	slow="$slow $!"
	{ printf 'PUT /api/settings HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n%bContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{' "$WEB" "$bearer"; sleep 4; } >"/dev/tcp/127.0.0.1/$WEB" 2>/dev/null &
	slow="$slow $!"
done
alive && ok "slow ones hold nobody up" || bad slow "nobody is served"
wait $slow

for i in 1 2 3; do
	refused "a guessed token" "$(ask GET /api/settings "Authorization: Bearer $(printf '%064d' $i)\r\n")" 401
	refused "a guessed cookie" "$(ask GET /api/settings "Cookie: __Host-parley-$WEB=$(printf '%064d' $i)\r\n")" 401
done
refused "the token as a cookie" "$(ask GET /api/settings "Cookie: __Host-parley-$WEB=$TOKEN\r\n")" 401
refused "the token in the path" "$(ask GET "/api/settings?token=$TOKEN" '')" 401
for i in $(seq 8); do answer=$(ask POST /api/auth/session "Authorization: Bearer $(printf '%064d' "$i")\r\nOrigin: http://127.0.0.1:$WEB\r\n"); done
refused "guesses at the door have to wait" "$answer" 429
refused "the victim is still signed in" "$(ask GET /api/settings "$cookie")" 200
is "and nothing was changed" "$(ask GET /api/settings "$cookie" | grep -c '"silence_ms":901')" 0
alive && kill -0 "$control" && ok "the program goes on" || bad program "it is gone"
"$B/control" --audit-check --state-dir "$D/state" >"$D/audit" 2>&1
is "the audit of it all is whole" "$?" 0
is "and answers of Discord to nobody are one row" "$(ask GET /api/audit "$bearer" | grep -o 'of no sign-in of this browser' | wc -l)" 1
kill -TERM "$control"
wait "$control"
report
