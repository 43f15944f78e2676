#!/bin/sh
# The settings file is read again while the program runs: what changed is heeded in the room that is on, a file with a fault
# changes nothing, what cannot change says so; and a room that is left has its end in the log.
#
#   tests/scenarios/reload.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-reload-XXXXXX)
. tests/scenarios/common

lines() { grep -acE "$1" "$D/control.log"; }
said() { [ "$(lines "$1")" -ge "${2:-1}" ]; }
# hup TEXT: the settings file has this text now, and control is told so.
hup() {
	printf '%s\n' "$1" >"$D/parley.json"
	kill -HUP "$control"
}
# told WHAT PATTERN [TIMES]: a line of the log that comes.
told() { until_ok 5 said "$2" "${3:-1}" && ok "$1" || bad "$1" "no line: $2"; }

start_guildd
start_mediad mediad
mkdir "$D/rooms"
printf '{ "silence_ms": 700 }\n' >"$D/parley.json"
# Nobody thinks at that address: this is about the settings.
PARLEY_BRAIN_URL=ws://127.0.0.1:9/ PARLEY_HOLD_MS=100 PARLEY_ROOM_JOURNALS=$D/rooms start control "$B/control" \
	--media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" --config "$D/parley.json" --log debug
control=$last
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad join "the call is not up"

hup '{ "silence_ms": 700, "instructions": "Be brief." }'
told "what changed is heeded at once" 'setting_changed name=instructions effect="?immediately'
is "what did not change is not told" "$(lines 'name=silence_ms')" 0
told "the live room's journal has what it is under now" 'settings_read changed=1'
until_ok 5 grep -qa 'Be brief\.' "$D"/rooms/* && ok "and was told of it" || bad "room" "its journal does not have it"

hup '{ "silence_ms": 7, "instructions": "Nobody reads this.", "nonsense": 1 }'
told "a file with faults: each is told with its line" 'settings_fault text=".*parley.json:1: ..silence_ms.. must be a whole number'
told "all of them" 'settings_fault .*there is no setting ..nonsense..'
told "and that the old settings stay, once" 'settings_kept'
hup 'this is no JSON'
told "a file that is none" 'settings_kept' 2
is "nothing of them was taken over" "$(lines 'Nobody reads this|settings_read') $(grep -ca 'Nobody reads' "$D"/rooms/*)" "1 0"
rm "$D/parley.json"
kill -HUP "$control"
told "a file that is gone" 'settings_kept' 3

echo sk-of-no-use >"$D/key"
hup "{ \"instructions\": \"Be brief.\", \"openai_api_key_file\": \"$D/key\", \"asr_model\": \"whisper-1\", \"hold_ms\": 5000 }"
told "a new key counts at once" 'setting_changed name=openai_api_key effect="?immediately'
told "what waits for a call says so" 'setting_changed name=asr_model effect="on the next call"'
is "and no secret with it" "$(lines 'sk-of')" 0
is "the environment counts more" "$(lines 'name=hold_ms')" 0
until_ok 3 up $GUILD && ok "the call went on" || bad "call" "is not up any more"

hup '{ "inactivity_s": 1 }'
told "a limit that is passed already ends the session of the live room" 'session_over .*why=inactivity_timeout'
gone() { ! up $GUILD; }
until_ok 10 gone && ok "and it left" || bad leave "the call is still up"

# ---- the end ----
hup '{ }'
told "back to the defaults" 'setting_changed name=inactivity_s' 2
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "join again" "the call is not up"
api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"leave\"}" >/dev/null
told "who is told to leave has its end" 'session_over .*why=nl_leave'
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "join for the third time" "the call is not up"
kill -TERM "$control"
wait "$control"
is "it ends in order" $? 0
told "and its room with it" 'session_over .*why=shutdown'
is "which stands in the log before the end of the program" "$(tail -3 "$D/control.log" | grep -c 'session_over .*why=shutdown')" 1
report
