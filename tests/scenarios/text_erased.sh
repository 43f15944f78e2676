#!/bin/sh
# Messages from before an erasure that Discord tells afterwards, through the real programs: in a session that goes on, of another control
# and of the same one, they are neither answered, told to a model nor stored; what their author writes later is.
#
#   tests/scenarios/text_erased.sh [build folder]      default: build
# text rules 29
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-text-erased-XXXXXX)
. tests/scenarios/common
ALICE=501777123456789012

of_bot() { api GET "/channels/$where/messages" | perl -MJSON::PP -0777 -ne '
	next unless /\S/; binmode STDOUT, ":utf8";
	for (@{decode_json($_)}) { print "$_->{content}\n" if $_->{author}{username} eq "parley" }'; }
answered() { of_bot | grep -q -e "$1"; }
asked() { grep -q "$1" "$D/asked"; }
resumes() { cat "$D"/control-*.log | grep -c ' resumed '; }
resumed() { [ "$(resumes)" -ge "$1" ]; }
erase() { "$B/control" --state-dir "$D/state" --erase "$ALICE" >"$D/erase" 2>&1 || bad "$1" "$(cat "$D/erase")"; }
stored() { sqlite3 "file:$D/state/parley.db?mode=ro" "SELECT text FROM utterances" | grep -c "$1"; }
run() {
	runs=$((runs + 1))
	start "control-$runs" "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --log debug
	control=$last
	until_ok 10 grep -qsE ' (ready|resumed) ' "$D/control-$runs.log" || bad "control $runs" "not ready"
}
# silent WHAT WORD…: these were not answered, told or stored.
silent() {
	what=$1
	shift
	for w; do
		if answered "$w" || asked "$w" || [ "$(stored "$w")" != 0 ]; then
			bad "$what" "$w; told $(grep -c "$w" "$D/asked") times, stored $(stored "$w") times: $(of_bot)"
			return
		fi
	done
	ok "$what"
}
runs=0
where=$TEXT

start_guildd --set long_ids=1
mkdir "$D/state"
start one "$B/mediad" --listen "$D/one.sock" --ca "$CA" --threads 1
until_ok 5 test -S "$D/one.sock" || bad start "no mediad"
text_model asked '
	my ($text) = @_;
	note($text);
	join " ", "About", (asked_of($text) =~ /\bword\w+/g);
'
export PARLEY_TEXT_URL="http://127.0.0.1:$(cat "$D/asked.port")/v1" PARLEY_TEXT_CHAT=all PARLEY_TEXT_COALESCE_S=1 PARLEY_TEXT_SPACING_S=0
run
until_ok 60 grep -qE '"session": ?\{"id": ?"[^"]' "$D/state/session.json" || bad "a session" "none is kept"

# ---- of another control ----
kill -TERM "$control"; wait "$control"
writes "$ALICE" "<@$BOT> the door opens with wordsecret"
writes "$ALICE" "and the window with wordalarm"
sleep 1
erase "an erasure while no control runs"
sleep 1
run
until_ok 10 resumed 1 || bad "the session" "does not go on"
writes "$ALICE" "<@$BOT> and wordlater"
until_ok 10 answered wordlater && ok "what is written after an erasure is answered" || bad "later" "$(of_bot; tail -3 "$D/control-$runs.log")"
silent "what was written before it, and a session tells that another control began, is not" wordsecret wordalarm

# ---- of the same one, whose connection is lost for a while ----
switch '{"main_away":1}'
api POST "/users/$BOT/drop" '{"which":"main"}' >/dev/null
writes "$ALICE" "<@$BOT> the vault opens with wordhidden"
sleep 1
erase "an erasure while the connection is away"
sleep 1
switch '{"main_away":0}'
until_ok 60 resumed 2 || bad "the session" "does not go on: $(tail -3 "$D/control-$runs.log")"
writes "$ALICE" "<@$BOT> and wordagain"
until_ok 10 answered wordagain || bad "later" "$(of_bot; tail -3 "$D/control-$runs.log")"
silent "nor is what was written before an erasure while the connection was away" wordhidden
report
