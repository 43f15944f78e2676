#!/bin/sh
# control is killed between two questions, and then within an answer: the next control knows what was said before, and its members can
# talk over the answer that goes on.
#
#   tests/scenarios/recalled.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-recalled-XXXXXX)
. tests/scenarios/common

start_guildd
unset PARLEY_BRAIN_URL
mkdir "$D/brain" "$D/out"
start_mediad mediad
mediad=$last
start_mediad caller
mouth=$last
port=0 brain=
# brain WORDS SCRIPT: a provider that hears these words in any speech, on the port that control knows.
brain() {
	[ -z "$brain" ] || { kill "$brain"; wait "$brain" 2>/dev/null; }
	printf 'commit transcript %s\n%b' "$1" "$2" >"$D/script"
	rm -f "$D/standin.out" # of the one before
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
in_call() { up $GUILD && grep -q 'call_state.*phase=up' "$log"; }
# says [OPTIONS]: alice speaks, and stays; her pid goes to $caller.
says() {
	until_ok 20 grep -q engine_up "$log" || bad "the brain" "not up"
	asked=$(date +%s%3N)
	"$B/caller" --api "http://127.0.0.1:$API" --media-sock "$D/caller.sock" --offlined "$B/offlined" --record "$D/brain" --out "$D/out" \
		--guild $GUILD --channel $VOICE --user $ALICE --bot $BOT --say "parley this is about a story" "$@" >"$D/ask.out" 2>&1 &
	caller=$!
	started="$started $caller"
}
hangs_up() { kill "$caller" 2>/dev/null; wait "$caller" 2>/dev/null; caller=; }
# leaves: alice is gone, with her mediad, which would keep her in the channel.
leaves() {
	hangs_up
	kill "$mouth"
	wait "$mouth" 2>/dev/null
	rm -f "$D/caller.sock"
	start_mediad caller
	mouth=$last
}
answered() { grep -q 'turn .*reason=answered' "$log"; }
# sounds: prints the bot's sounds since the question, a line each: first and last packet, in ms since 1970.
sounds() {
	api GET /history | tr '{' '\n' | grep '"sound"' | grep "\"user_id\":\"$BOT\"" | sed -nE 's/.*"from_ms":([0-9]+),"to_ms":([0-9]+).*/\1 \2/p' |
		awk -v after="$asked" '$1 >= after'
}
speaks() { [ -n "$(sounds)" ]; }
quiet() {
	local at
	at=$(sounds | tail -1)
	[ "${at#* }" -lt $(($(date +%s%3N) - 1500)) ] 2>/dev/null
}
told() { "$B/control" --context --state-dir "$D/state" 2>&1; }
brain "parley my name is Zoe" "response say nice to meet you\n"
cat >"$D/parley.json" <<END
{"interruptions": "anyone", "barge_in_ms": 900, "keep_contexts": true,
 "providers": [{"name": "brain", "dialect": "openai", "url": "http://127.0.0.1:$port/v1"}], "roles": {"voice": ["brain"], "transcribe": ["brain"]}}
END
control
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 in_call || bad "the call" "not up"

# ---- what was said before ----
says
until_ok 40 answered || bad "the first question" "$(grep ' turn ' "$log")"
hangs_up
sleep 1
kill9 "$control"
brain "parley what is my name" "response say one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty and now all of them again and again and then once more from ten down to one\n"
control
until_ok 10 in_call && ok "the next control has the call" || bad "the next control has the call" "$(tail -3 "$log")"
until_ok 10 grep -q words_recalled "$log"
is "it recalls the question and the answer" "$(grep -o 'words_recalled.*lines=[0-9]*' "$log" | grep -o '[0-9]*$')" 2
# The next question, and of its answer the first second.
says --line '6000 wait a moment please let me say something else about it now'
until_ok 40 speaks || bad "the second question" "$(tail -3 "$log")"
within "the model is told both" "$(told | grep -cE 'my name is Zoe|nice to meet you')" 2 9

# ---- an answer that goes on can be talked over ----
sleep 1
kill9 "$control"
# Whoever speaks over it gets no other answer: that would stop this one, too.
brain "parley what is my name" "response delay 40000\n"
sed -i 's/{"interruptions"/{"store_words_hours": 0, "interruptions"/' "$D/parley.json"
control
until_ok 10 in_call
until_ok 10 grep -q words_recalled "$log"
is "it recalls no words that may no longer be kept" "$(grep -oE 'words_recalled.*lines=[0-9]*' "$log" | grep -o '[0-9]*$')" 0
began=$(sounds | head -1)
until_ok 40 quiet
ended=$(sounds | tail -1)
lasted=$((${ended#* } - ${began% *}))
hangs_up
within "an answer that goes on is stopped by speech over it; it lasted, in ms" $lasted 3000 10500
is "and that is no lost answer" "$(grep -c 'turns_inherited.*whole=1' "$log")" 1

# ---- what belongs to one channel stays there ----
OTHER=$(api POST "/guilds/$GUILD/channels" '{"type":"voice","name":"Other"}' | field id)
sed -i 's/"store_words_hours": 0/"store_words_hours": 24, "call_grace_ms": 60000/' "$D/parley.json"
kill9 "$control"
brain "parley what is my name" "response say one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty and now all of them again and again and then once more from ten down to one\n"
control
until_ok 10 in_call
says
until_ok 40 speaks || bad "the third question" "$(tail -3 "$log")"
sleep 1
kill9 "$control"
control
until_ok 10 in_call
api POST /users/$BOT/move "{\"channel_id\":\"$OTHER\"}" >/dev/null
moved=$(date +%s%3N)
until_ok 10 grep -q 'playback_inherited.*end=' "$log"
within "an answer of the control before ends with its channel; in ms" $(($(date +%s%3N) - moved)) 0 3000
is "and was stopped" "$(grep -o 'playback_inherited.*end=[a-z]*' "$log" | grep -o '[a-z]*$')" stopped
leaves
VOICE=$OTHER says
until_ok 40 answered || bad "the question elsewhere" "$(tail -3 "$log")"
leaves
is "the model is told nothing of the other channel" "$(told | grep -c 'nice to meet you\|my name is Zoe')" 0
api POST /users/$BOT/kick >/dev/null
out() { grep -q 'call_over' "$log"; }
until_ok 10 out || bad "the kick" "not noticed"
: >"$log"
join $TEXT $VOICE
until_ok 10 in_call || bad "the call" "not up again"
says
until_ok 40 answered || bad "the question after the kick" "$(tail -3 "$log")"
is "nor after it was thrown out of there within the grace" "$(told | grep -c 'one two three')" 0
hangs_up
ls -l "$D/state" | grep -E 'session.json|parley.db' | grep -vq '^-rw-------' && bad "words are for the owner alone" "$(ls -l "$D/state")" || ok "words are for the owner alone"
report
