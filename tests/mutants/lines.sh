#!/bin/sh
# Whether every edit of tests/mutants/media still applies: its file holds the line that it replaces, and its unit test exists. The
# edits themselves are tried by tests/mutants/media.sh, which takes too long for make check.
set -eu
cd "$(dirname "$0")/../.."
perl -e '
use strict;
my ($name, $file, $test, $edits, $bad) = ("", "", "", 0, 0);
my $tests = join "\n", `grep -rhE "^TEST(_OOM)?\\(" tests/unit`, `find tests/unit -name "*_test.c"`;
open my $table, "<", "tests/mutants/media" or die;
while (my $line = <$table>) {
	chomp $line;
	if ($line =~ /^@ (\S+) (\S+) (\S+)/) {
		($name, $file, $test) = ($1, $2, $3);
		my $kind = $test =~ s/^unit:// ? "unit" : "scenario";
		if ($kind eq "unit" ? index($tests, $test) < 0 : !-e "tests/scenarios/$test.sh") {
			print "$name: there is no test $test\n";
			$bad++;
		}
	} elsif ($line =~ /^- \s*(.*?)\s*$/) {
		my $old = $1;
		$edits++;
		open my $source, "<", $file or do { print "$name: there is no file $file\n"; $bad++; next };
		next if grep { s/^\s+|\s+$//gr eq $old } <$source>;
		print "$name: $file has no such line: $old\n";
		$bad++;
	}
}
print "mutants: $edits edits apply\n" if !$bad;
exit($bad || !$edits ? 1 : 0);
'
