# A music server that a stranger wrote, for tests/scenarios/music_hostile.sh: what looks like sound to a first request is none to
# mediad's fetcher, which asks for the titles of stations. Prints its port. The first argument is a WAV file that it has.
use strict;
use warnings;
use IO::Socket::INET;
use Time::HiRes qw(sleep);

my ($file, $private) = @ARGV;
my $sock = IO::Socket::INET->new(Listen => 64, LocalAddr => "127.0.0.1", ReuseAddr => 1) or die "listen: $!";
local $| = 1;
local $SIG{CHLD} = "IGNORE";
local $SIG{PIPE} = "IGNORE";
print $sock->sockport, "\n";
open my $f, "<:raw", $file or die "$file: $!";
my $wav = do { local $/; <$f> };
srand 1;
my $noise = join "", map { chr int rand 256 } 1 .. 65536;

sub head { # CLIENT TYPE LENGTH [STATUS]
	my ($c, $type, $length, $status) = @_;
	print $c "HTTP/1.1 ", $status // "200 OK", "\r\nContent-Type: $type\r\n", defined $length ? "Content-Length: $length\r\n" : "", "Connection: close\r\n\r\n";
}
my %answers = (
	slow => sub { head $_[0], "audio/wav", length $wav; for my $byte (split //, $wav) { print { $_[0] } $byte or last; sleep 0.5 } },
	breaks => sub { head $_[0], "audio/wav", length $wav; print { $_[0] } substr $wav, 0, 500 },
	halfway => sub { head $_[0], "audio/wav", length $wav; print { $_[0] } substr $wav, 0, length($wav) / 2 },
	closes => sub { },
	refuses => sub { head $_[0], "text/plain", 0, "403 Forbidden" },
	private => sub { print { $_[0] } "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:$private/secret\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" },
	circle => sub { print { $_[0] } "HTTP/1.1 302 Found\r\nLocation: /circle.wav\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" },
	garbage => sub { head $_[0], "audio/mpeg", 3 * length $noise; print { $_[0] } $noise for 1 .. 3 },
	endless => sub { head $_[0], "audio/mpeg"; 1 while print { $_[0] } $noise },
	lines => sub { print { $_[0] } "HTTP/1.1 200 OK\r\n"; 1 while print { $_[0] } "X-Line: " . "x" x 1000 . "\r\n" },
);

while (my $c = $sock->accept) {
	next if fork;
	my ($first, $fetcher) = ("", 0);
	while (my $line = <$c>) {
		$first ||= $line;
		$fetcher = 1 if $line =~ /^icy-metadata/i;
		last if $line =~ /^\r?\n/;
	}
	my ($name) = $first =~ m{^GET /(\w+)};
	if ($fetcher && $name && $answers{$name}) {
		$answers{$name}->($c);
	} elsif ($name && $name eq "probed") {
		$answers{private}->($c);
	} else {
		head $c, "audio/wav", length $wav;
		print $c $wav;
	}
	exit;
}
