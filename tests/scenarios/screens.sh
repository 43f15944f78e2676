#!/bin/sh
# Shared screens for a model that is shown no picture, through the real programs: the role see writes a note when something has
# changed, within its limits; the notes stand before a question, and the tool see_screenshare_snapshot has the newest picture
# looked at. Nothing of it is told after the bot was told to look away. In the mode multimodal the same model is shown the picture
# itself, and without any model that sees it is told so.
# With screen_commentary a change makes the bot remark of its own accord.
# rules 164
#
#   tests/scenarios/screens.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-screens-XXXXXX)
. tests/scenarios/common
side= # of the screen, as the page says

post() { # PATH BODY-FILE TYPE: a request of the share $token
	local n=0 line
	[ -z "$2" ] || n=$(stat -c %s "$2")
	exec 4<>"/dev/tcp/127.0.0.1/$WEB" || return 1
	{
		printf 'POST /api/voice/share-session/%s/%s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nOrigin: http://127.0.0.1:%s\r\nConnection: close\r\n' "$token" "$1" "$WEB" "$WEB"
		printf 'Content-Type: %s\r\nContent-Length: %d\r\n%s%s\r\n' "$3" "$n" "${cookie:+Cookie: $cookie$'\r\n'}" "${side:+X-Screen-Side: $side$'\r\n'}"
		[ -z "$2" ] || cat "$2"
	} >&4 2>/dev/null
	while IFS= read -r line <&4; do
		[ "$line" = $'\r' ] && break
		case $line in Set-Cookie:*) cookie=${line#Set-Cookie: } cookie=${cookie%%;*} ;; HTTP*) code=$(echo "$line" | cut -d' ' -f2) ;; esac
	done
	cat <&4 >/dev/null
	exec 4>&-
}
# frame NUMBER: the screen shows it.
frame() {
	perl tests/standins/picture.pl "$1" 640 360 >"$D/frame.png"
	post frame "$D/frame.png" image/png
	is "the screen shows $1" "$code" 200
}
share() {
	local id
	id=$(api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"share\"}" | field id)
	linked() { token=$(api GET "/interactions/$id" | tee "$D/reply" | grep -oE '/share/[A-Za-z0-9_-]{24}' | head -1 | cut -c8-) && [ -n "$token" ]; }
	until_ok 5 linked || bad "/share" "no link"
	cookie=
	post open "" text/plain
}
run() { # NAME SETTING…
	log=$D/control-$1.log
	config=$1
	shift
	start "control-$config" env "$@" "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state-$config" --config "$D/$config.json" --ca "$CA" \
		--guild "$GUILD" --channel "$VOICE" --log debug
	control=$last
	until_ok 20 grep -qsa commands_registered "$log" || bad "control $config" "not ready: $(tail -3 "$log")"
	until_ok 20 up $GUILD || bad join "the bot did not join"
	WEB=$(sed -nE 's/.*web_up .*port=([0-9]+).*/\1/p' "$log" | tail -1)
	: >"$D/voice.before"
	before=$(answers | wc -l)
}
ends() {
	kill -TERM "$control"
	wait "$control"
	sleep 1
}
record=$D/record-voice/events.jsonl
told() { grep '"what":"in"' "$record" | grep -qF -- "$1"; }
answers() { grep '"what":"out"' "$record" 2>/dev/null | grep -oE '"type":"response.output_audio_transcript.done".*' | grep -oE '"transcript":"[^"]*'; }
spoken() { [ "$(answers | wc -l)" -gt "$before" ]; }
question() {
	before=$(answers | wc -l)
	api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$VOICE\",\"name\":\"ask\",\"options\":[{\"name\":\"question\",\"type\":3,\"value\":\"$1\"},{\"name\":\"voice\",\"type\":5,\"value\":true}]}" >/dev/null
	until_ok 20 spoken || bad "$1" "no answer: $(tail -3 "$log")"
	sleep 3
}
looks() { grep -c '"what":"request"' "$D/record-eyes/events.jsonl" 2>/dev/null || true; }
looked() { [ "$(looks)" -ge "$1" ]; }
described() { [ "$(grep -ac ' engine_used .*role=see' "$log")" -ge "$1" ]; }

export PARLEY_WEB_LISTEN=127.0.0.1:0 PARLEY_WATCH_NOTE_S=1 PARLEY_WATCH_CHANGE_MS=0 PARLEY_SCREEN_NOTES=blind PARLEY_SCREEN_NOTES_PER_HOUR=3 PARLEY_REPLY_PATH=bridge
start_guildd
start_brain
start_mediad mediad
start eyes "$B/standin" chat --record "$D/record-eyes"
cat >"$D/voice.script" <<'END'
answer look closely => call see_screenshare_snapshot {"question":"which number"}
answer look away => call stop_screen_watch {}
END
start voice "$B/standin" openai --record "$D/record-voice" --script "$D/voice.script"
for s in eyes voice; do until_ok 10 grep -qs '"port"' "$D/$s.out" || bad $s "no stand-in"; done
providers="[{\"name\":\"eyes\",\"dialect\":\"chat\",\"url\":\"http://127.0.0.1:$(field port <"$D/eyes.out")/v1\"},
  {\"name\":\"voice\",\"dialect\":\"openai\",\"url\":\"http://127.0.0.1:$(field port <"$D/voice.out")/v1\"},
  {\"name\":\"blind\",\"dialect\":\"openai\",\"url\":\"http://127.0.0.1:$(field port <"$D/voice.out")/v1\",\"images\":\"off\"}]"
unset PARLEY_BRAIN_URL
echo "{\"providers\":$providers,\"roles\":{\"voice\":[\"voice\"],\"transcribe\":[\"voice\"],\"see\":[\"eyes\"]},\"screen_mode\":\"tool\"}" >"$D/tool.json"
echo "{\"providers\":$providers,\"roles\":{\"voice\":[\"voice\"],\"transcribe\":[\"voice\"],\"see\":[\"eyes\"]}}" >"$D/shown.json"
echo "{\"providers\":$providers,\"roles\":{\"voice\":[\"blind\"],\"transcribe\":[\"voice\"]}}" >"$D/nobody.json"
api POST "/users/$ALICE/join" "{\"channel_id\":\"$VOICE\"}" >/dev/null

# ---- the mode tool ----
run tool
share
frame 37
until_ok 10 described 1 && ok "the role see writes a note about it, whose cost is counted" || bad "a note" "none: $(tail -3 "$log")"
question "what do you see"
told 's ago: I see: image/jpeg 640x360 frame 37' && ok "the note stands before a question" || bad "the note" "not told"
told 'data:image' && bad "the mode tool" "the voice was sent a picture" || ok "and no picture is sent with it"
frame 38
until_ok 10 described 2 && ok "a change makes the next note" || bad "the next note" "none"
grep -q 'Before, it showed this: I see: image/jpeg 640x360 frame 37' "$D/record-eyes/events.jsonl" && ok "which knows what was there before" || bad "before" "not told"
question "look closely at the screen"
told '\"shows\":\"I see: image/jpeg 640x360 frame 38' && ok "the tool has the newest picture looked at" || bad "the tool" "$(grep -a see_screenshare "$log" | tail -2)"
told 'picture_age_s' && ok "and says how old it is" || bad "the age" "not told"
until_ok 5 grep -qaE ' tool_called .*name=see_screenshare_snapshot .*code=ok' "$log" && ok "as a call like others" || bad "the call" "$(grep -a tool_called "$log" | tail -2)"
n=$(looks)
frame 39
until_ok 10 looked $((n + 1)) && ok "the last note of the hour" || bad "the last note" "none"
frame 40
sleep 3
is "further ones are not written" "$(looks)" $((n + 1))
question "look away from the screen"
items=$(grep -c 'Shared screens' "$record")
question "what do you see now"
is "once it was told to look away nothing of the screen is told" "$(grep -c 'Shared screens' "$record")" "$items"
ends

# ---- the mode multimodal ----
run shown
n=$(looks)
share
side=3440
frame 51
side=
until_ok 5 grep -qa ' stream_watch_note_updated ' "$log" || bad "a change" "none"
question "what do you see"
answers | tail -1 | grep -q 'frame 51' && ok "in the mode multimodal the model sees the picture itself" || bad "multimodal" "$(answers | tail -1)"
is "and nothing is described for it" "$(looks)" "$n"
told 'scaled down from 3440 to 640 pixels' && ok "and is told that the screen is much larger than its picture" || bad "the scale" "not told"
ends

# ---- remarks of its own ----
asked_to_remark() { told 'A shared screen has just changed'; }
asked_to_remark && bad "remarks" "made without the setting" || ok "by itself the bot remarks on nothing"
cp "$D/shown.json" "$D/remarks.json"
run remarks PARLEY_SCREEN_COMMENTARY=1 PARLEY_COMMENTARY_EAGERNESS=100 PARLEY_COMMENTARY_INTERVAL_S=5
share
sleep 2
frame 52
until_ok 15 asked_to_remark && ok "with screen_commentary a change makes it remark" || bad "a remark" "not asked: $(tail -3 "$log")"
until_ok 10 spoken && answers | tail -1 | grep -q 'You said' && ok "in words" || bad "the remark" "$(answers | tail -1)"
ends

# ---- nobody sees ----
run nobody
share
grep -q 'No model of mine takes pictures' "$D/reply" && ok "without a model that sees /share says so" || bad "/share" "$(cat "$D/reply")"
frame 61
until_ok 5 grep -qa ' stream_watch_note_updated ' "$log" || bad "a change" "none"
question "what do you see"
told 'no model that takes images is set up here' && ok "without a model that sees the voice is told so" || bad "nobody sees" "not told"
told 'frame 61' && bad "nobody sees" "it knows the picture"
is "and nothing is asked of others" "$(looks)" "$n"
ends
report
