#!/bin/sh
# What people attach, through the real programs: a text model that takes images is shown them, and proves which ones it saw; another
# one is told what the role see says, within its limit; text files are quoted; a deletion and an edit take them away; what cannot be
# shown is said to be so. In the chat of a voice channel a voice's session is shown what is attached, and told what is typed, as far as it
# stands there.
#
#   tests/scenarios/attachments.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-attachments-XXXXXX)
. tests/scenarios/common
BOB=502
where=$TEXT

# picture NUMBER: an attachment that shows it.
picture() { printf '{"filename":"picture-%s.png","data":"%s"}' "$1" "$(perl tests/standins/picture.pl "$1" 160 96 | base64 -w0)"; }
# shows USER CONTENT [ATTACHMENTS]
shows() { writes "$1" "$2" "${3:+,\"attachments\":[$3]}"; }
answer() { api GET "/channels/$where/messages" | perl -MJSON::PP -0777 -ne 'binmode STDOUT, ":utf8";
	for (@{decode_json($_)}) { print $_->{content} if ($_->{nonce} // "") eq "'"$written"'.0" }'; }
answered() { [ -n "$(answer)" ]; }
# asks USER CONTENT [ATTACHMENTS]: and waits for the answer.
asks() { shows "$@" && until_ok 20 answered || bad "$2" "not answered: $(tail -5 "$D/control-$runs.log")"; }
frames() { answer | grep -oE 'frame [0-9]+' | grep -oE '[0-9]+' | tr '\n' ' '; }
run() { # CONFIG SETTING…
	runs=$((runs + 1))
	config=$1
	shift
	start "control-$runs" env "$@" "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --config "$D/$config.json" --log debug
	control=$last
	until_ok 20 grep -qsE ' (ready|resumed) ' "$D/control-$runs.log" || bad "control $runs" "not ready: $(tail -3 "$D/control-$runs.log")"
}
ends() {
	kill -TERM "$control"
	wait "$control"
}
not_seen() { grep -qE " attachment_not_seen .*$1" "$D/control-$runs.log"; }
runs=0

start_guildd
start_brain
mkdir "$D/state"
start one "$B/mediad" --listen "$D/one.sock" --ca "$CA" --threads 1
until_ok 5 test -S "$D/one.sock" || bad start "no mediad"
for s in eyes blind; do
	start $s "$B/standin" chat --record "$D/record-$s"
	until_ok 10 grep -qs '"port"' "$D/$s.out" || bad $s "no stand-in"
done
start voice "$B/standin" openai --record "$D/record-voice"
until_ok 10 grep -qs '"port"' "$D/voice.out" || bad voice "no stand-in"
providers="[{\"name\":\"eyes\",\"dialect\":\"chat\",\"url\":\"http://127.0.0.1:$(field port <"$D/eyes.out")/v1\"},
  {\"name\":\"blind\",\"dialect\":\"chat\",\"url\":\"http://127.0.0.1:$(field port <"$D/blind.out")/v1\",\"images\":\"off\"},
  {\"name\":\"voice\",\"dialect\":\"openai\",\"url\":\"http://127.0.0.1:$(field port <"$D/voice.out")/v1\"}]"
echo "{\"providers\":$providers,\"roles\":{\"text\":[\"eyes\"]}}" >"$D/shown.json"
echo "{\"providers\":$providers,\"roles\":{\"text\":[\"blind\"],\"see\":[\"eyes\"]}}" >"$D/told.json"
echo "{\"providers\":$providers,\"roles\":{\"text\":[\"blind\"]}}" >"$D/nobody.json"
echo "{\"providers\":$providers,\"roles\":{\"text\":[\"eyes\"],\"voice\":[\"voice\"],\"transcribe\":[\"voice\"]},\"reply_path\":\"bridge\"}" >"$D/voice.json"
requests() { grep -c '"what":"request"' "$D/record-$1/events.jsonl"; }
told() { grep -q "$2" "$D/record-$1/events.jsonl"; }
export PARLEY_TEXT_COALESCE_S=0 PARLEY_TEXT_SPACING_S=0 PARLEY_TEXT_PER_HOUR=60 PARLEY_TEXT_REPLY_SHARE=100 PARLEY_TEXT_REPLY_SHORT=100
export PARLEY_TEXT_CHAT=all

# ---- a model that takes images ----
run shown
asks $ALICE "<@$BOT> what do you see" "$(picture 37)"
first=$written
is "a model is shown what is attached" "$(frames)" "37 "
answer | grep -q 'image/jpeg 160x96' && ok "as the jail wrote it anew" || bad "the jail" "$(answer)"
shows $BOB "look at this" "$(picture 12)"
bobs=$written
asks $ALICE "<@$BOT> what do you see"
is "and what was shown just before, in its order" "$(frames)" "37 12 "
api DELETE "/channels/$where/messages/$bobs" >/dev/null
asks $ALICE "<@$BOT> what do you see"
is "but not what was deleted" "$(frames)" "37 "
api PATCH "/channels/$where/messages/$first" '{"content":"look","attachments":[]}' >/dev/null
sleep 0.3
asks $ALICE "<@$BOT> what do you see"
is "nor what an edit took away" "$(frames)" ""
# One that is looked at for somebody else's question, while the processes that decode pictures stand still.
shows $BOB "look at this" "$(picture 55)"
bobs=$written
jails=$(pgrep -P "$control" imaged)
# shellcheck disable=SC2086
kill -STOP $jails || bad "the jail" "not found: $(ps --ppid "$control" -o pid,args)"
shows $ALICE "<@$BOT> what do you see here"
sleep 1.5
api PATCH "/channels/$where/messages/$bobs" '{"content":"look","attachments":[]}' >/dev/null
sleep 0.5
# shellcheck disable=SC2086
kill -CONT $jails
until_ok 20 answered || bad "a question under way" "not answered: $(tail -5 "$D/control-$runs.log")"
is "also out of somebody else's question under way" "$(frames)" ""
shows $BOB "my notes" "{\"filename\":\"notes.txt\",\"data\":\"$(printf 'the code word is swan' | base64)\"}"
asks $ALICE "<@$BOT> what is the code word"
answer | grep -q swan && ok "a text file is quoted" || bad "a text file" "$(answer)"
told eyes 'origin=..\?"notes.txt' && ok "in a fence" || bad "the fence" "$(grep -o 'untrusted id[^>]*' "$D/record-eyes/events.jsonl" | head -2)"
asks $ALICE "<@$BOT> what do you see" '{"filename":"broken.png","data":"'"$(perl tests/standins/picture.pl 5 160 96 | head -c 120 | base64 -w0)"'"}'
is "a broken picture is not shown" "$(frames)" ""
not_seen damaged && told eyes 'cannot be shown to you: The picture is damaged' && ok "and the model is told so" || bad "a broken picture" "$(grep not_seen "$D/control-$runs.log")"
api POST /faults '{"method":"GET","contains":"picture-40","status":503}' >/dev/null
asks $ALICE "<@$BOT> what do you see" "$(picture 40)"
is "a picture that Discord does not deliver is not shown" "$(frames)" ""
not_seen 'status 503' && ok "and the model is told why" || bad "a fault of Discord" "$(grep not_seen "$D/control-$runs.log")"
asks $ALICE "<@$BOT> what do you see" '{"filename":"huge.png","size":30000000,"data":"AAAA"}'
not_seen 'too large' && ok "one that is too large is not fetched" || bad "too large" "$(grep not_seen "$D/control-$runs.log")"
asks $ALICE "<@$BOT> listen" '{"filename":"song.mp3","data":"AAAA"}'
told eyes 'attached: song.mp3' && ok "other files are named" || bad "other files" "not named"
asks $ALICE "<@$BOT> use the tool image_lookup {\\\"query\\\":\\\"picture-40\\\"}"
grep -qaE ' tool_called .*name=image_lookup .*code=ok' "$D/control-$runs.log" && told eyes 'frame 40' && ok "a picture is looked at again" ||
	bad "image_lookup" "$(grep -a image_lookup "$D/control-$runs.log" | tail -2)"
asks $ALICE "<@$BOT> use the tool image_lookup {\\\"url\\\":\\\"http://127.0.0.1:9/secret\\\"}"
grep -qaE ' tool_called .*name=image_lookup .*code=(ok|failed|error)' "$D/control-$runs.log" && ! told eyes 'Connection refused' && ok "no address of a person's own network" ||
	bad "an address" "$(grep -a image_lookup "$D/control-$runs.log" | tail -2)"
ends

# ---- a model that takes none ----
run told PARLEY_CAPTIONS_PER_HOUR=2
before=$(requests eyes)
asks $ALICE "<@$BOT> what do you see" "$(picture 51)"
answer | grep -q 'no picture' && told blind 'another model describes it so' && told blind 'frame 51' && ok "a model without eyes is told what another one sees" ||
	bad "a description" "$(answer)"
told blind 'data:image' && bad "a model without eyes" "was sent a picture" || ok "and is sent no picture"
asks $ALICE "<@$BOT> what do you see now"
is "the same picture is described once" "$(($(requests eyes) - before))" 1
asks $ALICE "<@$BOT> what do you see" "$(picture 52),$(picture 53)"
is "and no more than the settings allow" "$(($(requests eyes) - before))" 2
told blind 'as many images were described in this hour' && ok "which it is told" || bad "the limit" "not told"
grep -qaE ' engine_used .*role=see' "$D/control-$runs.log" || grep -qa 'role=see' "$D/control-$runs.log" && ok "what it costs is counted" || bad "costs" "$(grep -a engine_used "$D/control-$runs.log" | tail -2)"
ends
run nobody
asks $ALICE "<@$BOT> what do you see" "$(picture 61)"
told blind 'no model that sees is set up here' && ! told blind 'frame 61' && ok "without a model that sees it says so" || bad "no model that sees" "$(answer)"
ends

# ---- the chat of a voice channel ----
run voice
join $TEXT $VOICE
until_ok 15 up $GUILD || bad join "the bot did not join"
api POST /users/$ALICE/join "{\"channel_id\":\"$VOICE\"}" >/dev/null
sleep 0.5
where=$VOICE
record=$D/record-voice/events.jsonl
shows $ALICE "my screenshot" "$(picture 71)"
shown=$written
sleep 1
# question N: alice has the bot asked by voice; waits for the N-th answer.
question() { api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$VOICE\",\"name\":\"ask\",\"options\":[{\"name\":\"question\",\"type\":3,\"value\":\"what do you see\"},{\"name\":\"voice\",\"type\":5,\"value\":true}]}" >/dev/null
	until_ok 20 spoken "$1" || bad "a spoken answer" "none: $(tail -3 "$D/control-$runs.log")"; }
answers() { grep '"what":"out"' "$record" | grep -oE '"type":"response.output_audio_transcript.done".*' | grep -oE 'I see: [^"]*'; }
spoken() { [ "$(answers | wc -l)" -ge "$1" ]; }
question 1
answers | grep -q 'frame 71' && ok "a voice's session is shown what is attached in its chat, and says what it shows" || bad "what it shows" "$(answers)"
sleep 4
api DELETE "/channels/$VOICE/messages/$shown" >/dev/null
sleep 1
question 2
answers | tail -1 | grep -q 'frame 71' && bad "after a deletion" "$(answers | tail -1)" || ok "and no more once the message is deleted"

# ---- what is typed there, edited and deleted ----
# told_voice TEXT: the session that was asked last was told it, then or before.
told_voice() { perl -MJSON::PP -ne 'next unless /"what":"in"/; my $l = decode_json($_)->{link}; $of{$l} .= $_; $last = $l if /response\.create/;
	END { exit(index($of{$last} // "", "'"$1"'") < 0) }' "$record"; }
sleep 4
shows $ALICE "the drawbridge key is plum"
key=$written
shows $ALICE "the windlass key is fig"
other=$written
sleep 1
question 3
told_voice "key is plum" && ok "what is typed in its chat is told to a voice's session" || bad "typed" "$(tail -3 "$record")"
sleep 4
api PATCH "/channels/$VOICE/messages/$key" '{"content":"the drawbridge key is pear"}' >/dev/null
sleep 1
question 4
told_voice "key is pear" && ok "after an edit it is told what stands there" || bad "an edit" "$(tail -3 "$record")"
told_voice "key is plum" && bad "an edit" "the session that answers was told the former words" || ok "and was never told what stood there"
sleep 4
api DELETE "/channels/$VOICE/messages" "{\"messages\":[\"$key\",\"$other\"]}" >/dev/null
sleep 1
question 5
told_voice "key is" && bad "a deletion" "the session that answers was told words that are gone" || ok "after a deletion of several at once it is told none of them"
ends
report
