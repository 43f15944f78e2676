#!/bin/sh
# `make replay`: a session recorded by the demo runs again and must send the same bytes; one flipped byte must show.
set -eu
cd "$(dirname "$0")/.."
bin=${BIN:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0
verdict() { # NAME CONDITION…
	name=$1
	shift
	if "$@"; then passed=$((passed + 1)) what=ok; else failed=$((failed + 1)) what=FAILED; fi
	echo "$name: $what"
}
digest() { sed -n 's/^digest //p' "$1"; }

umask 077
OUT=$dir/demo JOURNAL=$dir/journal tests/demo.sh
recorded=$(digest "$dir/journal.digest")
"$bin/mediad" --replay "$dir/journal" >"$dir/replayed" || true
replayed=$(digest "$dir/replayed")
echo "recorded $recorded"
echo "replayed $replayed"
verdict "a digest was recorded" test -n "$recorded"
verdict "the same bytes were sent" test "$recorded" = "$replayed"
verdict "the journal is 0600" test "$(stat -c %a "$dir/journal")" = 600
verdict "its first line says that it is a secret" sh -c "head -n1 '$dir/journal' | grep -q secret"

# One bit of one recorded datagram, in the middle of the file.
size=$(stat -c %s "$dir/journal")
at=$((size / 2))
cp "$dir/journal" "$dir/flipped"
byte=$(od -An -tu1 -j "$at" -N 1 "$dir/flipped" | tr -d ' ')
printf "$(printf '\\%03o' $((byte ^ 1)))" | dd of="$dir/flipped" bs=1 seek="$at" conv=notrunc 2>/dev/null
"$bin/mediad" --replay "$dir/flipped" >"$dir/other" 2>/dev/null || true
verdict "a flipped byte shows" test "$(digest "$dir/other")" != "$recorded"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
