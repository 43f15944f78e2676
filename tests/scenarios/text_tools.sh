#!/bin/sh
# Tools in text chat through the real programs: a text model calls a tool of a server of MCP and goes on with its output; while one
# works long, one message says so, which the answer takes the place of; words, a stop sign and a deletion stop the call; a call that
# acts outside is made only after a yes of its asker, in writing or by a button, and its result is told.
#
#   tests/scenarios/text_tools.sh [build folder]      default: build
# text rules 21 26 31 33
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-text-tools-XXXXXX)
. tests/scenarios/common
BOB=502 STOP='\ud83d\uded1'
where=$TEXT

# One message of the bot a line: id, nonce, reference, buttons, content.
of_bot() { api GET "/channels/$where/messages" | perl -MJSON::PP -0777 -ne '
	next unless /\S/; binmode STDOUT, ":utf8";
	for (@{decode_json($_)}) {
		next if $_->{author}{username} ne "parley";
		my $c = $_->{content}; $c =~ s/\n/\\n/g;
		print join("|", $_->{id}, $_->{nonce} // "", ($_->{message_reference} || {})->{message_id} // "",
			join(",", map { map { $_->{custom_id} } @{$_->{components} || []} } @{$_->{components} || []}), $c), "\n";
	}'; }
says() { of_bot | grep -qF -e "$1"; }
log() { cat "$D/control.log"; }
ended() { log | grep -qE " text_message .*message=$1 .*reason=$2"; }
called() { log | grep -aE ' tool_called ' | grep -E "name=$1 .*code=$2" | wc -l; }
began() { [ "$(log | grep -acE " tool_began .*name=$1")" -ge "$2" ]; }
asks() { [ "$(of_bot | grep -c "Shall I do this")" -ge "$1" ]; }
made() { [ "$(called act__echo ok)" -ge "$1" ]; }
asked() { grep -c "$1" "$D/asked"; }
press() { api POST /interactions "{\"user_id\":\"$1\",\"channel_id\":\"$where\",\"type\":3,\"message_id\":\"$2\",\"data\":{\"custom_id\":\"$3\",\"component_type\":2}}" >/dev/null; }

program=$(realpath "$B/tests/mcp_server")
# configure PORT: the text model is at this port.
configure() {
	cat >"$D/config.json" <<END
{"text_url": "http://127.0.0.1:$1/v1", "tools_allowed": "free__echo",
  "mcp_servers": [{"name": "toy", "command": ["$program", "good"], "read": ["$program"], "effects": "none"},
  {"name": "act", "command": ["$program", "good"], "read": ["$program"]},
  {"name": "calm", "command": ["$program", "good"], "read": ["$program"], "effects": "none"},
  {"name": "free", "command": ["$program", "good"], "read": ["$program"]}],
  "workers": [{"name": "helper", "kind": "model", "effects": "none", "tools": ["calm__echo"]}, {"name": "outside", "kind": "model", "tools": ["calm__echo"]}]}
END
}
start_guildd
start_brain
mkdir "$D/state"
start one "$B/mediad" --listen "$D/one.sock" --ca "$CA" --threads 1
until_ok 5 test -S "$D/one.sock" || bad start "no mediad"
# model NAME: a text model, which writes down what it is asked.
model() {
	text_model "$1" '
	my ($last, $ask) = @_;
	my $m = $ask->{messages};
	my ($text) = map { text_of($_) } grep { $_->{role} eq "user" } reverse @$m;
	my $tool = $m->[-1]{role} eq "tool" ? $last : undef;
	note(sprintf "%s %s tools=%s", defined $tool ? "goes_on" : "question", $text, join ",", map { $_->{function}{name} } @{$ask->{tools} || []});
	note("result $tool") if defined $tool;
	note("lead") if defined $tool && grep { $_->{role} eq "assistant" && ($_->{content} // "") =~ /Let me look/ } @$m;
	return if defined $tool && $text =~ /break/;
	return "It is done: " . (($text =~ /(acted|the moon is new)/)[0] // "") if $text =~ /has returned/;
	return "The tool said " . ($tool =~ /(the moon is new|waited)/ ? $1 : "nothing") . " indeed, as I was told to ask it." if defined $tool;
	my ($name, $arguments) = $text =~ /calm/ ? ("calm__echo", {text => "the moon is new"})
		: $text =~ /moon/ ? ("toy__echo", {text => "the moon is new"})
		: $text =~ /wait/ ? ("toy__wait", {ms => $text =~ /long/ ? 60000 : 7000})
		: $text =~ /tides/ ? ("ask", {task => "see how calm it is", worker => $text =~ /outside/ ? "outside" : "helper"})
		: $text =~ /free/ ? ("free__echo", {text => "free"})
		: $text =~ /act/ ? ("act__echo", {text => $text =~ /forge/ ? "[pay 5](http://x/500) ||a lot||" : "acted"}) : ();
	my @say = $text =~ /moon/ ? ("Let me look it up.")
		: $text =~ /story/ ? ("A line of the story.\n" x 180, "```\n", "||Shall I do this: act echo, acted?||")
		: $text =~ /book/ ? ("```\n", "A line of the book.\n" x 900)
		: $name ? () : ("Hello.");
	($name ? {name => $name, arguments => $arguments} : (), @say);
'
}
model asked
configure "$(cat "$D/asked.port")"
export PARLEY_TEXT_CHAT=mentions PARLEY_TEXT_COALESCE_S=0 PARLEY_TEXT_SPACING_S=0
export PARLEY_TOOL_READS_A_MINUTE=60 PARLEY_TEXT_PER_HOUR=60 PARLEY_TEXT_REPLY_SHARE=100 PARLEY_TEXT_REPLY_SHORT=100
start control "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --config "$D/config.json" --log debug
control=$last
until_ok 10 grep -qs ' ready ' "$D/control.log" || bad control "not ready"
until_ok 30 sh -c "[ \$(grep -ac 'mcp_server server=.* state=ready' $D/control.log) -ge 4 ]" || bad mcp "$(grep mcp "$D/control.log")"

writes $ALICE "<@$BOT> look at the moon"
until_ok 10 says 'The tool said the moon is new' && ok "a text model calls a tool and goes on with its output" || bad "a tool" "$(of_bot; tail -5 "$D/control.log")"
is "the call is a row of the audit" "$(called toy__echo ok)" 1
is "the model goes on from what it said before the call" "$(grep -c '^lead$' "$D/asked")" 1
until_ok 5 ended "$written" sent_reply
log | grep -E " text_message .*message=$written" | grep -qE 'llm1_ms=[0-9]+ followup_ms=[0-9]+' && ok "both passes of the model are timed" || bad "the times" "$(log | grep text_message | tail -1)"
grep -q 'tools=.*roll.*toy__echo' "$D/asked" && ! grep -q 'tools=.*voice_leave' "$D/asked" && ok "it is offered the tools that need no voice channel" || bad "tools" "$(head -1 "$D/asked")"

writes $ALICE "<@$BOT> please wait"
until_ok 8 says '-# ' && ok "a message says that a tool works" || bad "a tool at work" "$(of_bot)"
working=$(of_bot | tail -1 | cut -d'|' -f1)
until_ok 15 ended "$written" sent_reply || bad "a slow tool" "$(of_bot)"
is "and the answer takes its place" "$(of_bot | tail -1 | cut -d'|' -f1,3) $(of_bot | grep -c "|$written|")" "$working|$written 1"
says 'as I was told to ask it' && ! says '-# ' && ok "with its words" || bad "its words" "$(of_bot)"

writes $ALICE "<@$BOT> wait long"
until_ok 5 began toy__wait 2 || bad "a call" "not begun"
until_ok 8 says '-# ' || bad "a tool at work" "$(of_bot)"
long=$written
writes $BOB "<@$BOT> stop"
sleep 0.5
is "nobody else stops a call" "$(called toy__wait cancelled)" 0
writes $ALICE "<@$BOT> stop"
until_ok 5 ended "$long" cancelled && is "words stop it" "$(called toy__wait cancelled)" 1 || bad "words" "$(log | grep text_message | tail -2)"
sleep 0.5
says '-# ' && bad "what told of it" "\$(of_bot)" || ok "and what told of it is gone"
writes $ALICE "<@$BOT> wait long"
until_ok 5 began toy__wait 3 || bad "a call" "not begun"
api POST "/channels/$where/messages/$written/reactions" "{\"user_id\":\"$ALICE\",\"emoji\":\"$STOP\"}" >/dev/null
until_ok 5 ended "$written" cancelled && is "a stop sign stops it" "$(called toy__wait cancelled)" 2 || bad "a stop sign" "$(log | grep text_message | tail -2)"
writes $ALICE "<@$BOT> wait long"
until_ok 5 began toy__wait 4 || bad "a call" "not begun"
api DELETE "/channels/$where/messages/$written" >/dev/null
until_ok 5 ended "$written" deleted && is "a deletion stops it" "$(called toy__wait cancelled)" 3 || bad "a deletion" "$(log | grep text_message | tail -2)"

writes $ALICE "<@$BOT> wait long"
until_ok 8 says '-# ' || bad "a tool at work" "$(of_bot)"
working=$(of_bot | tail -1 | cut -d'|' -f1)
api POST "/channels/$where/messages/$working/reactions" "{\"user_id\":\"$BOB\",\"emoji\":\"$STOP\"}" >/dev/null
sleep 0.5
is "another person's stop sign on what tells of it stops nothing" "$(called toy__wait cancelled)" 3
api POST "/channels/$where/messages/$working/reactions" "{\"user_id\":\"$ALICE\",\"emoji\":\"$STOP\"}" >/dev/null
until_ok 5 ended "$written" cancelled && is "its author's does" "$(called toy__wait cancelled)" 4 || bad "a stop sign on it" "$(log | grep text_message | tail -2)"

# A server whose tools act outside: each call needs a yes.
writes $ALICE "<@$BOT> act now"
until_ok 10 says 'act echo' && ok "a call that acts outside is asked about" || bad "a question" "$(of_bot; tail -3 "$D/control.log")"
question=$(of_bot | tail -1 | cut -d'|' -f1)
button=$(of_bot | tail -1 | cut -d'|' -f4 | tr ',' '\n' | grep text_yes)
writes $BOB "<@$BOT> yes"
press $BOB "$question" "$button"
sleep 1
is "nobody else agrees to it" "$(called act__echo ok)" 0
writes $ALICE "<@$BOT> yes"
until_ok 10 says 'It is done: acted' && ok "its asker agrees in writing, and the result is told" || bad "a yes" "$(of_bot; tail -5 "$D/control.log")"
is "the call is made once" "$(called act__echo ok)" 1
ended "$written" agreed && ok "and the yes has its reason" || bad "the yes" "$(log | grep text_message | tail -1)"
is "the question has no buttons any more" "$(of_bot | grep "^$question|" | cut -d'|' -f4)" ""
writes $ALICE "<@$BOT> act again"
until_ok 10 asks 2 || bad "a second question" "$(of_bot)"
question=$(of_bot | tail -1 | cut -d'|' -f1)
button=$(of_bot | tail -1 | cut -d'|' -f4 | tr ',' '\n' | grep text_yes)
[ -n "$button" ] || bad "buttons" "$(of_bot | tail -1)"
press $ALICE "$question" "$button"
until_ok 10 made 2
is "a button agrees too" "$(called act__echo ok)" 2
writes $ALICE "<@$BOT> act a third time"
until_ok 10 asks 3 || bad "a third question" "$(of_bot)"
question=$(of_bot | tail -1 | cut -d'|' -f1)
press $ALICE "$question" "$(of_bot | tail -1 | cut -d'|' -f4 | tr ',' '\n' | grep text_no)"
sleep 1
writes $ALICE "<@$BOT> yes"
sleep 1
is "a no is final" "$(called act__echo ok)" 2

# The question is a message of its own, whatever the answer holds.
sent() { of_bot | grep "|$written\.$1|"; }
buttons() { of_bot | tail -1 | cut -d'|' -f4 | tr ',' '\n' | grep "$1"; }
alone() { of_bot | tail -1 | grep -qF '|Shall I do this: act echo, acted?'; }
writes $ALICE "<@$BOT> act with a story"
until_ok 10 asks 5 || bad "a question after parts" "$(of_bot | cut -c1-120)"
until_ok 5 alone && ok "a question follows the parts of its answer as a message of its own" || bad "a question" "$(of_bot | tail -2 | cut -c1-200)"
question=$(of_bot | tail -1 | cut -d'|' -f1)
is "with the only buttons" "$(sent 0 | cut -d'|' -f4)$(sent 1 | cut -d'|' -f4)" ""
press $ALICE "$question" "$(buttons text_yes)"
until_ok 10 made 3 && ok "and is answered by its button" || bad "a question after parts" "$(of_bot | tail -3; tail -3 "$D/control.log")"
sleep 0.5
is "which leaves the answer as it is" "$(sent 0 | grep -c 'A line of the story') $(of_bot | grep "^$question|" | cut -d'|' -f4,5)" "1 |Shall I do this: act echo, acted? $(printf '\xe2\x9c\x85')"
writes $ALICE "<@$BOT> act with a book"
until_ok 10 asks 6 || bad "a question after a file" "$(of_bot | tail -3 | cut -c1-120)"
alone && [ -n "$(buttons text_yes)" ] && is "it stands beside a file, not in it" "$(sent 0 | cut -d'|' -f4)" "" || bad "a question after a file" "$(of_bot | tail -2 | cut -c1-200)"
writes $ALICE "<@$BOT> act and forge it"
until_ok 10 asks 7 || bad "a question with marks" "$(of_bot | tail -3 | cut -c1-120)"
of_bot | tail -1 | grep -qF '\[pay 5\]\(http\://x/500\) \|\|a lot\|\|' && ok "marks in the arguments are shown as they are" || bad "marks" "$(of_bot | tail -1)"
writes $ALICE "<@$BOT> no, leave it"
sleep 1
# One that Discord did not take was not asked.
api POST /faults '{"method":"POST","contains":"/messages","after":2,"status":403}' >/dev/null
before=$(called act__echo ok)
writes $ALICE "<@$BOT> act with a story once more"
untold=$written
until_ok 10 ended "$untold" sent_in_part || bad "a question that is refused" "$(log | tail -3)"
writes $ALICE "<@$BOT> yes"
sleep 1.5
is "a question that Discord did not take takes no yes" "$(called act__echo ok) $(of_bot | grep -c "|$untold\.2|")" "$before 0"
grep 'has returned' "$D/asked" | grep -q 'tools=.*toy__echo' && ! grep 'has returned' "$D/asked" | grep -qE 'tools=.*(act__|memory_write)' &&
	ok "who tells a result is offered no tool that changes anything" || bad "a result" "$(grep 'has returned' "$D/asked" | tail -1)"

# Where nobody else wrote, an allowed tool needs no yes; where the model is told words of others, it does.
place() { where=$(api POST "/guilds/$GUILD/channels" "{\"type\":\"text\",\"name\":\"$1\"}" | field id); }
place alone
writes $ALICE "<@$BOT> free now"
until_ok 10 says 'The tool said nothing' && ok "an allowed tool needs no yes" || bad "an allowed tool" "$(of_bot)"
is "the rows of two channels do not replace each other" "$(sqlite3 "file:$D/state/parley.db?mode=ro" "SELECT count(*), count(DISTINCT channel) FROM tool_calls WHERE call % 4096 = 1")" "2|2"
place together
writes $BOB "<@$BOT> if Alice writes, open the door"
until_ok 10 ended "$written" sent_reply
before=$(called free__echo ok)
writes $ALICE "<@$BOT> free now"
until_ok 10 asks 1 && is "but words of another person in the prompt do" "$(called free__echo ok)" "$before" || bad "words of others" "$(of_bot)"
# A call that changed something is not made again for a pass that failed after it.
place broken
before=$(called free__echo ok)
writes $ALICE "<@$BOT> be free and break"
until_ok 10 ended "$written" acted && ok "what failed after such a call is not asked again" || bad "a failure" "$(log | grep text_message | tail -2)"
sleep 4
is "and the call is made once" "$(called free__echo ok)" $((before + 1))

# A worker, a model of its own with tools of its own.
place workers
writes $ALICE "<@$BOT> find out about the tides"
until_ok 15 ended "$written" sent_reply && says 'The tool said the moon is new' && ok "a worker does a task that is given in writing" || bad "a worker" "$(of_bot; tail -3 "$D/asked" | cut -c1-300)"
is "the task and the worker's own call are rows of the audit" "$(called ask ok) $(sqlite3 "file:$D/state/parley.db?mode=ro" "SELECT group_concat(DISTINCT tool) FROM tool_calls WHERE channel = $where")" "1 ask,calm__echo"
is "and its model is on the bill of the channel" "$(log | grep -a ' engine_used ' | grep -c "channel=$where")" 4
writes $ALICE "<@$BOT> find out about the tides outside"
until_ok 10 asks 1 && is "a worker that acts outside needs a yes" "$(called ask ok)" 1 || bad "a worker outside" "$(of_bot)"
writes $ALICE "<@$BOT> yes"
until_ok 15 says 'It is done: the moon is new' && ok "and does its task after it" || bad "a worker outside" "$(of_bot; tail -3 "$D/asked" | cut -c1-300)"

# Another provider serves from the next answer on.
model other
configure "$(cat "$D/other.port")"
kill -HUP "$control"
until_ok 5 grep -qa 'setting_changed name=text_url' "$D/control.log" || bad "a reload" "$(tail -3 "$D/control.log")"
writes $ALICE "<@$BOT> hello"
until_ok 10 ended "$written" sent_reply
is "a changed provider serves from the next answer on" "$(cat "$D/other" 2>/dev/null | grep -c 'hello')" 1

# The program ends while an answer with calls waits to be sent.
api POST /faults '{"method":"POST","contains":"/messages","status":429,"retry_after":20}' >/dev/null
writes $ALICE "<@$BOT> look at the moon"
until_ok 10 grep -q moon "$D/other"
sleep 1.5
kill -TERM "$control"
wait "$control"
is "the program ends in the middle of an answer" $? 0
where=$TEXT
is "nothing was answered twice" "$(of_bot | cut -d'|' -f2 | sort | uniq -d | wc -l)" 0
report
