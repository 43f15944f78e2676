#!/bin/sh
# `make demo`: a conversation on this machine. Starts the simulated Discord (guildd), the embedded engine (offlined), the bot
# (mediad and control), and a caller with a mediad of its own, which speaks the question and records the answer.
#
#   BRAIN=openai   who answers: offline (the embedded engine), or a stand-in of a provider (tests/standins): openai; xai or gemini
#                  (OpenAI transcribes); elevenlabs (a text model, read out and transcribed by ElevenLabs); chat or anthropic
#                  (a text model, read out and transcribed by a local server)
#   VOICE=elevenlabs     with openai, xai or gemini: ElevenLabs reads out what the voice session writes
#   FAULTS=file    the script of the stand-in that answers (tests/standins/README.md)
#   SAY="…"        what to ask (default: what time it is)      WAV=file.wav   play a recording instead
#   THEN="MS …"    what to say so long after the bot began to speak
#   OUT=folder     folder of the results (out/demo)            JOURNAL=file   record the bot for --replay: mediad, and
#                                                          control in file.control
#   SHAPES=file    record only the shapes of it
#   CONFIG=file    settings of the bot, for the embedded engine
#   KEEP=1         leaves the bot and its dashboard running after the conversation, until Ctrl-C
#   SCENE=two-callers    two callers who talk at the same time, then over the bot: it keeps talking through a backchannel and
#                  through an utterance addressed to the other caller, and stops at a new question
#   SCENE=tools          a text model (a stand-in) that searches the web (a stand-in), calls an MCP server from npm in its sandbox,
#                  and hands a slow task to a worker, which the caller cancels by voice
#   SCENE=music          plays generated music from a folder, answers over it, skips, pauses and goes on by voice
#   SCENE=text           one person writes and one speaks: what one wrote is answered by voice, and the other way round
#   SCENE=screen         shows a tab of headless Chromium to the bot, which tells the number that stands on it
#   SCENE=memory         two people tell things on two days, with a restart between: a question, a correction, an erasure
set -eu
cd "$(dirname "$0")/.."
bin=${BIN:-build}
out=${OUT:-out/demo}
say=${SAY-parley what time is it}
wav=${WAV:-}
scene=${SCENE:-}
answerer=${BRAIN:-offline}
guild=41771983423143937
channel=127121515262115840
case $answerer in
offline | openai | xai | gemini | elevenlabs | chat | anthropic) ;;
*)
	echo "demo: there is no brain $answerer; there are: offline, openai, xai, gemini, elevenlabs, chat, anthropic" >&2
	exit 2
	;;
esac
case $scene in
'' | two-callers | memory | music | text) ;;
screen) tests/interop/modules.sh dashboard ;;
tools)
	answerer=offline
	command -v bwrap >/dev/null || {
		echo "demo: SCENE=tools needs bubblewrap, the sandbox of MCP servers and workers: deploy/deps.sh interop" >&2
		exit 2
	}
	tests/interop/modules.sh
	;;
*)
	echo "demo: there is no scene $scene; there are: two-callers, tools, memory, music, text, screen" >&2
	exit 2
	;;
esac
if [ -n "$wav" ] && ! [ -r "$wav" ]; then
	echo "demo: the recording $wav cannot be read" >&2
	exit 2
fi
rm -rf "$out"
mkdir -p "$out/log" "$out/brain"
[ "$scene" != memory ] || exec tests/demo_memory.sh "$bin" "$out"
[ "$scene" != text ] || exec tests/demo_text.sh "$bin" "$out"
[ "$scene" != music ] || exec tests/demo_music.sh "$bin" "$out"
[ "$scene" != screen ] || exec tests/demo_screen.sh "$bin" "$out"
run=$(mktemp -d)
pids=

# shellcheck disable=SC2329
stop() {
	trap - EXIT INT TERM
	for p in $pids; do
		kill "$p" 2>/dev/null || true
	done
	for p in $pids; do
		wait "$p" 2>/dev/null || true
	done
	rm -rf "$run"
}
trap stop EXIT
trap 'exit 130' INT TERM

# start NAME COMMAND…: in the background; its stdout goes to NAME.out, its log to NAME.log. Newest first in $pids.
start() {
	name=$1
	shift
	"$@" >"$out/log/$name.out" 2>"$out/log/$name.log" </dev/null &
	last=$!
	pids="$last $pids"
}
# until_there NAME COMMAND…: polls the command; a process that died meanwhile is an error.
until_there() {
	name=$1
	shift
	n=0
	until "$@" 2>/dev/null; do
		n=$((n + 1))
		if [ $n -gt 400 ] || ! kill -0 "$last" 2>/dev/null; then
			echo "demo: $name did not start; its log says:" >&2
			tail -5 "$out/log/$name.log" >&2
			exit 1
		fi
		sleep 0.05
	done
}
# Prints the sentence of a reason, from control's own table.
reason_text() {
	text=$(sed -n "s/.*[RX](\([A-Z_]*\), $1, .*\"\([^\"]*\)\").*/\2/p" control/room/base/reasons.def | head -1)
	echo "${text:-$1}"
}
field() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" "$2" | head -1; }

engine="offlined (the embedded engine)"
[ "$answerer" = offline ] || engine="stand-ins of the providers ($answerer)"
echo "starting guildd (a Discord on this machine), $engine, mediad and control (the bot)"
start guildd "$bin/guildd"
until_there guildd grep -q '"rest"' "$out/log/guildd.out"
ready=$out/log/guildd.out
api=$(field rest "$ready") ca=$(field ca "$ready") guildd=$(field control "$ready")

start_offlined() { # FOLDER: its record
	start offlined "$bin/offlined" --listen 127.0.0.1:0 --record "$1"
	until_there offlined grep -q '"url"' "$out/log/offlined.out"
	brain=$(field url "$out/log/offlined.out")
	brain=${brain%/v1/realtime}
}
# start_standin NAME PROVIDER FOLDER [OPTION]…: its base address goes to $base.
start_standin() {
	name=$1 provider=$2 record=$3
	shift 3
	start "$name" "$bin/standin" "$provider" --offlined "${brain##*:}" --record "$record" "$@"
	until_there "$name" grep -q '"port"' "$out/log/$name.out"
	base=http://127.0.0.1:$(sed -n 's/.*"port":\([0-9]*\).*/\1/p' "$out/log/$name.out")/v1
}
# Writes control's settings for the brain: which provider has which role. Offlined hears and speaks for the stand-ins.
config=$run/config.json
if [ "$answerer" = offline ]; then
	start_offlined "$out/brain"
else
	start_offlined "$out/log"
fi
set -- ${FAULTS:+--script "$FAULTS"}
case $answerer in
offline) set -- ;;
openai | xai | gemini)
	# What the caller hears is compared with the record of the one that speaks.
	heard_from=$out/brain more= role= audio=own
	if [ -n "${VOICE:-}" ]; then
		start_standin reader "$VOICE" "$out/brain"
		heard_from=$out/log/brain audio=speech
		more=", {\"name\": \"reader\", \"dialect\": \"$VOICE\", \"url\": \"$base\"}" role=', "speech": ["reader"]'
	fi
	recogniser=brain
	if [ "$answerer" != openai ]; then
		start_standin recogniser openai "$out/log/recogniser"
		recogniser=recogniser
		more="$more, {\"name\": \"recogniser\", \"dialect\": \"openai\", \"url\": \"$base\"}"
	fi
	start_standin standin $answerer "$heard_from" "$@"
	[ "$answerer" != gemini ] || base=${base%/v1}
	cat >"$config" <<-END
		{"providers": [{"name": "brain", "dialect": "$answerer", "url": "$base"}$more],
		 "roles": {"voice": ["brain"], "transcribe": ["$recogniser"]$role}, "answer_audio": "$audio"}
	END
	;;
*)
	writer=$answerer reader=chat dialect=openai sessions=file
	model=
	[ "$answerer" != anthropic ] || model=', "model": "claude-haiku-4-5"'
	[ "$answerer" != elevenlabs ] || writer=chat reader=elevenlabs dialect=elevenlabs sessions=speaker
	start_standin writer $writer "$out/log/writer" "$@"
	written=$base
	start_standin reader $reader "$out/brain"
	cat >"$config" <<-END
		{"providers": [{"name": "writer", "dialect": "$writer", "url": "$written"$model},
		               {"name": "reader", "dialect": "$dialect", "url": "$base"}],
		 "roles": {"text": ["writer"], "speech": ["reader"], "transcribe": ["reader"]},
		 "reply_path": "brain", "asr_sessions": "$sessions"}
	END
	;;
esac

if [ "$scene" = tools ]; then
	say="parley what time is it"
	cat >"$run/chat.script" <<-END
		answer what time => call web_search {"query":"world clock","days":1}
		answer site1.example => Site one says that it is noon in Lisbon.
		answer can you do => call everything__echo {"message":"echoes"}
		answer Echo => My server can make echoes.
		answer two dice => call ask {"task":"be slow and look at every throw"}
		answer running => A helper looks at it.
	END
	echo 'answer clock => It is noon in Lisbon.' >"$run/searxng.script"
	modules=$(realpath tests/interop/node_modules)
	node=$(realpath "$(command -v node)")
	server=$modules/@modelcontextprotocol/server-everything/dist/index.js
	cat >"$config" <<-END
		{"mcp_servers": [{"name": "everything", "command": ["$node", "$server", "stdio"], "read": ["$node", "$modules"],
		                  "effects": "none"}],
		 "workers": [{"name": "helper", "command": ["/bin/sh", "$PWD/tests/standins/worker.sh"],
		              "read": ["$PWD/tests/standins"], "effects": "none"}],
		 "tool_ms": 6000}
	END
	start_standin writer chat "$out/log/writer" --script "$run/chat.script"
	# Words come late on a busy machine.
	export PARLEY_TEXT_URL="$base" PARLEY_REPLY_PATH=brain PARLEY_ASR_WAIT_MS="${PARLEY_ASR_WAIT_MS:-10000}"
	start_standin search searxng "$out/log/search" --script "$run/searxng.script"
	export PARLEY_SEARCH_URL="${base%/v1}"
fi

# shellcheck disable=SC2086
start mediad "$bin/mediad" --listen "$run/mediad.sock" --ca "$ca" ${JOURNAL:+--journal "$JOURNAL"} \
	${SHAPES:+--journal-shape "$SHAPES"}
mediad=$last
until_there mediad test -S "$run/mediad.sock"
start caller-mediad "$bin/mediad" --listen "$run/caller.sock" --ca "$ca"
until_there caller-mediad test -S "$run/caller.sock"

others=${CONFIG:-}${PARLEY_TEXT_URL:-}${PARLEY_SPEECH_URL:-}${PARLEY_ASR_URL:-}${PARLEY_REPLY_PATH:-}${PARLEY_ASR_SESSIONS:-}
if [ "$answerer" = offline ] && [ -z "$others" ]; then
	# By its dialect, as control names the engine that it starts itself: PARLEY_BRAIN_URL is a service that bills.
	cat >"$config" <<-END
		{"providers": [{"name": "offlined", "dialect": "embedded", "url": "http://${brain#ws://}/v1"}],
		 "roles": {"voice": ["offlined"], "text": ["offlined"], "speech": ["offlined"], "transcribe": ["offlined"]}}
	END
	set -- --config "$config"
elif [ "$answerer" = offline ]; then
	export PARLEY_BRAIN_URL="$brain/v1/realtime"
	[ "$scene" != tools ] || set -- --config "$config"
	[ -z "${CONFIG:-}" ] || set -- --config "$CONFIG"
else
	# A stand-in asks offlined for the words of whole utterances, which takes seconds on a busy machine.
	export PARLEY_ASR_WAIT_MS="${PARLEY_ASR_WAIT_MS:-10000}"
	set -- --config "$config"
fi
# shellcheck disable=SC2086
DISCORD_TOKEN=guildd.bot.token PARLEY_WEB_LISTEN=127.0.0.1:0 PARLEY_DISCORD_API=$api PARLEY_LOG_WORDS=1 PARLEY_CONSENT=remembered \
	start control "$bin/control" --media-sock "$run/mediad.sock" --guild $guild --channel $channel \
	--state-dir "$run/state" --ca "$ca" "$@" ${JOURNAL:+--journal "$JOURNAL.control"} \
	${SHAPES:+--journal-shape "$SHAPES.control"}
control=$last
until_there control grep -q web_up "$out/log/control.log"
web=127.0.0.1:$(sed -nE 's/.*web_up .*port=([0-9]+).*/\1/p' "$out/log/control.log" | tail -1)
# Each link signs one browser in, once, within ten minutes.
dashboard_link() { PARLEY_WEB_LISTEN=$web "$bin/control" --sign-in --state-dir "$run/state" 2>/dev/null; }
[ -z "${KEEP:-}" ] || echo "dashboard: $(dashboard_link)"

set -- --api "$guildd" --media-sock "$run/caller.sock" --offlined "$bin/offlined" --record "$out/brain" --out "$out" \
	--guild $guild --channel $channel --user 501 --bot 900
if [ -n "$wav" ]; then
	set -- "$@" --wav "$wav"
else
	set -- "$@" --say "$say" ${THEN:+--line "$THEN"}
fi
if [ "$scene" = tools ]; then
	set -- "$@" --line "6000 parley what can you do" --line "14000 parley roll two dice" --line "23000 parley never mind" \
		--line "28000 parley what time is it"
elif [ "$scene" = two-callers ]; then
	set -- --api "$guildd" --offlined "$bin/offlined" --record "$out/brain" --guild $guild --channel $channel --bot 900
	start other-mediad "$bin/mediad" --listen "$run/other.sock" --ca "$ca"
	until_there other-mediad test -S "$run/other.sock"
	mkdir -p "$out/bob"
	start bob "$bin/caller" "$@" --media-sock "$run/other.sock" --out "$out/bob" --user 502 --voice slt \
		--say "hello there did you see the match" --line "3200 it was the best match of the year"
	set -- "$@" --media-sock "$run/caller.sock" --out "$out" --user 501 --say "parley what can you do" \
		--line "1800 yeah" --line "5200 parley what time is it"
fi
status=0
if [ -n "${KEEP:-}" ]; then
	# The caller stays in the call, so that there is somebody to speak with.
	mkfifo "$run/timeline"
	"$bin/caller" "$@" --stay "$run/status" >"$run/timeline" 2>"$out/log/caller.log" </dev/null &
	caller=$!
	pids="$caller $pids"
	tee "$out/timeline.txt" <"$run/timeline"
	[ -f "$run/status" ] || wait "$caller" || echo $? >"$run/status"
else
	{ "$bin/caller" "$@" || echo $? >"$run/status"; } | tee "$out/timeline.txt"
fi
[ -f "$run/status" ] && status=$(cat "$run/status")
# If nothing was answered, prints each turn's transcript and reason; a speculative turn that was rolled back does not count.
if [ "$status" != 0 ] && ! grep -qa ' turn .* reason=answered' "$out/log/control.log"; then
	grep -a ' turn ' "$out/log/control.log" | grep -avE 'reason=(eot_revoked|speculation_(unused|failed))' |
		sed -n 's/.* heard="\([^"]*\)" reason=\([a-z_]*\).*/\2 \1/p' >"$run/turns"
	if [ -s "$run/turns" ]; then
		while read -r reason heard; do
			echo "not answered: \"$heard\" was heard, and the turn ended as $reason: $(reason_text "$reason")"
		done <"$run/turns"
	else
		echo "not answered: no speech was heard"
	fi | tee -a "$out/timeline.txt"
fi
grep -a ' turn ' "$out/log/control.log" | sed 's/^[^ ]* [^ ]* //' >>"$out/timeline.txt" || true
if [ "$scene" = two-callers ]; then
	sed 's/^/bob:  /' "$out/log/bob.out" | grep -a 'caller' >>"$out/timeline.txt" || true
	tests/demo_scene.sh "$out" || status=1
elif [ "$scene" = tools ]; then
	tests/demo_tools.sh "$out" || status=1
fi
# Compares the privacy codes of both sides, as two members would.
tests/privacy.sh "$out/timeline.txt" "$out/log/control.log" >"$run/privacy" || status=1
tee -a "$out/timeline.txt" <"$run/privacy"
if [ "$status" = 0 ]; then
	echo "written: $out/conversation.wav (caller left, bot right), $out/timeline.txt"
else
	echo "logs: $out/log/"
fi
if [ -n "${KEEP:-}" ]; then
	echo "the bot and the caller stay in the call; the bot's state is in $run/state:"
	echo "  $bin/control --why --state-dir $run/state        and --costs, --export 501, --context"
	echo "dashboard: $(dashboard_link)"
	echo "  PARLEY_WEB_LISTEN=$web $bin/control --sign-in --state-dir $run/state   prints another link"
	echo 'Ctrl-C ends it'
	wait "$control" || true
fi
if [ -n "${JOURNAL:-}${SHAPES:-}" ]; then
	# Stops both programs, so that the journals are complete; the last lines that they print are the digests.
	kill "$control" && wait "$control" || true
	kill "$mediad" && wait "$mediad" || true
	cp "$out/log/control.out" "${JOURNAL:-$SHAPES}.control.digest"
	cp "$out/log/mediad.out" "${JOURNAL:-$SHAPES}.digest"
fi
exit "$status"
