#!/bin/sh
# SIGKILL and SIGTERM to control in the middle of an answer: mediad plays the answer to its end, and the next control takes it over.
# The room hears that an answer which had not begun is lost. The next control answers the slash commands that waited.
#
#   tests/scenarios/control_killed.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-control-XXXXXX)
. tests/scenarios/common

start_guildd
unset PARLEY_BRAIN_URL
mkdir "$D/brain" "$D/out"
start_mediad mediad
mediad=$last
start_mediad caller
# brain SCRIPT: a provider with this script on the port that control knows; it hears the question in any speech.
port=0
brain() {
	printf 'commit transcript parley tell me a story\n%b' "$1" >"$D/script"
	start standin "$B/standin" openai --port $port --script "$D/script"
	brain=$last
	until_ok 10 grep -qs '"port"' "$D/standin.out" || bad "the provider" "not up"
	port=$(field port <"$D/standin.out")
}
n=0
control() { # starts the next control: its pid in $control, its log in $log
	n=$((n + 1))
	log=$D/control$n.log
	start control$n "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" --config "$D/parley.json"
	control=$last
}
room() { api GET "/channels/$1/messages"; }
said() { room $VOICE | grep -qF "$1"; }
LOST="I was restarted before my answer was complete"
STORY="one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty and now all of them again and again and then once more from ten down to one"
# sounds AFTER: prints the bot's sounds that began after this time, a line each: first and last packet, in ms since 1970.
sounds() {
	api GET /history | tr '{' '\n' | grep '"sound"' | grep "\"user_id\":\"$BOT\"" | sed -nE 's/.*"from_ms":([0-9]+),"to_ms":([0-9]+).*/\1 \2/p' |
		awk -v after="$1" '$1 >= after'
}
speaks() { [ -n "$(sounds "$asked")" ]; }
quiet() {
	local at
	at=$(sounds "$asked" | tail -1)
	[ "${at#* }" -lt $(($(date +%s%3N) - 1500)) ] 2>/dev/null
}
in_call() { up $GUILD && grep -q 'call_state.*phase=up' "$log"; }
# question: alice asks; the time goes to $asked.
question() {
	until_ok 20 grep -q engine_up "$log" || bad "the brain" "not up"
	asked=$(date +%s%3N)
	"$B/caller" --api "http://127.0.0.1:$API" --media-sock "$D/caller.sock" --offlined "$B/offlined" --record "$D/brain" --out "$D/out" \
		--guild $GUILD --channel $VOICE --user $ALICE --bot $BOT --say "parley tell me a story" >"$D/ask.out" 2>&1 &
	caller=$!
	started="$started $caller"
}
hangs_up() { kill "$caller" 2>/dev/null; wait "$caller" 2>/dev/null; caller=; }
brain "response say $STORY\n"
cat >"$D/parley.json" <<END
{"providers": [{"name": "brain", "dialect": "openai", "url": "http://127.0.0.1:$port/v1"}], "roles": {"voice": ["brain"], "transcribe": ["brain"]}}
END
control
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"

# ---- the answer goes on to its end ----
question
until_ok 30 speaks && sleep 1
until_ok 60 quiet || bad "an answer" "it does not end"
whole=$(sounds "$asked" | awk '{ t += $2 - $1 } END { print t }')
within "an answer lasts, in ms" "$whole" 5000 30000
hangs_up
# answer_across SIGNAL: within an answer control gets the signal, and a second later there is another one.
answer_across() {
	question
	until_ok 30 speaks || bad "$1: the bot answers" "$(tail -3 "$log")"
	sleep 1
	kill "-$1" "$control"
	wait "$control" 2>/dev/null
	sleep 1
	control
	until_ok 10 in_call && ok "$1: the next control has the call" || bad "$1: the next control has the call" "$(tail -3 "$log")"
	until_ok 60 quiet
	hangs_up
	sounds "$asked" >"$D/sounds"
	within "$1: the answer goes on to its end; its sound in ms" "$(awk '{ t += $2 - $1 } END { print t }' "$D/sounds")" $((whole - 150)) $((whole + 150))
	within "$1: its longest silence, in ms" "$(awk 'NR > 1 { print $1 - last } { last = $2 }' "$D/sounds" | sort -n | tail -1)" 0 400
	said "$LOST" && bad "$1: nobody says that it was cut" "$(room $VOICE)" || ok "$1: nobody says that it was cut"
}
answer_across KILL
answer_across TERM
is "all that in one main session" "$(count $BOT main_identified)" 1
is "and in one voice session" "$(count $BOT voice_identified)" 1

# ---- an answer of which some had not come, or nothing ----
# lost SIGNAL WHAT SCRIPT: killed when the turn is noted, and the answer begins if SCRIPT lets it.
noted() { grep -q "\"turns\":\[{.*\"speaking\":$1" "$D/state/session.json"; }
lost() {
	local before
	before=$(room $VOICE | grep -oF "$LOST" | wc -l)
	kill "$brain"
	wait "$brain" 2>/dev/null
	brain "$3"
	kill9 "$control"
	control
	question
	until_ok 30 noted "$4" && ok "$1, $2: the turn is noted" || bad "$1, $2: the turn is noted" "$(cat "$D/state/session.json")"
	sleep 0.5
	kill "-$1" "$control"
	wait "$control" 2>/dev/null
	# One that is killed before it has the call forgets no question.
	kill -STOP "$mediad"
	control
	sleep 1
	kill9 "$control"
	kill -CONT "$mediad"
	control
	until_ok 10 in_call
	sleep 3
	hangs_up
	is "$1, $2: the room is told, once" $(($(room $VOICE | grep -oF "$LOST" | wc -l) - before)) 1
	grep -q '"turns":\[\]' "$D/state/session.json" && ok "$1, $2: and not again" || bad "$1, $2: and not again" "$(cat "$D/state/session.json")"
}
lost KILL "before the answer" "response delay 20000\n" false
lost KILL "within what the provider sends" "response say $STORY\nresponse gap 400\n" true
lost TERM "which takes the provider too long" "response delay 30000\n" false

# ---- commands ----
answer_of() { api GET "/interactions/$1" | sed -nE 's/.*"content": ?"((\\.|[^"\\])*)".*/\1/p'; }
answered() { [ -n "$(answer_of "$1")" ]; }
ask_for() { api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"$1\"${2:-}}" | field id; }
api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"leave\"}" >/dev/null
gone() { ! up $GUILD; }
until_ok 10 gone
# A voice server that does not answer: /join waits.
for signal in KILL TERM; do
	switch '{"voice_refuse":1}'
	id=$(ask_for join ",\"options\":[{\"name\":\"channel\",\"type\":7,\"value\":\"$VOICE\"}]")
	until_ok 5 grep -q '"commands":\[{' "$D/state/session.json" || bad "$signal: a command that waits" "is not kept"
	kill "-$signal" "$control"
	wait "$control" 2>/dev/null
	answered "$id" && bad "$signal: /join waits" "$(answer_of "$id")"
	switch '{"voice_refuse":0}'
	control
	until_ok 20 answered "$id"
	is "$signal: /join is answered by the next control" "$(answer_of "$id" | grep -c "I am in <#$VOICE>")" 1
	kept() { ! grep -q '"commands":\[\]' "$D/state/session.json"; }
	until_ok 5 eval '! kept' && ok "$signal: and its token is kept no longer" || bad "$signal: and its token is kept no longer" "it is"
	ask_for leave >/dev/null
	until_ok 10 gone
done
# Sent while no control is there: in time for Discord, and too late.
kill9 "$control"
id=$(ask_for status)
control
until_ok 10 answered "$id" && ok "a command sent in between is answered" || bad "a command sent in between is answered" "$(tail -3 "$log")"
# Discord may be back before mediad has told what it holds.
case $(answer_of "$id") in *"audio processes"*) bad "and misses no mediad that runs" "$(answer_of "$id")" ;; *) ok "and misses no mediad that runs" ;; esac
kill9 "$control"
id=$(ask_for status)
sleep 3.5
control
missed() { room $TEXT | grep -qF "I was away when somebody used /status here"; }
until_ok 10 missed && ok "a command that Discord gave up is told in its channel" || bad "a command that Discord gave up is told" "$(grep command "$log")"
is "and not carried out" "$(answer_of "$id")" ""
# Answered less than a second before control dies: Discord sends the command again, and it is not carried out again.
id=$(ask_for status)
until_ok 10 answered "$id"
until_ok 1 grep -q 'command .*kind=status' "$log"
kill9 "$control"
is "a command is answered, once" "$(grep -c 'command .*kind=status' "$log")" 1
control
until_ok 10 grep -q command_answered_before "$log"
sleep 2
is "and not again by the next control" "$(grep -c 'command .*kind=status' "$log")" 0
# Killed as soon as the call is up, or left: the next control knows.
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
sleep 0.2
kill9 "$control"
control
id=$(ask_for status)
until_ok 10 answered "$id"
case $(answer_of "$id") in *"**Call:** up in"*) ok "a call that had just come up is taken over" ;; *) bad "a call that had just come up is taken over" "$(answer_of "$id")" ;; esac
ask_for leave >/dev/null
until_ok 10 gone
sleep 0.2
kill9 "$control"
control
sleep 5
gone && ok "and a call that had just been left is not joined again" || bad "a call that had just been left" "the bot is there again"
is "all that in one main session" "$(count $BOT main_identified)" 1
report
