#!/bin/sh
# The classifier: with three members in the channel, a member speaks without the bot's name, and a model decides whether the
# bot is the addressee.
#
#   tests/scenarios/classified.sh [build folder]      default: build
# slow: runs in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-classified-XXXXXX)
. tests/scenarios/common

# A model that answers first NO, then YES; it logs each prompt as one line.
start judge perl -MIO::Socket::INET -e '
	my $s = IO::Socket::INET->new(Listen => 4, LocalAddr => "127.0.0.1", ReuseAddr => 1) or die;
	my @says = ("No.", "YES");
	$| = 1;
	print $s->sockport, "\n";
	while (my $c = $s->accept) {
		my $n = 0;
		while (my $line = <$c>) { $n = $1 if $line =~ /^content-length: *(\d+)/i; last if $line =~ /^\r?\n/; }
		read $c, my $body, $n;
		print STDERR "$body\n";
		my $say = shift @says;
		my $a = "{\"choices\":[{\"message\":{\"content\":\"$say\"},\"finish_reason\":\"stop\"}]}";
		print $c "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ", length $a, "\r\n\r\n$a";
		close $c;
	}'
until_ok 5 test -s "$D/judge.out" || bad "the model" "did not start"

says() { # NAME TEXT: alice says it
	"$B/caller" --api "http://127.0.0.1:$API" --media-sock "$D/caller.sock" --offlined "$B/offlined" --record "$D/brain" \
		--out "$D/out" --guild $GUILD --channel $VOICE --user $ALICE --bot $BOT --say "$2" >"$D/$1.out" 2>&1 &
	last=$!
	started="$started $last"
}
ended() { [ "$(grep -ac ' turn ' "$D/control.log")" -ge "$1" ]; }
turn() { grep -a ' turn ' "$D/control.log" | sed -n "$1s/.*heard=\"\([^\"]*\)\" reason=\([a-z_]*\).*/\1, \2/p"; }

start_guildd
start_brain
start_mediad one
start_mediad caller
PARLEY_ADMISSION=classifier PARLEY_GUEST=off PARLEY_LOG_WORDS=1 PARLEY_CLASSIFY_MS=5000 \
	PARLEY_TEXT_URL="http://127.0.0.1:$(cat "$D/judge.out")/v1" start control "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --ca "$CA"
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
api POST /users/502/join "{\"guild_id\":\"$GUILD\",\"channel_id\":\"$VOICE\"}" >/dev/null

# The caller waits for an answer; the turn file shows earlier that there is none.
says no "what time is it"
until_ok 20 ended 1
is "an utterance that is not addressed to the bot gets no answer" "$(turn 1)" "what time is it, not_addressed"
kill $last
wait $last 2>/dev/null
says yes "what time is it"
wait $last && ok "an utterance that is addressed to the bot is answered" || bad "an utterance that is addressed to the bot is answered" "$(tail -1 "$D/yes.out")"
is "its turn ends as answered" "$(turn 2)" "what time is it, answered"
is "the model was asked each time" "$(wc -l <"$D/judge.log")" 2
grep -q 'Answer exactly YES or NO.*what time is it' "$D/judge.log" && ok "with the transcript in its prompt" ||
	bad "with the transcript in its prompt" "$(head -c 200 "$D/judge.log")"
report
