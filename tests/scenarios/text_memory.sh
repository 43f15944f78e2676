#!/bin/sh
# Written messages in the memory, through the real programs: kept under the consent of the moment, with edits and deletions; told to
# models where the channel's people may read them; one mind with the voice session; exported and erased.
#
#   tests/scenarios/text_memory.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-text-memory-XXXXXX)
. tests/scenarios/common
ALICE=501777123456789012 BOB=502777123456789012

messages() { api GET "/channels/$where/messages" | perl -MJSON::PP -0777 -ne '
	next unless /\S/; binmode STDOUT, ":utf8";
	for (@{decode_json($_)}) { my $c = $_->{content}; $c =~ s/\n/\\n/g; print join("|", $_->{author}{username}, $_->{nonce} // "", $_->{id}, $c), "\n" }'; }
answered() { messages | grep -q "^parley|$1\."; }
consent() { api POST /interactions "{\"user_id\":\"$1\",\"channel_id\":\"$TEXT\",\"name\":\"consent\",\"options\":[{\"name\":\"answer\",\"type\":3,\"value\":\"$2\"}]}" >/dev/null; sleep 1; }
# kept SQL: prints what the database says.
kept() { sqlite3 "file:$D/state/parley.db?mode=ro" "$1"; }
has() { [ "$(kept "SELECT count(*) FROM utterances WHERE instr(text, '$1')")" -gt 0 ]; }
lacks() { ! has "$1"; }
indexed() { kept "SELECT count(*) FROM terms WHERE terms MATCH '$1'"; }
runs=0
run() {
	runs=$((runs + 1))
	start "control-$runs" env "$@" "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --log debug
	control=$last
	until_ok 10 grep -qsE ' (ready|resumed) ' "$D/control-$runs.log" || bad "control $runs" "not ready"
	began=$SECONDS
}
# What is missed in the first ten seconds of a session is read by the next control from Discord, not recalled.
stop() {
	while [ $((SECONDS - began)) -lt 12 ]; do
		sleep 0.5
	done
	kill -TERM "$control"
	wait "$control"
}

start_guildd --set long_ids=1
mkdir "$D/state"
start one "$B/mediad" --listen "$D/one.sock" --ca "$CA" --threads 1
until_ok 5 test -S "$D/one.sock" || bad start "no mediad"
# A text model that logs what it is told, a message a line, and repeats the end of it.
text_model asked '
	my ($text, $ask) = @_;
	my @told = map { my $t = text_of($_); $t =~ s/\n/\\n/g; "$_->{role}: $t" } @{$ask->{messages}};
	note($_) for "ask: $told[-1]", map { "  $_" } @told;
	sleep 4 if $text =~ /slowly/;
	$told[-1] =~ /what did Bob say/ && grep({ /xyzzy/ } @told) ? "Bob said xyzzy" : "I read: " . substr($told[-1], 6, 80);
'
# told QUESTION TEXT: the model was told TEXT when it was asked QUESTION.
told() { awk -v q="$1" -v t="$2" '/^ask: / { in_it = index($0, q) > 0 } in_it && index($0, t) && !/^ask: / { found = 1 } END { exit !found }' "$D/asked"; }
# told_last QUESTION TEXT: the same, when it was asked for the last time.
told_last() { awk -v q="$1" -v t="$2" '/^ask: / { in_it = index($0, q) > 0; if (in_it) found = 0 } in_it && index($0, t) && !/^ask: / { found = 1 } END { exit !found }' "$D/asked"; }
asked() { [ "$(grep -c "^ask: .*$1" "$D/asked")" = "$2" ]; }
export PARLEY_TEXT_URL="http://127.0.0.1:$(cat "$D/asked.port")/v1"
export PARLEY_CONSENT=heard PARLEY_TEXT_COALESCE_S=1 PARLEY_TEXT_SPACING_S=0 PARLEY_TEXT_PER_HOUR=60
where=$TEXT
run PARLEY_TEXT_CHAT=all
consent $ALICE remembered

# ---- what is kept ----
writes $BOB "the cellar key hangs behind the clock"
writes $ALICE "the harbour gate opens at nine"
gate=$written
until_ok 5 has 'harbour gate' && ok "a message of somebody who is remembered is kept" || bad "a message" "$(kept 'SELECT * FROM utterances')"
lacks 'cellar key' && ok "one of somebody who has not agreed is not" || bad "consent" "kept"
is "with its id, and no voice session" "$(kept "SELECT message, session, source, addressee FROM utterances WHERE user = $ALICE")" "$gate|0|text|room"
api PATCH "/channels/$where/messages/$gate" '{"content":"the harbour gate opens at eleven"}' >/dev/null
until_ok 5 has 'opens at eleven' && lacks 'opens at nine' && ok "an edit replaces its text" || bad "an edit" "$(kept 'SELECT text FROM utterances')"
is "also in the index" "$(indexed nine) $(indexed eleven)" "0 1"
writes $ALICE "my password was a frobozz"
secret=$written
until_ok 5 has frobozz || bad "a second message" "not kept"
api DELETE "/channels/$where/messages/$secret" >/dev/null
until_ok 5 lacks frobozz && ok "a deletion takes it away" || bad "a deletion" "$(kept 'SELECT text FROM utterances')"
is "also from the index" "$(indexed frobozz)" "0"
bob=$(messages | grep 'cellar key' | cut -d'|' -f3)
consent $BOB remembered
api PATCH "/channels/$where/messages/$bob" '{"content":"the cellar key hangs behind the mirror"}' >/dev/null
sleep 1
lacks 'cellar key' && ok "an edit keeps nothing that was not kept when it was written" || bad "an edit" "kept"
writes $BOB "the attic key hangs behind the mirror"
until_ok 5 has 'attic key' || bad "Bob's message" "not kept"
consent $BOB heard
api PATCH "/channels/$where/messages/$written" '{"content":"the attic key hangs behind the picture"}' >/dev/null
until_ok 5 lacks 'attic key' && ok "an edit by somebody who is not remembered any more takes it away" || bad "a consent that is gone" "$(kept 'SELECT text FROM utterances')"

# ---- answers ----
# What Bob wrote before he changed his consent has left the history; he is still read.
writes $BOB "the harbour is a long way off"
sleep 1
writes $ALICE "<@$BOT> when does the harbour gate open"
until_ok 10 answered "$written" || bad "an answer" "$(messages)"
sleep 1
is "an answer is not kept whose model was told words that may not be" "$(kept "SELECT count(*) FROM utterances WHERE source = 'bot'")" 0
where=$VOICE
writes $ALICE "<@$BOT> is the lighthouse open"
until_ok 10 answered "$written" || bad "an answer" "$(messages)"
until_ok 5 has 'I read' && ok "one is kept that was told words of people who are remembered" || bad "an answer" "$(kept 'SELECT * FROM utterances')"
is "with the person whom it answers" "$(kept "SELECT user FROM utterances WHERE source = 'bot'")" $ALICE
where=$TEXT
# ---- what the next control tells the model ----
stop
now() { echo $(($(date +%s) * 1000)); }
# add SQL: as if it had come about earlier.
add() { sqlite3 "$D/state/parley.db" "$1"; }
add "INSERT INTO facts(guild, owner, said_by, name, type, tags, text, written_ms, valid_from_ms) VALUES($GUILD, 0, $ALICE, 'Alice', 'preference', '[]', 'Alice likes marzipan', $(now), $(now))"
add "INSERT INTO facts(guild, owner, said_by, name, type, tags, text, written_ms, valid_from_ms) VALUES($GUILD, $ALICE, $ALICE, 'Alice', 'preference', '[]', 'Alice fears geese', $(now), $(now))"
# line CHANNEL USER NAME TEXT: spoken.
line() { add "INSERT INTO utterances(guild, session, channel, user, name, text, started_ms, ended_ms, consent) VALUES($GUILD, 5, $1, $2, '$3', '$4', $(now), $(now), 1)"; }
line $VOICE $ALICE Alice "we meet at the windmill"
line $VOICE $BOB Bob "I hid it under the stairs"
line 4711 $ALICE Alice "nobody else may hear of the dungeon"
add "INSERT INTO tool_calls(guild, session, call, channel, turn, user, tool, state, at_ms, summary) VALUES($GUILD, 0, 1, $TEXT, 1, $ALICE, 'web_search', 'ok', $(($(now) - 600000)), 'the ferry leaves from pier four')"
run PARLEY_TEXT_CHAT=all PARLEY_KEEP_CONTEXTS=yes
writes $ALICE "<@$BOT> what do you know of my harbour"
until_ok 10 answered "$written" || bad "after a restart" "$(messages; tail -5 "$D/control-$runs.log")"
told "my harbour" 'harbour gate opens at eleven' && ok "a model is told earlier messages of the channel after a restart" || bad "earlier messages" "$(cat "$D/asked")"
told "my harbour" 'ago: "the harbour gate' && ok "as quotes with their age" || bad "age" "$(tail -20 "$D/asked")"
told "my harbour" 'likes marzipan' && ok "and what it knows about the author" || bad "facts" "$(tail -20 "$D/asked")"
told "my harbour" 'web_search, 10 minutes ago: "the ferry leaves' && ok "and what it found on the web, with its age" || bad "lookups" "$(tail -20 "$D/asked")"
told "my harbour" geese && bad "somebody's own memory" "told to everybody" || ok "nothing of anybody's own memory"
told "my harbour" 'stairs' && bad "consent" "told" || ok "nothing of people who are not remembered"
told "my harbour" 'lighthouse' && bad "another channel" "told" || ok "nothing that was written in another channel"
told "my harbour" 'windmill' && bad "the voice channel" "told without a call" || ok "nor what was spoken while the bot is in no call"
told "my harbour" 'dungeon' && bad "another channel" "told" || ok "nor what was spoken elsewhere"
"$B/control" --state-dir "$D/state" --context >"$D/context" 2>&1
grep -q 'likes marzipan' "$D/context" && ok "control --context shows what it was told" || bad "--context" "$(cat "$D/context")"
where=$VOICE
writes $ALICE "<@$BOT> where do we meet"
until_ok 10 answered "$written" || bad "in the voice channel's chat" "$(messages)"
told "where do we meet" windmill && ok "in a voice channel's own chat what was spoken there is told" || bad "the voice channel's chat" "$(tail -20 "$D/asked")"
where=$TEXT

# ---- an answer that quotes somebody who withdraws ----
consent $BOB remembered
where=$VOICE
writes $BOB "my door code is xyzzy"
sleep 1
writes $ALICE "<@$BOT> what did Bob say of the door"
until_ok 5 has 'Bob said xyzzy' || bad "an answer" "not kept: $(messages)"
consent $BOB heard
stop
run PARLEY_TEXT_CHAT=all
writes $ALICE "<@$BOT> the door code again"
until_ok 10 answered "$written" || bad "an answer" "$(messages)"
told "the door code again" 'what did Bob say' || bad "earlier messages" "$(tail -30 "$D/asked")"
told "the door code again" 'xyzzy' && bad "an answer with words of somebody who withdrew" "$(tail -30 "$D/asked")" || ok "models are not told an answer that may have words of somebody who is not remembered any more"

where=$TEXT

# ---- somebody is forgotten while a model answers ----
consent $BOB remembered
writes $BOB "my locker opens with plover"
until_ok 5 has 'plover' || bad "a message" "not kept"
api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"ask\",\"options\":[{\"name\":\"question\",\"type\":3,\"value\":\"slowly, what opens it\"}]}" >/dev/null
until_ok 5 asked 'slowly, what opens it' 1 || bad "/ask" "not asked"
told_last 'slowly, what opens it' plover || bad "/ask" "$(tail -30 "$D/asked")"
consent $BOB heard
until_ok 5 asked 'slowly, what opens it' 2 && ok "a command's question under way is asked again when somebody withdraws" || bad "/ask" "$(tail -30 "$D/asked")"
told_last 'slowly, what opens it' plover && bad "/ask" "$(tail -30 "$D/asked")" || ok "without their words"
consent $BOB remembered
stop
run PARLEY_TEXT_CHAT=all
writes $ALICE "<@$BOT> slowly, what opens the locker"
until_ok 5 asked 'slowly, what opens the locker' 1 || bad "an answer" "not asked"
told_last 'slowly, what opens the locker' plover || bad "the memory" "$(tail -30 "$D/asked")"
"$B/control" --state-dir "$D/state" --erase $BOB >"$D/erase" 2>&1 || bad "an erasure" "$(cat "$D/erase")"
until_ok 5 asked 'slowly, what opens the locker' 2 && ok "an erasure has an answer under way asked again that the memory told of the person" || bad "an erasure" "$(tail -30 "$D/asked")"
told_last 'slowly, what opens the locker' plover && bad "an erasure" "$(tail -30 "$D/asked")" || ok "without their words"
until_ok 10 answered "$written" || bad "an answer" "$(messages)"

# ---- whose words they are ----
consent $BOB remembered
api PATCH "/guilds/$GUILD/members/$BOB" '{"nick":"Alice"}' >/dev/null
writes $BOB "the picnic is cancelled"
picnic=$written
until_ok 5 has 'picnic' || bad "a message" "not kept"
is "a message is kept under the name of the moment" "$(kept "SELECT lower(name) FROM utterances WHERE instr(text, 'picnic')")" alice
api PATCH "/guilds/$GUILD/members/$BOB" '{"nick":"Robert"}' >/dev/null
stop
run PARLEY_TEXT_CHAT=all
writes $BOB "good evening"
writes $ALICE "<@$BOT> what is with our party"
until_ok 10 answered "$written" || bad "an answer" "$(messages)"
grep -q 'Robert, [^"]*"the picnic' "$D/asked" && ok "and told under the present name of its author" || bad "names" "$(tail -30 "$D/asked")"
api PATCH "/channels/$where/messages/$picnic" '{"content":"the picnic is at two"}' >/dev/null
writes $ALICE "<@$BOT> when does that begin" ",\"reply_to\":\"$picnic\""
api PATCH "/channels/$where/messages/$picnic" '{"content":"the picnic is at three"}' >/dev/null
until_ok 10 answered "$written" || bad "an answer" "$(messages)"
told "when does that begin" 'picnic is at three' && ok "a message that a question replies to is told as it was edited" || bad "an edited quote" "$(tail -30 "$D/asked")"
told "when does that begin" 'picnic is at two' && bad "an edited quote" "$(tail -30 "$D/asked")"
grep -qi '[^a-z]Alice, [^"]*"the picnic' "$D/asked" && bad "names" "told in the name of somebody else" || ok "not in that of somebody else"
consent $BOB heard

# ---- one mind: the call and its chat ----
stop
start_brain
run PARLEY_TEXT_CHAT=all PARLEY_TEXT_SPOKEN=yes
api POST /users/$ALICE/join "{\"channel_id\":\"$VOICE\"}" >/dev/null
api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"join\"}" >/dev/null
until_ok 20 grep -qs 'call_state .*phase=up' "$D/control-$runs.log" || bad "a call" "$(grep call_state "$D/control-$runs.log")"
writes $ALICE "<@$BOT> what did we say about the place"
until_ok 10 answered "$written" || bad "an answer" "$(messages)"
told "about the place" windmill && ok "in writing goes on what was spoken in the call" || bad "the call" "$(tail -30 "$D/asked")"
told "about the place" stairs && bad "consent" "told" || ok "but not the words of people who are not remembered"
where=$VOICE
writes $ALICE "the drawbridge is up"
until_ok 5 grep -q "typed .*user=$ALICE" "$D/control-$runs.log" && ok "what is typed in the chat of the call is told there" || bad "typed" "$(tail "$D/control-$runs.log")"
writes $ALICE "<@$BOT> is the drawbridge up"
until_ok 10 answered "$written" || bad "an answer" "$(messages)"
# Nobody in this call has a key, so nothing is heard; the voice model is asked to say it.
until_ok 20 grep -qE ' ask .*role=voice' "$D/control-$runs.log" && ok "with text_spoken the voice is asked to speak the answer, too" || bad "text_spoken" "$(grep -E ' turn | ask ' "$D/control-$runs.log" | tail -5)"
is "once, and not those in other channels" "$(grep -cE ' ask .*role=voice' "$D/control-$runs.log")" 1
where=$TEXT

# ---- text chat is switched off ----
stop
run PARLEY_TEXT_CHAT=off
api DELETE "/channels/$where/messages/$gate" >/dev/null
until_ok 5 lacks 'opens at eleven' && ok "with text_chat off a deletion takes away what was kept before" || bad "a deletion with text_chat off" "$(kept 'SELECT text FROM utterances')"
writes $ALICE "the cellar is flooded"
sleep 1
lacks 'flooded' && ok "and nothing more is kept" || bad "text_chat off" "kept"

# ---- one person ----
stop
# They are not in the full-text index.
add "DELETE FROM utterances WHERE session = 5; DELETE FROM facts"
"$B/control" --state-dir "$D/state" --export $ALICE >"$D/export.json" 2>"$D/export.err"
perl -MJSON::PP -0777 -ne 'my $d = decode_json($_); print scalar(@{$d->{messages}}), " ", scalar(@{$d->{utterances}}), "\n"' "$D/export.json" >"$D/exported"
is "an export lists the messages" "$(cat "$D/exported")" "12 0"
"$B/control" --state-dir "$D/state" --erase $ALICE >"$D/erase" 2>&1 || bad "an erasure" "$(cat "$D/erase")"
is "an erasure takes messages and answers" "$(kept "SELECT count(*) FROM utterances WHERE user <> $BOB")" 0
grep -qsaE 'harbour|lighthouse|I read|ferry' "$D/state"/parley.db* && bad "traces" "in the files" || ok "and leaves nothing in the files"
report
