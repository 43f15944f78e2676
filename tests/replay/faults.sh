#!/bin/sh
# Replays the recorded fault journals of this folder: the shape of all output must be the recorded one, on this CPU and with
# slightly different audio, as on another CPU. tests/replay/record.sh records them again.
#
#   tests/replay/faults.sh [build folder]      default: build
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0
verdict() { # NAME CONDITION…: what it prints is shown when it does not hold
	what=$1
	shift
	if "$@" >"$dir/said"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$what: FAILED"
		cat "$dir/said" "$dir/err"
	fi
}
small() { [ "$(stat -c %s "$1")" -lt 358400 ]; }
# 3: only the audio differs.
shape_holds() { # STATUS
	[ "$1" = 0 ] || [ "$1" = 3 ]
}

make -s B="$B" "$B/tests/other-cpu.so" "$B/tests/leaks" || exit 1
for journal in tests/replay/*.mediad tests/replay/*.control; do
	program=${journal##*.} name=${journal##*/}
	rc=0
	"$B/$program" --log fatal --replay "$journal" >"$dir/here" 2>"$dir/err" || rc=$?
	verdict "$name on this CPU" shape_holds $rc
	verdict "$name is small" small "$journal"
	"$B/$program" --log fatal --replay "$journal" --journal-shape "$dir/shapes" >"$dir/again" 2>"$dir/err" || true
	verdict "$name is the same when its shapes are written" cmp -s "$dir/here" "$dir/again"
	verdict "the shapes of $name hold nothing of it" "$B/tests/leaks" "$journal" "$dir/shapes"
	verdict "$name itself does" sh -c "! '$B/tests/leaks' '$journal' '$journal' >/dev/null"
	if [ "$program" = control ]; then
		"$B/control" --log fatal --no-subscribers --replay "$journal" >"$dir/unheard" 2>"$dir/err" || true
		verdict "$name is the same without subscribers" cmp -s "$dir/here" "$dir/unheard"
		continue
	fi
	rc=0
	LD_PRELOAD=$B/tests/other-cpu.so "$B/mediad" --log fatal --replay "$journal" >"$dir/there" 2>"$dir/err" || rc=$?
	verdict "$name with other sound" test $rc = 3
	verdict "$name with other sound has the same shape" \
		test "$(grep '^shape ' "$dir/here")" = "$(grep '^shape ' "$dir/there")"
	verdict "$name with other sound has another digest" \
		test "$(grep '^digest ' "$dir/here")" != "$(grep '^digest ' "$dir/there")"
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
