#!/bin/sh
# Fails if a generated page in docs/ differs from its sources.
set -eu
cd "$(dirname "$0")/../.."
make -s docs DOCS=build/docs
fail=0
for f in build/docs/*.md build/docs/decisions/README.md; do
	page=docs/${f#build/docs/}
	cmp -s "$f" "$page" || { echo "$page is out of date: run make docs"; fail=1; }
done
exit $fail
