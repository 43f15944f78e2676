#!/bin/sh
# Text chat after a time away, through the real programs: what was written meanwhile and addresses the bot is answered, other talk is
# not; an answer that kill -9 or SIGTERM interrupted is given exactly once, also long after Discord has forgotten its nonce; the limits
# of a channel hold; nothing is answered twice.
#
#   tests/scenarios/text_catchup.sh [build folder]      default: build
# text rules 34 35 36 78
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-text-catchup-XXXXXX)
. tests/scenarios/common
BOB=502 CAROL=503

# The words of the bot in $where, a message a line.
of_bot() { api GET "/channels/$where/messages" | perl -MJSON::PP -0777 -ne '
	next unless /\S/; binmode STDOUT, ":utf8";
	for (@{decode_json($_)}) { next if $_->{author}{username} ne "parley"; my $c = $_->{content}; $c =~ s/\n/\\n/g; print "$c\n" }'; }
answers() { of_bot | grep -c -e "$1"; }
# How many reactions this message has.
reactions() { api GET "/channels/$where/messages" | ID=$1 perl -MJSON::PP -0777 -ne '
	print scalar map { @{$_->{reactions} || []} } grep { $_->{id} eq $ENV{ID} } @{decode_json($_)}'; }
thumbed() { [ "$(reactions "$1")" = 1 ]; }
answered() { [ "$(answers "$1")" -gt 0 ]; }
ended() { cat "$D"/control-*.log | grep -qE " text_message .*message=$1 .*reason=$2"; }
asked() { grep -q "$1" "$D/asked"; }
run() {
	runs=$((runs + 1))
	start "control-$runs" env "$@" "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --log debug
	control=$last
	until_ok 10 grep -qsE ' (ready|resumed) ' "$D/control-$runs.log" || bad "control $runs" "not ready"
}
stop() { kill -TERM "$control"; wait "$control"; }
# From now on no session can be resumed: Discord does not tell what was missed.
forget_session() { sed -i -E 's/("session": ?\{"id": ?")[^"]*"/\1gone"/' "$D/state/session.json"; }
runs=0

start_guildd
api POST /users "{\"id\":\"$CAROL\",\"name\":\"carol\"}" >/dev/null
api POST "/guilds/$GUILD/members" "{\"user_id\":\"$CAROL\"}" >/dev/null
mkdir "$D/state"
start one "$B/mediad" --listen "$D/one.sock" --ca "$CA" --threads 1
until_ok 5 test -S "$D/one.sock" || bad start "no mediad"
text_model asked '
	my ($text) = @_;
	note($text);
	sleep 3 if $text =~ /slowly/;
	$text =~ /thumb/ ? "[[REACT: \x{1f44d}]]" : join " ", "About", (asked_of($text) =~ /\bword\w+/g);
'
export PARLEY_TEXT_URL="http://127.0.0.1:$(cat "$D/asked.port")/v1" PARLEY_TEXT_CHAT=all PARLEY_TEXT_COALESCE_S=1 PARLEY_TEXT_SPACING_S=0
export PARLEY_TEXT_REPLY_SHARE=0 PARLEY_TEXT_REPLY_SHORT=0
where=$TEXT
dm=$(api POST /users/$ALICE/direct '{}' | field id)

# ---- before text chat was on ----
writes $ALICE "<@$BOT> wordbefore"
run
sleep 2
is "what was written before text chat was switched on is left alone" "$(answers wordbefore)" 0
writes $ALICE "<@$BOT> wordone"
until_ok 10 answered wordone || bad "a message" "not answered"
where=$dm
writes $ALICE "worddirect"
until_ok 10 answered worddirect || bad "a direct message" "not answered"
where=$TEXT

# ---- missed, and a session that is resumed or not ----
stop
writes $ALICE "<@$BOT> wordmissed"
missed=$written
writes $BOB "nobody asks wordtalk"
writes $BOB "parley, wordnamed"
run
until_ok 10 answered wordmissed && ok "a resumed session tells what was missed" || bad "missed" "$(of_bot)"
until_ok 10 answered wordnamed || bad "missed by name" "$(of_bot)"
# Not before the servers of the last one have come.
until_ok 60 grep -qE '"session": ?\{"id": ?"[^"]' "$D/state/session.json" || bad "resumed" "no session is kept"
writes $ALICE "<@$BOT> slowly wordresumed"
until_ok 5 asked wordresumed || bad "resumed" "not asked"
sleep 1.5 # the state is saved
kill9 "$control"
run
grep -q ' resumed ' "$D/control-$runs.log" || bad "resumed" "$(tail -3 "$D/control-$runs.log")"
until_ok 10 answered wordresumed && ok "after kill -9 a session that goes on has what is owed answered" || bad "resumed" "$(of_bot)"
sleep 1
is "and nothing of before text chat was on" "$(answers wordbefore)" 0
stop
switch '{"main_resume_ms":0}'
forget_session
where=$dm
writes $ALICE "worddirect2"
where=$TEXT
writes $ALICE "<@$BOT> wordnew"
new=$written
writes $BOB "nobody asks wordtalk"
writes $BOB "parley, wordnew2"
run
until_ok 10 grep -q ' ready ' "$D/control-$runs.log" && ok "a session that cannot be resumed" || bad "the session" "$(tail -3 "$D/control-$runs.log")"
until_ok 10 answered wordnew && ok "is followed by a look at the channels: a mention is answered" || bad "missed" "$(of_bot; tail "$D/control-$runs.log")"
until_ok 10 answered wordnew2 && ok "and the bot's name" || bad "missed by name" "$(of_bot)"
where=$dm
until_ok 10 answered worddirect2 && ok "and a direct message" || bad "missed directly" "$(of_bot)"
where=$TEXT
is "other talk is not" "$(answers wordtalk)" 0
is "and nothing twice" "$(of_bot | sort | uniq -d | wc -l)" 0

# ---- interrupted ----
for how in KILL TERM; do
	writes $ALICE "<@$BOT> slowly word$how"
	interrupted=$written
	until_ok 5 asked "word$how" || bad "$how" "not asked"
	kill -$how "$control"
	wait "$control"
	forget_session
	switch '{"nonce_ms":0}'
	run
	until_ok 10 answered "word$how" && ok "an answer that SIG$how interrupted is given by the next control" || bad "$how" "$(of_bot; tail "$D/control-$runs.log")"
	until_ok 5 ended "$interrupted" sent_message && ok "and ends with that reason" || bad "$how" "$(grep -h "message=$interrupted" "$D"/control-*.log)"
	ended "$interrupted" shutdown && bad "$how" "it ended as shutdown as well" || ok "alone"
done
# Killed at different moments around the sending, without Discord's help against doubles.
for wait in 1.2 1.3 1.4 1.5 1.6 1.7; do
	writes $BOB "<@$BOT> wordat${wait#1.}"
	sleep $wait
	kill9 "$control"
	forget_session
	run
	until_ok 10 answered "wordat${wait#1.}" || bad "killed after $wait s" "not answered"
done
sleep 2
is "kill -9 around the sending: one answer each, also without the nonce" "$(of_bot | grep wordat | sort | uniq -c | awk '$1 == 1' | wc -l)" 6
# The same of answers that are reactions.
thumbs=
for wait in 1.25 1.35 1.5; do
	writes $BOB "<@$BOT> thumbs up for wordthumb${wait#1.}"
	thumbs="$thumbs $written"
	sleep $wait
	kill9 "$control"
	forget_session
	run
	until_ok 10 thumbed "$written" || bad "a reaction, killed after $wait s" "$(reactions "$written")"
	until_ok 10 ended "$written" reacted || bad "a reaction, killed after $wait s" "it did not end"
done
sleep 2
is "kill -9 around a reaction: one each, and no words" "$(for t in $thumbs; do reactions "$t"; done | tr -d '\n') $(answers wordthumb)" "111 0"

# ---- channels that the bot cannot see ----
hide() { api PUT "/channels/$1/overwrites/$BOT" '{"type":"member","deny":1024}' >/dev/null; }
gets() { api GET /requests | tr '{' '\n' | grep '"GET"' | grep -c "/channels/$1/messages"; }
place() { where=$(api POST "/guilds/$GUILD/channels" "{\"type\":\"text\",\"name\":\"$1\"}" | field id); }
place owing
owing=$where
writes $ALICE "<@$BOT> slowly wordhidden"
until_ok 5 asked wordhidden || bad "a message" "not asked"
kill9 "$control"
forget_session
hide "$owing"
place open
open=$where
writes $ALICE "<@$BOT> wordopen"
place hidden
hide "$where"
writes $ALICE "<@$BOT> wordunseen"
hidden=$where
where=$open
run
until_ok 10 answered wordopen || bad "a channel beside them" "$(of_bot)"
is "a channel that the bot cannot see is not asked for, unless an answer is owed there" "$(gets "$hidden") $(gets "$owing")" "0 1"
where=$TEXT

# ---- what is not known before the servers have come ----
# READY does not tell which category a channel is in; GUILD_CREATE does, which comes later.
category=$(api POST "/guilds/$GUILD/channels" '{"type":"category","name":"allowed"}' | field id)
stop
for list in "PARLEY_TEXT_BLOCKED_CHANNELS=$hidden" "PARLEY_TEXT_CHANNELS=$category"; do
	where=$(api POST "/guilds/$GUILD/channels" "{\"type\":\"text\",\"name\":\"inside\",\"parent_id\":\"$category\"}" | field id)
	run "$list"
	sleep 1
	writes $ALICE "<@$BOT> slowly wordlist$runs"
	until_ok 10 asked "wordlist$runs" || bad "$list" "not asked"
	owed=wordlist$runs
	kill9 "$control"
	forget_session
	run "$list"
	until_ok 15 answered "$owed" && ok "an owed answer is given, ${list%%=*}" || bad "$list" "$(of_bot; grep -h "message=$written" "$D"/control-*.log)"
	stop
done
where=$TEXT

# ---- buried under other talk ----
for owes in no yes; do
	place "buried-$owes"
	run
	sleep 1
	if [ $owes = yes ]; then
		writes $ALICE "<@$BOT> slowly wordowed"
		until_ok 10 asked wordowed || bad "owed" "not asked"
		kill9 "$control"
	else
		stop
	fi
	forget_session
	writes $BOB "<@$BOT> wordburied"
	for i in $(seq 120); do writes $CAROL "talk $i"; done
	run
	until_ok 15 answered wordburied && ok "a mention under 120 messages is answered, an answer owed there: $owes" || bad "buried" "$(of_bot; grep -h text_not "$D/control-$runs.log")"
	[ $owes = no ] || { until_ok 10 answered wordowed && ok "and the owed message below it"; } || bad "owed and buried" "$(of_bot)"
	stop
done
where=$TEXT
run

# ---- limits ----
stop
forget_session
for u in $ALICE $BOB $CAROL; do writes $u "<@$BOT> wordmany$u"; done
run PARLEY_TEXT_CATCHUP_REPLIES=2
until_ok 10 ended "$written" missed_enough && ok "no more are answered in a channel than the setting allows" || bad "the limit" "$(of_bot; grep -h text_message "$D/control-$runs.log")"
is "the first ones are" "$(answers wordmany$ALICE) $(answers wordmany$BOB) $(answers wordmany$CAROL)" "1 1 0"
stop
forget_session
writes $ALICE "<@$BOT> wordoff"
run PARLEY_TEXT_CATCHUP=no
sleep 3
is "switched off it answers none of them" "$(answers wordoff)" 0

# ---- what was not read when it was written ----
stop
run PARLEY_TEXT_CHAT=mentions
writes $ALICE "parley, wordunread"
sleep 1
stop
writes $BOB "<@$BOT> wordmentioned"
run
until_ok 10 answered wordmentioned && ok "from mentions to all: what mentions the bot is answered" || bad "mentions" "$(of_bot; tail "$D/control-$runs.log")"
sleep 1
is "what was not to be read when it was written is not" "$(answers wordunread)" 0
asked wordunread && bad "a message that was not read" "told to a model" || ok "nor told to a model"
stop
run PARLEY_TEXT_BLOCKED_CHANNELS=$TEXT
writes $ALICE "<@$BOT> wordblocked"
sleep 1
stop
forget_session
run
writes $BOB "<@$BOT> wordopened"
until_ok 10 answered wordopened || bad "a channel that was blocked" "$(of_bot)"
sleep 1
is "what was written in a channel while it was blocked is not answered" "$(answers wordblocked)" 0

# ---- what people allowed when they wrote ----
consent() { api POST /interactions "{\"user_id\":\"$1\",\"channel_id\":\"$TEXT\",\"name\":\"consent\",\"options\":[{\"name\":\"answer\",\"type\":3,\"value\":\"$2\"}]}" >/dev/null; sleep 1; }
kept() { sqlite3 "file:$D/state/parley.db?mode=ro" "$1"; }
stop
run PARLEY_CONSENT=heard
writes $CAROL "the vault opens with wordquartz"
writes $ALICE "the cellar opens with wordbasalt"
consent $ALICE neither
writes $ALICE "<@$BOT> the attic opens with wordrefused"
consent $ALICE heard
consent $CAROL remembered
stop
forget_session
writes $CAROL "the garden opens with wordmarble"
marble=$written
writes $BOB "<@$BOT> wordafter"
sleep 3
came=$(($(date +%s) * 1000))
run PARLEY_CONSENT=heard
until_ok 10 answered wordafter || bad "missed" "$(of_bot)"
sleep 1
is "what was written before somebody wanted to be remembered is not kept after a restart" "$(kept "SELECT count(*) FROM utterances WHERE instr(text, 'wordquartz')")" 0
is "what they wrote after that is, with the time when it was written" "$(kept "SELECT count(*) FROM utterances WHERE message = $marble AND started_ms < $came - 2000")" 1
is "a message that was refused when it was written is not answered later" "$(answers wordrefused)" 0
asked 'wordrefused' && bad "a refused message" "told to a model" || ok "nor told to a model"
consent $CAROL heard

# ---- a connection that is lost ----
stop
run
switch '{"main_away":1}'
api POST /users/$BOT/drop '{"which":"main"}' >/dev/null
writes $ALICE "<@$BOT> wordlost"
sleep 1
switch '{"main_away":0}'
until_ok 30 answered wordlost && ok "a lost session of the same program is followed by a look at the channels, too" || bad "a lost session" "$(tail "$D/control-$runs.log")"
sleep 2
is "no message has two answers" "$(of_bot | grep -v '^About $' | sort | uniq -d | wc -l)" 0
report
