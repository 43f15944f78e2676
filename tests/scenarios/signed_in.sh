#!/bin/sh
# Sign-in at the dashboard with Discord, through the real program and guildd's OAuth2: members get a role by their permissions, and lose
# it with them; a state of another browser, a code that comes again, a code of another client, a redirect to a foreign place, a person
# who refuses and one who is no member all end at the door; neither code, secret nor token is in the log or the database.
#
#   tests/scenarios/signed_in.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-signed-in-XXXXXX)
. tests/scenarios/common
BOB=502 CAROL=503 n=0

# web METHOD PATH FIELD…: one request to control; the status is in $D/status, the head in $D/head, the body is printed.
web() {
	local method=$1 path=$2 line
	shift 2
	exec 4<>"/dev/tcp/127.0.0.1/$WEB" || return 1
	{
		printf '%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n' "$method" "$path" "${HOST:-127.0.0.1:$WEB}"
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
location() { sed -nE 's/^Location: (.*)/\1/p' "$D/head"; }
cookie() { sed -nE "s/^Set-Cookie: (__Host-parley-$WEB$1=[^;]*);.*/\\1/p" "$D/head"; }
# begin: $page is Discord's, $browser the cookie of the browser that asks.
begin() {
	from=${FROM:-10.0.0.$((n = n + 1))}
	web GET /api/auth/discord "X-Forwarded-For: $from" >"$D/answer"
	page=$(location)
	browser=$(cookie -discord)
}
# agree USER [URL]: the person agrees at the page; $back is the path to which Discord sends the browser.
agree() {
	back=$(api POST "/users/$1/authorize" "{\"url\":\"${2:-$page}\"}" | field location)
	back=${back#http://127.0.0.1:$WEB}
}
# come COOKIE PATH: the browser comes back; $session is the cookie that it gets.
come() {
	web GET "$2" "Cookie: $1" "Sec-Fetch-Site: cross-site" "X-Forwarded-For: $from" >"$D/answer"
	session=$(cookie "")
}
# sign_in USER
sign_in() { begin; agree "$1"; come "$browser" "$back"; }
role() { web GET /api/auth/session "Cookie: $1" "Sec-Fetch-Site: same-origin" | grep -oE '"role":"[a-z]+"' | head -1 | cut -d'"' -f4; }
conf() { # SETTINGS…
	printf '{"web_discord_client": "%s", "web_discord_guild": "%s", "web_discord_secret_file": "%s", "web_discord_page": "%s/oauth2/authorize", "web_proxies": "127.0.0.1", "web_discord_operator": "manage_guild", "web_discord_viewer": "member"%s}\n' \
		"$BOT" "$GUILD" "$D/secret" "$PARLEY_DISCORD_API" "${1:-}" >"$D/config.json"
}

start_guildd
start_brain
start_mediad mediad
(umask 077; printf 'hush.hush.hush.hush' >"$D/secret")
conf
PARLEY_WEB_LISTEN=127.0.0.1:0 start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" --config "$D/config.json" --log debug
control=$last
until_ok 20 grep -qa web_up "$D/control.log" || bad web "it does not listen"
WEB=$(sed -nE 's/.*web_up .*port=([0-9]+).*/\1/p' "$D/control.log" | tail -1)
api PATCH /bots/$BOT "{\"application\":{\"client_secret\":\"hush.hush.hush.hush\",\"redirect_uris\":[\"http://127.0.0.1:$WEB/api/auth/discord/callback\"]}}" >/dev/null
api POST /users "{\"id\":\"$CAROL\",\"name\":\"carol\"}" >/dev/null

is "the form knows of it" "$(web GET /api/auth/methods)" '{"token":true,"discord":true}'
begin
is "the browser is sent to Discord's page" "$(status) ${page%%\?*}" "303 $PARLEY_DISCORD_API/oauth2/authorize"
for part in response_type=code client_id=$BOT scope=identify%20guilds code_challenge_method=S256 'state=[A-Za-z0-9_-]{43}' 'code_challenge=[A-Za-z0-9_-]{43}'; do
	echo "$page" | grep -qE "[?&]$part(&|$)" && ok "with $part" || bad page "no $part in it"
done
is "with a cookie of its own" "$(grep -cE "^Set-Cookie: __Host-parley-$WEB-discord=[0-9a-f]{64}; Path=/; Max-Age=600; Secure; HttpOnly; SameSite=Lax" "$D/head")" 1
agree $ALICE
come "$browser" "$back"
is "the owner of the server is an admin" "$(status) $(location) $(role "$session")" "303 / admin"
alice=$session
come "$browser" "$back"
is "the same answer once more is refused" "$(status) $(field error <"$D/answer")" "401 sign_in_refused"
is "and nobody is signed out by it" "$(role "$alice")" admin

sign_in $BOB
is "a member is a viewer" "$(role "$session")" viewer
bob=$session
api POST /guilds/$GUILD/roles '{"id":"77","name":"keepers","permissions":"32"}' >/dev/null
api PATCH /guilds/$GUILD/members/$BOB '{"role_ids":["77"]}' >/dev/null
sign_in $BOB
is "with the permission to manage the server an operator" "$(role "$session")" operator
keeper=$session
sign_in $CAROL
is "somebody else is nobody" "$(status) $(field error <"$D/answer") $session" "401 sign_in_refused "

for i in 1 2 3 4; do sign_in $ALICE; done
is "who signs in again and again has three sessions" "$(role "$alice")$(web GET /api/auth/session "Cookie: $session" "Sec-Fetch-Site: same-origin" | grep -oE '"id":[0-9]+,"role":"admin"' | wc -l)" 3
alice=$session

# Attacks.
begin
mallory=$browser
agree $CAROL
forged=$back
begin
agree $ALICE
come "$mallory" "$back"
is "a state of another browser" "$(status) $session" "401 "
begin
come "$browser" "$forged"
is "an answer that was slipped in" "$(status) $session" "401 "
agree $ALICE
come "" "$back"
is "without a cookie" "$(status) $session" "401 "
come "$browser" "$(echo "$back" | sed -E 's/state=_/state=A/; t; s/state=./state=_/')"
is "with another state" "$(status) $session" "401 "
come "$browser" "$(echo "$back" | sed -E 's/&state=.*//')"
is "without a state" "$(status) $session" "401 "
come "$browser" "$back"
is "these tries spoiled nothing" "$(role "$session")" admin
begin
code=$(echo "$back" | sed -E 's/.*code=([0-9a-f]*).*/\1/')
state=$(echo "$page" | sed -E 's/.*[?&]state=([^&]*).*/\1/')
come "$browser" "/api/auth/discord/callback?code=$code&state=$state"
is "a code that was used" "$(status) $session" "401 "
begin
# PKCE: the code of another sign-in, of which the verifier is another.
agree $ALICE
other=$back
begin
state=$(echo "$page" | sed -E 's/.*[?&]state=([^&]*).*/\1/')
come "$browser" "$(echo "$other" | sed -E "s/state=.*/state=$state/")"
is "a code that was stolen from another sign-in" "$(status) $session" "401 "
begin
is "a redirect to a foreign place is none of Discord's" \
	"$(api POST /users/$ALICE/authorize "{\"url\":\"$(echo "$page" | sed -E 's/redirect_uri=[^&]*/redirect_uri=http%3A%2F%2Fevil.example%2F/')\"}")" \
	'{"error":"invalid OAuth2 redirect_uri"}'
for i in 1 2 3 4 5 6; do web GET /api/auth/discord "X-Forwarded-For: 10.0.0.88" "Sec-Fetch-Site: cross-site" >"$D/answer"; done
is "a page of another site begins none" "$(status) $(field error <"$D/answer")" "403 cross_origin"
FROM=10.0.0.88 begin
is "and spends nobody's tries" "$(status)" 303
HOST=evil.example web GET /api/auth/discord >"$D/answer"
is "and a page of another name begins none" "$(status)" 421
back=$(api POST "/users/$ALICE/authorize" "{\"url\":\"$page\",\"deny\":true}" | field location)
come "$browser" "${back#http://127.0.0.1:$WEB}"
is "a person who refuses" "$(status) $session" "401 "
begin
web GET "/api/auth/discord/callback?error=access_denied&state=x" "Cookie: $browser" "Sec-Fetch-Site: cross-site" "Sec-Fetch-Dest: document" \
	"X-Forwarded-For: $from" >"$D/answer"
is "a browser gets the form again, with the reason" "$(status) $(location)" "303 /#refused=sign_in_refused"

# Whoever is no member any more is out, and a lost permission ends the session that had it; also when Discord has no answer at first.
api POST /faults '{"method":"GET","contains":"/users/@me/guilds","status":429,"retry_after":0.2,"times":3}' >/dev/null
api POST /faults '{"method":"GET","contains":"/users/@me/guilds","status":503,"times":3}' >/dev/null
api DELETE /guilds/$GUILD/members/$BOB >/dev/null
conf ', "web_session_hours": 100'
kill -HUP "$control"
gone() { [ "$(role "$bob")$(role "$keeper")" = "" ]; }
until_ok 10 gone && ok "who left the server is out" || bad member "bob is still $(role "$bob"), $(role "$keeper")"
is "others stay" "$(role "$alice")" admin
[ "$(grep -ca 'web_discord_asked_later' "$D/control.log")" -ge 6 ] && ok "Discord was asked again until it answered" || bad later "$(grep -a web_discord "$D/control.log")"
FROM=10.0.0.99
for i in 1 2 3 4 5 6; do begin; done
is "who begins all the time must wait" "$(status) $(grep -c '^Retry-After: 30' "$D/head")" "429 1"

# Sessions are of the server of their sign-in.
sed -i "s/\"web_discord_guild\": \"$GUILD\"/\"web_discord_guild\": \"1000000000000000\"/" "$D/config.json"
kill -HUP "$control"
gone() { [ "$(role "$alice")" = "" ]; }
until_ok 10 gone && ok "another server ends the sessions of the one before" || bad server "alice is still $(role "$alice")"
grep -qa "another server now" "$D/control.log" && ok "and the log says why" || bad why "$(grep -a sign_out "$D/control.log" | tail -2)"
sed -i "s/\"web_discord_guild\": \"1000000000000000\"/\"web_discord_guild\": \"$GUILD\"/" "$D/config.json"
kill -HUP "$control"
back_again() { [ "$(web GET /api/auth/methods)" = '{"token":true,"discord":true}' ]; }
until_ok 10 back_again || bad config "sign-in is not back"
FROM=10.0.0.77 sign_in $ALICE
alice=$session
is "somebody is signed in" "$(role "$alice")" admin

# Every server of the bot: its staff sees it alone, and whoever has roles in several looks at one after the other.
new_guild Birch
for g in "$GUILD" "$NEW"; do api POST "/guilds/$g/members" "{\"user_id\":\"$CAROL\"}" >/dev/null; done
api POST "/guilds/$NEW/roles" '{"id":"78","name":"keepers","permissions":"8"}' >/dev/null
api PATCH "/guilds/$NEW/members/$CAROL" '{"role_ids":["78"]}' >/dev/null
FROM=10.0.0.78 sign_in $CAROL
is "before, a role elsewhere counts for nothing" "$(role "$session")" viewer
conf ', "web_discord_everywhere": true'
kill -HUP "$control"
shows() { web GET "$1" "Cookie: $carol" "Sec-Fetch-Site: same-origin"; }
staff() { FROM=10.0.0.79 sign_in $CAROL; carol=$session; [ "$(role "$carol")" = operator ]; }
until_ok 5 staff && ok "an administrator of another server is its operator" || bad staff "$(role "$carol")"
is "and sees that one" "$(shows /api/guilds | grep -o '"id":"[0-9]*"')" "\"id\":\"$NEW\""
is "of two" "$(shows /api/auth/session | grep -oE '"servers":\[[^]]*\]' | grep -oE '"(id|role)":"[^"]*"' | tr '\n' ' ')" \
	"\"id\":\"$GUILD\" \"role\":\"viewer\" \"id\":\"$NEW\" \"role\":\"operator\" "
shows "/api/turns?guild=$GUILD" >"$D/answer"
is "nothing of the other" "$(status)" 403
look() { # SERVER
	BODY="{\"server\":\"$1\"}" web PUT /api/auth/session "Cookie: $carol" "Origin: http://127.0.0.1:$WEB" "Content-Type: application/json" \
		"Content-Length: $((${#1} + 13))" >"$D/answer"
}
look 4711
is "nor a server that is not theirs" "$(status)" 403
look "$GUILD"
is "they look at the other one, with their role there" "$(status) $(role "$carol") $(shows /api/guilds | grep -o '"id":"[0-9]*"')" "200 viewer \"id\":\"$GUILD\""
shows "/api/turns?guild=$NEW" >"$D/answer"
is "then nothing of the first" "$(status)" 403
api DELETE "/guilds/$GUILD/members/$CAROL" >/dev/null
conf ', "web_discord_everywhere": true, "web_session_hours": 99'
kill -HUP "$control"
gone() { [ "$(role "$carol")" = "" ]; }
until_ok 10 gone && ok "who leaves the server that they look at is out" || bad member "carol is still $(role "$carol")"

echo '{}' >"$D/config.json"
kill -HUP "$control"
off() { [ "$(web GET /api/auth/methods)" = '{"token":true,"discord":false}' ]; }
until_ok 10 off && ok "a setting switches it off" || bad off "it is still there"
gone() { [ "$(role "$alice")" = "" ]; }
until_ok 10 gone && ok "and ends its sessions" || bad off "alice is still $(role "$alice")"
web GET /api/auth/discord >"$D/answer"
is "then there is none" "$(status) $(field error <"$D/answer")" "404 no_discord"
TOKEN=$(cat "$D/state/web-token")
web GET /api/audit "Authorization: Bearer $TOKEN" >"$D/answer"
is "and from where, behind the proxy" "$(grep -c '"via":"http from 10.0.0.1"' "$D/answer")" 1
is "the audit names who came" "$(grep -oE "\"actor\":\"($ALICE|$BOB)\"[^}]*\"kind\":\"sign_in\"" "$D/answer" | wc -l)" 9
is "no secret is in the log" "$(grep -cae hush.hush -e "$code" -e "${alice#*=}" -e "$state" "$D/control.log")" 0
kill -TERM "$control"
wait "$control"
is "nor in the database" "$(cat "$D/state"/parley.db* | grep -cae hush.hush -e "$code" -e "${alice#*=}")" 0
report
