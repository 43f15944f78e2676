#!/bin/sh
# Answers that are written and read out, from words of recordings: the question of the demo, but the bot has no voice
# session and no transcription session, only what it asks by HTTP.
#
#   tests/scenarios/written.sh [build folder]      default: build
# slow: in make scenarios, not in make check
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
turn() { grep -aE ' turn .*stage=ended' "$D/$1/log/control.log"; }

if talk written PARLEY_REPLY_PATH=brain PARLEY_ASR_SESSIONS=file PARLEY_ASR_WAIT_MS=20000 JOURNAL="$D/journal"; then
	ok "the answer of a text model was played"
else
	bad "the answer of a text model was played" "$(tail -3 "$D/written.txt")"
fi
is "the turn was answered" "$(turn written | grep -c 'heard="parley what time is it" reason=answered')" 1
is "the whole answer was played" "$(turn written | grep -cE 'said="It is .*\."')" 1
is "no session was opened for it" "$(grep -ac ' client client=' "$D/written/log/offlined.log")" 0
# What came by HTTP, piece by piece, comes again.
"$B/control" --log fatal --replay "$D/journal.control" >"$D/again" 2>&1
is "a replay of the conversation has the same digest" "$(cat "$D/again")" "$(cat "$D/journal.control.digest")"

# A text model that plays a soundboard sound between two sentences.
perl -MIO::Socket::INET -e '
	my $s = IO::Socket::INET->new(Listen => 4, LocalAddr => "127.0.0.1", ReuseAddr => 1) or die;
	$| = 1; print $s->sockport, "\n";
	while (my $c = $s->accept) {
		my $n = 0;
		while (my $line = <$c>) { $n = $1 if $line =~ /^content-length: *(\d+)/i; last if $line =~ /^\r?\n/; }
		read $c, my $body, $n;
		print $c "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
		for ("It is time. ", "[[SOUND", "BOARD:AirHorn]] And now", " you know.") {
			print $c "data: {\"choices\":[{\"delta\":{\"content\":\"$_\"},\"finish_reason\":null}]}\n\n";
		}
		print $c "data: [DONE]\n\n";
		close $c;
	}' >"$D/port" &
started="$started $!"
until_ok 5 test -s "$D/port" || bad "the text server" "did not start"
# The demo compares the received audio with the whole answer, here two segments with a sound between them.
talk sounds PARLEY_REPLY_PATH=brain PARLEY_TEXT_URL="http://127.0.0.1:$(cat "$D/port")/v1"
is "all of the text was spoken" "$(turn sounds | grep -c 'reason=answered said="It is time. And now you know."')" 1
is "Discord accepted the sound" "$(grep -ac 'sound_dropped\|sound_refused' "$D/sounds/log/control.log")" 0
# The caller received two segments with at least a second between them.
is "and it played between the two segments" "$(awk '/the bot is silent/ { at = $1 } /the bot speaks/ && at { print ($1 - at > 1); exit }' "$D/sounds.txt")" 1

cat "$D"/*/log/*.log >"$D/all.log"
report
