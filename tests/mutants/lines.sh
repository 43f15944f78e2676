#!/bin/sh
# Whether every edit of tests/mutants/media, text, text-faults, text-session, faults, memory, erase, store and web still applies: its file holds the line that it replaces once, or behind the line that its ^ names, and its
# unit test, or a scenario of text chat that names its statement, exists. The
# edits themselves are tried by tests/mutants/run.sh and media.sh, which take too long for make check. docs/faults.md names every edit,
# and what it names exists.
set -eu
cd "$(dirname "$0")/../.."
perl -e '
use strict;
my ($name, $file, $test, $after, $edits, $bad) = ("", "", "", "", 0, 0);
my $tests = join "\n", `grep -rhE "^TEST(_OOM)?\\(" tests/unit tests/decoder`, `find tests/unit -name "*_test.c"`;
# media.sh builds few of the unit tests of control.
my ($listed) = join("", `cat tests/mutants/media.sh`) =~ /^joining="(.*?)"/ms;
my $built = join "\n", `grep -rhE "^TEST(_OOM)?\\(" tests/unit/proto tests/unit/ipc tests/unit/mediad @{[split " ", $listed]}`,
	`find tests/unit/proto tests/unit/ipc tests/unit/mediad -name "*_test.c"`;
sub look_for {
	my ($old, $who) = @_;
	$edits++;
	open my $source, "<", $file or do { print "$who: there is no file $file\n"; $bad++; return };
	my @lines = map { s/^\s+|\s+$//gr } <$source>;
	my @from = grep { $lines[$_] eq $after } 0 .. $#lines;
	my @at = grep { $lines[$_] eq $old && (!length $after || $_ > ($from[0] // 0)) } 0 .. $#lines;
	return if @at && (length $after ? @from == 1 : @at == 1);
	print "$who: $file has " . (@at > 1 ? "several such lines, or its ^ line is not one" : "no such line") . ": $old\n";
	$bad++;
}
open my $table, "<", "tests/mutants/media" or die;
while (my $line = <$table>) {
	chomp $line;
	if ($line =~ /^@ (\S+) (\S+) (\S+)/) {
		($name, $file, $test, $after) = ($1, $2, $3, "");
		my $kind = $test =~ s/^(unit|decoder):// ? "unit" : "scenario";
		if ($kind eq "unit" ? index($tests, $test) < 0 : !-e "tests/scenarios/$test.sh") {
			print "$name: there is no test $test\n";
			$bad++;
		} elsif ($line =~ / unit:/ && index($built, $test) < 0) {
			print "$name: media.sh does not build the test $test\n";
			$bad++;
		}
	} elsif ($line =~ /^\^ \s*(.*?)\s*$/) {
		$after = $1;
	} elsif ($line =~ /^- \s*(.*?)\s*$/) {
		look_for($1, $name);
	}
}
my %stated = map { $_ => 1 } map { /(\d+)/g } `grep -hE "^# text rules" tests/scenarios/text/*.text`;
open $table, "<", "tests/mutants/text" or die;
while (my $line = <$table>) {
	if ($line =~ /^@ (\S+) (\S+)/) {
		($name, $file, $after) = ($1, $2, "");
		next if $stated{$name};
		print "statement $name of text chat: no scenario names it\n";
		$bad++;
	} elsif ($line =~ /^\^ \s*(.*?)\s*$/) {
		$after = $1;
	} elsif ($line =~ /^- \s*(.*?)\s*$/) {
		look_for($1, "statement $name of text chat");
	}
}
for my $kind ("memory", "erase", "store", "text-session", "web", "text-faults", "faults") {
	open $table, "<", "tests/mutants/$kind" or die;
	while (my $line = <$table>) {
		if ($line =~ /^@ (\S+) (\S+)(?: (\S+))?/) {
			($name, $file, $after) = ($1, $2, "");
			next if $kind =~ /^(memory|erase|faults|text-faults)$/ || index($tests, "($3)") >= 0;
			print "$name: there is no test $3\n";
			$bad++;
		} elsif ($line =~ /^\^ \s*(.*?)\s*$/) {
			$after = $1;
		} elsif ($line =~ /^- \s*(.*?)\s*$/) {
			look_for($1, "$kind $name");
		}
	}
}
my (%edit, %named);
open $table, "<", "tests/mutants/media" or die;
/^@ (\S+)/ and $edit{$1} = 1 while <$table>;
open my $page, "<", "docs/faults.md" or die;
while (<$page>) {
	next if !/^\| (?!fault|---)/;
	my (undef, undef, $through, $simulated, $list) = split /\|/;
	for my $word ($list =~ /`([^`]+)`/g) {
		next if $word =~ m,^tests/,;
		my @found = grep { my $p = quotemeta($word) =~ s/\\\*/.*/gr; /^$p$/ } keys %edit;
		@named{@found} = @found;
		print "docs/faults.md: there is no edit $word\n" and $bad++ if !@found;
	}
	for my $word ($simulated =~ /`([^`]+)`/g) {
		my $p = quotemeta($word) =~ s/\\\*/[a-z0-9_]*/gr;
		next if $tests =~ ($word =~ m,/, ? qr/tests.unit.\S*$p/ : qr/\($p\)/);
		print "docs/faults.md: there is no test $word\n" and $bad++;
	}
	my $faults = $through =~ /chaos/ ? `cat tests/chaos/script.c tests/chaos/script.h` : "";
	for my $word ($through =~ /`([a-z-]+)`/g) {
		print "docs/faults.md: chaos has no fault $word\n" and $bad++ if $faults && $faults !~ /"$word"/;
	}
	for my $words ($through =~ /replay ([a-z, -]+)/g) {
		for my $word ($words =~ /[a-z-]{3,}/g) {
			print "docs/faults.md: no replay $word\n" and $bad++ if !-e "tests/replay/$word.mediad";
		}
	}
	for my $word ($through =~ /scenario ([a-z_]+)/g) {
		print "docs/faults.md: there is no scenario $word\n" and $bad++ if !-e "tests/scenarios/$word.sh";
	}
}
print "docs/faults.md does not name the edit $_\n" and $bad++ for grep { !$named{$_} } sort keys %edit;
print "mutants: $edits edits apply\n" if !$bad;
exit($bad || !$edits ? 1 : 0);
'
