#!/bin/sh
# Discord's main gateway moves to another address: the bot finds it within 30 s and resumes. Its addresses are IPv6 literals and a
# name that has only an IPv6 address.
#
#   tests/scenarios/moved.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
# Where the loopback has no IPv6 address a network of its own may have one.
ipv6() { perl -MIO::Socket::IP -e 'exit !IO::Socket::IP->new(Listen => 1, LocalAddr => "::1")'; }
if ! ipv6 && [ -z "${OWN_NETWORK:-}" ] && unshare -rn ip link set lo up 2>/dev/null; then
	OWN_NETWORK=1 exec unshare -rn sh -c 'ip link set lo up; exec bash "$0" "$@"' "$PWD/tests/scenarios/moved.sh" "$@"
fi
B=${1:-build}
D=$(mktemp -d /tmp/parley-moved-XXXXXX)
. tests/scenarios/common

start_guildd
start_mediad mediad
GATEWAY=$(field gateway <"$D/ready" | grep -oE '[0-9]+$')
REST=$(echo "$PARLEY_DISCORD_API" | sed -nE 's/.*:([0-9]+).*/\1/p')
# relay PORT: listens on [::1] and relays each connection to 127.0.0.1:PORT; its port goes to $relay, its pid to $last.
relay() {
	rm -f "$D/relay"
	perl -MIO::Socket::IP -MIO::Select -e '
		my ($port, $file) = @ARGV;
		my $s = IO::Socket::IP->new(Listen => 8, LocalAddr => "::1", LocalPort => 0) or die "no IPv6: $!";
		open(my $f, ">", "$file.new"); print $f $s->sockport, "\n"; close $f; rename "$file.new", $file;
		my $sel = IO::Select->new($s); my %peer;
		while (my @ready = $sel->can_read) { for my $h (@ready) {
			if ($h == $s) {
				my $c = $s->accept or next;
				my $u = IO::Socket::IP->new(PeerAddr => "127.0.0.1", PeerPort => $port) or next;
				$peer{$c} = $u; $peer{$u} = $c; $sel->add($c, $u);
			} elsif ($peer{$h}) {
				my $p = $peer{$h};
				if (sysread $h, my $b, 65536) { syswrite $p, $b; next }
				delete @peer{$h, $p}; $sel->remove($h, $p); close $h; close $p;
			}
		} }' "$1" "$D/relay" 2>>"$D/relay.log" &
	last=$!
	started="$started $last"
	until_ok 5 test -s "$D/relay" || { echo "skip: this machine has no IPv6 loopback"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
	relay=$(cat "$D/relay")
}
# At its end a relay takes its connections with it.
relay "$GATEWAY"
first=$last
switch "{\"gateway_url\":\"ws://[::1]:$relay\"}"
relay "$REST"
export PARLEY_DISCORD_API="http://[::1]:$relay/api/v10" PARLEY_BRAIN_URL=ws://127.0.0.1:9/
start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
until_ok 10 registered && ok "IPv6 literals are addresses" || bad "IPv6 literals are addresses" "$(tail -2 "$D/control.log")"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"

name=$(getent ahosts ip6-localhost >/dev/null 2>&1 && [ -z "$(getent ahostsv4 ip6-localhost | grep -v '^127')" ] && echo ip6-localhost || echo '[::1]')
relay "$GATEWAY"
switch "{\"gateway_url\":\"ws://$name:$relay\"}"
began=$(date +%s%3N)
kill "$first"
resumed() { [ "$(count $BOT main_resumed)" -ge 1 ]; }
until_ok 30 resumed && ok "a gateway that has moved to $name is found" || bad "a gateway that has moved is found" "$(tail -3 "$D/control.log")"
within "after so many ms" $(($(date +%s%3N) - began)) 0 30000
is "with the same session" "$(count $BOT main_identified)" 1
up $GUILD && ok "and the call was up all the time" || bad "and the call was up all the time" "it is not"
report
