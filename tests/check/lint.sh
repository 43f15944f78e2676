#!/bin/sh
# Runs clang-tidy and cppcheck over our own sources; both must report nothing.
#
#   LINT=all      the tests' programs too, and many more paths of each function (make check-long)
set -u
cd "$(dirname "$0")/../.."
out=build/lint
mkdir -p "$out"
jobs=$(nproc 2>/dev/null || echo 2)
files=$(git ls-files 'proto/*.c' 'ipc/*.c' 'mediad/*.c' 'control/*.c')
[ "${LINT:-}" != all ] || files="$files $(git ls-files 'tests/guildd/*.c' 'tests/caller/*.c' 'tests/talk/*.c' 'tests/chaos/*.c')"
[ -n "$files" ] || { echo "no sources"; exit 1; }
# How many states the analyser may follow in one function. With its own limit, 225000, it takes nearly all of the time of lint; this
# one takes a fifth of that of 75000.
nodes=8000
[ "${LINT:-}" != all ] || nodes=225000
export nodes
fail=0

# tidy OUT: four files a run; a run that fails names its files in OUT.failed.
tidy() {
	: >"$1.failed"
	# shellcheck disable=SC2016
	FAILED=$1.failed xargs -P "$jobs" -n 4 sh -c 'clang-tidy-14 --quiet "$@" -- -std=c17 -I. -D_GNU_SOURCE \
		-isystem /usr/include/pocketsphinx -DPARLEY_VERSION=\"0\" \
		-Xclang -analyzer-config -Xclang max-nodes=$nodes || printf "%s\n" "$@" >>"$FAILED"' x >"$1" 2>"$1.err"
}
printf '%s\n' $files | tidy "$out/tidy"
# Retries a failed run once, because a lack of memory says nothing about the code.
if [ -s "$out/tidy.failed" ]; then
	tidy "$out/tidy2" <"$out/tidy.failed"
	cat "$out/tidy2" >>"$out/tidy"
	[ ! -s "$out/tidy2.failed" ] || { echo "clang-tidy failed on:"; cat "$out/tidy2.failed" "$out/tidy2.err"; fail=1; }
fi
if grep -qE 'warning:|error:' "$out/tidy"; then
	grep -E 'warning:|error:' "$out/tidy" | sort -u
	fail=1
fi

printf '%s\n' $files | xargs cppcheck --quiet -j "$jobs" --std=c11 --language=c -I. -D_GNU_SOURCE \
	-D'json_array_foreach(a,i,v)=for(;;)' -D'json_object_foreach(o,k,v)=for(;;)' \
	--enable=warning,portability --inline-suppr --suppressions-list=tests/check/cppcheck.supp --error-exitcode=1 >"$out/cppcheck" 2>&1 || {
	cat "$out/cppcheck"
	fail=1
}
# Guard sizes: a file stays under 800 lines.
for f in $files; do
	n=$(wc -l <"$f")
	[ "$n" -le 800 ] || { echo "$f: $n lines; split it"; fail=1; }
done
tests/check/functions.sh || fail=1
# Units of time stand in proto/base/time.h.
# shellcheck disable=SC2086
if grep -nE '^(#define|static const uint64_t|enum \{)[[:space:]]+[A-Z_]*(MS|SEC|SECOND|S|NS)[[:space:]=]+\(?(UINT64_C\()?10{6,9}[uUlL)]*;?$' \
	$(printf '%s\n' $files | grep -v '^proto/base/time\.h$'); then
	echo "use the units of proto/base/time.h"
	fail=1
fi
# Our sources are formatted as .clang-format says; clang-format-14 -i FILE mends a file.
git ls-files | grep '\.[ch]$' | xargs clang-format-14 --dry-run --Werror >"$out/format" 2>&1 || {
	grep -oE '^[^ ]+: error' "$out/format" | cut -d: -f1 | sort | uniq -c | sed 's/$/: not as .clang-format says/'
	fail=1
}
[ $fail = 0 ] && echo "lint: $(printf '%s\n' $files | wc -l) files clean"
exit $fail
