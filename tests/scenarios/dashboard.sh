#!/bin/sh
# The dashboard's server through the real program: a link that signs a browser in once, sessions that outlive the program and end
# with a sign-out, what roles may see, requests of other sites, a conversation as the rooms, the turns and the costs show it, the
# audit, and that a recorded run holds no secret and runs again to the same digest.
#
#   tests/scenarios/dashboard.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-dashboard-XXXXXX)
. tests/scenarios/common

# web METHOD PATH FIELD…: one request to control, with the body $BODY; the status is in $D/status, the head in $D/head, the body is printed.
web() {
	local method=$1 path=$2 line
	shift 2
	exec 4<>"/dev/tcp/127.0.0.1/$WEB" || return 1
	{
		printf '%s %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n' "$method" "$path" "$WEB"
		[ $# = 0 ] || printf '%s\r\n' "$@"
		printf '\r\n%s' "${BODY:-}"
	} >&4
	IFS= read -r line <&4
	echo "$line" | cut -d' ' -f2 >"$D/status"
	while IFS= read -r line <&4; do
		[ "$line" = $'\r' ] && break
		echo "${line%$'\r'}"
	done >"$D/head"
	cat <&4
	exec 4>&-
}
status() { cat "$D/status"; }
# sign_in CREDENTIALS: the cookie is in $cookie.
sign_in() {
	web POST /api/auth/session "Authorization: Bearer $1" "Origin: http://127.0.0.1:$WEB" >"$D/answer"
	cookie=$(sed -nE 's/^Set-Cookie: ([^;]*);.*/\1/p' "$D/head")
}
as_browser() { # METHOD PATH FIELD…
	web "$@" "Cookie: $cookie" "Sec-Fetch-Site: same-origin"
}
# code ROLE: of a link that the program prints.
code() {
	PARLEY_WEB_LISTEN=127.0.0.1:8787 "$B/control" --sign-in="$1" --state-dir "$D/state" 2>"$D/sign-in.err" |
		sed -nE 's,^http://127.0.0.1:8787/#k=([^ ]+)$,\1,p'
}
run_control() {
	: >"$D/control.log"
	PARLEY_WEB_LISTEN=127.0.0.1:${WEB:-0} start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" --log debug "$@"
	control=$last
	until_ok 10 grep -qa web_up "$D/control.log" || bad web "it does not listen"
	WEB=$(sed -nE 's/.*web_up .*port=([0-9]+).*/\1/p' "$D/control.log" | tail -1)
	TOKEN=$(cat "$D/state/web-token")
}

is "without a token there is no link" "$(code admin)$(grep -c 'makes it at its first start' "$D/sign-in.err")" 1
start_guildd
start_brain
start_mediad mediad
start_mediad caller
mkdir -m 700 "$D/rooms"
export PARLEY_ROOM_JOURNALS="$D/rooms"
run_control --journal "$D/journal"
until_ok 10 registered || bad commands "not registered"

web GET / >"$D/answer"
is "the page is there for everybody" "$(status) $(grep -ci '^content-security-policy: default-src .none.' "$D/head")" "200 1"
web GET /api/rooms >"$D/answer"
is "but what it shows is not" "$(status)" 401
"$B/control" --sign-in --state-dir "$D/state" 2>"$D/sign-in.err" && bad link "printed without an address"
is "who asks for a link elsewhere than control's settings are learns that it runs with others" \
	"$(grep -c 'is empty here. A control runs .* give PARLEY_WEB_LISTEN or --config here as there' "$D/sign-in.err")" 1
link=$(code admin)
sign_in "$link"
is "a link signs a browser in" "$(status) $(field role <"$D/answer")" "201 admin"
is "with a cookie that no script reads and no other site sends" \
	"$(grep -c "^Set-Cookie: __Host-parley-$WEB=[0-9a-f]*; Path=/; Max-Age=[0-9]*; Secure; HttpOnly; SameSite=Strict\$" "$D/head")" 1
admin=$cookie
sign_in "$link"
is "once" "$(status) $(field error <"$D/answer")" "401 sign_in_refused"
sign_in "$(code viewer)"
viewer=$cookie
sign_in "$(code operator)"
operator=$cookie

join $TEXT $VOICE
until_ok 10 up $GUILD || bad join "the call is not up"
ask
wait "$caller"
is "alice has her answer" $? 0
heard() { web GET "/api/turns?limit=1" "Cookie: $operator" >"$D/answer"; grep -q '"reason":"answered"' "$D/answer"; }
until_ok 10 heard || bad turns "$(cat "$D/answer")"
id=$(field id <"$D/answer")
is "the turn has words" "$(status) $(grep -c '"heard":"' "$D/answer") $(grep -c '"said":"I am Parley' "$D/answer")" "200 1 1"
web GET "/api/turns/$id" "Cookie: $operator" >"$D/answer"
is "it opens to decisions, times and costs" \
	"$(status) $(grep -c '"why":\[{"rule"' "$D/answer") $(grep -o '"kind":"[a-z]*"' "$D/answer" | sort -u | tr '\n' ' ')" \
	'200 1 "kind":"answer" "kind":"speech" '
web GET "/api/turns/$id" "Cookie: $viewer" >"$D/answer"
is "without words for a viewer" "$(status) $(grep -cE '"(heard|said|text)":"' "$D/answer")" "200 0"
web GET /api/turns/999 "Cookie: $viewer" >"$D/answer"
is "no other turn is there" "$(status) $(field error <"$D/answer")" "404 no_such_turn"
web GET "/api/turns?limit=1000" "Cookie: $viewer" >"$D/answer"
is "and no longer list" "$(status) $(field error <"$D/answer")" "400 bad_query"
web GET /api/rooms "Cookie: $viewer" >"$D/answer"
is "the room is shown" "$(status) $(field guild <"$D/answer") $(field channel <"$D/answer") $(field phase <"$D/answer")" "200 $GUILD $VOICE up"
is "with its last turn" "$(grep -c '"lastTurn":{"turn":[0-9]*,.*"reason":"answered"' "$D/answer")" 1
order() { # COOKIE NAME ORIGIN
	web POST /api/rooms/$GUILD/$2 "Cookie: $1" "Sec-Fetch-Site: same-origin" "Origin: http://$3:$WEB" >"$D/answer"
}
order "$viewer" stop 127.0.0.1
is "a viewer gives no orders" "$(status) $(field error <"$D/answer")" "403 forbidden"
order "$operator" stop localhost
is "nor does another site" "$(status) $(field error <"$D/answer")" "403 cross_origin"
order "$operator" stop 127.0.0.1
is "an operator does" "$(status) $(field order <"$D/answer")" "202 stop"
for path in errors costs audit reasons; do
	web GET /api/$path "Cookie: $admin" >"$D/answer-$path"
	is "$path" "$(status)" 200
done
is "faults are sentences" "$(grep -c '"KEYLESS":{"text":"no key to speak with","report":"You cannot hear me' "$D/answer-reasons")" 1
is "the audit has who signed in and who was refused" \
	"$(grep -o '"kind":"sign_in"' "$D/answer-audit" | wc -l) $(grep -o '"result":"refused"' "$D/answer-audit" | wc -l)" "4 1"
is "and the order" "$(grep -c '"kind":"stop","target":"server '$GUILD'","result":"carried out"' "$D/answer-audit")" 1
web GET /api/audit "Cookie: $operator" >"$D/answer"
is "which is for admins" "$(status) $(field error <"$D/answer")" "403 forbidden"

cookie=$admin
as_browser DELETE /api/auth/session "Origin: http://localhost:$WEB" >"$D/answer"
is "another site signs nobody out" "$(status) $(field error <"$D/answer")" "403 cross_origin"
as_browser GET /api/settings >"$D/answer"
is "an admin reads settings" "$(status)" 200

kill -TERM "$control"
wait "$control"
is "it ends in order" $? 0
is "no secret is in the journal" "$(grep -cae "$TOKEN" -e "${admin#*=}" -e "${viewer#*=}" "$D/journal")" 0
"$B/control" --log fatal --replay "$D/journal" >"$D/again" 2>"$D/again.log"
is "it runs again to the same digest" "$? $(cmp -s "$D/control.out" "$D/again" && echo same)" "0 same"
"$B/control" --log fatal --no-subscribers --replay "$D/journal" >"$D/again" 2>"$D/again.log"
is "without other subscribers, too" "$? $(cmp -s "$D/control.out" "$D/again" && echo same)" "0 same"
is "and none in the database" "$(cat "$D/state"/parley.db* | grep -cae "${admin#*=}" -e "${viewer#*=}")" 0

run_control
# again SETTINGS: the turn, asked again.
again() {
	BODY="{\"turn\":$turn,\"settings\":$1}"
	BODY=$BODY web POST "/api/voice/history/sessions/$session/again" "Cookie: $operator" "Sec-Fetch-Site: same-origin" \
		"Origin: http://127.0.0.1:$WEB" "Content-Type: application/json" "Content-Length: ${#BODY}" >"$D/answer"
}
web GET "/api/turns/$id" "Cookie: $operator" >"$D/answer"
turn=$(grep -o '"turn":[0-9]*' "$D/answer" | head -1 | cut -d: -f2) session=$(field sessionId <"$D/answer")
again '{"silence_ms":900}'
is "the room is asked again with another number" "$(status) $(grep -c '"rules":' "$D/answer")" "200 1"
for setting in '"aliases":"divorce"' '"PARLEY_ALIASES":"divorce"' '"providers":"[]"'; do
	again "{$setting}"
	is "but not whether somebody said a word: $setting" "$(status) $(field error <"$D/answer")" "422 bad_setting"
done
BODY=
cookie=$viewer
as_browser GET /api/rooms >"$D/answer"
is "a browser stays signed in" "$(status)" 200
sign_in "$link"
is "a link is still used up" "$(status)" 401
cookie=$admin
exec 6<>"/dev/tcp/127.0.0.1/$WEB"
printf 'GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nCookie: %s\r\n\r\n' "$WEB" "$viewer" >&6
cat <&6 >"$D/events" &
reader=$!
until_ok 5 grep -qs text/event-stream "$D/events" || bad events "no stream"
as_browser DELETE /api/auth/sessions "Origin: http://127.0.0.1:$WEB" >"$D/answer"
is "everybody is signed out" "$(status) $(field ended <"$D/answer")" "200 3"
gone() { ! kill -0 $reader 2>/dev/null; }
until_ok 5 gone && ok "who reads events is, too" || bad events "the reader goes on"
exec 6>&-
for cookie in "$admin" "$viewer" "$operator"; do
	as_browser GET /api/rooms >"$D/answer"
	is "nobody is in" "$(status)" 401
done
for i in 1 2 3 4; do sign_in "${TOKEN%?}x"; done
is "guesses are refused" "$(status)" 401
sign_in "$TOKEN"
is "and then have to wait" "$(status) $(grep -c '^Retry-After: 30' "$D/head")" "429 1"
kill -TERM "$control"
wait "$control"
report
