#!/bin/sh
# Fails on a circle between folders of proto, ipc, mediad or control: a folder that reaches itself through the headers that its
# sources include. The graph comes from the compiler's dependency files.
#
#   circles.sh [OBJDIR]    OBJDIR (default build/obj) holds the .d files of a build
#
# A circle that exists today is allowed by a line `FOLDER -> FOLDER`, an edge that closes it, in tests/check/circles.allow. An
# allowed edge that no circle needs any more is a failure too, so the list only shrinks.
set -eu
obj=${1:-build/obj}
here=$(dirname "$0")
find "$obj/proto" "$obj/ipc" "$obj/mediad" "$obj/control" -name '*.d' 2>/dev/null | sort | while read -r d; do
	source=${d#"$obj"/}
	[ -f "${source%.d}.c" ] || continue # an object whose source was moved
	from=$(dirname "$source")
	sed 's/\\$//; s/^[^:]*://' "$d" | tr ' ' '\n' | grep -E '^(proto|ipc|mediad|control)/.*\.(h|def)$' | sed 's,/[^/]*$,,' | sort -u |
		while read -r to; do
			[ "$from" = "$to" ] || echo "$from $to"
		done
done | sort -u | perl -e '
use strict;
my %graph;
while (<STDIN>) {
	my ($from, $to) = split;
	$graph{$from}{$to} = 1;
	$graph{$to} //= {};
}
die "circles: no dependency files; build first\n" if keys %graph < 2;
my @allowed;
open my $list, "<", $ARGV[0] or die "$ARGV[0]: $!\n";
while (<$list>) {
	push @allowed, [$1, $2] if /^(\S+) -> (\S+)/;
}
# The way from one folder to another along the edges that are not left out, as a list of folders; empty when there is none.
sub way {
	my ($start, $end, %without) = @_;
	my @todo = ($start);
	my %came = ($start => undef);
	while (defined(my $at = pop @todo)) {
		for my $to (sort keys %{$graph{$at}}) {
			next if $without{"$at $to"};
			if ($to eq $end) {
				my @way = ($end);
				for (my $x = $at; defined $x; $x = $came{$x}) { unshift @way, $x }
				return @way;
			}
			next if exists $came{$to};
			$came{$to} = $at;
			push @todo, $to;
		}
	}
	return ();
}
my %without = map { ("$_->[0] $_->[1]" => 1) } @allowed;
my $bad = 0;
for my $folder (sort keys %graph) {
	my @way = way($folder, $folder, %without);
	next if !@way || $folder ne (sort @way)[0];
	print "circle: ", join(" -> ", @way), "\n";
	$bad++;
}
for (@allowed) {
	my ($from, $to) = @$_;
	next if $graph{$from} && $graph{$from}{$to} && way($to, $from);
	print "tests/check/circles.allow: $from -> $to closes no circle any more; take the line out\n";
	$bad++;
}
print "circles: none between ", scalar(keys %graph), " folders; ", scalar(@allowed), " edges allowed\n" if !$bad;
exit($bad > 0);
' "$here/circles.allow"
