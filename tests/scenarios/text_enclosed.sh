#!/bin/sh
# What messages hold besides words, through the real programs: a sticker or a forwarded message alone is answered in a direct message;
# polls, embeds and the message from which a thread was started are told to the model; text of strangers addresses nobody and holds calls
# back.
#
#   tests/scenarios/text_enclosed.sh [build folder]      default: build
# text rules 40 74
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-text-enclosed-XXXXXX)
. tests/scenarios/common
BOB=502 WARN=$(printf '\xe2\x9a\xa0')

# One message a line: author, nonce, reactions, id, content.
messages() { api GET "/channels/$where/messages" | perl -MJSON::PP -0777 -ne '
	next unless /\S/; binmode STDOUT, ":utf8";
	for (@{decode_json($_)}) {
		my $c = $_->{content}; $c =~ s/\n/\\n/g;
		print join("|", $_->{author}{username}, $_->{nonce} // "", join(",", map { $_->{emoji}{name} } @{$_->{reactions} || []}), $_->{id}, $c), "\n";
	}'; }
answers() { messages | grep -c "^parley|$1\.0|"; }
answered() { [ "$(answers "$1")" -gt 0 ]; }
asks() { messages | grep -q '^parley|.*Shall I do this'; }
told() { tail -1 "$D/asked" | grep -qF -e "$1"; }
place() { where=$(api POST "/guilds/$GUILD/channels" "{\"type\":\"text\",\"name\":\"$1\"}" | field id); }
forward() { echo ",\"forward\":{\"channel_id\":\"$1\",\"message_id\":\"$2\"}"; }

program=$(realpath "$B/tests/mcp_server")
start_guildd
start_brain
mkdir "$D/state"
start_mediad one
# A text model, which writes down all that it is told, a question a line.
text_model asked '
	my ($text, $ask) = @_;
	my ($first, @told) = @{$ask->{messages}};
	note(join " ", map { text_of($_) } @told);
	$told[-1]{role} ne "tool" && $text =~ /free/ ? {name => "free__echo", arguments => {text => "free"}} : "I see.";
'
cat >"$D/config.json" <<END
{"text_url": "http://127.0.0.1:$(cat "$D/asked.port")/v1", "tools_allowed": "free__echo",
  "mcp_servers": [{"name": "free", "command": ["$program", "good"], "read": ["$program"]}]}
END
export PARLEY_TEXT_CHAT=all PARLEY_TEXT_COALESCE_S=0 PARLEY_TEXT_SPACING_S=0 PARLEY_TEXT_PER_HOUR=60 PARLEY_TEXT_REPLY_SHARE=100
export PARLEY_TEXT_REPLY_SHORT=100
where=$TEXT
writes $BOB "hey parley, the bell rang twice"
bell=$written
start control "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --config "$D/config.json" --log debug
until_ok 20 grep -qs ' ready ' "$D/control.log" || bad control "not ready"
until_ok 30 grep -qa 'mcp_server server=.* state=ready' "$D/control.log" || bad mcp "$(grep mcp "$D/control.log")"

# ---- stickers, forwards, polls, embeds ----
where=$(api POST /users/$ALICE/direct '{}' | field id)
writes $ALICE "" ',"sticker_items":[{"id":"1","name":"Wave","format_type":1}]'
sticker=$written
until_ok 10 answered "$sticker" && told '[sticker: Wave]' && ok "a direct message that is only a sticker is answered" ||
	bad "a sticker" "$(messages; tail -1 "$D/asked")"
writes $ALICE "" "$(forward $TEXT "$bell")"
until_ok 10 answered "$written" && told '[forwarded: hey parley, the bell rang twice]' && ok "and one that is only forwarded" ||
	bad "a forward" "$(messages; tail -1 "$D/asked")"
is "without a warning sign" "$(messages | grep -c "$WARN")" 0
place polls
writes $BOB "" ',"poll":{"question":{"text":"Tea?"},"answers":[{"answer_id":1,"poll_media":{"text":"Yes"}},{"answer_id":2,"poll_media":{"text":"No"}}]}'
writes $BOB "" ',"embeds":[{"title":"Build 7","description":"It failed [again]"},{"image":{}}]'
writes $ALICE "<@$BOT> what is this"
until_ok 10 answered "$written" || bad "a poll and an embed" "$(messages)"
told '[poll: Tea? / Yes / No]' && told '[embed: Build 7 / It failed  again ]' && ok "a poll and an embed are told" || bad "a poll and an embed" "$(tail -1 "$D/asked")"
place news
writes $BOB "look: http://x/" ',"embeds":[{"title":"A page","description":"of somebody"}]'
writes $ALICE "<@$BOT> and this" ",\"reply_to\":\"$written\""
until_ok 10 answered "$written" || bad "a reply" "$(messages)"
writes $ALICE "<@$BOT> and this again"
until_ok 10 answered "$written" || bad "a line" "$(messages)"
told 'look: http://x/' && ! told 'A page' && ok "the preview of a link is not told beside the author's own words" || bad "a preview" "$(tail -1 "$D/asked")"
place free
writes $ALICE "<@$BOT> be free"
until_ok 10 answered "$written" && ! asks && ok "an allowed tool needs no yes" || bad "an allowed tool" "$(messages)"
place forwards
writes $ALICE "" "$(forward $TEXT "$bell")"
forwarded=$written
writes $ALICE "<@$BOT> be free"
until_ok 10 answered "$written" && told 'Text of strangers was read' && ok "but after a forwarded message it is held back" || bad "a forward" "$(messages; tail -1 "$D/asked")"
is "which addresses nobody, whatever it says" "$(answers "$forwarded")" 0

# ---- threads ----
where=$TEXT
writes $BOB "<@$BOT> hello"
hello=$written
until_ok 10 answered "$hello" || bad "a mention" "$(messages)"
thread() { where=$(api POST "/channels/$TEXT/threads" "{\"user_id\":\"$ALICE\",\"name\":\"bells\",\"message_id\":\"$1\"}" | field id); }
thread "$bell"
writes $ALICE "<@$BOT> what rang"
until_ok 10 answered "$written" && told '[Bob]: hey parley, the bell rang twice' && ok "in a thread the model is told the message from which it was started" ||
	bad "a thread" "$(messages; tail -1 "$D/asked")"
api PATCH "/channels/$TEXT/messages/$bell" '{"content":"the bell rang thrice"}' >/dev/null
writes $ALICE "<@$BOT> are you sure"
until_ok 10 answered "$written" && told 'the bell rang thrice' && ! told 'rang twice' && ok "as it is now" || bad "an edit" "$(tail -1 "$D/asked")"
api DELETE "/channels/$TEXT/messages/$bell" >/dev/null
writes $ALICE "<@$BOT> still"
until_ok 10 answered "$written" && ! told 'rang thrice' && ok "and not once it is deleted" || bad "a deletion" "$(tail -1 "$D/asked")"
thread "$hello"
writes $ALICE "<@$BOT> go on"
until_ok 10 answered "$written" && told '[Bob]: @parley hello' || bad "a thread" "$(tail -1 "$D/asked")"
is "it is no address there" "$(messages | grep -c '^parley|')" 1
report
