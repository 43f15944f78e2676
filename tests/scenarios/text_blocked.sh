#!/bin/sh
# Channels that the settings keep the bot out of, through the real programs: what was written there while the connection to Discord was
# away, or in a thread that is archived, is neither answered nor told to a model, also after the channel is read again.
#
#   tests/scenarios/text_blocked.sh [build folder]      default: build
# text rules 8
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-text-blocked-XXXXXX)
. tests/scenarios/common

of_bot() { api GET "/channels/$where/messages" | perl -MJSON::PP -0777 -ne '
	next unless /\S/; binmode STDOUT, ":utf8";
	for (@{decode_json($_)}) { print "$_->{content}\n" if $_->{author}{username} eq "parley" }'; }
answered() { of_bot | grep -q -e "$1"; }
asked() { grep -q "$1" "$D/asked"; }
resumes() { cat "$D"/control-*.log | grep -c ' resumed '; }
resumed() { [ "$(resumes)" -ge "$1" ]; }
run() {
	runs=$((runs + 1))
	start "control-$runs" "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --config "$D/parley.json" --log debug
	control=$last
	until_ok 10 grep -qsE ' (ready|resumed) ' "$D/control-$runs.log" || bad "control $runs" "not ready"
}
stop() { kill -TERM "$control"; wait "$control"; }
# blocks LIST: the channels that are blocked from now on.
blocks() {
	echo "{\"text_chat\": \"all\", \"text_blocked_channels\": \"$1\"}" >"$D/parley.json"
	[ -z "${control:-}" ] || {
		local before
		before=$(grep -c settings_read "$D/control-$runs.log")
		kill -HUP "$control"
		until_ok 10 sh -c "[ \$(grep -c settings_read '$D/control-$runs.log') -gt $before ]" || bad "the settings" "not read again"
	}
	sleep 1.5 # times of messages are compared with that of the change
}
# silent WHAT WORD: it was not answered or told.
silent() {
	if answered "$2" || asked "$2"; then
		bad "$1" "told $(grep -c "$2" "$D/asked") times: $(of_bot)"
	else
		ok "$1"
	fi
}
away() {
	switch '{"main_away":1}'
	api POST "/users/$BOT/drop" '{"which":"main"}' >/dev/null
}
runs=0
control=
where=$TEXT

start_guildd
mkdir "$D/state"
start one "$B/mediad" --listen "$D/one.sock" --ca "$CA" --threads 1
until_ok 5 test -S "$D/one.sock" || bad start "no mediad"
text_model asked '
	my ($text) = @_;
	note($text);
	join " ", "About", (asked_of($text) =~ /\bword\w+/g);
'
export PARLEY_TEXT_URL="http://127.0.0.1:$(cat "$D/asked.port")/v1" PARLEY_TEXT_COALESCE_S=1 PARLEY_TEXT_SPACING_S=0
blocks "$TEXT"
run
until_ok 60 grep -qE '"session": ?\{"id": ?"[^"]' "$D/state/session.json" || bad "a session" "none is kept"

# ---- unblocked while the connection is away ----
away
writes "$ALICE" "<@$BOT> the vault opens with wordshut"
sleep 1.5
blocks ""
writes "$ALICE" "<@$BOT> and wordopen"
switch '{"main_away":0}'
until_ok 60 resumed 1 || bad "the session" "does not go on: $(tail -3 "$D/control-$runs.log")"
until_ok 10 answered wordopen && ok "what is written after a channel was unblocked, while the connection is away, is answered" || bad "later" "$(of_bot; tail -3 "$D/control-$runs.log")"
silent "what was written there before that is not" wordshut

# ---- blocked while it is away, unblocked later ----
away
blocks "$TEXT"
writes "$ALICE" "<@$BOT> the cellar opens with wordbolted"
sleep 1.5
switch '{"main_away":0}'
until_ok 60 resumed 2 || bad "the session" "does not go on: $(tail -3 "$D/control-$runs.log")"
sleep 1
blocks ""
stop
sed -i -E 's/("session": ?\{"id": ?")[^"]*"/\1gone"/' "$D/state/session.json"
writes "$ALICE" "<@$BOT> and wordunlocked"
run
until_ok 20 answered wordunlocked && ok "a session that cannot be resumed is followed by a look at the channel" || bad "missed" "$(of_bot; tail -3 "$D/control-$runs.log")"
silent "what was written while it was blocked is not answered then, either" wordbolted

# ---- an archived thread of a blocked channel ----
blocks "$TEXT"
thread=$(api POST "/channels/$TEXT/threads" "{\"user_id\":\"$ALICE\",\"name\":\"plans\"}" | field id)
where=$thread
api PATCH "/channels/$thread/thread" '{"archived":true,"locked":false}' >/dev/null
stop
sed -i -E 's/("session": ?\{"id": ?")[^"]*"/\1gone"/' "$D/state/session.json"
run
api POST "/interactions" "{\"user_id\":\"$ALICE\",\"channel_id\":\"$thread\",\"name\":\"ask\",\"options\":[{\"name\":\"question\",\"type\":3,\"value\":\"wordcommand\"}]}" >/dev/null
sleep 3
silent "a question by a command in an archived thread of a blocked channel is not answered" wordcommand
blocks ""
api POST "/interactions" "{\"user_id\":\"$ALICE\",\"channel_id\":\"$thread\",\"name\":\"ask\",\"options\":[{\"name\":\"question\",\"type\":3,\"value\":\"wordallowed\"}]}" >/dev/null
until_ok 10 asked wordallowed && ok "and is once no channel is blocked" || bad "a command" "$(tail -3 "$D/control-$runs.log")"
# ---- a thread that is archived while control is down ----
blocks 7
where=$(api POST "/channels/$TEXT/threads" "{\"user_id\":\"$ALICE\",\"name\":\"tides\"}" | field id)
writes "$ALICE" "<@$BOT> wordfirst"
until_ok 10 answered wordfirst || bad "a thread" "$(of_bot; tail -3 "$D/control-$runs.log")"
sleep 2 # the thread is saved
writes "$ALICE" "<@$BOT> wordowed"
sleep 0.5
kill -KILL "$control"
wait "$control" 2>/dev/null
api PATCH "/channels/$where/thread" '{"archived":true,"locked":false}' >/dev/null
# Long ago, so that nothing of the session is taken up.
perl -pi -e 's/("saved_ms": ?)(\d+)/$1 . ($2 - 600000)/e' "$D/state/session.json"
run
until_ok 20 answered wordowed && ok "a thread that was archived while control was down gets the answer that is owed there" ||
	bad "an archived thread" "$(grep -h "message=$written" "$D"/control-*.log | tail -3)"
report
