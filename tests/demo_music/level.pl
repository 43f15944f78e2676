#!/usr/bin/perl
# level.pl RECORDING.wav PICTURE.png: draws the level of both channels of a recording (16-bit PCM) over time, the left one on top, and
# prints, for the right one, a line `SECOND DB` for each half second.
use strict;
use warnings;
use Compress::Zlib;

my ($wav, $png) = @ARGV;
die "usage: level.pl RECORDING.wav PICTURE.png\n" unless $png;
open my $in, '<:raw', $wav or die "$wav: $!\n";
my $bytes = do { local $/; <$in> };
my $rate = unpack 'V', substr $bytes, 24, 4;
my @pcm = unpack 's<*', substr $bytes, 44;
my $frames = int(@pcm / 2);
my ($step, $floor, $high, $columns) = (0.05, -60, 120, 0);

# Level in dB of `n` frames of a channel from `from` on.
sub level {
	my ($channel, $from, $n) = @_;
	my $sum = 0;
	$n = $frames - $from if $from + $n > $frames;
	return $floor if $n <= 0;
	$sum += $pcm[2 * $_ + $channel]**2 for $from .. $from + $n - 1;
	my $db = $sum ? 10 * log($sum / $n / 32768**2) / log 10 : $floor;
	return $db < $floor ? $floor : $db;
}
my @level;
my $window = int($rate * $step);
for (my $at = 0; $at < $frames; $at += $window, $columns++) {
	push @{$level[$_]}, level($_, $at, $window) for 0, 1;
}
for (my $i = 0; $i < $columns; $i += 10) {
	my @sorted = sort { $a <=> $b } @{$level[1]}[$i .. ($i + 9 < $columns ? $i + 9 : $columns - 1)];
	printf "%.1f %.1f\n", $i * $step, $sorted[0];
}

# Two strips of bars, a line between them, and a mark for each ten seconds. Two pixels a window.
my @colour = ([255, 255, 255], [66, 120, 184], [196, 96, 52], [170, 170, 170]);
my ($width, $height) = (2 * $columns, 2 * $high + 4);
my $rows = '';
for my $y (0 .. $height - 1) {
	my $lower = $y >= $high + 4;
	my $channel = $lower ? 1 : 0;
	my $up = $lower ? $height - 1 - $y : $high - 1 - $y;
	my $line = "\0";
	for my $x (0 .. $columns - 1) {
		my $bar = ($level[$channel][$x] - $floor) / -$floor * $high;
		my $ink = $up < 0 ? 3 : $up < $bar ? 1 + $channel : $x && $x % 200 == 0 ? 3 : 0;
		$line .= chr($ink) x 2;
	}
	$rows .= $line;
}
sub chunk {
	my ($name, $data) = @_;
	return pack('N', length $data) . $name . $data . pack('N', crc32($name . $data));
}
open my $out, '>:raw', $png or die "$png: $!\n";
print $out "\x89PNG\r\n\x1a\n", chunk('IHDR', pack 'NNCCCCC', $width, $height, 8, 3, 0, 0, 0),
	chunk('PLTE', join '', map { pack 'C3', @$_ } @colour), chunk('IDAT', compress($rows)), chunk('IEND', '');
close $out or die "$png: $!\n";
