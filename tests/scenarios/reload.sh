#!/bin/sh
# control reads the settings file again while it runs: a change takes effect in the active room, a file with a fault changes
# nothing, the log names settings that take effect later; and a room that the bot leaves has its end in the log.
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
# hup TEXT: writes this text to the settings file and sends SIGHUP.
hup() {
	printf '%s\n' "$1" >"$D/parley.json"
	kill -HUP "$control"
}
# told WHAT PATTERN [TIMES]: waits for such a line of the log.
told() { until_ok 5 said "$2" "${3:-1}" && ok "$1" || bad "$1" "no line: $2"; }

start_guildd
start_mediad mediad
mkdir "$D/rooms"
printf '{ "silence_ms": 700 }\n' >"$D/parley.json"
# No provider listens at that address, because the scenario tests settings only.
PARLEY_BRAIN_URL=ws://127.0.0.1:9/ PARLEY_HOLD_MS=100 PARLEY_ROOM_JOURNALS=$D/rooms start control "$B/control" \
	--media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA" --config "$D/parley.json" --log debug
control=$last
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad join "the call is not up"

hup '{ "silence_ms": 700, "instructions": "Be brief." }'
told "a change takes effect immediately" 'setting_changed name=instructions effect="?immediately'
is "an unchanged setting is not logged" "$(lines 'name=silence_ms')" 0
told "one setting changed" 'settings_read changed=1'

hup '{ "silence_ms": 7, "instructions": "Nobody reads this.", "nonsense": 1 }'
told "a file with faults: each is logged with its line" 'settings_fault text=".*parley.json:1: ..silence_ms.. must be a whole number'
told "all of them" 'settings_fault .*there is no setting ..nonsense..'
told "and that the old settings stay, once" 'settings_kept'
hup 'this is no JSON'
told "a file that is no JSON" 'settings_kept' 2
is "none of their settings was applied" "$(lines 'Nobody reads this|settings_read')" 1
rm "$D/parley.json"
kill -HUP "$control"
told "a missing file" 'settings_kept' 3

echo sk-of-no-use >"$D/key"
hup "{ \"instructions\": \"Be brief.\", \"openai_api_key_file\": \"$D/key\", \"asr_model\": \"whisper-1\", \"hold_ms\": 5000 }"
told "a new key takes effect immediately" 'setting_changed name=openai_api_key effect="?immediately'
told "a setting that waits for the next call says so" 'setting_changed name=asr_model effect="on the next call"'
is "and no secret with it" "$(lines 'sk-of')" 0
is "the environment takes precedence" "$(lines 'name=hold_ms')" 0
hup "{ \"instructions\": \"Be brief.\", \"openai_api_key_file\": \"$D/key\", \"asr_model\": \"whisper-1\", \"log_level\": \"debug\" }"
until_ok 5 grep -qa 'log_changed level=3 json=0' "$D/mediad.log" && ok "mediad logs finer, in the same call" || bad "log level" "$(tail -2 "$D/mediad.log")"
until_ok 3 up $GUILD && ok "the call continued" || bad "call" "is not up any more"

hup '{ "inactivity_s": 1 }'
told "a limit that has already passed ends the session of the active room" 'session_over .*why=inactivity_timeout'
gone() { ! up $GUILD; }
until_ok 10 gone && ok "and it left" || bad leave "the call is still up"
# A room's journal is whole when its room has ended.
until_ok 5 grep -qsa 'Be brief\.' "$D"/rooms/* && ok "its journal has the new instructions" || bad room "its journal does not have them"
is "and none that were refused" "$(grep -ca 'Nobody reads' "$D"/rooms/*)" 0

# ---- the end ----
hup '{ }'
told "back to the defaults" 'setting_changed name=inactivity_s' 2
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "join again" "the call is not up"
api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"leave\"}" >/dev/null
told "a session ends when the bot is told to leave" 'session_over .*why=nl_leave'
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "join for the third time" "the call is not up"
kill -TERM "$control"
wait "$control"
is "it exits with status 0" $? 0
told "and its room ends" 'session_over .*why=shutdown'
is "which is logged before the end of the program" "$(tail -3 "$D/control.log" | grep -c 'session_over .*why=shutdown')" 1
report
