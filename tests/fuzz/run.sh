#!/bin/sh
# Fuzzes every target for FUZZ_SECONDS (default 20) and prints its executions and the code it reached. A target
# that ran no more than its corpus, or reached next to nothing (an empty harness), fails the run.
#
#   run.sh BINDIR TARGET…
set -u
bin=${1:?usage: run.sh BINDIR TARGET...}
shift
secs=${FUZZ_SECONDS:-20}
jobs=${FUZZ_JOBS:-2}
out=$bin/log
mkdir -p "$out" "$bin/crashes"
passed=0 failed=0

one() {
	t=$1
	new=$bin/corpus/$t
	dict=tests/fuzz/dict/${t%_fuzz}.dict
	mkdir -p "$new"
	# shellcheck disable=SC2046
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 "$bin/$t" -max_total_time="$secs" -timeout=5 -rss_limit_mb=2048 \
		$(test ! -f "$dict" || echo "-dict=$dict") -print_final_stats=1 -artifact_prefix="$bin/crashes/$t-" "$new" "tests/fuzz/corpus/${t%_fuzz}" >"$out/$t" 2>&1
	echo $? >"$out/$t.rc"
}

n=0
for t in "$@"; do
	one "$t" &
	n=$((n + 1))
	[ $((n % jobs)) = 0 ] && wait
done
wait

for t in "$@"; do
	rc=$(cat "$out/$t.rc" 2>/dev/null || echo 1)
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$t" | tail -1)
	cov=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$out/$t" | tail -1)
	verdict=ok
	if [ "$rc" != 0 ]; then
		verdict="FAILED, see $out/$t"
	elif [ "${runs:-0}" -le "$(find "tests/fuzz/corpus/${t%_fuzz}" -type f | wc -l)" ] || [ "${cov:-0}" -lt 20 ]; then
		verdict="EMPTY HARNESS"
	fi
	printf '%-28s %9s executions  %5s edges  %s\n' "$t" "${runs:-0}" "${cov:-0}" "$verdict"
	if [ "$verdict" = ok ]; then passed=$((passed + 1)); else
		failed=$((failed + 1))
		grep -aE 'ERROR|SUMMARY|runtime error' "$out/$t" | head -5
	fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
