#!/bin/sh
# `make talk`: a voice channel on this machine. Starts the simulated Discord (guildd), the bot (mediad, and control with the
# embedded engine), and the bridge that serves the page and makes each tab a member of the channel. Ends with ctrl-C.
#
#   PORT=7373      port of the page, if it is free                    OUT=folder    folder of the logs (out/talk)
#   KEY=1          use OPENAI_API_KEY of the environment; the audio is then sent to OpenAI
set -eu
cd "$(dirname "$0")/.."
bin=${BIN:-build}
out=${OUT:-out/talk}
guild=41771983423143937
channel=127121515262115840
rm -rf "$out"
mkdir -p "$out"
run=$(mktemp -d)
pids=
names=

# shellcheck disable=SC2329
stop() {
	trap - EXIT INT TERM HUP
	for p in $pids; do
		kill "$p" 2>/dev/null || true
		wait "$p" 2>/dev/null || true
	done
	rm -rf "$run"
}
trap stop EXIT
trap 'echo; echo "talk: ended"; exit 0' INT TERM HUP

# start NAME COMMAND…: in the background; its stdout goes to NAME.out, its log to NAME.log. Newest first in $pids, so that
# a program ends before those that it depends on.
start() {
	name=$1
	shift
	"$@" >"$out/$name.out" 2>"$out/$name.log" </dev/null &
	last=$!
	pids="$last $pids"
	names="$name $names"
}
# until_there NAME COMMAND…: polls the command; a process that died meanwhile is an error.
until_there() {
	name=$1
	shift
	n=0
	until "$@" 2>/dev/null; do
		n=$((n + 1))
		if [ $n -gt 400 ] || ! kill -0 "$last" 2>/dev/null; then
			echo "talk: $name did not start; its log says:" >&2
			tail -5 "$out/$name.log" >&2
			exit 1
		fi
		sleep 0.05
	done
}
field() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" "$2" | head -1; }

if [ "${KEY:-}" = 1 ] && [ -z "${OPENAI_API_KEY:-}${OPENAI_API_KEY_FILE:-}${PARLEY_BRAIN_URL:-}" ]; then
	echo "talk: KEY=1 needs OPENAI_API_KEY, or OPENAI_API_KEY_FILE with the name of a file that holds the key" >&2
	exit 2
fi
case ${PORT:-7373} in
*[!0-9]* | ??????*) echo "talk: PORT must be a number up to 65535, not $PORT" >&2; exit 2 ;;
esac
[ "${PORT:-7373}" -le 65535 ] || { echo "talk: PORT must be a number up to 65535, not $PORT" >&2; exit 2; }
[ "${KEY:-}" = 1 ] || unset OPENAI_API_KEY OPENAI_API_KEY_FILE PARLEY_BRAIN_URL
start guildd "$bin/guildd"
until_there guildd grep -q '"rest"' "$out/guildd.out"
api=$(field rest "$out/guildd.out") ca=$(field ca "$out/guildd.out") world=$(field control "$out/guildd.out")

start mediad "$bin/mediad" --listen "$run/mediad.sock" --ca "$ca"
until_there mediad test -S "$run/mediad.sock"

# The dashboard shows the page as a view, so its port is chosen before.
page=$(perl -MIO::Socket::INET -e 'for my $port (@ARGV) {
	my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1", LocalPort => $port, ReuseAddr => 1) or next;
	print $s->sockport; exit }' "${PORT:-7373}" 0)
DISCORD_TOKEN=guildd.bot.token PARLEY_DISCORD_API=$api PARLEY_WEB_LISTEN=127.0.0.1:0 PARLEY_TALK_PAGE=http://127.0.0.1:$page/ \
	start control "$bin/control" --media-sock "$run/mediad.sock" --guild $guild --channel $channel \
	--state-dir "$run/state" --ca "$ca"
until_there control grep -q ' call_placed ' "$out/control.log"
web=$(sed -n 's/.* web_up .*port=\([0-9]*\).*/\1/p' "$out/control.log" | tail -1)

start talk "$bin/talk" --api "$world" --ca "$ca" --mediad "$bin/mediad" --run-dir "$run" --page tests/talk/page \
	--control "http://127.0.0.1:$web" --token-file "$run/state/web-token" --guild $guild --channel $channel --bot 900 --port "$page"
until_there talk grep -q '"url"' "$out/talk.out"

link=$(PARLEY_WEB_LISTEN=127.0.0.1:$web "$bin/control" --sign-in=operator --state-dir "$run/state" 2>/dev/null | grep -o 'http[^ ]*' | tail -1)
echo "the dashboard, with this page as its view Talk: $link"
echo "open $(field url "$out/talk.out") in a browser, press Join and speak. Several tabs are several people."
if [ "${KEY:-}" = 1 ]; then
	echo "The brain is OpenAI's: what is said in the room goes there."
else
	echo "The brain is the embedded one: nothing leaves this machine. KEY=1 make talk uses your OPENAI_API_KEY."
fi
echo "ctrl-C ends it. Logs: $out/"
# Each of them runs until it is stopped or fails.
while :; do
	# shellcheck disable=SC2086
	set -- $names
	for p in $pids; do
		kill -0 "$p" 2>/dev/null || break 2
		shift
	done
	sleep 1
done
echo "talk: $1 ended by itself; its log says:" >&2
tail -5 "$out/$1.log" >&2
exit 1
