#!/bin/sh
# Joining, end to end: runs guildd, mediad and control, gives commands as members do, and kills programs and connections. Needs
# only a shell with /dev/tcp (bash).
#
#   tests/scenarios/join.sh [build folder]      default: build; SWITCHES="same_token=1 …" sets switches of guildd
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-join-XXXXXX)
GUILD=41771983423143937 TEXT=127121515262115841 VOICE=127121515262115840 ALICE=501 BOB=502 BOT=900
passed=0 failed=0
guildd= mediad= control=

end() {
	for p in $control $mediad $guildd; do kill "$p" 2>/dev/null; done
	wait 2>/dev/null
	[ $failed = 0 ] && rm -rf "$D" || echo "logs are in $D"
}
trap end EXIT
trap 'exit 1' INT TERM

# api METHOD PATH [BODY]: one request to guildd's control port; prints the body.
api() {
	local body=${3:-} line
	exec 3<>"/dev/tcp/127.0.0.1/$API" || return 1
	printf '%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' \
		"$1" "$2" "${#body}" "$body" >&3
	while IFS= read -r line <&3; do [ "$line" = $'\r' ] && break; done
	cat <&3
	exec 3>&-
}
# field NAME: prints the first such text or number of the JSON on stdin.
field() {
	sed -nE "s/.*\"$1\": ?\"?((\\\\.|[^\",}])*).*/\\1/p" | head -1
}
ok() {
	passed=$((passed + 1))
	echo "ok      $1"
}
bad() {
	failed=$((failed + 1))
	echo "FAILED  $1: $2"
}
# check WHAT TEXT PATTERN
check() {
	case $2 in
	*"$3"*) ok "$1" ;;
	*) bad "$1" "\"$2\" has no \"$3\"" ;;
	esac
}
# until_ok SECONDS COMMAND…: tries again until it succeeds.
until_ok() {
	local n=$(($1 * 10))
	shift
	while ! "$@"; do
		n=$((n - 1))
		[ $n -gt 0 ] || return 1
		sleep 0.1
	done
}
count() { # NAME: a counter of the bot's
	api GET /stats | sed -nE "s/.*\"$BOT\": ?\\{([^}]*)\\}.*/\\1/p" | grep -oE "\"$1\": ?[0-9]+" | grep -oE '[0-9]+$' || echo 0
}
original() { # ID: the text of the answer to an interaction, nothing while it is only deferred
	api GET "/interactions/$1" | sed -nE 's/.*"content": ?"((\\.|[^"\\])*)".*/\1/p'
}
answered() { ANSWER=$(original "$1") && [ -n "$ANSWER" ]; }
# say USER NAME [CHANNEL]: gives a command and waits for the answer, which goes to ANSWER.
say() {
	local options='' id
	[ -n "${3:-}" ] && options=",\"options\":[{\"name\":\"channel\",\"type\":7,\"value\":\"$3\"}]"
	INTERACTION=
	id=$(api POST /interactions "{\"user_id\":\"$1\",\"channel_id\":\"$TEXT\",\"name\":\"$2\"$options}" | field id)
	ANSWER=
	INTERACTION=$id
	[ -n "$id" ] && until_ok ${WAIT:-75} answered "$id"
}
status_is() { WAIT=3 say $ALICE status && case $ANSWER in *"$1"*) true ;; *) false ;; esac; }
new_channel() { api POST /guilds/$GUILD/channels "$1" | field id; }
switch() { api POST /switches "$1" >/dev/null; }

start_mediad() {
	"$B/mediad" --listen "$D/mediad.sock" --ca "$CA" >>"$D/mediad.log" 2>&1 &
	mediad=$!
}
start_control() {
	"$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" --log debug "$@" >>"$D/control.log" 2>&1 &
	control=$!
}
kill9() {
	kill -9 "$1"
	wait "$1" 2>/dev/null
}
registered() { api GET /bots/$BOT/commands | grep -q '"join"'; }

# shellcheck disable=SC2046
"$B/guildd" --ready-file "$D/ready" $(printf -- ' --set %s' check_user_agent=2 ${SWITCHES:-}) >"$D/guildd.out" 2>"$D/guildd.log" &
guildd=$!
until_ok 10 test -s "$D/ready" || { bad start "guildd is not ready"; exit 1; }
CA=$(field ca <"$D/ready")
API=$(field control <"$D/ready" | grep -oE '[0-9]+$')
PARLEY_DISCORD_API=$(field rest <"$D/ready")
export PARLEY_DISCORD_API
# No provider listens at this address, because the scenario tests joining only.
export PARLEY_BRAIN_URL=ws://127.0.0.1:9/ DISCORD_TOKEN=guildd.bot.token
unset OPENAI_API_KEY OPENAI_API_KEY_FILE DISCORD_TOKEN_FILE

# ---- before the start ----
out=$("$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" --check --guild $GUILD --channel $VOICE)
rc=$?
check "check finds a missing mediad" "$rc $out" "1 "
check "check names it" "$out" "missing  mediad"
check "check gives the invite link" "$out" "scope=bot+applications.commands"
# refused WHAT PATTERN PROGRAM…: the program ends at once, and its only line names what is wrong.
refused() { check "$1" "$(timeout 5 "${@:3}" 2>&1) $?" "$2"; }
# Nobody reads the log, and the pipe is full.
mkfifo "$D/unread"
exec 7<>"$D/unread"
"$B/mediad" --listen "$D/unread.sock" 2>&7 &
unread=$!
asked() { timeout 5 "$B/mediad" --health "$D/unread.sock" >/dev/null 2>&1; }
has_ended() { ! kill -0 $unread 2>/dev/null; }
until_ok 5 asked || bad "mediad with a log that nobody reads" "does not start"
filters() { cat "$@" | sed -n 's/^Seccomp_filters:[[:space:]]*//p' | sort -n | head -1; }
within=$(filters /proc/self/status) # 0, or those of a container; nothing on a kernel that does not tell
[ -z "$within" ] || [ "$(filters /proc/$unread/task/*/status)" -gt "$within" ] && ok "each thread of mediad has its filter" ||
	bad "each thread of mediad has its filter" "one has $within"
dd if=/dev/zero of="$D/unread" bs=4096 count=100 oflag=nonblock 2>/dev/null
# Of many connections that say nothing mediad closes the oldest, each with a line of the log.
timeout 5 perl -MIO::Socket::UNIX -e '@silent = map { IO::Socket::UNIX->new(Peer => $ARGV[0]) } 1 .. 200' "$D/unread.sock"
asked && ok "a log that nobody reads does not stop mediad" || bad "a log that nobody reads does not stop mediad" "no answer"
kill $unread
until_ok 5 has_ended && ok "nor its end" || { bad "nor its end" "it goes on"; kill -9 $unread; }
wait $unread 2>/dev/null
exec 7>&-
refused "mediad names an authority that is not there" "mediad: --ca /nonexistent: No such file or directory 1" \
	"$B/mediad" --listen "$D/other.sock" --ca /nonexistent
refused "mediad names a journal that cannot be made" "mediad: /nonexistent/journal: No such file or directory 1" \
	"$B/mediad" --listen "$D/other.sock" --journal /nonexistent/journal
refused "control names a journal that cannot be made" "control: cannot start: /nonexistent/journal: No such file or directory" \
	"$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" --journal /nonexistent/journal
start_mediad
until_ok 5 test -S "$D/mediad.sock"
# checked WHAT PATTERN VARIABLES… OPTIONS…: runs a check and searches "STATUS OUTPUT" for the pattern.
checked() {
	local what=$1 pattern=$2
	shift 2
	out=$(env "$@" --state-dir "${STATE:-$D/state}" --ca "$CA" --check 2>&1)
	check "$what" "$? $out" "$pattern"
}
sock="--media-sock $D/mediad.sock"
# shellcheck disable=SC2086
{
	checked "check passes" "0 ok" -u PARLEY_BRAIN_URL "$B/control" $sock --guild $GUILD --channel $VOICE
	check "check sees the permissions" "$out" "ok       permissions: connect"
	check "check says that all is there" "$out" "All checks passed"
	checked "check alone is enough" "0 ok" -u PARLEY_BRAIN_URL "$B/control"
	checked "check says that the embedded engine sees no screen" "screens: nobody sees what members show" -u PARLEY_BRAIN_URL PARLEY_WEB_LISTEN=127.0.0.1:0 "$B/control"
	checked "check fails by its status" "1 ok" "$B/control" $sock
	check "check finds a brain that is not there" "$out" "missing  role voice: brain, model gpt-realtime, at ws://127.0.0.1:9/ cannot be reached"
	checked "check keeps the brain's secrets" "missing  role voice: brain, model gpt-realtime, at ws://127.0.0.1:9/x cannot be reached" \
		PARLEY_BRAIN_URL='ws://127.0.0.1:9/x?key=hunter2' "$B/control" $sock
	printf '{"providers": [{"name": "m", "dialect": "anthropic", "url": "http://127.0.0.1:9/v1"}], "roles": {"embed": ["m"]}}' >"$D/embed.json"
	checked "check names a provider that cannot serve" "role embed: m cannot serve this role: name another provider" \
		"$B/control" $sock --config "$D/embed.json"
	case $out in
	*"another provider, or set"*) bad "check advises no key" "which would not help" ;;
	*) ok "check advises no key that would not help" ;;
	esac
	printf '{"mcp_servers": [{"name": "h", "transport": "http", "url": "http://127.0.0.1:9/mcp", "headers": {"A": "/nonexistent"}}]}' >"$D/mcp.json"
	checked "check names a header's file that is not there" "warning  MCP server h: the file /nonexistent for A is not there" \
		"$B/control" $sock --config "$D/mcp.json"
	checked "check tells a wrong token" "missing  token: the token is not accepted" DISCORD_TOKEN=wrong.bot.token "$B/control" $sock
	checked "check tells a missing token" "missing  token: set DISCORD_TOKEN" -u DISCORD_TOKEN "$B/control" $sock
	checked "check names a token file it cannot read" "the file /nonexistent that DISCORD_TOKEN_FILE names" \
		-u DISCORD_TOKEN DISCORD_TOKEN_FILE=/nonexistent "$B/control" $sock
	case $(env DISCORD_TOKEN_FILE=/tmp "$B/control" --state-dir "$D/state" --ca "$CA" --check 2>&1) in
	*"chmod 600 /tmp"*) bad "check advises no mode for a folder" "chmod 600 would close it to everybody" ;;
	*) ok "check advises no mode for a folder" ;;
	esac
	checked "check tells a value that a setting cannot have" \
		'missing  settings: PARLEY_CONSENT cannot be "nobody": it must be heard, remembered or neither' PARLEY_CONSENT=nobody "$B/control" $sock
	checked "check tells that Discord's name is not known" "its host name cannot be resolved, or no route leads there" \
		PARLEY_DISCORD_API=http://no-such-host.invalid "$B/control" $sock
	printf '{"web_listen": "x"}' >"$D/web.json"
	checked "check names a wrong address of the API" '"web_listen" must be a numeric address' "$B/control" $sock --config "$D/web.json"
	case $out in
	*"other machines can reach"*) bad "check warns of no address that nobody can reach" "$out" ;;
	*) ok "check warns of no address that nobody can reach" ;;
	esac
	checked "check tells that a proxy is not listed" "warning  web_proxies: web_origin has a proxy in front" \
		PARLEY_WEB_LISTEN=127.0.0.1:0 PARLEY_WEB_ORIGIN=https://parley.example.org "$B/control" $sock
	checked "check tells a music folder that is not there" "warning  music folder: /nonexistent: No such file" \
		PARLEY_MUSIC_FOLDERS=/nonexistent "$B/control" $sock
	checked "check tells a music folder that has no whole path" "warning  music folder: music: it must begin with /" \
		PARLEY_MUSIC_FOLDERS=music:/tmp "$B/control" $sock
	check "check tells a music folder that can be read" "$out" "ok       music folder: /tmp can be read"
	mkdir -p "$D/songs/in"
	ln -s "$D/songs" "$D/same"
	checked "check tells a music folder in another one" "warning  music folder: $D/songs/in adds nothing: its files are found in $D/songs" \
		PARLEY_MUSIC_FOLDERS="$D/songs/in:$D/songs:$D/same" "$B/control" $sock
	check "check tells a music folder that comes twice" "$out" "music folder: $D/same adds nothing: its files are found in $D/songs"
	checked "check tells a mediad that plays no music" "plays no music: start mediad with --music-root DIR" PARLEY_MUSIC_FOLDERS=/tmp "$B/control" $sock
	"$B/mediad" --listen "$D/music.sock" --music-root /tmp --music-address 10.0.0.6:8000 2>>"$D/music.log" &
	player=$!
	until_ok 5 "$B/mediad" --health "$D/music.sock" >/dev/null
	checked "check tells a folder that mediad was not given" "has no --music-root for /usr" PARLEY_MUSIC_FOLDERS=/tmp:/usr "$B/control" --media-sock "$D/music.sock"
	check "check tells a folder that mediad has" "$out" "plays files of /tmp"
	checked "check tells a folder that is another one for mediad" "--music-root number 1 is another folder than /usr" \
		PARLEY_MUSIC_FOLDERS=/usr "$B/control" --media-sock "$D/music.sock"
	checked "check tells an address that mediad was not given" "has no --music-address for 10.0.0.5:8000: start mediad with --music-address" \
		PARLEY_MUSIC_WEB=yes PARLEY_WEB_READ_ALLOWED=10.0.0.5:8000,10.0.0.6:8000 "$B/control" --media-sock "$D/music.sock"
	check "check tells an address that mediad reads" "$out" "reads 10.0.0.6:8000"
	kill $player
	checked "check tells a program that decodes nothing without folders" "plays no music: start mediad with --decoderd PROGRAM" \
		PARLEY_MUSIC_WEB=yes "$B/control" $sock
	checked "check names an entry of a list of addresses that is none" 'missing  settings: PARLEY_WEB_READ_ALLOWED must be IP addresses with ports' \
		PARLEY_WEB_READ_ALLOWED=127.0.0.1:18768,station.example:8000 "$B/control" $sock
	check "check shows that entry" "$out" 'not "station.example:8000"; a host is listed by its IP address'
	for wrong in --music-address=station.example:8000 --music-address=10.0.0.5 --music-root=; do
		rc=0
		said=$(timeout 10 "$B/mediad" --listen "$D/wrong.sock" $wrong 2>&1) || rc=$?
		check "mediad does not start with $wrong" "$rc $said" "2 mediad: ${wrong%%=*}: "
	done
	checked "check tells a downloader that is not there" "warning  music_downloader: /nonexistent/yt-dlp: No such file" \
		PARLEY_MUSIC_DOWNLOADER=/nonexistent/yt-dlp "$B/control" $sock
	printf '{"roles": {"embed": ["embedded"]}}' >"$D/embed.json"
	checked "check names a role that its provider cannot serve" "cannot serve the role embed" "$B/control" $sock --config "$D/embed.json"
	case $out in
	*"memory search: by words and by meaning"*) bad "check promises no search by meaning then" "$out" ;;
	*) ok "check promises no search by meaning then" ;;
	esac
	checked "check tells a downloader that is a folder" "warning  music_downloader: /tmp is no file" \
		PARLEY_MUSIC_DOWNLOADER=/tmp "$B/control" $sock
	checked "check tells a folder of sounds that is not there" "warning  sound folder: /nonexistent: No such file" \
		PARLEY_SOUND_FOLDER=/nonexistent "$B/control" $sock
	checked "check tells that Discord is away" "missing  Discord: http://127.0.0.1:9/api cannot be reached" \
		PARLEY_DISCORD_API=http://127.0.0.1:9/api "$B/control" $sock
	checked "check tells a server without the bot" "add the bot there" "$B/control" $sock --guild 41771983423143938 --channel $VOICE
	checked "check tells an unknown channel" "no channel or thread of this id" "$B/control" $sock --guild $GUILD --channel 500
	api PATCH /bots/$BOT '{"application":{"bot_require_code_grant":true,"interactions_endpoint_url":"https://example.com/"}}' >/dev/null
	checked "check names a switch of the developer portal" "switch off Requires OAuth2 Code Grant" "$B/control" $sock
	check "check names the other one" "$out" "missing  developer portal: Under General Information, empty Interactions Endpoint URL"
	api PATCH /bots/$BOT '{"application":{}}' >/dev/null
	checked "check with nothing to switch" "ok       developer portal: nothing to switch" "$B/control" $sock
	api POST /bots '{"id":"901","name":"lonely","token":"lonely.bot.token"}' >/dev/null
	checked "check tells that nobody added the bot" "missing  server: the bot is in no server yet" DISCORD_TOKEN=lonely.bot.token "$B/control" $sock
	api POST /guilds '{"id":"77","name":"Bare","owner_id":"501"}' >/dev/null
	api POST /guilds/77/members '{"user_id":"901"}' >/dev/null
	api PATCH /guilds/77/roles/77 '{"permissions":"1049600"}' >/dev/null
	checked "check looks at the rights in each server" "warning  permissions: in Bare the bot's roles do not let it speak" \
		DISCORD_TOKEN=lonely.bot.token "$B/control" $sock
	checked "check finds a mistyped variable" "warning  environment: unknown variable PARLEY_SILENSE_MS; did you mean PARLEY_SILENCE_MS?" \
		PARLEY_SILENSE_MS=1 "$B/control" $sock
	printf '{\n"silense_ms": 1,\n"hold_ms": -1\n}\n' >"$D/bad.json"
	checked "check tells every fault of the settings file" "missing  settings: $D/bad.json:2: there is no setting \"silense_ms\"; did you mean \"silence_ms\"?" \
		"$B/control" $sock --config "$D/bad.json"
	check "check tells the next one" "$out" "bad.json:3: \"hold_ms\" must be a whole number from 0 to 20000 ms, not -1"
	checked "check tells how to reach mediad" "missing  mediad: there is no $D/none.sock. Start mediad --listen $D/none.sock" \
		"$B/control" --media-sock "$D/none.sock"
	STATE=/proc/parley checked "check tells a folder it cannot write" "warning  state directory: /proc/parley" "$B/control" $sock
	api PUT "/channels/$VOICE/overwrites/$GUILD" '{"type":"role","allow":"0","deny":"2097152"}' >/dev/null
	checked "check tells a missing permission" "missing  permissions: the bot may not speak in Voice" \
		"$B/control" $sock --guild $GUILD --channel $VOICE
	api PUT "/channels/$VOICE/overwrites/$GUILD" '{"type":"role","allow":"0","deny":"0"}' >/dev/null
}
# started WHAT PATTERN VARIABLES… OPTIONS…: a start that must fail ends with status 1 and one line.
started() {
	local what=$1 pattern=$2
	shift 2
	out=$(timeout 20 env "$@" --state-dir "$D/state0" 2>&1)
	check "$what" "$? $(printf %s "$out" | wc -l) $out" "1 0 control: $pattern"
}
started "a start without a token" "no bot token: set DISCORD_TOKEN" -u DISCORD_TOKEN "$B/control" --spawn-mediad
started "a start without the mediad to run" "there is no program /nonexistent" "$B/control" --spawn-mediad=/nonexistent
started "a start without the authority" "--ca /nonexistent: No such file" "$B/control" --spawn-mediad --ca /nonexistent

out=$("$B/control" --spawn-mediad --config "$D/bad.json" 2>&1)
check "a start with faults in the settings file" "$? $(printf '%s\n' "$out" | wc -l) $out" "2 2 control: $D/bad.json:2: "

# ---- joining by command ----
start_control
until_ok 10 registered || bad commands "not registered"
say $BOB join
check "join without a channel asks which" "$ANSWER" "Which channel?"
say $ALICE join $VOICE
check "join says where it is" "$ANSWER" "I am in <#$VOICE>"
check "the answer was deferred first" "$(api GET "/interactions/$INTERACTION" | field answer)" "5"
say $ALICE status
check "status knows the call is up" "$ANSWER" "Call:** up"
check "status knows that nobody is there" "$ANSWER" "nobody but me"
# 68: ephemeral, and without embeds
check "and is for who asks alone" "$(api GET "/interactions/$INTERACTION" | grep -o '"flags": *68')" 68
say $ALICE code
check "code tells of the encryption" "$ANSWER" "**Encryption:**"
check "and nothing else" "$(printf '%s' "$ANSWER" | grep -c 'Call:')" 0
say $ALICE why
check "why knows of no words of hers" "$ANSWER" "I know of nothing that you have said"
INTERACTION=$(api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"say\",\"options\":[{\"name\":\"text\",\"type\":3,\"value\":\"  \"}]}" | field id)
ANSWER=
until_ok 10 answered "$INTERACTION"
check "say wants words" "$ANSWER" "Please give me words to say"

# ---- mediad killed ----
before=$(count voice_op_0)
kill9 "$mediad"
start_mediad
until_ok 15 status_is "Call:** up" && ok "a killed mediad's call comes back" || bad "a killed mediad's call comes back" "$ANSWER"
[ "$(count main_identified)" = 1 ] && ok "with the same main session" || bad "with the same main session" "$(count main_identified)"
: "$before"

# ---- control killed ----
# The state is saved within a second of a change.
until_ok 5 grep -q "$VOICE" "$D/state/session.json" || bad "the call is saved" "$(ls "$D/state")"
voice_before=$(count voice_op_1) ops_before=$(count main_op_4)
kill9 "$control"
start_control
until_ok 10 grep -q 'resumed' "$D/control.log" && ok "a new control resumes" || bad "a new control resumes" "no resume"
until_ok 10 status_is "Call:** up" && ok "a new control takes the call over" || bad "a new control takes the call over" "$ANSWER"
[ "$(count main_identified)" = 1 ] && ok "without a new session" || bad "without a new session" "$(count main_identified)"
[ "$(count main_op_4)" = "$ops_before" ] && [ "$(count voice_op_1)" = "$voice_before" ] &&
	ok "without leaving the channel" || bad "without leaving the channel" "op 4: $ops_before → $(count main_op_4)"

# ---- stopped by SIGTERM, started again ----
kill "$control"
wait "$control"
start_control
until_ok 10 status_is "Call:** up" && ok "a stopped control finds its call again" || bad "a stopped control finds its call again" "$ANSWER"
[ "$(count main_op_4)" = "$ops_before" ] && ok "also without leaving" || bad "also without leaving" "op 4: $(count main_op_4)"

# ---- the main gateway breaks ----
api POST /users/$BOT/drop '{"which":"main"}' >/dev/null
until_ok 10 status_is "Call:** up" && [ "$(count main_identified)" = 1 ] && ok "a lost main connection is resumed" || bad "a lost main connection is resumed" "$ANSWER"
api POST /users/$BOT/invalidate >/dev/null
api POST /users/$BOT/drop '{"which":"main"}' >/dev/null
identified() { [ "$(count main_identified)" = 2 ]; }
until_ok 20 identified && until_ok 20 status_is "Call:** up" && ok "a new main session joins again" || bad "a new main session joins again" "$ANSWER"

# ---- moved, disconnected ----
OTHER=$(new_channel '{"type":"voice","name":"Other"}')
api POST /users/$BOT/move "{\"channel_id\":\"$OTHER\"}" >/dev/null
until_ok 15 status_is "up in <#$OTHER>" && ok "it follows a move" || bad "it follows a move" "$ANSWER"
api POST /users/$BOT/new-server >/dev/null
sleep 1
until_ok 10 status_is "Call:** up" && ok "it follows a new voice server" || bad "it follows a new voice server" "$ANSWER"
api POST /crash >/dev/null
until_ok 20 status_is "Call:** up" && ok "it survives a crashed voice server" || bad "it survives a crashed voice server" "$ANSWER"
api POST /users/$BOT/kick >/dev/null
until_ok 10 status_is "Call:** none" && ok "it notices that it was disconnected" || bad "it notices that it was disconnected" "$ANSWER"

# ---- muted ----
say $ALICE join $VOICE
api PATCH /guilds/$GUILD/members/$BOT '{"mute":true}' >/dev/null
until_ok 5 status_is "muted by the server" && ok "muted: status says so" || bad "muted: status says so" "$ANSWER"
room_shows() { api GET "/channels/$VOICE/messages" | grep -qF "$1"; }
until_ok 5 room_shows "I am muted by the server" && ok "and the room is told" || bad "and the room is told" "it is not"
api PATCH /guilds/$GUILD/members/$BOT '{"mute":false}' >/dev/null
until_ok 5 room_shows "I am no longer muted" && ok "and that it is over" || bad "and that it is over" "it is not"
until_ok 5 status_is "muted by the server 1×" && ok "and it is counted" || bad "and it is counted" "$ANSWER"
say $ALICE leave
check "leave leaves" "$ANSWER" "I left."

# ---- obstacles, reported in plain words ----
FULL=$(new_channel '{"type":"voice","name":"Full","user_limit":1}')
api POST /users/$BOB/join "{\"channel_id\":\"$FULL\"}" >/dev/null
say $ALICE join "$FULL"
check "a full channel" "$ANSWER" "full"
CLOSED=$(new_channel '{"type":"voice","name":"Closed"}')
api PUT "/channels/$CLOSED/overwrites/$GUILD" '{"type":"role","allow":"0","deny":"1048576"}' >/dev/null
say $ALICE join "$CLOSED"
check "no permission" "$ANSWER" "permission Connect"
HIDDEN=$(new_channel '{"type":"voice","name":"Hidden"}')
api PUT "/channels/$HIDDEN/overwrites/$GUILD" '{"type":"role","allow":"0","deny":"1024"}' >/dev/null
say $ALICE join "$HIDDEN"
case $ANSWER in
*"permission View Channel"* | *"cannot see it"*) ok "a hidden channel" ;;
*) bad "a hidden channel" "$ANSWER" ;;
esac
# The bot may see this channel, but the member who asks may not: the bot neither joins it nor tells what is there.
api PUT "/channels/$HIDDEN/overwrites/$BOT" '{"type":"member","allow":"3146752","deny":"0"}' >/dev/null
say $BOB join "$HIDDEN"
check "a channel hidden from who asks" "$ANSWER" "that you can see"
say $ALICE join "$HIDDEN"
check "who sees it may ask" "$ANSWER" "I am in <#$HIDDEN>"
say $BOB status
check "status tells nothing of it" "$ANSWER" "I am in no channel here that you can see."
say $BOB leave
check "nor can it be called out" "$ANSWER" "I am in no channel here that you can see."
say $ALICE leave
check "by who sees it, yes" "$ANSWER" "I left."
STAGE=$(new_channel '{"type":"stage","name":"Stage"}')
say $ALICE join "$STAGE"
check "a stage without the right to speak" "$ANSWER" "audience"
until_ok 5 status_is "none end to end, as in every stage" && ok "a stage is not encrypted" || bad "a stage is not encrypted" "$ANSWER"
grep -q not_encrypted "$D/mediad.log" && bad "and that is no anomaly" "$(grep not_encrypted "$D/mediad.log")" || ok "and that is no anomaly"
say $ALICE leave
say $ALICE join $VOICE
until_ok 5 status_is "a key is made when somebody else comes" &&
	ok "alone it is encrypted, without a key" || bad "alone it is encrypted, without a key" "$ANSWER"
# A server that requires an unsupported encryption closes with 4017: the bot reports it and does not retry.
tries=$(count voice_op_0)
api POST /users/$BOT/close '{"which":"voice","code":4017}' >/dev/null
until_ok 10 status_is "a kind of end-to-end encryption that this version does not speak" && ok "encryption required" || bad "encryption required" "$ANSWER"
[ "$(count voice_op_0)" = "$tries" ] && ok "and nothing is tried again" || bad "and nothing is tried again" "$tries, then $(count voice_op_0)"
switch '{"discovery":0}'
say $ALICE join $VOICE
check "UDP blocked" "$ANSWER" "UDP"
switch '{"discovery":1}'
say $ALICE join $VOICE
check "and when all that is over it joins" "$ANSWER" "I am in <#$VOICE>"

# ---- REST that fails for a while ----
api POST /faults '{"contains":"@original","status":429,"retry_after":0.4}' >/dev/null
say $ALICE status
check "a 429 is waited for" "$ANSWER" "Call:** up"
api POST /faults '{"contains":"@original","status":503,"times":2}' >/dev/null
say $ALICE status
check "a 503 is tried again" "$ANSWER" "Call:** up"
say $ALICE leave
kill "$control"
wait "$control"
kill "$mediad"
wait "$mediad"
control='' mediad=''

# ---- with a mediad and a provider of its own, and a channel to join at start ----
in_channel() { api GET /world | grep -qE "\"user_id\": ?\"$BOT\""; }
not_in_channel() { ! in_channel; }
# pid_of PROGRAM: prints the pid of the newest such child.
pid_of() { grep -oE "child_started program=[^ ]*/$1 pid=[0-9]+" "$D/control2.log" | tail -1 | grep -oE '[0-9]+$'; }
told() { api GET "/channels/$VOICE/messages" | grep -o 'No provider is set up' | wc -l; }
inode_shared() { # PID: descriptors of the child, past stderr, that control has too
	local f g
	for f in "/proc/$1/fd/"*; do
		[ "${f##*/}" -gt 2 ] || continue
		f=$(readlink "$f")
		case $f in socket:* | pipe:*) for g in "/proc/$control/fd/"*; do [ "$(readlink "$g")" != "$f" ] || echo "$f"; done ;; esac
	done
}
before=$(told)
env -u PARLEY_BRAIN_URL DISCORD_TOKEN=$DISCORD_TOKEN "$B/control" --spawn-mediad="$B/mediad" --guild $GUILD --channel $VOICE \
	--state-dir "$D/state2" --ca "$CA" >"$D/control2.log" 2>&1 &
control=$!
until_ok 10 grep -q 'ready user' "$D/control2.log" || bad spawn "not ready"
until_ok 15 status_is "Call:** up" && ok "it joins the channel given at start" || bad "it joins the channel given at start" "$ANSWER"
until_ok 30 status_is "the small one built in, connected" && ok "the embedded engine serves" || bad "the embedded engine serves" "$ANSWER"
kill -9 "$(pid_of mediad)"
kill -9 "$(pid_of offlined)"
sleep 0.5
until_ok 20 status_is "Call:** up" && ok "its killed mediad is started again" || bad "its killed mediad is started again" "$ANSWER"
until_ok 30 status_is "the small one built in, connected" && ok "so is its provider" || bad "so is its provider" "$ANSWER"
for child in mediad offlined; do
	pid=$(pid_of $child)
	tr '\0' '\n' <"/proc/$pid/environ" | grep -qE '^(DISCORD_TOKEN|OPENAI_API_KEY)' && bad "$child gets no secret" "it has one" || ok "$child gets no secret"
	shared=$(inode_shared "$pid")
	[ -z "$shared" ] && ok "$child gets no descriptor" || bad "$child gets no descriptor" "$shared"
done
[ "$(told)" = $((before + 1)) ] && ok "the missing key was reported once" || bad "reported once" "$before messages before, $(told) now"
children="$(pid_of mediad) $(pid_of offlined)"
kill "$control"
wait "$control" && ok "it exits with status 0" || bad "it exits with status 0" "status $?"
control=
until_ok 5 not_in_channel && ok "and leaves the channel" || bad "and leaves the channel" "it is still there"
for pid in $children; do
	kill -0 "$pid" 2>/dev/null && bad "and ends its children" "pid $pid is there" || ok "and ends its children"
done

grep -q "guildd.bot.token" "$D"/control*.log && bad "the token is in no log" "it is" || ok "the token is in no log"
grep -aE 'ERROR: (Address|Leak)Sanitizer|runtime error' "$D"/*.log && bad "sanitizers" "see above" || ok "nothing for the sanitizers"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
