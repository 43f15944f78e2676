#!/usr/bin/perl
# Prints a PNG that carries a number, as tests/standins/picture.h describes.
#
#   picture.pl NUMBER [WIDTH HEIGHT]      default: 320 200
use strict;
use warnings;
use Compress::Zlib;

my ($number, $width, $height) = (@ARGV, 320, 200)[0, 1, 2];
($width, $height) = (320, 200) if @ARGV < 3;
my $chunk = sub { my ($type, $data) = @_; pack("N", length $data) . $type . $data . pack("N", crc32($type . $data)) };
my @cells = (1, (map { $number >> 13 - $_ & 1 } 0 .. 13), 0);
my $marks = "\0" . join "", map { chr($cells[int($_ * 16 / $width)] * 255) } 0 .. $width - 1;
my $plain = "\0" . join "", map { chr(64 + ($_ * 7 + $number) % 128) } 0 .. $width - 1;
my $rows = join "", map { $_ < $height / 8 ? $marks : $plain } 0 .. $height - 1;
binmode STDOUT;
print "\x89PNG\r\n\x1a\n", $chunk->("IHDR", pack("NNC5", $width, $height, 8, 0, 0, 0, 0)), $chunk->("IDAT", compress($rows)), $chunk->("IEND", "");
