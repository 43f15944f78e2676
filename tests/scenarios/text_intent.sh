#!/bin/sh
# The Message Content Intent is not certain: Discord fails when control asks for it at the start, and the intent is withdrawn while the
# bot runs. Neither makes the bot deaf for no reason, and neither ends control.
#
#   tests/scenarios/text_intent.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-text-intent-XXXXXX)
. tests/scenarios/common
where=$TEXT
messages() { api GET "/channels/$where/messages" | perl -MJSON::PP -0777 -ne '
	next unless /\S/; binmode STDOUT, ":utf8";
	for (@{decode_json($_)}) { my $c = $_->{content}; $c =~ s/\n/\\n/g; print join("|", $_->{author}{username}, $_->{nonce} // "", $c), "\n" }'; }
answered() { messages | grep -q "^parley|$1\.0|"; }
ready() { [ "$(grep -cE ' ready ' "$D/control.log")" -ge "$1" ]; }

start_guildd
start_brain
start_mediad one
export PARLEY_TEXT_COALESCE_S=1 PARLEY_TEXT_SPACING_S=0 PARLEY_TEXT_REPLY_SHARE=100 PARLEY_TEXT_REPLY_SHORT=100
# More than one request tries.
api POST /faults '{"method":"GET","contains":"/applications/@me","times":8,"status":503}' >/dev/null
start control env PARLEY_TEXT_CHAT=all "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --log debug
control=$last
until_ok 60 ready 1 || bad control "not ready"
is "that Discord fails says nothing of the intent" "$(grep -c message_content_missing "$D/control.log")" 0
writes $ALICE "parley, what time is it"
until_ok 15 answered "$written" && ok "so the bot hears its name" || bad "its name" "$(messages)"

# ---- the intent is withdrawn, and the session is lost ----
api PATCH /bots/$BOT '{"privileged":0}' >/dev/null
switch '{"main_resume_ms":0}'
api POST "/users/$BOT/drop" '{"which":"main"}' >/dev/null
until_ok 30 ready 2 && ok "control goes on without the intent" || bad "the intent" "$(tail -3 "$D/control.log")"
is "and says so once" "$(grep -c message_content_missing "$D/control.log")" 1
writes $ALICE "<@$BOT> what time is it now"
until_ok 15 answered "$written" && ok "mentions are answered" || bad "a mention" "$(messages)"
kill -0 "$control" && ok "and control runs" || bad control "it has ended"

# ---- Discord does not tell of the intent ----
kill -TERM "$control"
wait "$control"
for intent in 32768 0; do
	api PATCH /bots/$BOT "{\"privileged\":$intent}" >/dev/null
	api POST /faults '{"method":"GET","contains":"/applications/@me","times":3,"status":403}' >/dev/null
	start "untold-$intent" env PARLEY_TEXT_CHAT=all "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state-$intent" --log debug
	until_ok 20 grep -qE ' ready ' "$D/untold-$intent.log" && ok "where Discord does not tell whether it is on, control goes on" ||
		bad "untold" "$(tail -3 "$D/untold-$intent.log")"
	is "and finds it missing if it is off" "$(grep -c message_content_missing "$D/untold-$intent.log")" "$([ $intent = 0 ] && echo 1 || echo 0)"
	kill -TERM "$last"
	wait "$last"
done
report
