#!/bin/sh
# What people read comes out of control/words/words.def: no other file of control has prose in it, every sentence there is
# said by somebody, and the terse texts of the protocol stay in the log.
#
# Prose begins with a capital letter or ends as a sentence does; what does neither is a reason for the log. Exempt, because they
# are about something else: the log, what models are told, the embedded brain (a program of its own), and what stands at the
# terminal only: help, --check's findings beside the look that makes them (portal too), faults of settings and --why.
set -eu
cd "$(dirname "$0")/../.."
fail=0
files=$(find control -name '*.c' ! -path 'control/offline/*' ! -path 'control/words/*' ! -path 'control/settings/*' \
	! -path 'control/room/*' ! -name 'main.c' ! -name 'check*.c' ! -name 'environment.c' ! -name 'why.c' ! -name 'portal.c')
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
# shellcheck disable=SC2086
if grep -nE 'media_(reason|phase|heal)_text' $files; then
	echo "people are told by words_voice, words_phase and words_heal"
	fail=1
fi
[ $fail = 0 ] && echo "words: $(grep -cE '^[[:space:]]*W[0-3]\(' control/words/words.def) sentences, said from one place"
exit $fail
