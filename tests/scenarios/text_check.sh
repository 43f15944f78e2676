#!/bin/sh
# Settings of text chat that mean something else than was meant: lists of ids that hold names are refused at the start and by --check,
# --check tells of settings that do nothing, of ids that are no channels, and of permissions that a text channel or a thread lacks.
#
#   tests/scenarios/text_check.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-text-check-XXXXXX)
. tests/scenarios/common
where=$TEXT

start_guildd
export PARLEY_BRAIN_URL=ws://127.0.0.1:9/
# checked SETTING… [-- OPTIONS…]: what --check says; its status goes to $rc.
checked() {
	local set=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do set+=("$1"); shift; done
	[ $# = 0 ] || shift
	out=$(env "${set[@]}" "$B/control" --media-sock "$D/none.sock" --state-dir "$D/state" --ca "$CA" --check "$@" 2>&1)
	rc=$?
}
has() { grep -qE "$2" <<<"$out" && ok "$1" || bad "$1" "$out"; }
hasnt() { grep -qE "$2" <<<"$out" && bad "$1" "$out" || ok "$1"; }

# ---- lists of ids ----
for list in BLOCKED_USERS TEXT_CHANNELS TEXT_BLOCKED_CHANNELS TEXT_DIRECT_USERS TEXT_INITIATIVE_CHANNELS ALLOWED_CHANNELS BLOCKED_CHANNELS; do
	out=$(env PARLEY_TEXT_CHAT=all "PARLEY_$list=12, alice" timeout 20 "$B/control" --media-sock "$D/none.sock" --state-dir "$D/state" --ca "$CA" 2>&1)
	is "control does not start with a name in $list" $? 2
	has "and says what it must hold" "PARLEY_$list must be ids of Discord, .*not \"alice\""
done
checked PARLEY_TEXT_CHAT=all PARLEY_BLOCKED_USERS=alice
is "--check fails then" $rc 1
has "and says so" 'PARLEY_BLOCKED_USERS must be ids of Discord'
printf '{"text_chat":"all",\n"text_channels":"general"}\n' >"$D/faults.json"
out=$("$B/control" --config "$D/faults.json" --media-sock "$D/none.sock" --state-dir "$D/state" --ca "$CA" 2>&1)
is "nor with one in the settings file" $? 2
has "with its line" 'faults.json:2: "text_channels" must be ids of Discord'

# ---- values of the environment that a setting cannot have ----
out=$(env PARLEY_TEXT_CHAT=mention timeout 20 "$B/control" --media-sock "$D/none.sock" --state-dir "$D/state" --ca "$CA" 2>&1)
is "control does not start with a wrong word in the environment" $? 2
has "and says what it may be" '^control: PARLEY_TEXT_CHAT cannot be "mention": it must be off, mentions or all$'
checked PARLEY_TEXT_CHAT=mention
is "--check fails then, too" $rc 1
has "and says so" '^missing +settings: PARLEY_TEXT_CHAT cannot be "mention"'
checked PARLEY_TEXT_PER_HOUR=501
has "a number out of its range is clamped" '^warning +environment: PARLEY_TEXT_PER_HOUR .*"500" is used'

# ---- settings that do nothing ----
checked PARLEY_TEXT_CHAT=mentions PARLEY_TEXT_PER_HOUR=0 PARLEY_TEXT_INITIATIVE=yes PARLEY_TEXT_UNSOLICITED=yes
has "--check tells of a limit of no answers" '^warning +text chat: text_per_hour is 0'
is "before it asks Discord" "$(grep -nE '^warning +text chat: text_per_hour|^ok +token' <<<"$out" | sed -n '1s/.*text_per_hour.*/first/p')" first
hasnt "and does not say that the bot answers" '^ok +text chat'
has "of an initiative without channels" '^warning +text chat: text_initiative does nothing without'
has "of unsolicited answers with mentions" '^warning +text chat: text_unsolicited does nothing'
checked -u PARLEY_BRAIN_URL PARLEY_MEMORY_EXTRACT=yes PARLEY_MEMORY_REFLECT=yes
has "of a memory that no text model serves" '^warning +memory: memory_extract and memory_reflect are without effect'
checked -u PARLEY_BRAIN_URL PARLEY_MEMORY_REFLECT=yes PARLEY_TEXT_URL=http://127.0.0.1:9/v1
hasnt "and not where one does" '^warning +memory:'
printf '{"providers": [{"name": "e", "dialect": "openai", "url": "http://127.0.0.1:9/v1"}], "roles": {"embed": ["e"]}}' >"$D/embed.json"
checked -- --config "$D/embed.json"
has "of a provider of embeddings without a model" '^warning +memory search: the provider e has no model'
out=$("$B/control" --export --state-dir "$D/state" 2>&1)
is "an option is not taken for the value of another one" $? 2
has "and it is said where a value is missing" '^control: the value is missing before: --state-dir$'
checked PARLEY_TEXT_CHAT=all "PARLEY_TEXT_CHANNELS=<#$TEXT> 999999999999999999" PARLEY_BLOCKED_CHANNELS=999999999999999998
has "of an id that is no channel" '^warning +text_channels: names 999999999999999999, which is no channel'
has "also in another list" '^warning +blocked_channels: names 999999999999999998'
hasnt "and not of one that is" "names $TEXT"
hasnt "and of no setting that is at its default" 'text_per_hour|does nothing'
plans=$(api POST "/guilds/$GUILD/channels" '{"type":"category","name":"plans"}' | field id)
checked PARLEY_TEXT_CHAT=all PARLEY_TEXT_BLOCKED_CHANNELS="$plans" PARLEY_BLOCKED_CHANNELS="$plans"
has "a category in a list of text channels stands for its channels" "^ok +text_blocked_channels: names the category $plans"
has "and in one of voice channels for nothing" "^warning +blocked_channels: names $plans, which is a category"
checked PARLEY_TEXT_CHANNELS=$TEXT
has "of channels while text chat is off" '^warning +text_channels: does nothing while text_chat is off'

# ---- what is stored ----
mkdir -p "$D/state"
# stored INTENT: the settings document of the state directory.
stored() {
	rm -rf "$D/state" "$D/control.log"
	PARLEY_WEB_LISTEN=127.0.0.1:0 start control "$B/control" --media-sock "$D/none.sock" --state-dir "$D/state" --ca "$CA"
	until_ok 10 grep -qa web_up "$D/control.log" || bad web "it does not listen"
	local port token=$(cat "$D/state/web-token") body="{\"intent\":$1,\"_meta\":{\"version\":0}}" line
	port=$(sed -nE 's/.*web_up .*port=([0-9]+).*/\1/p' "$D/control.log" | tail -1)
	exec 4<>"/dev/tcp/127.0.0.1/$port"
	printf 'PUT /api/settings HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' \
		"$token" "${#body}" "$body" >&4
	IFS= read -r line <&4
	cat <&4 >/dev/null
	exec 4>&-
	kill -TERM "$last"
	wait "$last"
	case $line in *" 200 "*) true ;; *) bad "the document" "$line" ;; esac
}
new_guild other
stored "{\"text_chat\":\"all\",\"blocked_channels\":\"999999999999999997\",\"guilds\":{\"$GUILD\":{\"text_channels\":\"999999999999999996,$NEW_TEXT,$TEXT\"},\"$NEW\":{\"text_chat\":\"off\",\"text_blocked_channels\":\"$NEW_TEXT\"}}}"
checked X=1
has "--check looks at the stored lists, too" '^warning +blocked_channels: names 999999999999999997, which is no channel'
has "and at those of a server" "^warning +text_channels of server $GUILD: names 999999999999999996, which is no channel"
has "where channels of another server are none" "^warning +text_channels of server $GUILD: names $NEW_TEXT, which is in another server"
hasnt "but not those of this one" "names $TEXT"
has "and which server has text chat off" "^warning +text_blocked_channels of server $NEW: does nothing while text_chat is off"
hasnt "and not the others" "server $GUILD: does nothing"
# ---- what is in effect, and not what the environment says ----
stored '{"text_chat":"mentions"}'
checked X=1
has "a stored text_chat is in effect" '^ok +text chat: works without the Message Content Intent'
has "and the invite asks for its permissions" '^ok +invite: .*permissions=279209675840'
checked X=1 -- --guild $GUILD --channel $TEXT
hasnt "nothing is off then" 'text_chat is off'
stored '{"text_chat":"off"}'
checked PARLEY_TEXT_CHAT=mentions
hasnt "nothing is read where off is stored" '^ok +text chat'
has "nor asks the invite for that" '^ok +invite: .*permissions=4331670528'
checked PARLEY_TEXT_CHAT=mentions -- --guild $GUILD --channel $TEXT
has "and --check says that it is off" '^warning +text chat: text_chat is off'
stored "{\"guilds\":{\"$GUILD\":{\"text_chat\":\"off\"}}}"
for channel in $TEXT $VOICE; do
	checked PARLEY_TEXT_CHAT=mentions -- --guild $GUILD --channel $channel
	has "a server's own text_chat is told where it is off" '^warning +text chat: text_chat of this server is off'
done
hasnt "and not what a voice channel's chat allows" '^ok +text chat: send messages'
checked PARLEY_TEXT_CHAT=mentions -- --guild "$NEW" --channel "$NEW_TEXT"
hasnt "not in another server" 'text_chat of this server'
stored "{\"text_chat\":\"off\",\"guilds\":{\"$GUILD\":{\"text_chat\":\"mentions\"}}}"
checked X=1 -- --guild $GUILD --channel $TEXT
has "a server's own does nothing while it is off for all" "^warning +text chat: text_chat is off for all servers, .*the server's own text_chat does nothing"
stored "{\"guilds\":{\"$GUILD\":{\"text_blocked_channels\":\"$TEXT\",\"text_per_hour\":0}}}"
checked PARLEY_TEXT_CHAT=mentions -- --guild $GUILD --channel $TEXT
has "a limit of no answers of the server is told" '^warning +text chat: text_per_hour of this server is 0'
rm -rf "$D/state"

# ---- lists that leave out the channel that was asked about ----
out_of='^warning +text chat: the bot neither reads nor answers anything in [^:]*: '
checked PARLEY_TEXT_CHAT=all PARLEY_TEXT_BLOCKED_CHANNELS=$TEXT -- --guild $GUILD --channel $TEXT
has "--check says that a channel is blocked" "${out_of}text_blocked_channels names it"
checked PARLEY_TEXT_CHAT=all PARLEY_TEXT_CHANNELS=$VOICE -- --guild $GUILD --channel $TEXT
has "or left out" "${out_of}text_channels names other channels"
checked PARLEY_TEXT_CHAT=all PARLEY_TEXT_CHANNELS=$VOICE -- --guild $GUILD --channel $VOICE
hasnt "not where it is named" "$out_of"
checked PARLEY_TEXT_CHAT=all PARLEY_TEXT_CHANNELS=$TEXT -- --guild $GUILD --channel $VOICE
has "also a voice channel's own chat" "${out_of}text_channels names other channels"
inside=$(api POST "/guilds/$GUILD/channels" "{\"type\":\"text\",\"name\":\"inside\",\"parent_id\":\"$plans\"}" | field id)
checked PARLEY_TEXT_CHAT=all PARLEY_TEXT_BLOCKED_CHANNELS="$plans" -- --guild $GUILD --channel "$inside"
has "a channel is blocked by its category" "${out_of}text_blocked_channels names its category"
under=$(api POST "/channels/$inside/threads" "{\"user_id\":\"$ALICE\",\"name\":\"under\"}" | field id)
checked PARLEY_TEXT_CHAT=all PARLEY_TEXT_BLOCKED_CHANNELS="$inside" -- --guild $GUILD --channel "$under"
has "a thread by its channel" "${out_of}text_blocked_channels names the channel that it is in"
checked PARLEY_TEXT_CHAT=all PARLEY_TEXT_CHANNELS="$plans" -- --guild $GUILD --channel "$under"
hasnt "and let in by its category" "$out_of"
stored "{\"guilds\":{\"$GUILD\":{\"text_channels\":\"$VOICE\"}}}"
checked PARLEY_TEXT_CHAT=all -- --guild $GUILD --channel $TEXT
has "by the server's own list, too" "${out_of}text_channels of this server names other channels"
rm -rf "$D/state"

# ---- channels ----
checked PARLEY_TEXT_CHAT=all -- --guild $GUILD --channel $TEXT
has "--check takes a text channel" '^ok +permissions: send messages in threads'
hasnt "and has nothing to say of its permissions" '^(missing|warning) +(channel|permissions)'
thread=$(api POST "/channels/$TEXT/threads" "{\"user_id\":\"$ALICE\",\"name\":\"plans\"}" | field id)
checked PARLEY_TEXT_CHAT=all -- --guild $GUILD --channel "$thread"
has "and a thread" '^ok +thread: plans'
has "with what it needs there" '^ok +permissions: send messages in threads'
checked -- --guild $GUILD --channel $TEXT
has "and says that text chat is off" '^warning +text chat: text_chat is off'
checked PARLEY_TEXT_CHAT=all -- --guild $GUILD --channel 500
has "but no channel that is none" '^missing +channel: that server has no channel or thread of this id'
checked PARLEY_TEXT_CHAT=all PARLEY_TEXT_CHANNELS=999999999999999995 -- --guild $GUILD --channel $VOICE
has "--check says what it may do in a voice channel's own chat" "^ok +text chat: send messages in the channel's own chat"
has "and looks at the lists there, too" '^warning +text_channels: names 999999999999999995'
api PUT "/channels/$VOICE/overwrites/$GUILD" "{\"type\":\"role\",\"allow\":\"0\",\"deny\":\"$(((1 << 16) | (1 << 15)))\"}" >/dev/null
checked PARLEY_TEXT_CHAT=all -- --guild $GUILD --channel $VOICE
has "and what it lacks there" '^warning +text chat: the bot may not read message history in the chat of'
has "of each" '^warning +text chat: the bot may not attach files in the chat of'
checked PARLEY_TEXT_CHAT=off -- --guild $GUILD --channel $VOICE
hasnt "not without text chat" 'text chat'
deny=$(((1 << 11) | (1 << 6) | (1 << 38)))
api PUT "/channels/$TEXT/overwrites/$GUILD" "{\"type\":\"role\",\"allow\":\"0\",\"deny\":\"$deny\"}" >/dev/null
checked PARLEY_TEXT_CHAT=all -- --guild $GUILD --channel $TEXT
has "--check names what is denied there" '^missing +permissions: the bot may not send messages in '
has "and what it needs beside" '^warning +permissions: the bot may not add reactions in '
has "also for threads" '^warning +permissions: the bot may not send messages in threads in '
has "and what it has" '^ok +permissions: attach files'
checked PARLEY_TEXT_CHAT=all -- --guild $GUILD --channel "$thread"
has "a thread has the permissions of its channel" '^missing +permissions: the bot may not send messages in threads in plans'

# ---- a server where everybody sees nothing, and a role for members opens what they may ----
new_guild gated
role=$(api POST "/guilds/$NEW/roles" "{\"name\":\"members\",\"permissions\":\"$(((1 << 10) | (1 << 16)))\"}" | field id)
api PATCH "/guilds/$NEW/roles/$NEW" '{"permissions":"0"}' >/dev/null
api PATCH "/guilds/$NEW/members/$BOT" "{\"role_ids\":[\"$role\"]}" >/dev/null
checked PARLEY_TEXT_CHAT=all -- --guild "$NEW" --channel "$NEW_TEXT"
has "--check counts what a role of the bot allows" '^ok +permissions: read message history'
has "and nothing else" '^missing +permissions: the bot may not send messages in '
api PUT "/channels/$NEW_TEXT/overwrites/$NEW" '{"type":"role","allow":"0","deny":"1024"}' >/dev/null
checked PARLEY_TEXT_CHAT=all -- --guild "$NEW" --channel "$NEW_TEXT"
has "a channel that is closed to everybody is closed to it" '^missing +permissions: the bot may not see the channel in '
api PUT "/channels/$NEW_TEXT/overwrites/$role" '{"type":"role","allow":"3072","deny":"0"}' >/dev/null
checked PARLEY_TEXT_CHAT=all -- --guild "$NEW" --channel "$NEW_TEXT"
has "and open again where its role is let in" '^ok +permissions: send messages$'

# ---- a Discord that does not answer ----
perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 9) or die; $| = 1; print $s->sockport; sleep 60' >"$D/silent.port" &
silent=$!
started="$started $silent"
until_ok 5 test -s "$D/silent.port" || bad "a port that does not answer" "none"
out=$(PARLEY_DISCORD_API="https://127.0.0.1:$(cat "$D/silent.port")/api/v10" timeout 8 "$B/control" --media-sock "$D/none.sock" --state-dir "$D/state" --ca "$CA" --check 2>&1)
has "--check says that it waits for Discord" '^Discord does not answer yet. Waiting'
report
