#!/bin/sh
# Would a wrong client be noticed? Each edit of tests/mutants/media is made in a copy of one source file of mediad or control, and
# the test that is named there must fail: a scenario with the edited program, a unit test, or a test of decoderd. What is not edited
# must pass first. A scenario may fail by bad luck, so it must fail twice at the same check (tests/mutants/judge).
#
#   tests/mutants/media.sh [FAULT…]      default: all
#
# The edits are dealt out to lanes that run at the same time, one a processor; LANES=1 for one after the other.
set -u
cd "$(dirname "$0")/../.."
table=tests/mutants/media
B=build/mutants/media
lanes=${LANES:-$(nproc)}
W=$B/lane${LANE:-1}
sick=$W/sick
mkdir -p $W/src $sick $W/well
. tests/mutants/judge
[ -n "${LANE:-}" ] || sh tests/mutants/judge_test.sh || exit 1
[ -n "${LANE:-}" ] || make -s -j"$(nproc)" B=$B $B/mediad $B/control $B/guildd $B/caller $B/offlined $B/decoderd $B/tests/decoder || exit 1
# Of control's unit tests those of joining, of faults of encryption and of the connection to mediad alone.
joining="control/discord/voice.c control/words/words.c tests/unit/control/discord/voice_test.c tests/unit/control/discord/voice_paper.c
	control/report/faults.c control/report/secure_faults.c tests/unit/control/report/secure_faults_test.c
	control/media/call.c control/media/link.c control/media/media.c control/media/music.c control/media/playback.c control/media/resync.c control/media/video.c
	control/settings/secret_names.c tests/unit/control/media/media_test.c tests/unit/control/media/playback_test.c
	tests/unit/control/media/two_mediads_test.c
	tests/unit/control/media/toy_mediad.c tests/unit/control/discord/voice_leave_test.c
	control/music/player.c control/music/queue.c control/music/queue_document.c control/music/track.c control/music/volume.c
	tests/unit/control/music/player_test.c tests/unit/control/music/player_scene.c tests/unit/control/music/player_away_test.c
	tests/unit/control/music/player_skip_test.c tests/unit/control/music/queue_test.c
	control/golive/room.c control/golive/streams.c tests/unit/control/golive/room_test.c tests/unit/control/golive/streams_test.c
	control/voice_session/encrypted_channels.c tests/unit/control/voice_session/encrypted_channels_test.c"
[ -n "${LANE:-}" ] || make -s -j"$(nproc)" B=$B ONLY="proto ipc mediad $joining" $B/tests/unit || exit 1
wraps=$(printf -- '-Wl,--wrap=%s ' malloc calloc realloc aligned_alloc strdup strndup)
flags='-std=c17 -g -O1 -I. -D_GNU_SOURCE -DPARLEY_VERSION="0" -fno-omit-frame-pointer'
common='-levent -levent_pthreads -lwebsockets -luv -lssl -lcrypto -lmsgpackc -lsodium -ljansson -lz -lm'
decoding='-lavformat -lavcodec -lswresample -lavutil -lcurl -lseccomp -lsodium -lm'
codecs='-lopus -lsamplerate -lmbedcrypto -lcrypto -lseccomp'
# objects FOLDER…: of its sources, but for a program's main file of the tests
objects() { find "$@" -name '*.c' | sed "s,^,$B/obj/,; s,c\$,o,"; }
shared=$(objects proto ipc)
mediad=$(objects mediad | grep -v /mediad/decoder/)
program=$(make -s B=$B mediad-objects)
decoderd=$(objects mediad/decoder mediad/music/track_ring.c mediad/music/video_ring.c mediad/music/decoder_wire.c mediad/music/loudness.c mediad/music/signature.c \
	mediad/video/stored.c mediad/sandbox/sandbox.c ipc/jail ipc/log.c ipc/scrub.c ipc/http_guard.c proto/http/hls.c proto/http/icy.c proto/http/validators.c proto/base)
decodertest=$(make -s B=$B decoder-test-objects)
control=$(make -s B=$B control-objects)
unit=$(objects tests/unit/main.c tests/unit/proto tests/unit/ipc tests/unit/mediad tests/vectors tests/follow | grep -vE '/(vectors|follow)/main.o')
# shellcheck disable=SC2086
unit="$unit $(objects $joining)"
passed=0 failed=0 healthy= ill=

fail() { failed=$((failed + 1)); echo "$*"; }
# link OUT WITHOUT LIBRARIES OBJECTS…: everything with the edited object in the place of WITHOUT.
link() {
	out=$1 without=$2 libs=$3
	shift 3
	# shellcheck disable=SC2086
	gcc -pthread -o "$out" $W/mutant.o $(printf '%s\n' "$@" | grep -vxF "$without") $libs 2>$W/err || { fail "does not link: $(head -1 $W/err)"; return 1; }
}
# programs FOLDER: links to the healthy ones.
programs() {
	for p in mediad control guildd caller offlined; do ln -sf "../../$p" "$1/$p"; done
}
scenario() { # FOLDER NAME: as tests/mutants/judge says
	timeout 300 bash "tests/scenarios/$2.sh" "$1" >$W/log 2>&1
	status=$?
	said=$(grep -m1 FAILED $W/log | sed 's/:.*//')
	rm -rf "$(sed -n 's/^logs are in //p' $W/log)" 2>/dev/null
	return $status
}
# well SCENARIO: it passes with what is not edited, or a failure would prove nothing; looked at once a run of this script.
well() {
	case " $healthy " in *" $1 "*) return 0 ;; esac
	case " $ill " in *" $1 "*) fail "$name: scenario $1 is of no use now"; return 1 ;; esac
	programs $W/well
	steady "$1" $W/well && { healthy="$healthy $1"; return 0; }
	ill="$ill $1"
	fail "$name: scenario $1 fails with what is not edited:$said"
	return 1
}
# well_tests KIND NAME: the tests of that name exist and pass with what is not edited; looked at once a run of this script.
well_tests() {
	case " $healthy " in *" $1:$2 "*) return 0 ;; esac
	case " $ill " in *" $1:$2 "*) fail "$name: $2 is of no use now"; return 1 ;; esac
	if timeout 300 "$B/tests/$1" "$2" >$W/log 2>&1 && ! grep -q '^0 passed' $W/log; then
		healthy="$healthy $1:$2"
		return 0
	fi
	ill="$ill $1:$2"
	fail "$name: $2 fails with what is not edited, or names no test: $(grep -m1 '^FAIL' $W/log)"
	return 1
}
try_unit() { # FAULT FILE NAME
	case $joining in *"$2"*) ;; *) case $2 in control/*) fail "$1: this unit of control is not built here"; return ;; esac ;; esac
	well_tests unit "$3" || return
	# shellcheck disable=SC2086
	link $W/unit "$B/obj/${2%.c}.o" "$wraps $codecs $common -lcurl" $unit $shared $(printf '%s\n' $mediad | grep -v /main.o) || return
	try_tests "$1" $W/unit "$3"
}
# try_decoder: the tests of decoderd find the program one folder above their own. Some of its files they have themselves as well: then
# both have the edit.
try_decoder() { # FAULT FILE NAME
	well_tests decoder "$3" || return
	mkdir -p $W/tests && cp $B/tests/decoder $W/tests/ && rm -f $W/decoderd && cp $B/decoderd $W/ || return
	# shellcheck disable=SC2086
	! printf '%s\n' $decoderd | grep -qxF "$B/obj/${2%.c}.o" || link $W/decoderd "$B/obj/${2%.c}.o" "$decoding" $decoderd || return
	# shellcheck disable=SC2086
	case " $decodertest " in
	*" $B/obj/${2%.c}.o "*) link $W/tests/decoder "$B/obj/${2%.c}.o" "$wraps $decoding $common" $decodertest || return ;;
	esac
	try_tests "$1" $W/tests/decoder "$3"
}
try_tests() { # FAULT PROGRAM NAME
	timeout 300 "$2" "$3" >$W/log 2>&1
	case $? in
	0 | 124) fail "$1: $3 did not notice" ;;
	*)
		passed=$((passed + 1))
		echo "$1: $(grep -m1 -oE '^FAIL .*|^[^ ]*\.c:[0-9]+: .*' $W/log)"
		;;
	esac
}
try_scenario() { # FAULT FILE SCENARIO
	well "$3" || return
	programs $sick
	# What is in neither's folder is in both.
	# shellcheck disable=SC2086
	case $2 in control/*) ;; *)
		rm -f "$sick/mediad"
		link "$sick/mediad" "$B/obj/${2%.c}.o" "$codecs $common" $program || return
		;;
	esac
	# shellcheck disable=SC2086
	case $2 in mediad/*) ;; *)
		rm -f "$sick/control"
		link "$sick/control" "$B/obj/${2%.c}.o" "$common -lcurl -lsqlite3" $control || return
		;;
	esac
	if noticed "$3" $sick $W/well; then
		passed=$((passed + 1))
		echo "$1: $3: $said"
	else
		fail "$1: scenario $3 did not notice"
	fi
}

if [ -z "${LANE:-}" ] && [ "$lanes" -gt 1 ]; then
	for lane in $(seq "$lanes"); do LANE=$lane LANES=$lanes "tests/mutants/media.sh" "$@" & done |
		awk -v lanes="$lanes" '/^[0-9]+ passed, / { ended++; passed += $1; failed += $3; next } { print; fflush() }
			END { print passed + 0 " passed, " failed + 0 " failed, 0 skipped"; exit ended != lanes || failed || !passed }'
	exit
fi

n=0
while IFS= read -r line <&3; do
	case $line in
	'@ '*)
		# shellcheck disable=SC2086
		name=$(echo "$line" | cut -d' ' -f2) file=$(echo "$line" | cut -d' ' -f3) test=$(echo "$line" | cut -d' ' -f4) after=
		;;
	'^ '*) after=${line#'^ '} ;;
	'- '*) old=${line#- } ;;
	'+ '*)
		case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
		n=$((n + 1))
		[ $((n % lanes + 1)) = "${LANE:-1}" ] || continue
		mkdir -p "$W/src/$(dirname "$file")"
		if ! OLD=$old NEW=${line#+ } AFTER=$after awk 'function bare(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
			BEGIN { old = bare(ENVIRON["OLD"]); after = bare(ENVIRON["AFTER"]); behind = after == "" }
			after != "" && bare($0) == after { behind = 1 }
			behind && bare($0) == old && (after == "" || !n) { print ENVIRON["NEW"]; n++; next } { print } END { exit n != 1 }' "$file" >"$W/src/$file"; then
			fail "$name: $file does not have this line once: $old"
			continue
		fi
		# shellcheck disable=SC2086
		gcc $flags -w -c -o $W/mutant.o "$W/src/$file" 2>$W/err || { fail "$name: does not compile: $(head -1 $W/err)"; continue; }
		case $test in
		unit:*) try_unit "$name" "$file" "${test#unit:}" ;;
		decoder:*) try_decoder "$name" "$file" "${test#decoder:}" ;;
		*) try_scenario "$name" "$file" "$test" ;;
		esac
		;;
	esac
done 3<$table
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
