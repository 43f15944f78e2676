#!/bin/sh
# Keeps the untouched half of the wordings disjoint from the tuned one: no utterance may be in both halves, in whatever language or
# class, compared by its letters and digits in lower case.
#
#   disjoint.sh          counts the shared utterances by class; fails if there are any
#   disjoint.sh --drop   removes them from the untouched half; "# CLASS" keeps the place of each, since the place tells which
#                        utterances of other languages have the same situation
#
# Prints counts alone, so that the untouched half stays unread.
set -eu
cd "$(dirname "$0")/wordings"
exec perl -CSD -e '
use strict;
my $drop = @ARGV && $ARGV[0] eq "--drop";
die "usage: disjoint.sh [--drop]\n" if @ARGV > $drop;
sub letters { my $text = lc shift; $text =~ s/[^\p{L}\p{M}\p{N}]//g; return $text }
my (%tuned, %shared, %all, $found);
for my $file (glob "tuned/*.tsv") {
	open my $in, "<", $file or die "$file: $!\n";
	while (my $line = <$in>) {
		chomp $line;
		$tuned{letters((split /\t/, $line)[3])} = 1;
	}
}
die "the tuned half has no wordings\n" if !%tuned;
for my $file (glob "untouched/*.tsv") {
	open my $in, "<", $file or die "$file: $!\n";
	my @kept;
	while (my $line = <$in>) {
		my ($class, undef, undef, $said) = split /\t/, $line =~ s/[\r\n]+$//r;
		$all{$class}++ if defined $said;
		if (defined $said && $tuned{letters($said)}) { $shared{$class}++; $found++; $line = "# $class\n" }
		push @kept, $line;
	}
	close $in;
	next if !$drop;
	open my $out, ">", $file or die "$file: $!\n";
	print $out @kept;
	close $out or die "$file: $!\n";
}
die "the untouched half has no wordings\n" if !%all;
printf "%-12s %d of %d utterances are in the tuned half, too%s\n", $_, $shared{$_}, $all{$_}, $drop ? ": removed" : "" for sort keys %shared;
print "wordings: the halves share no utterance\n" if !$found;
exit($found && !$drop ? 1 : 0);
' -- "$@"
