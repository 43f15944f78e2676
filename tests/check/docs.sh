#!/bin/sh
# Fails if a generated page in docs/ differs from its sources, if the runbook names a counter that does not exist, or if a script that
# the docs and the Makefile call cannot be run in a fresh clone.
set -eu
cd "$(dirname "$0")/../.."
make -s docs DOCS=build/docs
fail=0
for f in build/docs/*.md build/docs/decisions/README.md; do
	page=docs/${f#build/docs/}
	cmp -s "$f" "$page" || { echo "$page is out of date: run make docs"; fail=1; }
done
# The runbook's counters are rows of the table of counters.
names=$(sed -n '/^## Runbook/,$p' docs/operations.md | awk -F'|' '/^\| / && $3 !~ /control --check|counter/ { print $3 }' | grep -oE '`[a-z_]+`' | tr -d '`')
[ "$(echo "$names" | wc -l)" -ge 8 ] || { echo "docs/operations.md: the runbook names too few counters"; fail=1; }
for n in $names; do
	grep -qE "^	C\([A-Z_]+, $n, " control/metrics/counters.def || { echo "docs/operations.md names $n, which is no counter"; fail=1; }
done
for f in $(find tests deploy -name '*.sh' ! -path '*/node_modules/*' ! -perm -100); do
	grep -q '^#!' "$f" && { echo "$f is not executable: chmod +x"; fail=1; }
done
exit $fail
