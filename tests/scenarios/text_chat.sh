#!/bin/sh
# Text chat through the real programs: a mention is answered in writing, by the embedded brain and by a text model; a burst gets one
# answer; words and a reaction cancel; edits and deletions of messages are followed; a lost gateway connection and a restart of
# control answer nothing twice; long answers are split; the model may put a reaction on what it answers; the mode decides what is read.
#
#   tests/scenarios/text_chat.sh [build folder]      default: build
# text rules 1 2 9 13 17 18 22 23 29 75 76 77 78
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-text-chat-XXXXXX)
. tests/scenarios/common
# The stop sign as characters, and as JSON: api counts the characters of a body.
BOB=502 SIGN=$(printf '\xf0\x9f\x9b\x91') STOP='\ud83d\uded1' WARN=$(printf '\xe2\x9a\xa0')

# One message a line, in $where.
messages() { api GET "/channels/$where/messages" | perl -MJSON::PP -0777 -ne '
	next unless /\S/; binmode STDOUT, ":utf8";
	for (@{decode_json($_)}) {
		my $c = $_->{content}; $c =~ s/\n/\\n/g;
		print join("|", $_->{author}{username}, $_->{type}, $_->{nonce} // "", ($_->{message_reference} || {})->{message_id} // "",
			join(",", map { $_->{emoji}{name} } @{$_->{reactions} || []}), scalar(@{$_->{attachments}}), $_->{id}, $c), "\n";
	}'; }
of_bot() { messages | grep '^parley|'; }
says() { of_bot | grep -qE "$1"; }
answers() { of_bot | grep -cE "^parley\|[0-9]+\|$1\.[0-9]"; }
answered() { [ "$(answers "$1")" -gt 0 ]; }
stopped() { of_bot | grep -q "|$1\.s|$1|.*I stopped"; }
reacted() { messages | grep "|$1|" | grep -q "$2"; }
ended() { grep -qE " text_message .*message=$1 .*reason=$2" "$D/control-$runs.log"; }
asked() { grep -c "$1" "$D/asked"; }
was_asked() { grep -q "$1" "$D/asked"; }
# run SETTING…: another control, with its state.
run() {
	runs=$((runs + 1))
	start "control-$runs" env "$@" "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --log debug
	control=$last
	until_ok 10 grep -qsE ' (ready|resumed) ' "$D/control-$runs.log" || bad "control $runs" "not ready"
}
runs=0

start_guildd
start_brain
mkdir "$D/state"
start one "$B/mediad" --listen "$D/one.sock" --ca "$CA" --threads 1
until_ok 5 test -S "$D/one.sock" || bad start "no mediad"
export PARLEY_TEXT_COALESCE_S=1 PARLEY_TEXT_SPACING_S=0 PARLEY_TEXT_PER_HOUR=60 PARLEY_TEXT_REPLY_SHARE=100 PARLEY_TEXT_REPLY_SHORT=100
where=$TEXT

# ---- off, and the embedded brain ----
run PARLEY_TEXT_CHAT=off
is "without text chat no intent for messages is asked for" "$(api GET /stats | grep -oE '"intents": ?[0-9]+' | grep -oE '[0-9]+$')" 137
writes $ALICE "<@$BOT> what time is it"
sleep 2
is "off says nothing" "$(of_bot | wc -l)" 0
kill -TERM "$control"
wait "$control"

run PARLEY_TEXT_CHAT=mentions
is "its session was begun for no messages, so another one begins" "$(grep -c ' ready ' "$D/control-$runs.log")" 1
writes $ALICE "<@$BOT> what time is it"
until_ok 10 answered "$written" && ok "the embedded brain answers a mention" || bad "the embedded brain" "$(messages)"
is "as a reply to it" "$(of_bot | head -1 | cut -d'|' -f2,4)" "19|$written"
says 'It is ' && ok "with the time" || bad "the time" "$(of_bot)"
first=$(of_bot | head -1 | cut -d'|' -f7)
writes $BOB "what can you do" ",\"reply_to\":\"$first\""
until_ok 10 answered "$written" && ok "and a reply to its message" || bad "a reply" "$(messages)"
writes $BOB "parley what time is it"
sleep 2.5
is "mentions alone: its name in a text that Discord keeps from it is not answered" "$(answers "$written")" 0
where=$(api POST /users/$ALICE/direct '{}' | field id)
writes $ALICE "what time is it"
until_ok 10 answered "$written" && ok "a direct message is answered" || bad "a direct message" "$(messages)"
where=$TEXT
typed=$(count $BOT typing)
[ "${typed:-0}" -ge 2 ] && ok "people saw it typing" || bad "typing" "$typed"
kill -TERM "$control"
wait "$control"

# ---- a text model ----
text_model asked '
	my ($text, $ask) = @_;
	my $m = $ask->{messages};
	note(sprintf "%d %s %s", scalar(@$m), ($m->[0]{content} =~ /Answer the last/ ? "required" : "optional"), $text);
	note("quoted: $m->[-3]{content} $m->[-2]{content}") if $text =~ /he say/;
	sleep 4 if $text =~ /slowly/;
	return $text =~ /ship/ ? "Yes, it is." : "NO" if $text =~ /Answer exactly YES or NO/;
	note("offered") if $text =~ /for nobody/ && $m->[0]{content} =~ /REACT/;
	split /(?<=\n)/, $text =~ /nothing/ ? "[SKIP]"
		: $text =~ /thanks/ && $m->[0]{content} =~ /REACT/ ? "[[REACT: \x{1f44d}]]"
		: $text =~ /who won/ ? "Ana did.\n[[REACT: \x{1f389}]]"
		: $text =~ /code/ ? "Here it is:\n```c\n" . "int x;\n" x 500 . "```\nThat was all."
		: $text =~ /book/ ? "A line of the book.\n" x 1000
		: "You said: " . substr($text, 0, 80) . " \@everyone <\@501>";
'
export PARLEY_TEXT_URL="http://127.0.0.1:$(cat "$D/asked.port")/v1"
run PARLEY_TEXT_CHAT=mentions
writes $ALICE "<@$BOT> hello"
until_ok 10 answered "$written" && ok "a text model answers a mention" || bad "a text model" "$(messages; tail -5 "$D/control-$runs.log")"
is "it is told who speaks, and must answer" "$(grep -c 'required \[Alice\]: @parley hello$' "$D/asked")" 1
of_bot | tail -1 | grep -q '@everyone' && ok "the words are sent as they are" || bad "the words" "$(of_bot)"
api GET /requests | grep -q '"allowed_mentions": *{ *"parse": *\[\] *}' && ok "and notify nobody" || bad "allowed mentions" "$(api GET /requests | tail -c 2000)"

api POST /faults '{"method":"POST","contains":"/messages","times":4,"status":502}' >/dev/null
writes $ALICE "<@$BOT> hello through an outage"
until_ok 20 answered "$written" && ok "an answer outlasts seconds in which Discord takes none" || bad "an outage" "$(grep text_message "$D/control-$runs.log" | tail -1)"

writes $ALICE "<@$BOT> one"
one=$written
writes $ALICE "<@$BOT> two"
until_ok 10 answered "$one" || bad "a burst" "not answered"
sleep 2
is "a burst gets one answer" "$(answers "$one") $(answers "$written") $(asked 'one.n.Alice.: @parley two')" "1 0 1"
ended "$one" sent_reply && ended "$written" sent_reply && ok "each of its messages ends with that reason" || bad "reasons" "$(grep text_message "$D/control-$runs.log")"

writes $ALICE "<@$BOT> answer slowly"
slow=$written
until_ok 5 was_asked 'answer slowly' || bad "a slow answer" "not asked for"
writes $ALICE "<@$BOT> stop"
until_ok 5 stopped "$written" && ok "words cancel an answer, and a message says so" || bad "cancel by words" "$(messages)"
ended "$slow" cancelled && ended "$written" cancel_request && ok "with their reasons" || bad "reasons" "$(grep text_message "$D/control-$runs.log")"
writes $BOB "<@$BOT> answer slowly please"
slow2=$written
until_ok 5 was_asked 'slowly please' || bad "a slow answer" "not asked for"
api POST "/channels/$where/messages/$slow2/reactions" "{\"user_id\":\"$ALICE\",\"emoji\":\"$STOP\"}" >/dev/null
api POST "/channels/$where/messages/$slow2/reactions" "{\"user_id\":\"$BOB\",\"emoji\":\"\\ud83d\\udc4d\"}" >/dev/null
sleep 0.5
ended "$slow2" cancelled && bad "others' reactions" "cancel" || ok "neither another person's stop sign nor another reaction cancels"
api POST "/channels/$where/messages/$slow2/reactions" "{\"user_id\":\"$BOB\",\"emoji\":\"$STOP\"}" >/dev/null
until_ok 5 ended "$slow2" cancelled && ok "a stop sign of the author cancels" || bad "cancel by reaction" "$(messages)"
until_ok 5 stopped "$slow2" && ok "and a message says so" || bad "cancel by reaction" "$(messages)"

writes $ALICE "<@$BOT> tell me slowly of apples"
edited=$written
until_ok 5 was_asked 'of apples' || bad "an edit" "not asked for"
api PATCH "/channels/$where/messages/$edited" "{\"content\":\"<@$BOT> tell me of pears\"}" >/dev/null
until_ok 10 answered "$edited" || bad "an edited message" "not answered"
says 'of pears' && ! says 'of apples' && ok "an edited message is answered as it is now" || bad "an edit" "$(of_bot)"
writes $ALICE "<@$BOT> tell me slowly of plums"
deleted=$written
until_ok 5 was_asked 'of plums' || bad "a deletion" "not asked for"
api DELETE "/channels/$where/messages/$deleted" >/dev/null
until_ok 5 ended "$deleted" deleted && ok "a deleted message is not answered" || bad "a deletion" "$(messages)"
sleep 4.5
is "also not late" "$(answers "$slow") $(answers "$slow2") $(answers "$deleted")" "0 0 0"

writes $ALICE "<@$BOT> show me code"
until_ok 15 says 'That was all' && ok "a long answer is sent in parts" || bad "a long answer" "$(of_bot | cut -c1-100)"
is "that number their nonces" "$(of_bot | grep -oE "\\|$written\\.[0-9]\\|" | tr -d '|' | tr '\n' ' ')" "$written.0 $written.1 "
is "and are whole code blocks" "$(of_bot | grep "|$written\\." | grep -vcE '```.*```')" 0
is "no part of it notifies anybody" "$(api GET /requests | perl -MJSON::PP -0777 -ne '
	my @posts = grep { $_->{method} eq "POST" && $_->{path} =~ m,/messages$, } @{decode_json($_)};
	my @open = grep { !$_->{body}{allowed_mentions} || @{$_->{body}{allowed_mentions}{parse} || ["x"]} } @posts;
	print scalar(@posts) > 2 ? scalar(@open) : "few posts: " . scalar(@posts)')" 0
writes $ALICE "<@$BOT> read me the book"
until_ok 10 answered "$written" || bad "a very long answer" "not sent"
is "a very long one is a file" "$(of_bot | grep "|$written\\." | cut -d'|' -f6)" 1
writes $ALICE "<@$BOT> say nothing"
until_ok 5 ended "$written" skipped && ok "the model may say nothing" || bad "skip" "$(grep text_message "$D/control-$runs.log")"
is "but not unasked" "$(asked 'say nothing$')" 2
until_ok 5 reacted "$written" "$WARN" && ok "and a sign says that no answer comes" || bad "a sign" "$(messages)"

# The model puts an emoji on what it answers, instead of words or beside them.
THUMB=$(printf '\xf0\x9f\x91\x8d') PARTY=$(printf '\xf0\x9f\x8e\x89')
writes $ALICE "<@$BOT> thanks a lot"
thanked=$written
until_ok 10 ended "$thanked" "reacted .*reaction=\"?$THUMB" && ok "a model may answer by a reaction alone" || bad "a reaction" "$(grep text_message "$D/control-$runs.log" | tail -3)"
reacted "$thanked" "$THUMB" && ok "which stands on the message" || bad "a reaction" "$(messages)"
is "and says nothing, nor shows a sign" "$(answers "$thanked") $(messages | grep "|$thanked|" | grep -c "$WARN")" "0 0"
writes $ALICE "<@$BOT> who won"
until_ok 10 reacted "$written" "$PARTY" && ok "or put one beside its words" || bad "a reaction beside words" "$(messages)"
of_bot | grep -q "|$written|.*|Ana did\.$" && ok "which are sent without the directive" || bad "the words" "$(of_bot | tail -2)"
switch "{\"unknown_emoji\":\"\\ud83d\\udc4d\"}"
writes $ALICE "<@$BOT> thanks once more"
until_ok 10 answered "$written" && ok "what Discord does not take is followed by words" || bad "a refused reaction" "$(messages; tail -3 "$D/control-$runs.log")"
is "and no sign" "$(messages | grep "|$written|" | grep -c "$WARN")" 0
switch '{"unknown_emoji":""}'
api PUT "/channels/$where/overwrites/$BOT" '{"type":"member","deny":64}' >/dev/null
sleep 0.3
writes $ALICE "<@$BOT> thanks for nobody"
until_ok 10 ended "$written" sent_reply || bad "without Add Reactions" "$(messages)"
is "without the permission to react none is offered" "$(asked 'thanks for nobody') $(asked '^offered')" "1 0"
api PUT "/channels/$where/overwrites/$BOT" '{"type":"member","deny":0}' >/dev/null
sleep 0.3

# Who has refused is not read, and what waits of theirs ends.
writes $BOB "<@$BOT> answer slowly, I refuse"
refused=$written
until_ok 5 was_asked 'I refuse' || bad "consent" "not asked"
refuse() { api POST /interactions "{\"user_id\":\"$BOB\",\"channel_id\":\"$TEXT\",\"name\":\"consent\",\"options\":[{\"name\":\"answer\",\"type\":3,\"value\":\"$1\"}]}" >/dev/null; }
refuse neither
until_ok 5 ended "$refused" no_consent && ok "/consent neither ends the answer under way" || bad "consent" "$(grep text_message "$D/control-$runs.log" | tail -3)"
writes $BOB "<@$BOT> and now"
sleep 2.5
is "and the next message is not read" "$(answers "$written") $(asked 'and now')" "0 0"
refuse heard
sleep 1

# The connection is lost while a model writes; Discord tells of everything again.
writes $ALICE "<@$BOT> answer slowly again"
again=$written
until_ok 5 was_asked 'slowly again' || bad "a lost connection" "not asked"
api POST /users/$BOT/drop '{"which":"main"}' >/dev/null
until_ok 15 answered "$again" && ok "an answer outlives the gateway's connection" || bad "a lost connection" "$(messages)"
# A control that is killed: the next one may be told of the message again, and answers it once.
writes $ALICE "<@$BOT> answer slowly once"
once=$written
until_ok 5 was_asked 'slowly once' || bad "a killed control" "not asked"
until_ok 10 answered "$once" || bad "a killed control" "not answered"
kill9 "$control"
sed -i -E 's/"seq": ?[0-9]+/"seq": 1/' "$D/state/session.json"
run PARLEY_TEXT_CHAT=mentions
until_ok 5 grep -q ' resumed ' "$D/control-$runs.log" || bad "a killed control" "did not resume"
sleep 8
is "a message that Discord tells again after a restart has one answer" "$(answers "$once")" 1
is "and one whose answer was a reaction has no words" "$(answers "$thanked") $(messages | grep "|$thanked|" | cut -d'|' -f5)" "0 $THUMB"
is "and so have all others" "$(of_bot | cut -d'|' -f3 | sort | uniq -d | wc -l)" 0
kill -TERM "$control"
wait "$control"

# ---- all messages ----
writes $BOB "the bell rang twice"
sleep 0.5
run PARLEY_TEXT_CHAT=all
writes $ALICE "<@$BOT> what does he say" ",\"reply_to\":\"$written\""
until_ok 10 answered "$written" || bad "a quoted message" "not answered"
grep -q 'quoted: .*the bell rang twice' "$D/asked" && ok "it is told what a message replies to" || bad "a quoted message" "$(tail -3 "$D/asked")"
writes $BOB "parley tell me more"
until_ok 10 answered "$written" && ok "with all, its name is enough" || bad "all" "$(messages; tail -3 "$D/control-$runs.log")"
writes $BOB "you could ask parley about the ship"
until_ok 10 answered "$written" && ok "where its name occurs a model decides whether it is meant" || bad "a decision" "$(tail -3 "$D/asked")"
ended "$written" sent_message || ended "$written" sent_reply || bad "a decision" "$(grep text_message "$D/control-$runs.log" | tail -1)"
writes $BOB "I asked parley about it"
until_ok 5 was_asked 'YES or NO.*I asked parley' || bad "a decision" "$(tail -3 "$D/asked")"
sleep 2
is "and where it is not, nothing is answered" "$(answers "$written")" 0
writes $BOB "the weather is fine"
sleep 2
is "but not other talk" "$(answers "$written")" 0
writes $ALICE "<@$BOT>"
burst=$written
writes $ALICE "what is the capital of france"
goes_on=$written
writes $BOB "my answer would be Rome"
until_ok 10 answered "$burst" || bad "a burst that goes on" "$(messages)"
until_ok 5 ended "$goes_on" sent_reply && ok "what the author writes behind a mention belongs to the question" || bad "a burst" "$(grep text_message "$D/control-$runs.log" | tail -3)"
grep -q 'required .Alice.: @parley.n.Alice.: what is the capital of france.n(meanwhile) .Bob.: my answer would be Rome.n(Answer what Alice wrote' "$D/asked" &&
	ok "and what others wrote since stands behind it" || bad "the order" "$(tail -2 "$D/asked")"
kill -TERM "$control"
wait "$control"
api PATCH /bots/$BOT '{"privileged":0}' >/dev/null
rm -rf "$D/state" && mkdir "$D/state"
run PARLEY_TEXT_CHAT=all
grep -q message_content_missing "$D/control-$runs.log" && ok "without the intent the log says so" || bad "the intent" "no line"
writes $BOB "<@$BOT> are you there"
until_ok 10 answered "$written" && ok "and mentions are answered all the same" || bad "without the intent" "$(messages)"
# A session is kept once the servers have been read.
sleep 11
kill -TERM "$control"
wait "$control"
run PARLEY_TEXT_CHAT=all
is "without the intent the session goes on" "$(grep -c ' resumed ' "$D/control-$runs.log")" 1
kill -TERM "$control"
wait "$control"
api PATCH /bots/$BOT '{"privileged":32768}' >/dev/null
run PARLEY_TEXT_CHAT=all
writes $BOB "parley are you there again"
until_ok 10 answered "$written" && ok "once it is switched on, a restart begins a session that has the texts" || bad "the intent" "$(messages | tail -2; grep -E ' ready | resumed ' "$D/control-$runs.log")"
api PATCH /bots/$BOT '{"privileged":0}' >/dev/null
PARLEY_TEXT_CHAT=all "$B/control" --check >"$D/check" 2>&1
grep -q 'nothing to switch' "$D/check" && bad "--check" "nothing to switch"
grep -q 'text_chat is all, but Discord keeps' "$D/check" && ok "--check says what the intent is for" || bad "--check" "$(cat "$D/check")"
PARLEY_TEXT_CHAT=mentions "$B/control" --check 2>&1 | grep -q 'works without the Message Content Intent: .* keeps from it the text of a reply' && ok "and what works without it" || bad "--check" ""
report
