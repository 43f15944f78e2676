#!/bin/sh
# Holds tests/mutants/rules against the statements: every edit applies to its file, no edit stands for more than two statements, and
# every statement up to the last has an edit unless tests/scenarios/room/waiting lists it. run.sh tries the edits, which takes too
# long for make check.
set -eu
cd "$(dirname "$0")/../.."
exec perl -e '
use strict;
my ($number, $file, $after, $old, $edits, $bad, $last, %has, %of) = (0, "", "", "", 0, 0, 0);
sub fault { print "tests/mutants/rules: @_\n"; $bad++ }
open my $statements, "<", "docs/src/statements.txt" or die;
/^(\d+) / and $1 > $last and $last = $1 while <$statements>;
open my $waiting, "<", "tests/scenarios/room/waiting" or die;
while (<$waiting>) {
	my ($from, $to) = /^(\d+)(?:-(\d+))?\s/ or next;
	$has{$_} = 1 for $from .. $to // $from;
}
open my $table, "<", "tests/mutants/rules" or die;
while (my $line = <$table>) {
	chomp $line;
	if ($line =~ /^@ (\d+) (\S+)$/) {
		($number, $file, $after) = ($1, $2, "");
		fault("no statement has the number $number") if !$number || $number > $last;
		$has{$number} = 1;
	} elsif ($line =~ /^\^ \s*(.*?)\s*$/) {
		$after = $1;
	} elsif ($line =~ /^- \s*(.*?)\s*$/) {
		$old = $1;
		open my $source, "<", $file or do { fault("$number: there is no file $file"); next };
		my @lines = map { s/^\s+|\s+$//gr } <$source>;
		my @from = grep { $lines[$_] eq $after } 0 .. $#lines;
		my @at = grep { $lines[$_] eq $old && (!length $after || $_ > ($from[0] // 0)) } 0 .. $#lines;
		fault("$number: $file has no such line: $old") if !@at;
		fault("$number: $file has several such lines: $old") if length $after ? @from != 1 : @at > 1;
	} elsif ($line =~ /^\+ ?\s*(.*?)\s*$/) {
		$of{"$file: $old => $1"}{$number} = 1;
		$edits++;
	} elsif ($line =~ /^@/) {
		fault("not a statement and a file: $line");
	}
}
for my $edit (sort keys %of) {
	my @numbers = sort { $a <=> $b } keys %{$of{$edit}};
	fault("one edit for statements @numbers: $edit") if @numbers > 2;
}
fault("no edit for statement $_") for grep { !$has{$_} } 1 .. $last;
print "mutants: $edits edits of $last statements apply\n" if !$bad;
exit($bad || !$edits ? 1 : 0);
'
