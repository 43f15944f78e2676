#!/bin/sh
# Answers that are written and read out, from words of recordings: the question of the demo, but the bot has no voice
# session and no transcription session, only what it asks by HTTP.
#
#   tests/scenarios/written.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-written-XXXXXX)
. tests/scenarios/common

talk() { # NAME SETTING…: the demo's conversation
	local name=$1
	shift
	env BIN="$B" OUT="$D/$name" "$@" tests/demo.sh >"$D/$name.txt" 2>&1
}
turn() { grep -aE ' turn id=' "$D/$1/log/control.log"; }

if talk written PARLEY_REPLY_PATH=brain PARLEY_ASR_SESSIONS=file; then
	ok "a written answer was heard"
else
	bad "a written answer" "$(tail -3 "$D/written.txt")"
fi
is "the turn was answered" "$(turn written | grep -c 'heard="parley what time is it" reason=answered')" 1
is "what was said was all heard" "$(turn written | grep -cE 'said="It is .*\."')" 1
is "no session was opened for it" "$(grep -ac ' client client=' "$D/written/log/offlined.log")" 0

# Recordings with a voice session, and the other way round.
talk recordings PARLEY_ASR_SESSIONS=file && ok "recordings beside a voice session" || bad "recordings" "$(tail -3 "$D/recordings.txt")"
is "one session, for the voice" "$(grep -ac ' client client=' "$D/recordings/log/offlined.log")" 1

report
