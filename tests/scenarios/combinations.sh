#!/bin/sh
# The four combinations of a voice session and a voice: an agent of OpenAI or xAI, with its own audio or read out by ElevenLabs. Each
# answers the question of the demo, which compares the sound that arrived with the record of the stand-in that spoke.
#
#   tests/scenarios/combinations.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-combinations-XXXXXX)
. tests/scenarios/common

for agent in openai xai; do
	for voice in '' elevenlabs; do
		name=$agent${voice:+-$voice}
		if env BIN="$B" OUT="$D/$name" BRAIN=$agent VOICE=$voice tests/demo.sh >"$D/$name.txt" 2>&1; then
			ok "$name: the answer was played as it was spoken"
		else
			bad "$name" "$(tail -3 "$D/$name.txt")"
		fi
		is "$name: the turn was answered" "$(grep -aE ' turn .*stage=ended' "$D/$name/log/control.log" | grep -c 'reason=answered')" 1
		if [ -n "$voice" ]; then
			spoken=$(grep -c 'multi-stream-input\|"is_final": *true\|"isFinal"' "$D/$name/brain/events.jsonl")
			agents=$D/$name/log/brain/events.jsonl
			is "$name: ElevenLabs spoke" "$((spoken > 0))" 1
		else
			agents=$D/$name/brain/events.jsonl
		fi
		sound=$(grep -c 'output_audio.delta' "$agents")
		is "$name: the agent's own audio" "$((sound > 0))" "$([ -n "$voice" ] && echo 0 || echo 1)"
	done
done
cat "$D"/*/log/*.log >"$D/all.log"
report
