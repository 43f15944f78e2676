#!/bin/sh
# `make replay`: replays an encrypted session of the demo in both programs, which must send the same bytes; detects a flipped
# byte; replays music; searches the journals for credentials, and the journals of shapes for keys, audio and transcripts.
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
sum() { sed -n "s/^$1 //p" "$2"; }
holds() { grep -qaF -- "$1" "$2"; }
not() { ! "$@"; }
# 3: only the audio differs, as on another CPU.
shape_holds() { [ "$1" = 0 ] || [ "$1" = 3 ]; }

# flipped FILE AT: copies FILE to $dir/flipped and flips one bit of the byte at AT.
flipped() {
	cp "$1" "$dir/flipped"
	byte=$(od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' ')
	printf "$(printf '\\%03o' $((byte ^ 1)))" | dd of="$dir/flipped" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
# shows PROGRAM FILE DIGEST AT: a byte flipped at AT causes an error, and another digest or none.
shows() {
	flipped "$2" "$4"
	if "$bin/$1" --log fatal --replay "$dir/flipped" >"$dir/other" 2>/dev/null; then return 1; fi
	[ "$(sum digest "$dir/other")" != "$3" ]
}

umask 022
OUT=$dir/demo JOURNAL=$dir/journal tests/demo.sh
verdict "the call was encrypted end to end" grep -q "^the same, so nobody is in between" "$dir/demo/timeline.txt"
for program in mediad control; do
	journal=$dir/journal
	[ $program = mediad ] || journal=$journal.control
	recorded=$(sum digest "$journal.digest") shape=$(sum shape "$journal.digest")
	rc=0
	"$bin/$program" --log fatal --replay "$journal" >"$dir/replayed" || rc=$?
	echo "$program recorded $recorded"
	echo "$program replayed $(sum digest "$dir/replayed")"
	verdict "$program: a digest was recorded" test ${#recorded} = 64
	verdict "$program: the same bytes were sent" test "$rc $recorded" = "0 $(sum digest "$dir/replayed")"
	verdict "$program: the same shape" test "$shape" = "$(sum shape "$dir/replayed")"
	if [ $program = control ]; then
		"$bin/$program" --log fatal --no-subscribers --replay "$journal" >"$dir/unheard" || rc=$?
		verdict "control: the same without subscribers" test "$rc $recorded" = "0 $(sum digest "$dir/unheard")"
	fi
	verdict "$program: the journal is 0600" test "$(stat -c %a "$journal")" = 600
	verdict "$program: its first line says that it is a secret" sh -c "head -n1 '$journal' | grep -q secret"
	verdict "$program: the bot's token is not in it" not holds guildd.bot.token "$journal"
	size=$(stat -c %s "$journal")
	first=$(head -n 2 "$journal" | wc -c)
	# Positions in the first line, the options, the first record's head, and throughout the file.
	for at in 3 $((first - 3)) $((first + 10)) $((first + 19)) $((size / 7)) $((size / 5)) $((size / 3)) $((size / 2)) \
		$((size * 2 / 3)) $((size * 6 / 7)) $((size - 200)) $((size - 2)); do
		verdict "$program: a byte flipped at $at shows" shows $program "$journal" "$recorded" "$at"
	done
done

# Music: the recorded journals of a control and a mediad that /music has play a file, and a call of its own, recorded now.
for program in mediad control; do
	journal=tests/replay/music.$program
	verdict "$program: a journal holds music" holds Bell.wav "$journal"
	rc=0
	"$bin/$program" --log fatal --replay "$journal" >"$dir/replayed" || rc=$?
	verdict "$program: and is replayed in its shape" shape_holds $rc
done
verdict "mediad: a call with music is recorded and replayed" sh tests/scenarios/music.sh "$bin"

OUT=$dir/demo2 SHAPES=$dir/shapes tests/demo.sh >"$dir/demo2.log" || cat "$dir/demo2.log"
for program in mediad control; do
	shapes=$dir/shapes
	[ $program = mediad ] || shapes=$shapes.control
	printed=$dir/printed.$program
	"$bin/$program" --journal-print "$shapes" >"$printed"
	verdict "$program: shapes are 0600" test "$(stat -c %a "$shapes")" = 600
	verdict "$program: they say what they are" sh -c "head -n1 '$shapes' | grep -q shapes"
	verdict "$program: they cannot be replayed" not "$bin/$program" --replay "$shapes" >/dev/null 2>&1
	verdict "$program: they can be read" grep -q 'ws text {"op":' "$printed"
	verdict "$program: a token is not in them" not holds guildd.bot.token "$shapes"
	verdict "$program: nor any list of numbers, such as a key" not grep -qaE '\[[0-9]+,' "$shapes"
	verdict "$program: nor sound, in base64 or not" not grep -qaE '[A-Za-z0-9+/]{65}' "$shapes"
	verdict "$program: nor what was said" not grep -qaiE 'what time|o.clock|morning|afternoon|evening' "$shapes"
done
verdict "mediad: a key came, and only its length is there" grep -q '"secret_key":\[[0-9]* bytes\]' "$dir/printed.mediad"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
