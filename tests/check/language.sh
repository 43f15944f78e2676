#!/bin/sh
# Fails if a term that this project has replaced comes back: in tracked sources, scripts, tables and pages. The glossary of
# docs/architecture.md and the field's own words are what to use instead; tests/check/language.allow lists the exceptions.
#
#   language.sh      prints each place with the replacement
set -eu
cd "$(dirname "$0")/../.."
allow=tests/check/language.allow
list=$(mktemp)
found=$(mktemp)
trap 'rm -f "$list" "$found"' EXIT

# PATTERN | replacement. Perl expressions, matched in any case.
cat >"$list" <<'END'
\bheed(s|ed|ing)?\b | takes effect
\b(put|asked|begun|done) anew\b | again
\b(is|are|was|were) told of\b | receives, is informed of
\b(a|the|each|our own|this|one) visits?\b | voice session
\baloud\b | speaks, by voice
\bears\b | transcriber, receiver
\b(ears and (its |the )?mouth|the mind of (parley|one voice)) | mediad, control, the conversation
\bpeek(s|ed|ing)?\b | interim-transcript request
\boptimistic(ally)?\b | speculative generation
\bnobody's sound\b|\bsound that is nobody's\b | unmapped SSRC
\bvillages?\b | cluster
\bhouse of its own\b|\bcontrol of the house\b|\bLooks at a house\b|\brules of the house\b | test fixture, cluster
\b(a|the|no) crowd\b|\bcrowd\.(c|h|mjs)\b | speakers
\b(mls|dave)_party\b|\bparty\.[ch]\b | MLS fixture, DAVE simulation
\bladder\b | retry policy, recovery steps
\bimagined words\b | hallucination
\bhas the word\b | holds the floor
\blift and land\b | commit, roll back
\bsounds? of listening\b | backchannel
\bbegun early\b | speculative
\bsteps? of softness\b | duck, pause, stop
\bforerunner\b | the previous control
\bcounts more\b | takes precedence
\bas if not given\b | ignored
\bnobody reads (PARLEY|%s) | unknown variable
\bsilence wait\b | endpointing delay
(/\*|^\s*\*|^\s*#|//) (What of|Who speaks|Who goes on|What else cannot) | a subject: the payload, the speaker
END

# Recorded data, word lists and the history of decisions are not prose of the project.
git ls-files -- . ':!docs/decisions' ':!tests/fuzz/corpus' ':!tests/data' ':!tests/replay/*.control' ':!tests/replay/*.mediad' \
	':!tests/interop/*.json' ':!tests/offline/*.txt' ':!tests/conversations/*.def' ':!tests/conversations/wordings' ':!tests/memory/*/*/*.jsonl' \
	':!tests/embedder/*.json*' ':!*.png' ":!$allow" ':!tests/check/language.sh' |
	LIST="$list" ALLOW="$allow" perl -e '
	use strict; use warnings;
	my (@rules, @allowed);
	open my $l, "<", $ENV{LIST} or die; 
	while (<$l>) { chomp; push @rules, [qr/$1/i, $2] if /^(.*) \| (.*)$/; }
	open my $a, "<", $ENV{ALLOW} or die;
	while (<$a>) { next if /^#|^\s*$/; chomp; my ($path, $text) = split / \| /; push @allowed, [$path, $text, 0]; }
	while (my $file = <STDIN>) {
		chomp $file;
		open my $f, "<", $file or next;
		my @lines = ($file, <$f>);
		for my $n (0 .. $#lines) {
			LINE: for my $r (@rules) {
				next unless $lines[$n] =~ $r->[0];
				for my $x (@allowed) {
					next unless index($file, $x->[0]) == 0 && index($lines[$n], $x->[1]) >= 0;
					$x->[2]++;
					next LINE;
				}
				my $line = $lines[$n];
				$line =~ s/^\s+|\s+$//g;
				print "$file:$n: \"$&\" ($r->[1]): $line\n" if $lines[$n] =~ $r->[0];
			}
		}
	}
	$_->[2] or print "$ENV{ALLOW}: nothing needs \"$_->[0] | $_->[1]\" any more\n" for @allowed;
' >"$found"
if [ -s "$found" ]; then
	cut -c1-200 "$found"
	exit 1
fi
echo "language: no replaced term in $(git ls-files | wc -l) files"
