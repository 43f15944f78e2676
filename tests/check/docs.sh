#!/bin/sh
# The generated pages in docs/ must be what their sources say.
set -eu
cd "$(dirname "$0")/../.."
make -s docs DOCS=build/docs
fail=0
for f in build/docs/*.md; do
	cmp -s "$f" "docs/$(basename "$f")" || { echo "docs/$(basename "$f") is out of date: run make docs"; fail=1; }
done
exit $fail
