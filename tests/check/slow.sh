#!/bin/sh
# `make scenarios`: the scenarios of tests/scenarios through the real programs that are too slow for `make check`.
# Keeps their output in build/check/.
set -u
cd "$(dirname "$0")/../.."
mkdir -p build/check
failed=0
for s in $(grep -l '^# slow:' tests/scenarios/*.sh); do
	name=$(basename "$s" .sh)
	log=build/check/scenario-$name
	if bash "$s" >"$log" 2>&1; then
		echo "$name: $(tail -1 "$log")"
	else
		failed=1
		cat "$log"
		echo "$name: failed"
	fi
done
exit $failed
