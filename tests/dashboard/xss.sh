#!/bin/sh
# xss_fired: 200 hostile texts in every view of the dashboard, through the real programs: names of people, channels and servers from
# guildd, titles and artists of files that play, a server of MCP whose tools are hostile, and a database of turns, transcripts, outputs of
# tools, facts, costs and faults that hold them.
#
#   tests/dashboard/xss.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-xss-XXXXXX)
. tests/scenarios/common

run_control() {
	: >"$D/control.log"
	start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
	control=$last
	until_ok 30 grep -qa web_up "$D/control.log" || { bad web "it does not listen"; exit 1; }
	WEB=$(sed -nE 's/.*web_up .*port=([0-9]+).*/\1/p' "$D/control.log" | tail -1)
}
link() { PARLEY_WEB_LISTEN=127.0.0.1:$WEB "$B/control" --sign-in=admin --state-dir "$D/state"; }
# tone FILE: a WAV file of two minutes.
tone() {
	perl -e '$n = 120 * 16000; binmode STDOUT;
		print pack("a4Va4a4VvvVVvva4V", "RIFF", 36 + 2 * $n, "WAVE", "fmt ", 16, 1, 1, 16000, 32000, 2, 16, "data", 2 * $n);
		print pack("s<", 800 * sin($_ * 2073)) for 0 .. $n - 1' >"$1"
}
quote() { perl -MJSON::PP -CA -e 'print JSON::PP->new->allow_nonref->encode($ARGV[0])' "$1"; }
name() { perl -MJSON::PP -e 'local $/; binmode STDOUT, ":utf8"; print decode_json(<STDIN>)->{names}[$ARGV[0]]' "$1" <"$D/texts"; }

tests/interop/modules.sh dashboard
node tests/dashboard/payloads.mjs --json >"$D/texts"
export PARLEY_WEB_LISTEN=127.0.0.1:0 PARLEY_MUSIC_FOLDERS="$D/music"
mkdir "$D/music"
for i in 0 6 12 18 24; do tone "$D/music/$(name $i).wav"; done
start_guildd
start_brain
start mediad "$B/mediad" --listen "$D/mediad.sock" --ca "$CA" --threads 1 --music-root "$D/music"
until_ok 10 test -S "$D/mediad.sock" || bad start "no mediad"
guild=$(api POST /guilds "{\"name\":$(quote "$(name 2)"),\"owner_id\":\"$ALICE\"}" | field id)
for u in $BOT $ALICE; do api POST "/guilds/$guild/members" "{\"user_id\":\"$u\"}" >/dev/null; done
text=$(api POST "/guilds/$guild/channels" '{"type":"text","name":"text"}' | field id)
voice=$(api POST "/guilds/$guild/channels" "{\"type\":\"voice\",\"name\":$(quote "$(name 3)")}" | field id)
for i in $(seq 30 49); do
	api POST /users "{\"id\":\"7$i\",\"name\":$(quote "$(name "$i")")}" >/dev/null
	api POST "/guilds/$guild/members" "{\"user_id\":\"7$i\"}" >/dev/null
	api POST "/users/7$i/join" "{\"channel_id\":\"$voice\"}" >/dev/null
done
run_control
until_ok 10 test -s "$D/state/parley.db" || bad store "no database"
kill -TERM "$control"
wait "$control"
python3 tests/dashboard/hostile_rows.py "$D/state/parley.db" "$guild" "$voice" <"$D/texts" || { bad rows "not written"; exit 1; }
run_control
until_ok 20 registered || bad commands "not registered"
api POST "/users/$ALICE/join" "{\"channel_id\":\"$voice\",\"guild_id\":\"$guild\"}" >/dev/null
join "$text" "$voice"
until_ok 20 up "$guild" || bad join "the call is not up"
for query in img svg video; do
	api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$text\",\"name\":\"music\",\"options\":[{\"name\":\"add\",\"type\":1,\"options\":[{\"name\":\"query\",\"type\":3,\"value\":\"$query\"}]}]}" >/dev/null
done
sleep 2
node tests/dashboard/xss.mjs "$(link)" "$(link)"
is "the page stands" $? 0
is "control is still there" "$(kill -0 "$control" && echo yes)" yes
report
