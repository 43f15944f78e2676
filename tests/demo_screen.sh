#!/bin/bash
# demo_screen.sh BIN OUT: the scene screen of `make demo`. Bob types /share and shows a tab from headless Chromium, whose number is drawn by
# lot. Alice asks by voice for the number; a stand-in of OpenAI's realtime API decodes the picture that it received and says it. The tab changes, and
# Alice asks again. So the answers prove which pictures reached the model.
set -u
B=$1
out=$2
D=$(mktemp -d /tmp/parley-demo-XXXXXX)
# shellcheck source=tests/scenarios/common
. tests/scenarios/common
BOB=502
# Words come late on a busy machine.
export PARLEY_LOG_WORDS=1 PARLEY_ASR_WAIT_MS="${PARLEY_ASR_WAIT_MS:-10000}" PARLEY_WEB_LISTEN=127.0.0.1:0

first=$((RANDOM % 9000 + 1000))
second=$(((first + 1 + RANDOM % 8000) % 9000 + 1000))
turns() { grep -aE ' turn .*stage=ended' "$D/control.log" | grep -aE ' reason=answered'; }
says() { turns | grep -aqF "said=\"I see the number $1."; }
link() { api GET "/interactions/$id" | grep -oE 'http://127.0.0.1:[0-9]+/share/[A-Za-z0-9_-]{24}' | head -1 >"$D/link" && [ -s "$D/link" ]; }
frames() { grep -ac ' stream_watch_frame_ingested ' "$D/control.log"; }
settled() { # no picture came for three seconds
	local n
	n=$(frames)
	sleep 3
	[ "$n" -gt "$1" ] && [ "$n" = "$(frames)" ]
}
fail() {
	bad "$1" "$2"
	mkdir -p "$out/log" && cp "$D"/*.log "$out/log/"
	report
	exit 1
}
page_says() { grep -q "$1" "$D/show.out"; }

echo "starting guildd (a Discord on this machine), offlined and a stand-in of OpenAI (the engines), mediad and control (the bot)"
start_guildd
start_brain
hears=${PARLEY_BRAIN_URL##*127.0.0.1:}
hears=${hears%%/*}
unset PARLEY_BRAIN_URL
# The embedded recogniser knows the bot's name in its own sentences alone, so the stand-in is told the words of each utterance.
echo 'commit * transcript parley what number do you see' >"$D/standin.script"
start standin "$B/standin" openai --offlined "$hears" --record "$D/brain" --script "$D/standin.script"
until_ok 10 grep -qs '"port"' "$D/standin.out" || fail "the stand-in" "it did not start"
cat >"$D/config.json" <<-END
	{"providers": [{"name": "eyes", "dialect": "openai", "url": "http://127.0.0.1:$(field port <"$D/standin.out")/v1"}],
	 "roles": {"voice": ["eyes"], "transcribe": ["eyes"]}, "answer_audio": "own"}
END
start_mediad mediad
start_mediad alice
start control "$B/control" --media-sock "$D/mediad.sock" --guild "$GUILD" --channel "$VOICE" --state-dir "$D/state" --ca "$CA" \
	--config "$D/config.json" --log debug
until_ok 20 grep -qa commands_registered "$D/control.log" || fail control "it did not start"
until_ok 20 up "$GUILD" || fail "the call" "it is not up"

echo "-- Bob: /share, and a tab of headless Chromium that shows the number $first --"
api POST "/guilds/$GUILD/members" "{\"user_id\":\"$BOB\"}" >/dev/null
api POST "/users/$BOB/join" "{\"channel_id\":\"$VOICE\"}" >/dev/null
id=$(api POST /interactions "{\"user_id\":\"$BOB\",\"channel_id\":\"$TEXT\",\"name\":\"share\"}" | field id)
until_ok 10 link || fail "/share" "no link: $(api GET "/interactions/$id")"
mkfifo "$D/orders"
node tests/demo_screen/show.mjs "$(cat "$D/link")" $first "$out/share.png" <"$D/orders" >"$D/show.out" 2>"$D/show.log" &
started="$started $!"
exec 7>"$D/orders"
until_ok 60 page_says '^shows$' && ok "the page shares the tab" || fail "the page" "$(cat "$D/show.out" "$D/show.log")"
until_ok 60 settled 0 && ok "the bot has a picture of it" || fail "the picture" "none came"

"$B/caller" --api "http://127.0.0.1:$API" --media-sock "$D/alice.sock" --offlined "$B/offlined" --record "$D/brain" --out "$out" \
	--guild "$GUILD" --channel "$VOICE" --user "$ALICE" --bot "$BOT" --wait 30 --say "parley what number do you see" \
	--line "30000 parley what number do you see" >"$out/timeline.txt" 2>"$D/caller.log" &
caller=$!
started="$started $caller"
echo '-- Alice: "parley what number do you see" --'
until_ok 60 says $first && ok "the model saw the number $first" || fail "the answer" "$(turns | tail -2)"
seen=$(frames)
echo "-- the tab changes to the number $second --"
echo $second >&7
until_ok 40 settled "$seen" && ok "the bot has a picture of the change" || fail "the change" "no picture came"
echo '-- Alice: "parley what number do you see" --'
until_ok 60 says $second && ok "the model saw the number $second" || fail "the second answer" "$(turns | tail -2)"
kill "$caller"
wait "$caller" 2>/dev/null
echo stop >&7
until_ok 30 page_says '^stopped$' && ok "Bob stops, and the page says that the pictures are wiped" || fail "the end" "$(cat "$D/show.out")"
until_ok 10 grep -qaE ' screen_share_session_stopped .*why=stopped' "$D/control.log" && ok "so does the bot" || bad "the end" "no event"
mkdir -p "$out/log"
cp "$D"/*.log "$out/log/"
turns | sed -nE 's/.* heard="([^"]*)" reason=([a-z_]*) said="([^"]*)".*/heard: \1 (\2)\nsaid: \3/p' | tee -a "$out/timeline.txt"
echo "written: $out/conversation.wav (caller left, bot right), $out/share.png (the page of shares), $out/timeline.txt"
keep
report
