#!/bin/sh
# `make check`: builds with warnings as errors and under sanitizers, runs everything that needs Debian packages only,
# and ends with one line for all of it. Logs of failed parts are printed, all are kept in build/check/.
set -u
cd "$(dirname "$0")/../.."
log=build/check
mkdir -p "$log"
passed=0 failed=0 skipped=0
jobs=$(nproc 2>/dev/null || echo 2)

# count WORD LINE: the number before the word, 0 when it is not there.
count() {
	n=$(echo "$2" | grep -oE "[0-9]+ $1" | tail -1 | cut -d' ' -f1)
	echo "${n:-0}"
}
# part NAME COMMAND…: one line each; adds up closing lines of the form `N passed, N failed, N skipped`.
part() {
	name=$1
	shift
	t0=$(date +%s)
	if "$@" >"$log/$name" 2>&1; then rc=0; else rc=$?; fi
	t=$(($(date +%s) - t0))
	line=$(grep -aE '[0-9]+ passed, [0-9]+ failed' "$log/$name" | tail -1)
	if [ -n "$line" ]; then
		p=$(count passed "$line") f=$(count failed "$line") s=$(count skipped "$line")
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
		[ $rc = 0 ] || [ "$f" != 0 ] || failed=$((failed + 1))
	elif [ $rc = 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
	if [ $rc = 0 ]; then
		printf '%-22s ok      %4ss  %s\n' "$name" "$t" "$line"
	else
		printf '%-22s FAILED  %4ss  (%s)\n' "$name" "$t" "$log/$name"
		tail -40 "$log/$name" | sed 's/^/    /'
	fi
}

unit() { # KIND: run the unit tests of a sanitized build; skips must be known
	ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		TSAN_OPTIONS="halt_on_error=1 suppressions=tests/check/tsan.supp" "build/$1/tests/unit" ${2:-}
}
skips() {
	grep -ah '^skip: ' "$log"/* 2>/dev/null | sort -u | while read -r line; do
		grep -qF "${line#skip: }" tests/skips || { echo "a skip that tests/skips does not name: $line"; exit 1; }
	done
}
corpora() {
	n=0
	for b in build/asan/fuzz-replay/*_fuzz; do
		target=$(basename "$b" _fuzz)
		echo "$target:"
		"$b" "tests/fuzz/corpus/$target" || return 1
		n=$((n + 1))
	done
	echo "$n passed, 0 failed, 0 skipped"
	[ $n -gt 0 ]
}

part build make -j"$jobs" WERROR=-Werror all build/guildd build/caller chaos-bins
part includes tests/check/includes.sh build/obj
part pure tests/check/pure.sh build/obj
part build-asan make -j"$jobs" B=build/asan SAN=address,undefined WERROR=-Werror OPT=-O1 build/asan/tests/unit fuzz-replay-bins
part unit-asan unit asan
part corpora corpora
part build-tsan make -j"$jobs" B=build/tsan SAN=thread WERROR=-Werror OPT=-O1 ONLY="proto ipc mediad" build/tsan/tests/unit
part unit-tsan unit tsan
for s in tests/scenarios/*.sh; do
	[ -f "$s" ] && part "scenario-$(basename "$s" .sh)" sh "$s"
done
part replay-faults tests/replay/faults.sh
part chaos build/chaos --seeds 8
part chaos-planted build/chaos --self-test
part offline-speech sh tests/offline/measure.sh short
part docs tests/check/docs.sh
part lint tests/check/lint.sh
part skips skips

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
