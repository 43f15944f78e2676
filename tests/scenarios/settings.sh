#!/bin/sh
# The stored document through the real program: its HTTP API with a token from the state directory, what a change does, that it
# outlives the program (also one killed right after its answer), what a database that cannot be used does to a change, and that
# recorded runs with such changes run again to the same digest.
#
#   tests/scenarios/settings.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-settings-XXXXXX)
. tests/scenarios/common

# web METHOD PATH [BODY]: one request to control; the status is in $D/status, the body is printed.
web() {
	local body=${3:-} line
	exec 4<>"/dev/tcp/127.0.0.1/$WEB" || return 1
	printf '%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' \
		"$1" "$2" "$TOKEN" "${#body}" "$body" >&4
	IFS= read -r line <&4
	echo "$line" | cut -d' ' -f2 >"$D/status"
	while IFS= read -r line <&4; do [ "$line" = $'\r' ] && break; done
	cat <&4
	exec 4>&-
}
status() { cat "$D/status"; }
# read_events QUERY: a reader of the event stream in the background, which writes to $D/events.
read_events() {
	exec 6<>"/dev/tcp/127.0.0.1/$WEB" || return 1
	printf 'GET /api/events%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n' "$1" "$TOKEN" >&6
	cat <&6 >"$D/events" &
	started="$started $!"
}
run_control() {
	: >"$D/control.log"
	PARLEY_BRAIN_URL=ws://127.0.0.1:9/ PARLEY_WEB_LISTEN=127.0.0.1:0 start control "$B/control" --media-sock "$D/mediad.sock" \
		--state-dir "$D/state" --ca "$CA" --config "$D/parley.json" --log debug "$@"
	control=$last
	until_ok 10 grep -qa web_up "$D/control.log" || bad web "it does not listen"
	WEB=$(sed -nE 's/.*web_up .*port=([0-9]+).*/\1/p' "$D/control.log" | tail -1)
	TOKEN=$(cat "$D/state/web-token")
}

start_guildd
start_mediad mediad
printf '{ "silence_ms": 800 }\n' >"$D/parley.json"
run_control --journal "$D/journal"
until_ok 10 registered || bad commands "not registered"
is "the token is for its owner alone" "$(stat -c %a "$D/state/web-token") ${#TOKEN}" "600 64"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad join "the call is not up"

web GET /api/settings >"$D/answer"
is "the settings are there" "$(status) $(grep -o '"silence_ms":800' "$D/answer")" '200 "silence_ms":800'
good=$TOKEN TOKEN=${TOKEN%?}x
web GET /api/settings >"$D/answer"
is "not for everybody" "$(status)" 401
TOKEN=$good
web GET /readyz >"$D/answer"
is "all parts are ready" "$(status) $(grep -o '"mediad":"up"' "$D/answer")" '200 "mediad":"up"'
web GET /metrics >"$D/answer"
is "metrics are there" "$(status) $(grep -E '^parley_(logins_total|calls_up_total|voice_sessions) ' "$D/answer" | sort | tr '\n' ' ')" \
	"200 parley_calls_up_total 1 parley_logins_total 1 parley_voice_sessions 1 "
tests/check/monitoring.sh "$D/answer" >"$D/monitoring" 2>&1 && ok "as Prometheus reads them" || bad metrics "$(tail -3 "$D/monitoring")"
read_events "?type=setting_changed"
until_ok 5 grep -qs text/event-stream "$D/events" && ok "events are streamed" || bad events "no stream"
web GET '/api/events?type=nonsense' >"$D/answer"
is "but none that do not exist" "$(status) $(field error <"$D/answer")" "400 bad_query"
web PUT /api/settings '{"intent": {"silence_ms": 900}}' >"$D/answer"
is "no change without a version" "$(status) $(field error <"$D/answer")" "409 settings_version_required"
web PUT /api/settings '{"intent": {"silence_ms": 900, "reply_path": "brain", "guilds": {"'$GUILD'": {"hold_ms": 111}}}, "_meta": {"version": 0}}' >"$D/answer"
is "one is made" "$(status) $(field version <"$D/answer")" "200 1"
is "what it does is told" "$(grep -o '"reply_path","outcome":"after_restart"' "$D/answer")" '"reply_path","outcome":"after_restart"'
until_ok 5 grep -qa 'setting_changed name=silence_ms' "$D/control.log" && ok "and in the log" || bad log "no setting_changed"
until_ok 5 grep -qa 'settings_saved scope=global document_version=1 author=token' "$D/control.log" && ok "with its version and author" ||
	bad log "no settings_saved"
until_ok 5 grep -qs '"event":"setting_changed".*"name":"silence_ms"' "$D/events" && ok "and to the readers of events" ||
	bad events "no setting_changed"
is "others are not" "$(grep -c '^event: ' "$D/events") $(grep -c '^event: setting_changed' "$D/events")" "$(grep -c '^event: ' "$D/events") $(grep -c '^event: ' "$D/events")"
web GET "/api/settings?guild=$GUILD" >"$D/answer"
is "one server's settings are shown" "$(grep -o '"hold_ms":111' "$D/answer" | tail -1)" '"hold_ms":111'
web PUT /api/settings '{"intent": {}, "_meta": {"version": 7}}' >"$D/answer"
is "whoever is late is told so" "$(status) $(field error <"$D/answer")" "409 settings_conflict"
printf '{ "silence_ms": 850, "hold_ms": 777 }\n' >"$D/parley.json"
kill -HUP "$control"
until_ok 5 grep -qa 'setting_changed name=hold_ms' "$D/control.log" && ok "the file is read again" || bad file "no setting_changed"
printf '{ "silence_ms": 850, "hold_ms": 777, "log_json": true }\n' >"$D/parley.json"
kill -HUP "$control"
as_json() { web GET /api/settings | grep -q '"log_json":true'; }
until_ok 20 as_json || bad json "it takes no effect"
printf '{ "silence_ms": 850, "hold_ms": 778, "log_json": true }\n' >"$D/parley.json"
kill -HUP "$control"
until_ok 20 grep -qa '"event":"setting_changed","fields":{"name":"hold_ms"' "$D/control.log" && ok "log_json takes effect at run time" || bad log "no line of JSON"
is "each line is an object then" "$(sed '1,/"event":"setting_changed","fields":{"name":"hold_ms"/d' "$D/control.log" |
	perl -MJSON::PP -ne 'my $l = eval { decode_json($_) }; print "bad: $_" unless $l && $l->{time} && $l->{level} && $l->{process} && $l->{event}' | wc -l)" 0
printf '{ "silence_ms": 850, "hold_ms": 777, "log_json": false, "log_level": "warn" }\n' >"$D/parley.json"
kill -HUP "$control"
quiet() { web GET /api/settings | grep -q '"log_level":"warn"'; }
until_ok 20 quiet || bad level "it takes no effect"
lines=$(grep -ca 'signal' "$D/control.log")
kill -HUP "$control"
sleep 1
is "and log_level, too" "$(grep -ca 'signal' "$D/control.log")" "$lines"
printf '{ "silence_ms": 850, "hold_ms": 777 }\n' >"$D/parley.json"
kill -HUP "$control"
before() { web GET /api/settings | grep -q '"log_level":"option"'; }
until_ok 20 before || bad level "it is not as before"
web GET /api/settings >"$D/answer"
is "the document takes precedence" "$(grep -oE '"(silence_ms|hold_ms)":[0-9]+' "$D/answer" | tail -2 | tr '\n' ' ')" '"silence_ms":900 "hold_ms":777 '
up $GUILD && ok "the call went on" || bad call "is not up any more"
kill -TERM "$control"
wait "$control"
is "it ends in order" $? 0
is "no token is in the journal" "$(grep -ca "$TOKEN" "$D/journal")" 0
"$B/control" --log fatal --replay "$D/journal" >"$D/again" 2>"$D/again.log"
is "it runs again to the same digest" "$? $(cmp -s "$D/control.out" "$D/again" && echo same)" "0 same"
"$B/control" --log fatal --no-subscribers --replay "$D/journal" >"$D/again" 2>"$D/again.log"
is "without other subscribers, too" "$? $(cmp -s "$D/control.out" "$D/again" && echo same)" "0 same"

run_control
web GET /api/settings >"$D/answer"
is "the document outlives the program" "$(field version <"$D/answer") $(grep -oE '"silence_ms":9[0-9]+' "$D/answer" | tail -1)" '1 "silence_ms":900'
web POST /api/settings/undo '{"_meta": {"version": 1}}' >"$D/answer"
is "and is undone" "$(status) $(field version <"$D/answer")" "200 2"
web GET /api/settings >"$D/answer"
is "then the file counts" "$(grep -oE '"silence_ms":[0-9]+' "$D/answer" | tail -1)" '"silence_ms":850'

# What was answered is on the disk: nothing of a change is lost when control dies at once.
for version in 2 3 4; do
	web PUT /api/settings '{"intent": {"silence_ms": 90'$version'}, "_meta": {"version": '$version'}}' >"$D/answer"
	kill -KILL "$control"
	wait "$control" 2>/dev/null
	is "version $((version + 1)) is answered" "$(status)" 200
	run_control
	web GET /api/settings >"$D/answer"
	is "and survives kill -9" "$(field version <"$D/answer") $(grep -oE '"silence_ms":9[0-9]+' "$D/answer" | tail -1)" \
		"$((version + 1)) \"silence_ms\":90$version"
done
web GET /api/settings/history >"$D/answer"
is "all versions are there" "$(grep -o '"author":"token"' "$D/answer" | wc -l)" 5
is "no file beside the database has them" "$(cd "$D/state" && ls -A | grep -c settings)" 0
kill -TERM "$control"
wait "$control"

# A database that cannot be used: a change is refused in words, and nothing changes; a replay says the same.
mv "$D/state/parley.db" "$D/kept.db"
rm -f "$D/state"/parley.db-*
for line in $(seq 100); do echo "no database at all"; done >"$D/state/parley.db"
run_control --journal "$D/refused"
web PUT /api/settings '{"intent": {"silence_ms": 901}, "_meta": {"version": 0}}' >"$D/answer"
is "no change without a database" "$(status) $(field error <"$D/answer") $(grep -o 'not a database' "$D/answer")" \
	"503 settings_not_saved not a database"
is "and none in effect" "$(field version <"$D/answer") $(grep -oE '"silence_ms":[0-9]+' "$D/answer" | tail -1)" '0 "silence_ms":850'
is "its log says that no call is joined" "$(grep -c 'settings_unread' "$D/control.log")" 1
out=$("$B/control" --state-dir "$D/state" --ca "$CA" --check 2>&1)
is "and --check says so" "$(echo "$out" | grep -c '^missing  stored settings: what is stored for all servers cannot be read')" 1
kill -TERM "$control"
wait "$control"
"$B/control" --log fatal --replay "$D/refused" >"$D/again" 2>"$D/again.log"
is "a refusal runs again to the same digest" "$? $(cmp -s "$D/control.out" "$D/again" && echo same)" "0 same"

# What keeps control from starting with its state directory is found by --check, too.
refused() { # ARGUMENTS…
	out=$(PARLEY_WEB_LISTEN=127.0.0.1:0 "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" --config "$D/parley.json" "$@" 2>&1)
}
mv "$D/kept.db" "$D/state/parley.db"
echo short >"$D/state/web-token"
refused
is "a token that is none: no start" "$? $(echo "$out" | grep -c 'it holds no token')" "1 1"
refused --check
is "and --check says so" "$(echo "$out" | grep -c '^missing  web-token: .*it holds no token')" 1
rm "$D/state/web-token" "$D/state/control.lock"
ln -s /nowhere "$D/state/control.lock"
refused
is "a lock that cannot be used: no start" "$? $(echo "$out" | grep -c 'control.lock cannot be used')" "1 1"
refused --check
is "and --check says so" "$(echo "$out" | grep -c '^missing  state directory: .*control.lock cannot be used')" 1
report
