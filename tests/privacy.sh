#!/bin/sh
# privacy.sh CALLER CONTROL: compares the privacy codes of a caller (its output) and of the bot (control's log), as two members of the
# call would: each code that the caller names is the bot's in the same epoch. The bot may have had other codes before and after.
#
#   tests/privacy.sh --self-test      verifies that wrong codes are found
set -eu

# Prints the bot's last code in epoch $1.
code_of() { sed -n "s/.* call_secure .* ready=1 .* epoch=$1 .* privacy_code=\"\([0-9 ]\{35\}\)\".*/\1/p" "$2" | tail -1; }
compare() { # CALLER CONTROL
	pairs=$(tr -d '\r' <"$1" | sed -n "s/.*end-to-end encrypted, .* epoch \([0-9]*\); the caller's privacy code is \([0-9 ]\{35\}\)$/\1:\2/p" | sort -u -n)
	if [ -z "$pairs" ]; then
		echo "there is no privacy code, because the call was never encrypted from end to end"
		return 1
	fi
	echo "$pairs" | (
		while IFS=: read -r epoch theirs; do
			ours=$(code_of "$epoch" "$2")
			echo "privacy code, on the caller's side:  $theirs"
			echo "privacy code, on the bot's side:     ${ours:-none}"
			if [ "$ours" != "$theirs" ]; then
				echo "NOT the same: somebody may be in between"
				exit 1
			fi
		done
		echo "the same, so nobody is in between. In a real room: Discord shows it under Privacy in the voice details, the bot in /status"
	)
}

self_test() {
	d=$(mktemp -d)
	trap 'rm -rf "$d"' EXIT
	one="11111 11111 11111 11111 11111 11111" two="22222 22222 22222 22222 22222 22222"
	ours() { printf 'x info control call_secure guild=1 version=1 known=1 ready=%s pending=0 epoch=%s members=2 privacy_code="%s" heal=none\n' "$@" >>"$d/control"; }
	theirs() { printf "   1.0  the call is end-to-end encrypted, 2 members, epoch %s; the caller's privacy code is %s\n" "$@" >>"$d/caller"; }
	passed=0 failed=0
	expect() { # WANTED WHAT
		rc=0
		compare "$d/caller" "$d/control" >"$d/out" || rc=$?
		if [ $rc = "$1" ]; then passed=$((passed + 1)); else
			failed=$((failed + 1))
			echo "FAILED  $2: $(cat "$d/out")"
		fi
	}
	new() { : >"$d/caller" && : >"$d/control"; }
	new
	ours 1 1 "$one" && ours 1 2 "$two"
	expect 1 "a caller without a code"
	theirs 1 "$one"
	expect 0 "the same code in the same epoch, and another one later"
	theirs 2 "$two"
	expect 0 "two epochs"
	theirs 3 "$one"
	expect 1 "a code of an earlier epoch"
	new
	ours 1 1 "$one" && theirs 2 "$one"
	expect 1 "a code that the bot had in another epoch alone"
	new
	ours 1 1 "$one" && ours 1 1 "$two" && theirs 1 "$one"
	expect 1 "a code that the bot replaced in the same epoch"
	new
	ours 0 1 "$one" && theirs 1 "$one"
	expect 1 "a code for which the bot has no key"
	echo "$passed passed, $failed failed, 0 skipped"
	[ $failed = 0 ]
}

if [ "${1:-}" = --self-test ]; then self_test; else compare "$@"; fi
