#!/bin/sh
# The speech model of the embedded engine is missing: the room is told, /status and --check name it, and when it is there again the
# bot answers.
#
#   tests/scenarios/no_model.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-model-XXXXXX)
. tests/scenarios/common
case $B in /*) ;; *) B=$PWD/$B ;; esac

# control looks for offlined beside itself: this script stands there, and names a missing folder until $D/installed is made.
mkdir "$D/bin"
cp "$B/control" "$D/bin/"
cat >"$D/bin/offlined" <<-END
	#!/bin/sh
	while [ -e "$D/slow" ]; do sleep 0.1; done
	[ -e "$D/installed" ] || set -- "\$@" --model /nonexistent
	exec "$B/offlined" "\$@"
END
chmod +x "$D/bin/offlined"

start_guildd
unset PARLEY_BRAIN_URL
"$D/bin/control" --spawn-mediad="$B/mediad" --state-dir "$D/state" --ca "$CA" --check >"$D/check" 2>&1
is "check fails" $? 1
grep -q "missing  speech model: install the Debian package pocketsphinx-en-us" "$D/check" && ok "and names the package" || bad "and names the package" "$(cat "$D/check")"
echo '{"reply_path": "brain", "providers": [{"name": "a", "dialect": "anthropic"}], "roles": {"text": ["a"]}}' >"$D/keyless.json"
"$D/bin/control" --config "$D/keyless.json" --state-dir "$D/state" --ca "$CA" --check >"$D/check" 2>&1
grep -q "needs a key: set a key_file in its line of providers" "$D/check" && ok "and asks for no key of another service" ||
	bad "and asks for no key of another service" "$(cat "$D/check")"
sed -i 's/"reply_path": "brain", //' "$D/keyless.json"
"$D/bin/control" --config "$D/keyless.json" --state-dir "$D/state" --ca "$CA" --check >"$D/check" 2>&1
grep -q 'warning  a: nothing asks it: the role text .*set "reply_path": "brain"' "$D/check" && ok "and says that nothing asks a text model" ||
	bad "and says that nothing asks a text model" "$(cat "$D/check")"
"$B/offlined" --listen 127.0.0.1:0 --model /nonexistent >"$D/demo" 2>&1
is "so does offlined, as make demo runs it" "$? $(grep -c "pocketsphinx-en-us" "$D/demo")" "3 1"

touch "$D/slow"
start control "$D/bin/control" --spawn-mediad="$B/mediad" --state-dir "$D/state" --ca "$CA"
until_ok 10 registered || bad commands "not registered"
api POST /users/$ALICE/join "{\"channel_id\":\"$VOICE\"}" >/dev/null
join $TEXT $VOICE
room() { api GET "/channels/$VOICE/messages"; }
said() { room | grep -qF "$1"; }
answered() { STATUS=$(api GET "/interactions/$1" | sed -nE 's/.*"content": ?"((\\.|[^"\\])*)".*/\1/p') && [ -n "$STATUS" ]; }
status_has() {
	local id
	id=$(api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"status\"}" | field id)
	STATUS=
	until_ok 5 answered "$id" && case $STATUS in *"$1"*) true ;; *) false ;; esac
}
asks() {
	local id
	id=$(api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"ask\",\"options\":[{\"name\":\"question\",\"type\":3,\"value\":\"what time is it\"}]}" | field id)
	STATUS=
	until_ok 5 answered "$id" && case $STATUS in *"$1"*) true ;; *) false ;; esac
}
asks "I have only just started. Please ask again in a moment." && ok "a question before the engine is there" || bad "a question before the engine is there" "$STATUS"
rm "$D/slow"
until_ok 15 said "my speech model is missing" && ok "the room is told what is wrong" || bad "the room is told what is wrong" "$(room)"
status_has "its speech model is missing" && ok "so says status" || bad "so says status" "$STATUS"
case $STATUS in *"still starting"*) bad "and not that it starts" "$STATUS" ;; *) ok "and not that it starts" ;; esac
asks "I have no answer" && ok "a question says no more that it starts" || bad "a question says no more that it starts" "$STATUS"
until_ok 5 status_has "speech model missing 1× (now)" && ok "the fault is counted" || bad "the fault is counted" "$STATUS"
touch "$D/installed"
until_ok 20 said "I can answer again" && ok "when it is installed the room is told" || bad "when it is installed the room is told" "$(room)"
until_ok 5 status_has "the small one built in, connected" && ok "and the engine serves" || bad "and the engine serves" "$STATUS"
is "nothing was told twice" "$(room | grep -oF "my speech model is missing" | wc -l)" 1
report
