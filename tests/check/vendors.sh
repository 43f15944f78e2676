#!/bin/sh
# Vendors are named by the engines, the dialects and the settings' own tables only (docs/architecture.md): no other source of
# ours has a name of theirs, neither in a symbol nor in a text, but one path that the seeds' API has. "Llamada" is a call in Spanish.
#
#   vendors.sh              looks at the tree
#   vendors.sh --self-test  plants a name, which must be found once
set -eu
cd "$(dirname "$0")/../.."
names='openai|chatgpt|gpt-?[0-9o]|gpt-|whisper|anthropic|claude|gemini|elevenlabs|x\.ai|xai_|grok|groq|ollama|mistral|deepgram|deepseek|speaches|localai|llama([^d]|$)'

# look FOLDER…: every line with a name, but where one may stand
look() {
	grep -rniE "$names" --include='*.[ch]' --include='*.def' "$@" | grep -vE \
		'^[^:]*control/(engine|dialect)/|^[^:]*control/settings/([a-z_]+\.def|provider[a-z_]*\.[ch]|presets?\.[ch]|doc\.c):|^control/web/routes\.def:[0-9]+:.*"/api/elevenlabs/voices' || true
}

if [ "${1:-}" = --self-test ]; then
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
	mkdir -p "$dir/control/room" "$dir/control/engine"
	echo 'static const char *model = "gpt-4o";' | tee "$dir/control/room/planted.c" >"$dir/control/engine/allowed.c"
	n=$(look "$dir" | wc -l)
	[ "$n" = 1 ] || { echo "a planted name was found $n times"; exit 1; }
	echo "vendors: a planted name is found"
	exit 0
fi
found=$(look control mediad ipc proto)
[ -z "$found" ] || { echo "$found"; echo "a vendor is named outside control/engine, control/dialect and the settings' tables"; exit 1; }
echo "vendors: named by engines, dialects and settings only"
