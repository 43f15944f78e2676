#!/bin/sh
# demo_scene.sh OUT: verifies the scene two-callers by the caller's timeline and control's log.
set -eu
out=${1:?usage: demo_scene.sh OUT}
turns=$(grep -a ' turn ' "$out/log/control.log")
fail=0

# said WHAT COMMAND…: prints one line and whether the command succeeds.
said() {
	what=$1
	shift
	if "$@"; then echo "yes  $what"; else
		echo "NO   $what"
		fail=1
	fi
}
turn() { echo "$turns" | grep -aE "$1" >/dev/null; }
# Prints the seconds from the bot's first sound to its silence, as the caller received it; a gap between sentences does not count.
spoke() {
	awk '/the bot (begins to speak|speaks)/ && !over {
			if (!from) from = $1
			if (silent && $1 - silent > 0.8) over = 1
			if (!over) silent = 0
		}
		/the bot is silent/ && from && !over { silent = $1 }
		END { if (silent) print silent - from }' "$out/timeline.txt"
}
# Prints each turn and its answer; a turn that was merged into another, or rolled back, is part of that one.
echo "$turns" | grep -avE 'reason=(merged|eot_revoked|speculation_(unused|failed))' | sed -nE -e 's/ user=501 / user=Alice /; s/ user=502 / user=Bob /' \
	-e 's/.* user=([A-Za-z]*) .* heard="([^"]*)" reason=([a-z_]*) said="([^"]*)".*/heard from \1: \2 (\3)\nsaid: \4/p' |
	grep -av '^said: $' || true
seconds=$(spoke)
said "the bot talked for ${seconds:-0} s: on through \"yeah\" at 1.8 s and what Bob said at 3.2 s" \
	awk -v s="${seconds:-0}" 'BEGIN { exit !(s > 5) }'
said "it stopped within 2 s when it was asked something new at 5.2 s" awk -v s="${seconds:-99}" 'BEGIN { exit !(s < 7.2) }'
said "that answer ended interrupted" turn 'user=501 .*what can you do.* reason=interrupted'
said "what Bob said got no answer" sh -c "! echo \"\$1\" | grep -aE 'user=502 .*reason=(answered|interrupted)'" - "$turns"
said "the new question was answered" turn 'user=501 .*what time is it.* reason=answered'
exit $fail
