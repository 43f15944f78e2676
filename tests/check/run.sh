#!/bin/sh
# `make check`: builds with warnings as errors and under sanitizers, runs everything that needs only Debian packages, and
# prints one summary line. Prints the logs of failed parts and keeps all logs in build/check/.
set -u
cd "$(dirname "$0")/../.."
log=build/check
mkdir -p "$log"
jobs=$(nproc 2>/dev/null || echo 2)
rm -rf "$log"/*.sum "$log"/*.cpu "$log/taken"
mkdir "$log/taken"

# count WORD LINE: prints the number before the word, 0 if the word is missing.
count() {
	n=$(echo "$2" | grep -oE "[0-9]+ $1" | tail -1 | cut -d' ' -f1)
	echo "${n:-0}"
}
# cpu FILE: the seconds of processor time of the ended children whose `times` FILE has.
cpu() {
	awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, a, /[ms]/); s += 60 * a[1] + a[2] } print int(s) }' "$1"
}
# part NAME COMMAND…: prints one line, with the seconds that it took and those of processor time; writes the numbers of a final line
# `N passed, N failed, N skipped` to NAME.sum.
part() {
	name=$1
	shift
	t0=$(date +%s)
	times >"$log/$name.cpu"
	c=$(cpu "$log/$name.cpu")
	if "$@" >"$log/$name" 2>&1 </dev/null; then rc=0; else rc=$?; fi
	times >"$log/$name.cpu"
	c=$(($(cpu "$log/$name.cpu") - c))
	t=$(($(date +%s) - t0))
	line=$(grep -aE '[0-9]+ passed, [0-9]+ failed' "$log/$name" | tail -1)
	p=0 f=0 s=0
	if [ -n "$line" ]; then
		p=$(count passed "$line") f=$(count failed "$line") s=$(count skipped "$line")
	elif [ $rc = 0 ]; then
		p=1
	fi
	[ $rc = 0 ] || [ "$f" != 0 ] || f=1
	echo "$p $f $s" >"$log/$name.sum"
	if [ $rc = 0 ]; then
		printf '%-22s ok      %4ss %4s cpu  %s\n' "$name" "$t" "$c" "$line"
	else
		printf '%-22s FAILED  %4ss %4s cpu  (%s)\n' "$name" "$t" "$c" "$log/$name"
		# The tests behind a failed one still run, at any length.
		{ tail -40 "$log/$name"; grep -aE '^FAIL |^tests/.*\.[ch]:[0-9]+: |^skip: ' "$log/$name" | tail -20; } | sed 's/^/    /'
	fi
}

unit() { # KIND [TESTS…]: run the unit tests of a sanitized build; skips must be known
	ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		TSAN_OPTIONS="halt_on_error=1 suppressions=tests/check/tsan.supp" TEST_SLOW=2 sh -c 'b=$1; shift; exec "build/$b/tests/unit" "$@"' x "$@"
}
# Code that uses threads, and what it links with. MLS, DAVE, audio, video and transport are pure (tests/check/pure.sh): nothing of them can
# race by itself. The tests of the worker, the audio threads and the calls run them on threads.
threaded="proto ipc mediad control/store control/report control/writer.c tests/unit/control/writer_test.c \
tests/unit/control/memory/embed/embedder_file.c control/events/% control/memory/% control/music/% control/settings/% control/words/% control/room/% \
control/store_commands.c control/erased_told.c control/state.c control/why.c control/text/event.c control/configure/% control/consent/% control/metrics/counters.c \
control/voice_session/encrypted_channels.c"
threaded() {
	find tests/unit/ipc tests/unit/proto tests/unit/mediad tests/unit/control/store tests/unit/control/report \
		tests/unit/control/writer_test.c -name '*_test.c' ! -path '*/mls/*' ! -path '*/dave/*' \
		! -path '*/mediad/audio/*' ! -path '*/mediad/transport/*' ! -path '*/mediad/video/*'
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
		kept=build/asan/fuzz-replay/$target.kept
		rm -f "$kept"
		UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1 "$b" --edit 500 "$kept" "tests/fuzz/corpus/$target" || {
			[ ! -f "$kept" ] || echo "the input is in $kept"
			return 1
		}
		n=$((n + 1))
	done
	echo "$n passed, 0 failed, 0 skipped"
	[ $n -gt 0 ]
}

part build make -j"$jobs" WERROR=-Werror all build/guildd build/caller build/golive build/film_file build/visualized build/streamer build/talk build/standin build/sound build/sound_score build/tests/room-play build/tests/room-explore build/tests/text-explore chaos-bins build/tests/decoder build/tests/picture build/tests/escape build/tests/listener build/demo_tracks build/tests/search-memory build/tests/image_filter build/offline_measure build/bench/recall build/bench/facts build/bench/leaks build/bench/erase build/bench/store
part includes tests/check/includes.sh build/obj
part hardening tests/check/hardening.sh build/mediad build/decoderd build/control build/imaged build/framed build/offlined
part hardening-planted tests/check/hardening.sh --self-test
part pure tests/check/pure.sh build/obj
part words tests/check/words.sh
part room_state tests/check/room_state.sh
part rules tests/check/rules.sh
part text-rules tests/check/text_rules.sh
part trace tests/check/trace.sh
part monitoring tests/check/monitoring.sh
part guides tests/check/guides.sh
part language tests/check/language.sh
part circles tests/check/circles.sh build/obj
part mutants-lines tests/mutants/lines.sh
part mutants-statements tests/mutants/statements.sh
part mutants-judge tests/mutants/judge_test.sh
part wordings-disjoint tests/conversations/disjoint.sh
part vendors tests/check/vendors.sh
part vendors-planted tests/check/vendors.sh --self-test
part settings tests/check/settings.sh
part settings-planted tests/check/settings.sh --self-test
part privacy-planted tests/privacy.sh --self-test
part brains-matrix tests/scenarios/brains.sh --matrix

# Four lanes run in parallel: two compute at low priority, the others mostly wait for time to pass. A lane does what no other lane has
# taken yet; the long ones come first, so that both end at about the same time.
aside() {
	# shellcheck disable=SC2016
	renice -n 10 -p "$(exec sh -c 'echo $PPID')" >/dev/null
}
# Backtraces need lines, but no variables.
SANITIZED="-O1 -g1"
work() {
	case $1 in
	asan)
		part build-asan make -j"$jobs" B=build/asan SAN=address,undefined WERROR=-Werror OPT="$SANITIZED" build/asan/tests/unit fuzz-replay-bins
		part unit-asan unit asan
		part corpora corpora
		;;
	tsan)
		part build-tsan make -j"$jobs" B=build/tsan SAN=thread WERROR=-Werror OPT="$SANITIZED" ONLY="$threaded" build/tsan/tests/unit
		# shellcheck disable=SC2046
		part unit-tsan unit tsan $(threaded)
		;;
	memory-score) part memory-score tests/memory/check.sh ;;
	decoder) part decoder build/tests/decoder ;;
	offline-speech) part offline-speech sh tests/offline/measure.sh short ;;
	room-explore) part room-explore build/tests/room-explore --steps 2000000 --often 1 --out build/check/explore.room ;;
	text-explore) part text-explore build/tests/text-explore --steps 1000000 --seed 1 ;;
	picture) part picture build/tests/picture ;;
	escape) part decoder-escape build/tests/escape ;;
	docs) part docs tests/check/docs.sh ;;
	*.sh) part "scenario-$(basename "$1" .sh)" sh "$1" ;;
	esac
}
lane() {
	for w; do
		mkdir "$log/taken/$(basename "$w" .sh)" 2>/dev/null || continue
		work "$w"
	done
}
computed="asan tsan memory-score decoder offline-speech room-explore text-explore picture escape docs"
# shellcheck disable=SC2086
(aside; lane $computed) &
# shellcheck disable=SC2086
(aside; lane $computed) &
waited="$(grep -l '^# beside:' tests/scenarios/*.sh) $(grep -LE '^# (slow|beside):' tests/scenarios/*.sh)"
# shellcheck disable=SC2086
lane $waited &
# shellcheck disable=SC2086
lane $waited
part install tests/check/install.sh
part erase-left build/bench/erase --short
part write-lost build/bench/store --short
part replay-faults tests/replay/faults.sh
part chaos build/chaos --seeds 8
part chaos-planted build/chaos --self-test
wait
part skips skips

cat "$log"/*.sum | awk '{ p += $1; f += $2; s += $3 } END { print p " passed, " f " failed, " s " skipped"; exit f > 0 }'
