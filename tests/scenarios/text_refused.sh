#!/bin/sh
# What Discord refuses for good, and whom a role or a nickname addresses, through the real programs: AutoMod, a locked thread and closed
# direct messages end an answer with a reason of their own, once; the bot's own role is an address, other roles are none.
#
#   tests/scenarios/text_refused.sh [build folder]      default: build
# text rules 2 41 65
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-text-refused-XXXXXX)
. tests/scenarios/common
BOB=502 DJS=7001 OWN=7002 WARN=$(printf '\xe2\x9a\xa0')

# One message a line, in $where.
messages() { api GET "/channels/$where/messages" | perl -MJSON::PP -0777 -ne '
	next unless /\S/; binmode STDOUT, ":utf8";
	for (@{decode_json($_)}) {
		my $c = $_->{content}; $c =~ s/\n/\\n/g;
		print join("|", $_->{author}{username}, $_->{nonce} // "", join(",", map { $_->{emoji}{name} } @{$_->{reactions} || []}), $_->{id}, $c), "\n";
	}'; }
answered() { messages | grep -q "^parley|$1\.0|"; }
ended() { grep -qE " text_message .*message=$1 .*reason=$2" "$D/control.log"; }
# told: prints how many messages say that AutoMod refused an answer.
told() { messages | grep -c "^parley|.*AutoMod did not let my answer through"; }
is_told() { [ "$(told)" -ge "$1" ]; }
posted() { api GET /requests | tr '{' '\n' | grep '"POST"' | grep -c "/channels/$where/messages\""; }

start_guildd
start_brain
for role in "$DJS DJs" "$OWN parley"; do
	set -- $role
	own=
	[ "$1" = $DJS ] || own=",\"bot_id\":\"$BOT\""
	api POST /guilds/$GUILD/roles "{\"id\":\"$1\",\"name\":\"$2\",\"permissions\":\"0\"$own}" >/dev/null
done
api PATCH /guilds/$GUILD/members/$BOT "{\"role_ids\":[\"$DJS\",\"$OWN\"],\"nick\":\"Robin\"}" >/dev/null
start_mediad one
export PARLEY_TEXT_COALESCE_S=1 PARLEY_TEXT_SPACING_S=0 PARLEY_TEXT_PER_HOUR=60 PARLEY_TEXT_REPLY_SHARE=100 PARLEY_TEXT_REPLY_SHORT=100
start control env PARLEY_TEXT_CHAT=all "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --log debug
until_ok 10 grep -qsE ' ready ' "$D/control.log" || bad control "not ready"
where=$TEXT

# ---- whom a role or a nickname addresses ----
writes $ALICE "<@&$OWN> what time is it"
until_ok 15 answered "$written" && ok "a mention of its own role is one of the bot" || bad "its own role" "$(messages)"
writes $ALICE "<@&$DJS> what time is it"
others=$written
writes $BOB "Robin, what time is it"
until_ok 15 answered "$written" && ok "its nickname in the server is one of its names" || bad "its nickname" "$(messages)"
answered "$others" && bad "another role" "answered" || ok "a mention of another role that it holds is none"
api PATCH /guilds/$GUILD/members/$BOT '{"nick":"Wren"}' >/dev/null
writes $BOB "Robin, what time is it now"
former=$written
writes $ALICE "hey Wren what time is it"
until_ok 15 answered "$written" && ok "also a new one" || bad "a new nickname" "$(messages)"
answered "$former" && bad "the former nickname" "answered" || ok "and the former one no more"

# ---- AutoMod ----
switch '{"automod":"It is"}'
writes $BOB "<@$BOT> what time is it"
until_ok 15 is_told 1 && ok "an answer that AutoMod refuses is told in words" || bad "AutoMod" "$(messages)"
until_ok 5 ended "$written" moderated && ok "with its reason" || bad "the reason" "$(grep text_message "$D/control.log" | tail -3)"
writes $BOB "<@$BOT> what time is it then"
until_ok 15 ended "$written" moderated || bad "a second one" "$(grep text_message "$D/control.log" | tail -3)"
sleep 1
is "once, and nothing is sent again" "$(told) $(messages | grep -c "^parley|$written\.")" "1 0"
switch '{"automod":"i"}'
writes $ALICE "<@$BOT> what time is it"
refused=$written
until_ok 15 ended "$refused" moderated || bad "AutoMod" "$(grep text_message "$D/control.log" | tail -3)"
signed() { messages | grep "|$refused|" | grep -q "$WARN"; }
until_ok 5 signed && ok "where AutoMod refuses the words, too, a sign says so" || bad "the sign" "$(messages)"
switch '{"automod":""}'

# ---- a locked thread ----
where=$(api POST "/channels/$TEXT/threads" "{\"user_id\":\"$ALICE\",\"name\":\"clocks\"}" | field id)
writes $ALICE "<@$BOT> what time is it"
until_ok 15 answered "$written" || bad "a thread" "$(messages)"
for archived in true false; do
	writes $ALICE "<@$BOT> what time is it"
	api PATCH "/channels/$where/thread" "{\"archived\":$archived,\"locked\":true}" >/dev/null
	until_ok 15 ended "$written" thread_locked && ok "a thread that is locked meanwhile (archived: $archived) has its own reason" ||
		bad "a locked thread" "$(grep -E 'text_message|text_not_sent' "$D/control.log" | tail -3)"
done
before=$(posted)
sleep 3
is "nothing is sent there again" "$(($(posted) - before)) $(messages | grep -c "^parley|$written\.")" "0 0"

# ---- closed direct messages ----
where=$(api POST /users/$ALICE/direct '{}' | field id)
writes $ALICE "what time is it"
api POST /users/$ALICE/direct '{"closed":true}' >/dev/null
until_ok 15 ended "$written" direct_closed && ok "somebody who takes no direct messages any more has a reason, too" ||
	bad "closed direct messages" "$(grep -E 'text_message|text_not_sent' "$D/control.log" | tail -3)"
api POST /users/$ALICE/direct '{}' >/dev/null
writes $ALICE "what time is it now"
until_ok 15 answered "$written" && ok "and gets answers once they take them again" || bad "open direct messages" "$(messages)"

# ---- a timeout of the bot ----
where=$TEXT
api PATCH /guilds/$GUILD/members/$BOT "{\"timeout\":\"$(date -u -d '+1 hour' +%Y-%m-%dT%H:%M:%S.000000+00:00)\"}" >/dev/null
sleep 1
before=$(posted)
writes $ALICE "<@$BOT> what time is it"
until_ok 15 ended "$written" no_permission && ok "while a moderator has the bot in a timeout it may not write" ||
	bad "a timeout" "$(grep -E 'text_message|text_not_sent' "$D/control.log" | tail -3)"
is "so nothing is sent" "$(posted)" "$before"
api PATCH /guilds/$GUILD/members/$BOT '{"timeout":""}' >/dev/null
sleep 1
writes $ALICE "<@$BOT> what time is it now"
until_ok 15 answered "$written" && ok "and it answers once that is over" || bad "after a timeout" "$(messages)"
report
