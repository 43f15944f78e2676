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

# ---- settings that do nothing ----
checked PARLEY_TEXT_CHAT=mentions PARLEY_TEXT_PER_HOUR=0 PARLEY_TEXT_INITIATIVE=yes PARLEY_TEXT_UNSOLICITED=yes
has "--check tells of a limit of no answers" '^warning +text chat: text_per_hour is 0'
has "of an initiative without channels" '^warning +text chat: text_initiative does nothing without'
has "of unsolicited answers with mentions" '^warning +text chat: text_unsolicited does nothing'
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
	rm -rf "$D/state"
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
report
