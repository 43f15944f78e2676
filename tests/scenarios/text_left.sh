#!/bin/sh
# What is left in a channel, through the real programs: a message that tells of a tool at work, where the thread is archived before the
# answer comes, or where control is killed before it, is replaced or goes; a thread that is locked, too, says so; the buttons of a
# question that a control asked which was killed say that it is over.
#
#   tests/scenarios/text_left.sh [build folder]      default: build
# text rules 31 36 65
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-text-left-XXXXXX)
. tests/scenarios/common

# One message of the bot a line: id, reference, buttons, content.
of_bot() { api GET "/channels/$where/messages" | perl -MJSON::PP -0777 -ne '
	next unless /\S/; binmode STDOUT, ":utf8";
	for (@{decode_json($_)}) {
		next if $_->{author}{username} ne "parley";
		my $c = $_->{content}; $c =~ s/\n/\\n/g;
		print join("|", $_->{id}, ($_->{message_reference} || {})->{message_id} // "",
			join(",", map { map { $_->{custom_id} } @{$_->{components} || []} } @{$_->{components} || []}), $c), "\n";
	}'; }
says() { of_bot | grep -qF -e "$1"; }
says_not() { ! says "$1"; }
ended() { cat "$D"/control-*.log | grep -qE " text_message .*message=$1 .*reason=$2"; }
working() { of_bot | grep -F -e '-# ' | tail -1 | cut -d'|' -f1; }
archive() { api PATCH "/channels/$where/thread" "{\"archived\":true,\"locked\":$1}" >/dev/null; }

program=$(realpath "$B/tests/mcp_server")
start_guildd
start_brain
mkdir "$D/state"
start_mediad one
# A text model: "wait" calls a tool that takes 7 s, "act" one that needs a yes.
text_model asked '
	my ($text, $ask) = @_;
	my ($last) = map { text_of($_) } grep { $_->{role} eq "user" } reverse @{$ask->{messages}};
	my ($word) = $last =~ /(word\w+)/;
	$ask->{messages}[-1]{role} eq "tool" || $last !~ /wait|act/ ? "About $word."
		: $last =~ /act/ ? {name => "act__echo", arguments => {text => "acted"}} : {name => "toy__wait", arguments => {ms => 7000}};
'
cat >"$D/config.json" <<END
{"text_url": "http://127.0.0.1:$(cat "$D/asked.port")/v1", "mcp_servers": [{"name": "toy", "command": ["$program", "good"], "read": ["$program"], "effects": "none"},
  {"name": "act", "command": ["$program", "good"], "read": ["$program"]}]}
END
export PARLEY_TEXT_CHAT=all PARLEY_TEXT_COALESCE_S=0 PARLEY_TEXT_SPACING_S=0 PARLEY_TEXT_REPLY_SHARE=0 PARLEY_TEXT_REPLY_SHORT=0
runs=0
run() {
	runs=$((runs + 1))
	start "control-$runs" "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --config "$D/config.json" --log debug
	control=$last
	until_ok 20 grep -qsE ' (ready|resumed) ' "$D/control-$runs.log" || bad "control $runs" "not ready"
	until_ok 30 sh -c "[ \$(grep -ac 'mcp_server server=.* state=ready' $D/control-$runs.log) -ge 2 ]" || bad "control $runs" "no tools"
}
# From now on no session can be resumed, and Discord has forgotten the nonces.
forget() {
	sed -i -E 's/("session": ?\{"id": ?")[^"]*"/\1gone"/' "$D/state/session.json"
	switch '{"nonce_ms":0}'
}
run

# ---- a thread that is archived while a tool works ----
where=$(api POST "/channels/$TEXT/threads" "{\"user_id\":\"$ALICE\",\"name\":\"tides\"}" | field id)
writes $ALICE "<@$BOT> wait for wordarchived"
until_ok 30 says '-# ' || bad "a tool at work" "$(of_bot)"
left=$(working)
archive false
until_ok 30 says 'About wordarchived.' && ok "a thread that is archived while a tool works gets the answer" ||
	bad "an archived thread" "$(of_bot; grep -h text_not "$D"/control-*.log)"
until_ok 10 says_not '-# ' && ok "and what told of the tool is gone" || bad "an archived thread" "$(of_bot)"
is "the answer is a message of its own" "$(of_bot | grep -c "^$left|")" 0
until_ok 10 ended "$written" sent_reply && ok "with its reason" || bad "its reason" "$(grep -h text_message "$D"/control-*.log | tail -2)"
writes $ALICE "<@$BOT> wait for wordlocked"
until_ok 30 says '-# ' || bad "a tool at work" "$(of_bot)"
archive true
until_ok 30 ended "$written" thread_locked && ok "one that is locked, too, does not, and the reason says so" ||
	bad "a locked thread" "$(grep -hE 'text_message|text_not' "$D"/control-*.log | tail -3)"
says 'About wordlocked.' && bad "a locked thread" "$(of_bot)" || ok "and nothing stands there"

# ---- control is killed while a tool works ----
where=$TEXT
writes $ALICE "<@$BOT> wait for wordkilled"
until_ok 30 says '-# ' || bad "a tool at work" "$(of_bot)"
left=$(working)
kill9 "$control"
forget
run
until_ok 40 says 'About wordkilled.' && ok "an answer that kill -9 interrupted is given" || bad "killed" "$(of_bot)"
until_ok 10 says_not '-# ' || bad "killed" "what told of the tool is still there: $(of_bot)"
is "in the place of what told of its tool" "$(of_bot | grep 'About wordkilled' | cut -d'|' -f1,2)" "$left|$written"
writes $ALICE "<@$BOT> wait for worddeleted"
until_ok 30 says '-# ' || bad "a tool at work" "$(of_bot)"
kill9 "$control"
api DELETE "/channels/$where/messages/$written" >/dev/null
forget
run
until_ok 20 ended "$written" deleted && until_ok 10 says_not '-# ' && ok "where the question is gone, what told of its tool goes, too" ||
	bad "deleted" "$(of_bot; tail -3 "$D/control-$runs.log")"

# ---- a question for a yes, and another control ----
writes $ALICE "<@$BOT> act wordasked"
until_ok 20 says 'Shall I do this' || bad "a question" "$(of_bot)"
question=$(of_bot | grep 'Shall I do this' | tail -1)
button=$(echo "$question" | cut -d'|' -f3 | tr ',' '\n' | grep text_yes)
question=$(echo "$question" | cut -d'|' -f1)
kill9 "$control"
run
press() { api POST /interactions "{\"user_id\":\"$1\",\"channel_id\":\"$where\",\"type\":3,\"message_id\":\"$question\",\"data\":{\"custom_id\":\"$button\",\"component_type\":2}}" | field id; }
pressed=$(press $ALICE)
over() { api GET "/interactions/$pressed" | grep -q 'This question is over'; }
until_ok 10 over && ok "a button of a question that is over says so" || bad "a press" "$(api GET "/interactions/$pressed")"
api GET "/interactions/$pressed" | grep -qE '"flags": ?64' && ok "to its user alone" || bad "a press" "$(api GET "/interactions/$pressed")"
bare() { of_bot | grep "^$question|" | cut -d'|' -f3,4 | grep -q '^|.*Shall I do this'; }
until_ok 10 bare && ok "and the buttons go" || bad "a press" "$(of_bot | grep "^$question|")"
grep -qaE ' tool_called .*name=act__echo .*code=ok' "$D"/control-*.log && bad "a press" "the call was made" || ok "and nothing is done"
report
