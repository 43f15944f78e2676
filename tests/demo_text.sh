#!/bin/bash
# demo_text.sh BIN OUT: the scene text of `make demo`. Bob writes and Alice speaks, to one mind: what he wrote is answered by voice, what
# she said is answered in writing, and a question in the chat of the voice channel is answered in both.
set -u
B=$1
out=$2
D=$(mktemp -d /tmp/parley-demo-XXXXXX)
# shellcheck source=tests/scenarios/common
. tests/scenarios/common
BOB=502
export PARLEY_LOG_WORDS=1 PARLEY_ASR_WAIT_MS="${PARLEY_ASR_WAIT_MS:-10000}" PARLEY_TEXT_CHAT=all PARLEY_TEXT_COALESCE_S=0 \
	PARLEY_TEXT_SPACING_S=0 PARLEY_TEXT_SPOKEN=yes PARLEY_TEXT_REPLY_SHARE=100 PARLEY_TEXT_REPLY_SHORT=100

# fail WHAT WHY: the scene cannot go on.
mkdir -p "$out/log"
fail() {
	bad "$1" "$2"
	report
	exit 1
}
# Prints the answers to the message $written in the channel, a message a line.
answers() { api GET "/channels/$1/messages" | perl -MJSON::PP -0777 -ne '
	binmode STDOUT, ":utf8";
	for (@{decode_json($_)}) { print "$_->{content}\n" if ($_->{nonce} // "") =~ /^'"$written"'\./ }'; }
is_answered() { [ -n "$(answers "$1")" ]; }
# shows WHO WHERE WORDS: one line of the conversation.
shows() { printf '%-7s %-9s %s\n' "$1" "($2)" "$3"; }
# fits ANSWER PATTERN: the whole answer.
fits() { [[ $1 =~ ^$2$ ]] || bad "the answer" "it should have been: $2"; }
# writes CHANNEL WORDS ANSWER: Bob mentions the bot, which answers in writing.
writes() {
	written=$(api POST "/channels/$1/messages" "{\"user_id\":\"$BOB\",\"content\":\"<@$BOT> $2\"}" | tr ',' '\n' | grep -m1 '"id"' | grep -oE '[0-9]+')
	until_ok 30 is_answered "$1" || fail "Bob writes: $2" "no answer"
	answer=$(answers "$1")
	shows Bob writes "@parley $2"
	shows Parley writes "$answer"
	fits "$answer" "$3"
}
turns() { grep -aE ' turn .*stage=ended' "$D/control.log" | grep -avE 'reason=(merged|eot_revoked|speculation_(unused|failed))'; }
ended() { [ "$(turns | wc -l)" -ge "$1" ]; }
n=0
caller=
# says WORDS ANSWER: Alice says the words in the voice channel, and the bot answers. She stays until she says more.
says() {
	n=$((n + 1))
	[ -z "$caller" ] || { kill "$caller" 2>/dev/null && wait "$caller" 2>/dev/null; }
	"$B/caller" --api "http://127.0.0.1:$API" --media-sock "$D/alice.sock" --offlined "$B/offlined" --record "$D/brain" --out "$out" \
		--guild "$GUILD" --channel "$VOICE" --user "$ALICE" --bot "$BOT" --quiet 60000 --say "$1" >"$out/timeline.txt" 2>"$D/caller.log" &
	caller=$!
	started="$started $caller"
	until_ok 60 ended $n || fail "Alice says: $1" "no answer"
	answer=$(turns | tail -1 | sed -nE 's/.* said="([^"]*)".*/\1/p')
	shows Alice says "$1"
	shows Parley says "$answer"
	fits "$answer" "$2"
}
# In a turn that nobody spoke.
spoke() { turns | grep -q ' said="Two plus two is four\."'; }

echo "starting guildd (a Discord on this machine), offlined (the embedded engine), mediad and control (the bot)"
start_guildd
start_brain
start_mediad one
start_mediad alice
start control "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --ca "$CA"
until_ok 20 grep -qs commands_registered "$D/control.log" || bad commands "not registered"
join $TEXT $VOICE
until_ok 20 up $GUILD || fail "the call" "not up"

echo "-- in writing --"
writes $TEXT "what time is it" "It is .*\."
writes $TEXT "remember that the meeting is on friday" "I will remember that the meeting is on friday\."
echo "-- by voice --"
says "parley when is the meeting" "Bob told me: the meeting is on friday\."
says "parley remember that my dog is in the garden" "I will remember that your dog is in the garden\."
echo "-- in writing again --"
writes $TEXT "where is the dog" "Alice told me: my dog is in the garden\."
echo "-- in the chat of the voice channel: in writing and by voice --"
writes $VOICE "what is two plus two" ".*four\."
until_ok 30 spoke && ok "the bot spoke that answer, too" || bad "the spoken answer" "$(turns | tail -1; tail -3 "$out/timeline.txt")"
mkdir -p "$out/log"
cp "$D"/*.log "$out/log/"
keep
report
