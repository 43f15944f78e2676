#!/bin/sh
# The judge of scenarios, with scenarios that fail by bad luck: an edit that changes nothing is never noticed.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/mutants/judge
passed=0 failed=0 runs=0 outcomes=

# Each run takes the next outcome: p passes, t is over its time, s ends without a word, anything else is the check that failed.
scenario() {
	runs=$((runs + 1))
	outcome=$(echo "$outcomes" | cut -d" " -f$runs)
	said=
	case $outcome in
	p) return 0 ;;
	t) return 124 ;;
	s) return 1 ;;
	*) said=$outcome && return 1 ;;
	esac
}
# want STATUS WHAT OUTCOMES COMMAND…
want() {
	status=$1 what=$2 outcomes=$3 runs=0 got=0
	shift 3
	"$@" || got=1
	if [ $got = "$status" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED  $what"
	fi
}

want 0 "a scenario that passes twice is steady" "p p" steady x healthy
want 0 "after one failure, too" "one p p" steady x healthy
want 1 "one that fails every second time is not" "one p one p" steady x healthy
want 1 "nor does it count the other way round" "p one p one" steady x healthy
want 0 "an edit is noticed by two failures at the same check" "one p one" noticed x sick healthy
want 0 "although the healthy programs had bad luck once" "one two p one" noticed x sick healthy
want 1 "an edit that changes nothing is not noticed" "p" noticed x sick healthy
want 1 "nor by one failure" "one p p" noticed x sick healthy
want 1 "nor by failures at different checks" "one p two" noticed x sick healthy
want 1 "nor by a scenario that fails with healthy programs" "one one one one" noticed x sick healthy
want 1 "nor for want of time" "t p t" noticed x sick healthy
want 1 "nor for want of time at last" "one p t" noticed x sick healthy
want 1 "nor by a scenario that says nothing" "s p s" noticed x sick healthy
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
