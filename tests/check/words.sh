#!/bin/sh
# Fails if a sentence for users is not in control/words/words.def: no other file of control contains prose, every sentence of
# the table is used, and the terse texts of the protocol appear only in the log.
#
# Prose begins with a capital letter or ends with a full stop; other texts are reasons for the log. Exempt are the log, prompts
# for models (those of tools among them), the embedded engine (a program of its own), and texts for the terminal: help, the findings of --check (including
# portal), faults of settings, and --why.
set -eu
cd "$(dirname "$0")/../.."
fail=0
files=$(find control -name '*.c' ! -path 'control/offline/*' ! -path 'control/words/*' ! -path 'control/settings/*' ! -path 'control/tools/*' ! -path 'control/mcp/*' ! -path 'control/delegate/*' \
	! -path 'control/room/*' ! -name 'main.c' ! -name 'help.c' ! -name 'check*.c' ! -name 'environment.c' ! -name 'why.c' ! -name 'portal.c')
# shellcheck disable=SC2086
perl -0777 -ne '
	s{/\*.*?\*/}{}gs;                                     # comments
	s/"\s*\n\s*"//g;                                      # pieces of one literal
	s/\blog_\w+(\((?:[^()"]|"(?:\\.|[^"\\])*"|(?1))*\))//g; # the log
	while (/"((?:\\.|[^"\\\n])*)"/g) {
		my $text = $1;
		print "$ARGV: \"$text\" belongs into control/words/words.def\n" if $text =~ /[A-Za-z]+ [a-z]+ [a-z]+ [a-z]+/ && $text =~ /^[A-Z]|[.?]$/;
	}
' $files >build/words.found 2>&1 || fail=1
if [ -s build/words.found ]; then
	cat build/words.found
	fail=1
fi
for name in $(sed -nE 's/^[[:space:]]*W[0-3]\(([a-z_]+),.*/\1/p' control/words/words.def); do
	grep -rqE "words_$name\b" --include='*.c' control && continue
	case $name in
	command_*) ;; # by its command's name
	*) echo "words_$name: nobody says it"; fail=1 ;;
	esac
done
# Clauses that become parts of sentences about music.
perl -0777 -e '
	local @ARGV = ("control/words/translations_reasons.def");
	my %row = map { $_ => 1 } <> =~ /\bT\("([^"]+)"/g;
	@ARGV = (glob("control/music_sources/*.c"), glob("control/jukebox/*.c"), "ipc/http_explain.c");
	while (<>) {
		s{/\*.*?\*/}{}gs;
		s/"\s*\n\s*"//g;
		s/\blog_\w+(\((?:[^()"]|"(?:\\.|[^"\\])*"|(?1))*\))//g;
		while (/"((?:\\.|[^"\\\n])*)"/g) {
			my $text = $1;
			print "$ARGV: \"$text\" has no row in translations_reasons.def\n" if !$row{$text} && $text =~ /^(it|its|no|the|there) /;
		}
	}
' >build/words.found 2>&1 || fail=1
if [ -s build/words.found ]; then
	cat build/words.found
	fail=1
fi
# shellcheck disable=SC2086
if grep -nE 'media_(reason|phase|heal)_text' $files; then
	echo "people are told by words_voice, words_phase and words_heal"
	fail=1
fi
[ $fail = 0 ] && echo "words: $(grep -cE '^[[:space:]]*W[0-3]\(' control/words/words.def) sentences, said from one place"
exit $fail
