#!/bin/sh
# The generated pages in docs/ must be what their sources say.
set -eu
cd "$(dirname "$0")/../.."
make -s docs DOCS=build/docs
fail=0
for f in build/docs/*.md build/docs/decisions/README.md; do
	page=docs/${f#build/docs/}
	cmp -s "$f" "$page" || { echo "$page is out of date: run make docs"; fail=1; }
done
exit $fail
