#!/bin/sh
# Are the room's tests able to fail? Each small edit of a table is made in a copy of one source file, and what ought to notice must.
#
#   run.sh rules [NUMBER…]   tests/mutants/rules: a test that names the rule's number must fail
#   run.sh text [NUMBER…]    tests/mutants/text: a scenario of text chat that names the statement must fail
#   run.sh faults [NAME…]    tests/mutants/faults: room-explore must find it within 200 000 steps
#   run.sh text-faults [NAME…]   tests/mutants/text-faults: text-explore must find it within 200 000 steps
#   run.sh web [NAME…]       tests/mutants/web: the unit test that its row names must fail
#   run.sh store [NAME…]     tests/mutants/store: the same, for the memory
#   run.sh text-session [NAME…]   tests/mutants/text-session: the same, for the shell of text chat
#   run.sh memory [NAME…]    tests/mutants/memory: the bench `leaks` must count texts that were shown across
#   run.sh erase [NAME…]     tests/mutants/erase: the bench `erase` must find traces of an erased person
#
# A table holds blocks of three lines: `@ NAME FILE` (of web, store and text-session: and TEST; of memory, if FILE is no .c, and the .c that includes
# it), `- ` and a line as it stands in the file, `+ ` and what takes its place. The file has the line once; otherwise `^ ` and a line that
# it has once stand before, and the first one behind that is meant.
set -u
cd "$(dirname "$0")/../.."
kind=${1:-}
[ $# = 0 ] || shift
only="$*"
case $kind in rules | faults | text | text-faults | web | store | text-session | memory | erase) ;; *) echo "usage: run.sh rules|faults|text|text-faults|web|store|text-session|memory|erase [NAME…]" >&2; exit 2 ;; esac
B=build/mutants
mkdir -p $B/src
case $kind in
text | text-faults) make -s B=$B $B/tests/text-play $B/tests/text-explore || exit 1 ;;
web | store | text-session) make -s B=$B $B/tests/unit || exit 1 ;;
memory) make -s B=$B $B/bench/leaks || exit 1 ;;
erase) make -s B=$B $B/bench/erase || exit 1 ;;
*) make -s B=$B $B/tests/unit $B/tests/room-play $B/tests/room-explore || exit 1 ;;
esac
wraps=$(printf -- '-Wl,--wrap=%s ' malloc calloc realloc aligned_alloc strdup strndup)
flags='-std=c17 -g -O1 -I. -D_GNU_SOURCE -DPARLEY_VERSION="0" -fno-omit-frame-pointer'
room=$(find $B/obj/control/room $B/obj/control/settings $B/obj/control/words $B/obj/proto $B/obj/tests/room $B/obj/tests/conversations -name '*.o' ! -name '*_main.o')
written=$(find $B/obj/control/text $B/obj/control/room $B/obj/control/settings $B/obj/control/words $B/obj/proto $B/obj/tests/text -name '*.o' ! -name '*_main.o' 2>/dev/null; echo $B/obj/control/tools/agreement.o; echo $B/obj/control/tools/spoken.o)
unit=$(make -s B=$B unit-objects)
libs=$(make -s B=$B unit-libraries)
passed=0 failed=0

fail() { failed=$((failed + 1)); echo "$*"; }

# edit NAME FILE C-FILE: the copy with the edit in $B/src, made an object beside it. Reads old and new from $B/old and $B/new.
edit() {
	rm -rf $B/src
	mkdir -p "$B/src/$(dirname "$2")"
	# By the environment: awk reads a backslash in the value of -v.
	old="$(cat $B/old)" new="$(cat $B/new)" after="$after" awk 'function bare(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
		BEGIN { old = bare(ENVIRON["old"]); new = ENVIRON["new"]; after = bare(ENVIRON["after"]); behind = after == "" }
		after != "" && bare($0) == after { behind = 1 }
		behind && bare($0) == old && (after == "" || !n) { print new; n++; next } { print } END { exit n != 1 }' "$2" >"$B/src/$2" ||
		{ fail "$1: $2 does not have this line once: $(cat $B/old)"; return 1; }
	[ "$2" = "$3" ] || cp "$3" "$B/src/$3"
	# shellcheck disable=SC2086
	gcc -I$B/src $flags -w -c -o $B/mutant.o "$B/src/$3" 2>$B/err || { fail "$1: does not compile: $(head -1 $B/err)"; return 1; }
}
# link OUT MAIN-OBJECT WITHOUT OBJECTS…: everything with the edited object in the place of WITHOUT.
link() {
	out=$1 main=$2 without=$3
	shift 3
	# shellcheck disable=SC2086
	gcc -pthread $wraps_now -o "$out" $main $B/mutant.o $(printf '%s\n' "$@" | grep -vxF "$without") $libs 2>$B/err ||
		{ fail "does not link: $(head -1 $B/err)"; return 1; }
}
try_rule() { # NUMBER FILE
	n=$(printf '%03d' "$1")
	files=$(grep -lE "^[[:space:]]*rules([[:space:]]+[0-9]+)*[[:space:]]+$1([[:space:]]|$)" tests/scenarios/room/*.room 2>/dev/null)
	wraps_now=$wraps
	names=$(grep -rhoE "rule(_[0-9]{3})*_$n[a-z0-9_]*" tests/unit/control | sort -u)
	# shellcheck disable=SC2086
	if [ -n "$names" ] && ! timeout 60 $B/tests/unit $names >$B/log 2>&1; then
		fail "rule $1: its tests do not pass without an edit: $(tail -1 $B/log)"
		return
	fi
	# shellcheck disable=SC2086
	link $B/unit "" "$B/obj/${2%.c}.o" $unit || return
	# shellcheck disable=SC2086
	if [ -n "$names" ] && ! timeout 60 $B/unit $names >$B/log 2>&1; then passed=$((passed + 1)); return; fi
	if [ -n "$files" ]; then
		wraps_now=
		# shellcheck disable=SC2086
		link $B/play $B/obj/tests/room/play_main.o "$B/obj/${2%.c}.o" $room || return
		# shellcheck disable=SC2086
		if ! timeout 60 $B/play $files >$B/log 2>&1; then passed=$((passed + 1)); return; fi
	fi
	fail "rule $1: no test that names it noticed: $2: $(cat $B/new)"
}
try_text() { # NUMBER FILE
	files=$(grep -lE "^# text rules( [0-9]+)* $1( |\$)" tests/scenarios/text/*.text)
	wraps_now=
	# shellcheck disable=SC2086
	link $B/play $B/obj/tests/text/play_main.o "$B/obj/${2%.c}.o" $written || return
	# shellcheck disable=SC2086
	if ! timeout 60 $B/play $files >$B/log 2>&1; then passed=$((passed + 1)); return; fi
	fail "statement $1 of text chat: no scenario that names it noticed: $2: $(cat $B/new)"
}
try_web() { # NAME FILE TEST
	wraps_now=$wraps
	if ! timeout 120 $B/tests/unit "$3" >$B/log 2>&1 || grep -q '^0 passed' $B/log; then
		fail "$1: $3 does not pass without an edit: $(tail -1 $B/log)"
		return
	fi
	# shellcheck disable=SC2086
	link $B/unit "" "$B/obj/${2%.c}.o" $unit || return
	if timeout 120 $B/unit "$3" >$B/log 2>&1; then
		fail "$1: $3 did not notice"
	else
		passed=$((passed + 1))
		echo "$1: $(grep -m1 -oE '^FAIL .*|^[^ ]*\.c:[0-9]+: .*' $B/log)"
	fi
}
try_memory() { # NAME
	# shellcheck disable=SC2086
	gcc -pthread -o $B/leaks $B/obj/tests/bench/leaks.o $B/obj/tests/bench/leaks_voice.o $B/obj/tests/bench/leaks_text.o \
		$B/obj/tests/bench/bench.o $B/mutant.o $B/libparley.a $libs 2>$B/err || { fail "$1: does not link: $(head -1 $B/err)"; return; }
	if ! timeout 300 $B/leaks 100 >$B/log 2>&1; then
		fail "$1: the bench ended: $(tail -1 $B/log)"
	elif grep -q '"value": 0,' $B/log; then
		fail "$1: no text was counted"
	else
		passed=$((passed + 1))
		echo "$1: $(sed -n 's/.*"value": \([0-9]*\).*/\1/p' $B/log) texts across"
	fi
}
try_erase() { # NAME
	# shellcheck disable=SC2086
	gcc -pthread -o $B/erase $B/obj/tests/bench/erase.o $B/obj/tests/bench/erase_*.o $B/obj/tests/bench/canaries.o $B/obj/tests/bench/stderr_file.o \
		$B/obj/tests/bench/traces.o $B/obj/tests/bench/bench.o $B/mutant.o $B/libparley.a $libs 2>$B/err || { fail "$1: does not link: $(head -1 $B/err)"; return; }
	if timeout 300 $B/erase --few >$B/log 2>&1; then
		fail "$1: no trace was found"
	else
		passed=$((passed + 1))
		echo "$1: $(tail -1 $B/log | cut -c1-60)"
	fi
}
try_text_fault() { # NAME FILE
	wraps_now=
	# shellcheck disable=SC2086
	link $B/explore $B/obj/tests/text/explore_main.o "$B/obj/${2%.c}.o" $written || return
	if timeout 300 $B/explore --steps 200000 >$B/log 2>&1; then
		fail "fault $1: the explorer of text chat did not find it"
	else
		passed=$((passed + 1))
		echo "fault $1: $(grep -E '^seed' $B/log | head -1)"
	fi
}
try_fault() { # NAME FILE
	wraps_now=
	# shellcheck disable=SC2086
	link $B/explore $B/obj/tests/room/explore_main.o "$B/obj/${2%.c}.o" $room || return
	if timeout 300 $B/explore --depth 0 --steps 200000 --out $B/found.room >$B/log 2>&1; then
		fail "fault $1: the explorer did not find it"
	else
		passed=$((passed + 1))
		echo "fault $1: $(grep -E '^seed' $B/log | head -1)"
	fi
}

while IFS= read -r line <&3; do
	case $line in
	'@ '*) name=${line#@ } file=${name#* } name=${name%% *} test=${file#* } file=${file%% *} after= ;;
	'^ '*) after=${line#'^ '} ;;
	'- '*) printf '%s\n' "${line#- }" >$B/old ;;
	'+ '* | '+')
		printf '%s\n' "${line#+ }" >$B/new
		case " ${only:-$name} " in *" $name "*) ;; *) continue ;; esac
		compiled=$file
		[ "$kind" != memory ] || compiled=$test
		edit "$name" "$file" "$compiled" || continue
		case $kind in
		rules) try_rule "$name" "$file" ;;
		text) try_text "$name" "$file" ;;
		text-faults) try_text_fault "$name" "$file" ;;
		web | store | text-session) try_web "$name" "$file" "$test" ;;
		memory) try_memory "$name" ;;
		erase) try_erase "$name" ;;
		*) try_fault "$name" "$file" ;;
		esac
		;;
	esac
done 3<tests/mutants/$kind
if [ "$kind" = rules ] && [ -z "$only" ]; then
	tests/mutants/statements.sh || failed=$((failed + 1))
fi
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
