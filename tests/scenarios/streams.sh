#!/bin/sh
# The event streams of the dashboard's API as clients see them: a snapshot first, the state every three seconds, a heartbeat every
# fifteen, and clients that read nothing cost the program little.
#
#   tests/scenarios/streams.sh [build folder]      default: build
# slow: in make scenarios, not in make check
# rules 114
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-streams-XXXXXX)
. tests/scenarios/common
STALLED=24 # clients that read nothing
KIB=64	    # that each of them may add

start_guildd
start_brain
mkdir "$D/state"
start_mediad one
PARLEY_WEB_LISTEN=127.0.0.1:0 start control "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --ca "$CA"
control=$last
until_ok 10 registered || bad commands "not registered"
until_ok 10 grep -q ' web_up ' "$D/control.log" || bad "the dashboard" "$(tail -3 "$D/control.log")"
WEB=127.0.0.1:$(sed -nE 's/.*web_up .*port=([0-9]+).*/\1/p' "$D/control.log" | tail -1)
TOKEN=$(cat "$D/state/web-token")

# stream PATH SECONDS FILE: "MS LINE" for each line that comes.
stream() {
	perl -MIO::Socket::INET -MTime::HiRes=time -e '
		my ($at, $path, $token, $s) = @ARGV;
		my $c = IO::Socket::INET->new(PeerAddr => $at) or die;
		$| = 1; print $c "GET $path HTTP/1.1\r\nHost: $at\r\nAuthorization: Bearer $token\r\n\r\n";
		my $t0 = time; my $buf = ""; my $body;
		$SIG{ALRM} = sub { exit }; alarm $s;
		while (sysread $c, my $more, 65536) {
			$buf .= $more;
			while ($buf =~ s/^(.*?)\n//) { (my $line = $1) =~ s/\r$//; printf "%d %s\n", 1000 * (time - $t0), $line if $body || !($body = $line eq ""); }
		}' "$WEB" "$1" "$TOKEN" "$2" >"$3"
}
rss() { awk '/^VmRSS/ { print $2 }' "/proc/$control/status"; }
at() { grep -E "^[0-9]+ event: $2\$" "$D/$1" | cut -d' ' -f1; }
# gaps FILE EVENT: the shortest and the longest time between two of them, in ms.
gaps() { at "$1" "$2" | awk 'NR > 1 { d = $1 - p; if (least == "" || d < least) least = d; if (d > most) most = d } { p = $1 } END { print least + 0, most + 0 }'; }
first() { grep -m1 -oE ' event: .*' "$D/$1" | cut -d' ' -f3; }

stream /api/voice/events 20 "$D/voice" &
voice=$!
stream /api/activity/events 20 "$D/activity" &
activity=$!
before=$(rss)
# They ask for a stream and read nothing of it.
perl -MIO::Socket::INET -e '
	my ($at, $token, $n) = @ARGV; my @c;
	for (1 .. $n) { my $c = IO::Socket::INET->new(PeerAddr => $at) or last;
		print $c "GET /api/activity/events HTTP/1.1\r\nHost: $at\r\nAuthorization: Bearer $token\r\n\r\n"; push @c, $c }
	print scalar(@c), "\n"; $| = 1; sleep 60' "$WEB" "$TOKEN" "$STALLED" >"$D/stalled" 2>&1 &
started="$started $!"
# Meanwhile much happens.
for _ in $(seq 1 300); do api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"why\"}" >/dev/null; done
wait $voice $activity
after=$(rss)

is "the calls' stream begins with their state" "$(first voice)" voice_state
is "that of the actions with a snapshot" "$(first activity)" activity_snapshot
[ "$(at voice voice_state | head -1)" -lt 1000 ] && ok "at once" || bad "the snapshot" "$(head -3 "$D/voice")"
set -- $(gaps voice voice_state)
within "the state comes every 3 s: not sooner" "$1" 2500 3500
within "and not later" "$2" 2900 4500
within "so often within 20 s" "$(at voice voice_state | wc -l)" 6 8
set -- $(gaps activity stats_update)
within "so do the figures" "$1" 2500 3500
grep -qE '^1[45][0-9]{3} :' "$D/voice" && ok "a heartbeat comes after 15 s" || bad "a heartbeat" "$(grep -E '^[0-9]+ :' "$D/voice" | head -3)"
[ "$(grep -c 'action_event' "$D/activity")" -ge 250 ] && ok "what happens is told as it happens" || bad "the actions" "$(grep -c action_event "$D/activity")"
grown=$(((after - before) / STALLED))
[ "$grown" -le $KIB ] && ok "a client that reads nothing adds at most $KIB KiB ($grown)" || bad "slow clients" "$grown KiB each"
[ "$(curl -s -H "Authorization: Bearer $TOKEN" "http://$WEB/api/health" | grep -c .)" -ge 1 ] && ok "and holds up nobody else" || bad "the API" "does not answer"
report
