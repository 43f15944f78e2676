#!/bin/sh
# A server of the Model Context Protocol through the real programs: a program in its sandbox, whose tool a text model calls; the fence
# around what it says; its state in the HTTP API; the same server killed in the middle of a call. Beside it one server hangs and one
# floods from the beginning: both are stopped with a reason, and the answers come all the same.
#
#   tests/scenarios/mcp.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-mcp-XXXXXX)
. tests/scenarios/common

# get PATH: from control's HTTP API.
get() {
	local port
	port=$(sed -nE 's/.* web_up .*port=([0-9]+).*/\1/p' "$D/control.log" | tail -1)
	exec 4<>"/dev/tcp/127.0.0.1/${port:-1}" || return 1
	printf 'GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n' "$1" "$(cat "$D/state/web-token")" >&4
	cat <&4
	exec 4>&-
}
record() { cat "$D/record/events.jsonl"; }
turns() { grep -aE ' turn .*stage=ended' "$D/control.log"; }
ready() { [ "$(grep -ac 'mcp_server server=toy state=ready' "$D/control.log")" -ge "$1" ]; }
answered() { [ "$(turns | grep -c 'reason=answered')" -ge "$1" ]; }
called() { get /api/mcp/status | grep -qE "\"calls\": *$1\b"; }
# The program of the server, which runs below bubblewrap.
server() { pgrep -f "^$program good\$" | head -1; }

program=$(realpath "$B/tests/mcp_server")
cat >"$D/chat.script" <<'END'
answer what can => call toy__echo {"text":"the moon is new"}
response 2 say The server says that the moon is new.
response 3 call toy__wait {"ms":60000}
response 4 say The server did not answer.
END
cat >"$D/config.json" <<END
{"mcp_servers": [{"name": "toy", "command": ["$program", "good"], "read": ["$program"], "effects": "none"},
  {"name": "mute", "command": ["$program", "mute"], "read": ["$program"]},
  {"name": "floods", "command": ["$program", "floods"], "read": ["$program"]}]}
END
start_guildd
start_brain
start standin "$B/standin" chat --script "$D/chat.script" --record "$D/record"
until_ok 10 grep -qs '"port"' "$D/standin.out" || bad "the model" "no stand-in"
start_mediad one
start_mediad caller
export PARLEY_REPLY_PATH=brain PARLEY_LOG_WORDS=1 PARLEY_WEB_LISTEN=127.0.0.1:0
export PARLEY_TEXT_URL="http://127.0.0.1:$(field port <"$D/standin.out")/v1"
start control "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --ca "$CA" --config "$D/config.json"
until_ok 10 registered || bad commands "not registered"
until_ok 20 ready 1 && ok "the server runs in its sandbox" || bad "the server runs in its sandbox" "$(grep -a mcp "$D/control.log" | tail -3)"
is "the API tells its tools" "$(get /api/mcp/status | grep -o '"name": *"[a-z]*"' | tr -d ' ' | sort -u | tr '\n' ' ')" \
	'"name":"die" "name":"echo" "name":"spent" "name":"wait" '
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"

ask
until_ok 40 answered 1 && ok "a question was answered with a tool of the server" ||
	bad "a question was answered with a tool of the server" "$(turns | tail -1)"
is "the model was told the result in a fence" \
	"$(record | grep -a 'untrusted id=' | grep -a 'origin=.*MCP server toy' | grep -c 'the moon is new')" 1
wait "$caller" 2>/dev/null

# Killed in the middle of a call: the call is lost, the model is told, the server comes back.
rm -rf "$D/out" && mkdir "$D/out"
ask
until_ok 40 called 2 || bad "the second call" "was not made"
victim=$(server)
kill9 "${victim:-0}" 2>/dev/null
until_ok 40 answered 2 && ok "a call of a server that was killed ends, and the turn is answered" ||
	bad "a call of a server that was killed ends, and the turn is answered" "$(turns | tail -1)"
is "the model was told that the connection is lost" "$(record | grep -c 'the connection to the server is lost')" 1
until_ok 20 ready 2 && ok "the server was started again" || bad "the server was started again" "$(grep -a mcp_server "$D/control.log" | tail -2)"

stopped() { grep -aq "mcp_server server=$1 state=unusable why=\"$2" "$D/control.log"; }
until_ok 30 stopped mute 'it does not answer' && ok "a server that hangs is stopped" ||
	bad "a server that hangs is stopped" "$(grep -a 'server=mute' "$D/control.log" | tail -2)"
until_ok 30 stopped floods 'it floods' && ok "a server that floods is stopped" ||
	bad "a server that floods is stopped" "$(grep -a 'server=floods' "$D/control.log" | tail -2)"

report
