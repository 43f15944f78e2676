#!/bin/sh
# client.sh [TOOL ARGUMENTS]… URL: our client, which wants the address first; the conformance suite writes it last.
set -eu
n=$# i=0
for a; do
	i=$((i + 1))
	shift
	[ $i = $n ] || set -- "$@" "$a"
done
exec "$BIN/tests/mcp" "$a" "$@"
