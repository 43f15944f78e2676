#!/bin/sh
# `make interop`: unmodified npm clients against our programs. Each script gets a guildd of its own.
#
#   BIN=folder of the programs (build)      run.sh [SCRIPT…]      only these
#                                           run.sh --bench SCRIPT  a bench: prints only its rows on stdout
set -eu
cd "$(dirname "$0")"
bin=$(cd ../.. && cd "${BIN:-build}" && pwd)
run=$(mktemp -d)
guildd=

# shellcheck disable=SC2329
stop() {
	trap - EXIT INT TERM
	[ -z "$guildd" ] || kill "$guildd" 2>/dev/null || true
	[ -z "$guildd" ] || wait "$guildd" 2>/dev/null || true
	rm -rf "$run"
}
trap stop EXIT
trap 'exit 130' INT TERM

./modules.sh

start_guildd() {
	rm -f "$run/ready"
	"$bin/guildd" --ready-file "$run/ready" --log "${GUILDD_LOG:-warn}" >"$run/guildd.out" 2>"$run/guildd.log" &
	guildd=$!
	n=0
	until [ -s "$run/ready" ]; do
		n=$((n + 1))
		if [ $n -gt 200 ] || ! kill -0 "$guildd" 2>/dev/null; then
			echo "guildd did not start:"
			cat "$run/guildd.log"
			return 1
		fi
		sleep 0.05
	done
}

if [ "${1:-}" = --bench ] || [ "${1:-}" = --plain ]; then
	start_guildd >&2
	status=0
	BIN=$bin GUILDD_READY=$run/ready NODE_EXTRA_CA_CERTS=$(sed -n 's/.*"ca": *"\([^"]*\)".*/\1/p' "$run/ready") node "$2" || status=$?
	exit "$status"
fi

passed=0 failed=0 skipped=0
# one NAME COMMAND…: runs the command with a new guildd and adds its last line to the sums.
one() {
	name=$1
	shift
	echo "== $name"
	start_guildd || { failed=$((failed + 1)); return 0; }
	ca=$(sed -n 's/.*"ca": *"\([^"]*\)".*/\1/p' "$run/ready")
	status=0
	BIN=$bin GUILDD_READY=$run/ready NODE_EXTRA_CA_CERTS=$ca "$@" >"$run/out" 2>&1 || status=$?
	cat "$run/out"
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$run/out" | tail -1)
	if [ -z "$line" ]; then
		echo "FAIL $name ended with status $status and without a sum"
		failed=$((failed + 1))
	else
		# shellcheck disable=SC2086
		set -- $line
		passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + $5))
		[ "$status" = 0 ] || [ "$3" -gt 0 ] || failed=$((failed + 1))
	fi
	if ! kill "$guildd" 2>/dev/null || ! wait "$guildd"; then
		echo "FAIL guildd did not end well:"
		tail -20 "$run/guildd.log"
		failed=$((failed + 1))
	fi
	guildd=
}

[ $# -gt 0 ] || set -- voice_pair strict discordjs discordjs-plain mediad dave openai openai_http standins standins_text events judge strangers
for t; do
	case $t in
	discordjs-plain) one "discord.js without zlib-stream" node discordjs.mjs --plain ;;
	judge) one "the judge of what the bot says" node bench/judge_test.mjs ;;
	dave-npm) one "encryption among npm members" node dave.mjs --npm ;;
	discordjs) one "discord.js with zlib-stream" node discordjs.mjs ;;
	strangers) ./strangers/modules.sh && one "strangers" node strangers/strangers.mjs ;;
	*) one "$t" node "$t.mjs" ;;
	esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
