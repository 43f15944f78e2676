#!/bin/sh
# `make interop`: unmodified npm clients against our programs. Each script gets a guildd of its own.
#
#   BIN=folder of the programs (build)      run.sh [SCRIPT…]      only these
#   LANES=N scripts at a time (3)           run.sh --bench SCRIPT  a bench: prints only its rows on stdout
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

# one NAME COMMAND…: runs the command with a new guildd; the last line is its sum.
one() {
	name=$1
	shift
	echo "== $name"
	start_guildd || { echo "0 passed, 1 failed, 0 skipped"; return 0; }
	ca=$(sed -n 's/.*"ca": *"\([^"]*\)".*/\1/p' "$run/ready")
	status=0 passed=0 failed=0 skipped=0 t0=$(date +%s)
	BIN=$bin GUILDD_READY=$run/ready NODE_EXTRA_CA_CERTS=$ca "$@" >"$run/out" 2>&1 || status=$?
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$run/out" | tail -1)
	cat "$run/out"
	if [ -z "$line" ]; then
		echo "FAIL $name ended with status $status and without a sum"
		failed=1
	else
		# shellcheck disable=SC2086
		set -- $line
		passed=$1 failed=$3 skipped=$5
		[ "$status" = 0 ] || [ "$failed" -gt 0 ] || failed=1
	fi
	if ! kill "$guildd" 2>/dev/null || ! wait "$guildd"; then
		echo "FAIL guildd did not end well:"
		tail -20 "$run/guildd.log"
		failed=$((failed + 1))
	fi
	guildd=
	echo "$name took $(($(date +%s) - t0)) s"
	echo "$passed passed, $failed failed, $skipped skipped"
}

if [ "${1:-}" = --one ]; then
	case $2 in
	discordjs-plain) one "discord.js without zlib-stream" node discordjs.mjs --plain ;;
	judge) one "the judge of what the bot says" node bench/judge_test.mjs ;;
	planted) one "a bot that says what is false" env PLANT=false OUTAGES=2 node bench/false_words.mjs ;;
	planted_mute) one "a bot that says nothing" env PLANT=mute OUTAGES=1 KINDS=stop_mediad node bench/false_words.mjs ;;
	planted_twice) one "a bot that repeats itself" env PLANT=twice OUTAGES=1 KINDS=stop_mediad node bench/false_words.mjs ;;
	planted_peers) one "clients that are wrong" node conformance/planted_test.mjs ;;
	dave-npm) one "encryption among npm members" node dave.mjs --npm ;;
	discordjs) one "discord.js with zlib-stream" node discordjs.mjs ;;
	strangers) one "strangers" node strangers/strangers.mjs ;;
	text) one "text chat with people of other clients" node strangers/text.mjs ;;
	planted_double) one "a bot that answers twice" env PLANT=double BENCH_SEEDS=6 node bench/text_storm.mjs ;;
	planted_lost) one "a bot that loses messages" env PLANT=lost BENCH_SEEDS=6 node bench/text_storm.mjs ;;
	planted_buried) one "answers under many messages of others" env PLANT=buried BENCH_SEEDS=6 node bench/text_storm.mjs ;;
	planted_unread) one "reasons that the store alone has" env PLANT=unread BENCH_SEEDS=24 node bench/text_storm.mjs ;;
	planted_wrong_reason) one "a bot that tells a wrong reason" env PLANT=wrong_reason BENCH_SEEDS=6 node bench/text_storm.mjs ;;
	*) one "$2" node "$2.mjs" ;;
	esac
	exit 0
fi

# The longest first. Scripts mostly wait, so several run at a time; what each prints comes out in one piece, when it ends.
[ $# -gt 0 ] || set -- events planted_peers dave text planted planted_mute planted_unread strangers mediad acp planted_twice planted_buried planted_lost planted_double planted_wrong_reason voice_pair mcp_conformance music agents mcp strict openai standins golive commands discordjs discordjs-plain openai_http standins_text pictures judge
case " $* " in *" strangers "* | *" text "*) ./strangers/modules.sh ;; esac
case " $* " in *" mcp_conformance "*) ./mcp/modules.sh ;; esac
case " $* " in *" agents "*) ./agents/modules.sh ;; esac
mkdir "$run/lanes"
for t; do echo "$t"; done |
	lanes=$run/lanes self=$PWD/run.sh xargs -P "${LANES:-3}" -I{} sh -c '"$self" --one {} >"$lanes/{}" 2>&1; cat "$lanes/{}"'
for t; do tail -1 "$run/lanes/$t"; done | awk -v want=$# '/^[0-9]+ passed, / { p += $1; f += $3; s += $5; n++ }
	END { f += want - n; print p + 0 " passed, " f + 0 " failed, " s + 0 " skipped"; exit f > 0 }'
