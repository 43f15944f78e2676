#!/bin/sh
# Who may include whom (docs/architecture.md): holds the compiler's dependency files against the rule.
#
#   includes.sh [OBJDIR]    OBJDIR (default build/obj) holds the .d files of a build
set -eu
obj=${1:-build/obj}
fail=0
checked=0

# rule FOLDER ALLOWED-PREFIXES…: sources under FOLDER may depend on our headers under the prefixes only.
rule() {
	folder=$1
	shift
	for d in $(find "$obj/$folder" -name '*.d' 2>/dev/null); do
		checked=$((checked + 1))
		for dep in $(sed 's/\\$//; s/^[^:]*://' "$d" | tr ' ' '\n' | grep -E '^(proto|ipc|mediad|control|tests)/' | sort -u); do
			ok=0
			for a in "$@"; do
				case $dep in "$a"/* | "$a") ok=1 ;; esac
			done
			if [ $ok = 0 ]; then
				echo "${d#"$obj"/}: must not include $dep (allowed: $*)"
				fail=1
			fi
		done
	done
}

rule proto proto
rule ipc ipc proto
for f in mls transport audio video; do rule mediad/$f mediad/$f proto; done
rule mediad/dave mediad/dave mediad/mls proto
for f in call engine sandbox; do rule mediad/$f mediad proto ipc; done
rule mediad/music mediad/music proto ipc
rule mediad/decoder mediad/decoder mediad/music mediad/video mediad/sandbox/sandbox.h proto ipc
rule mediad mediad proto ipc
rule control/words control/words proto
rule control/room control/room control/settings control/words proto control/prompts
rule control/again control/again control/room control/settings control/words control/prompts proto
rule control/text control/text control/tools/agreement.h control/room/floor control/room/language control/settings proto
rule control/memory control/memory proto
rule control/memory/embed control/memory/embed control/memory/terms.h control/memory/kernel.h proto
rule control/extraction control/extraction control/agent/usage_event.h control/engine control/dialect control/events control/ledger control/memory control/prompts control/settings control/store proto ipc
rule control/embeddings control/embeddings control/agent/usage_event.h control/engine control/dialect control/events control/ledger control/memory control/settings control/store proto ipc
rule control/attachments control/attachments control/vision control/engine control/dialect control/text/attached.h control/tools/untrusted.h control/prompts control/settings proto ipc
rule control/consent control/consent control/store/subject.h proto
rule control/music control/music control/memory/terms.h proto
rule control/jukebox control/jukebox control/library control/media control/music control/music_sources control/memory/terms.h control/settings control/store control/events proto ipc
rule control/soundboard control/soundboard control/settings/secret_names.h proto ipc
rule control/library control/library control/memory/terms.h control/music control/settings proto ipc
rule control/music_sources control/music_sources control/library control/music control/memory/terms.h control/jail control/settings proto ipc
rule control/store control/store control/memory control/events control/settings control/words proto ipc
rule control/events control/events proto
rule control/dialect control/dialect control/engine/core/ask.h control/settings proto control/prompts
rule control/engine/core control/engine/core control/settings proto
rule control/engine control/engine control/dialect control/settings proto ipc control/prompts
rule control/settings control/settings proto
rule control/metrics control/metrics control/events proto
rule control/otlp control/otlp control/events control/metrics/otlp.h control/settings proto ipc
rule control/ledger control/ledger control/settings proto
rule control/tools control/tools control/memory control/engine/core/ask.h control/settings control/events control/words control/prompts control/dialect proto ipc
rule control/tool_calls control/tool_calls control/tools control/events control/engine/core/ask.h control/store/store.h control/settings proto ipc
rule control/jail control/jail proto ipc
rule control/golive control/golive control/discord control/media control/vision control/engine/core/ask.h control/settings control/words proto ipc
rule control/vision/core control/vision/core control/dialect/base64.h proto
rule control/vision/imaged control/vision/imaged control/vision/core proto ipc
rule control/vision/framed control/vision/framed control/vision/imaged control/vision/core proto ipc
rule control/vision control/vision control/dialect/base64.h control/engine/core/ask.h control/events control/prompts control/settings proto ipc
rule control/mcp control/mcp control/jail control/dialect control/settings control/tools proto ipc
rule control/delegate control/delegate control/engine/core/ask.h control/jail control/dialect control/settings control/tools control/prompts proto ipc
rule control/web control/web control/dialect/oauth.h control/dialect/base64.h control/settings control/configure/live_settings.h control/events control/store proto ipc
rule control control proto ipc
rule control/offline control/offline proto ipc
rule tests/guildd tests/guildd proto ipc
rule tests/standins tests/standins proto ipc
rule tests/sound/score tests/sound/score tests/sound/items.h
rule tests/sound tests/sound control/media proto ipc tests/join.h
rule tests/decoder tests/decoder mediad/music mediad/video mediad/decoder/analyser.h mediad/decoder/convert.h mediad/decoder/film.h mediad/decoder/lead.h mediad/decoder/picture.h mediad/decoder/mp3_place.h mediad/decoder/progress.h mediad/decoder/retry.h mediad/decoder/scale.h mediad/decoder/sendable.h proto ipc tests/film_file tests/golive/film.h tests/test.h tests/random.h
rule tests/escape tests/escape mediad/decoder mediad/music mediad/sandbox control/vision/imaged control/vision/core proto ipc
rule tests/picture tests/picture control/vision proto ipc tests/test.h tests/random.h
rule tests/streamer tests/streamer control/media control/vision/core tests/picture proto ipc tests/join.h
rule tests/talk tests/talk control/media control/report/secure.h proto ipc
rule tests/chaos tests/chaos control/media control/music proto ipc tests/random.h
rule tests/scenarios tests/scenarios control/media proto ipc

[ $checked -gt 0 ] || { echo "no dependency files under $obj: build first"; exit 1; }
[ $fail = 0 ] && echo "includes: $checked objects keep the rule"
exit $fail
