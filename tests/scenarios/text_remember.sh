#!/bin/sh
# The memory of the embedded brain in writing, through the real programs: "remember", "what do you know about me", and "forget that",
# which means the fact that was told last.
#
#   tests/scenarios/text_remember.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-text-remember-XXXXXX)
. tests/scenarios/common

where=$TEXT
messages() { api GET "/channels/$where/messages" | perl -MJSON::PP -0777 -ne '
	next unless /\S/; binmode STDOUT, ":utf8";
	for (@{decode_json($_)}) { my $c = $_->{content}; $c =~ s/\n/\\n/g; print join("|", $_->{author}{username}, ($_->{message_reference} || {})->{message_id} // "", $c), "\n" }'; }
answered() { messages | grep -q "^parley|$1|"; }
# asks WORDS ANSWER WHAT: Alice writes the words, and the bot answers so.
asks() {
	writes $ALICE "<@$BOT> $1"
	until_ok 10 answered "$written" || { bad "$1" "no answer: $(messages | head -3)"; report; exit 1; }
	is "$3" "$(messages | grep "^parley|$written|" | cut -d'|' -f3)" "$2"
}
facts() { sqlite3 "file:$D/state/parley.db?mode=ro" "SELECT count(*) FROM facts WHERE text LIKE '%$1%'"; }

start_guildd
start_brain
mkdir "$D/state"
start one "$B/mediad" --listen "$D/one.sock" --ca "$CA" --threads 1
until_ok 5 test -S "$D/one.sock" || bad start "no mediad"
export PARLEY_TEXT_CHAT=mentions PARLEY_CONSENT=remembered
export PARLEY_TEXT_COALESCE_S=0 PARLEY_TEXT_SPACING_S=0 PARLEY_TEXT_PER_HOUR=60 PARLEY_TEXT_REPLY_SHARE=100 PARLEY_TEXT_REPLY_SHORT=100
start control "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --log debug
until_ok 10 grep -qsE ' ready ' "$D/control.log" || bad control "not ready"

asks "remember that my bike is red" "I will remember that your bike is red." "a fact is remembered in writing"
is "it is in the database" "$(facts 'bike is red')" 1
asks "what do you know about me" "You told me that your bike is red." "it tells what she had it remember"
asks "remember that the meeting is on friday" "I will remember that the meeting is on friday." "another one is remembered"
asks "what colour is my bike" "You told me that your bike is red." "it is asked about the first one"
asks "forget that" "I have forgotten it." "and forgets what it told last"
is "the bike is gone" "$(facts 'bike is red')" 0
is "the meeting is not" "$(facts 'meeting is on friday')" 1
asks "forget that" "I have forgotten it." "then the newest one"
is "the meeting is gone, too" "$(facts 'meeting')" 0
asks "what do you know about me" "Nobody has told me anything about that." "and nothing is known"
report
