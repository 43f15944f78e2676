#!/bin/sh
# Every setting has a reader: some code of control besides the tables of settings uses its value. Fails for a setting without one.
#   settings.sh              looks at control/settings/settings.def
#   settings.sh --self-test  plants a setting, which must be found
set -eu
cd "$(dirname "$0")/../.."
checked=0 fail=0
names=$(sed -nE 's/^[[:space:]]*[UBESIK]\(([a-z_0-9]+), [A-Z].*/\1/p' control/settings/settings.def)
[ "${1:-}" != --self-test ] || names=no_such_setting
code=$(mktemp)
trap 'rm -f "$code"' EXIT
# Without comments, in which a name proves nothing, and without the code that treats all settings alike.
find control -name '*.[ch]' ! -path 'control/settings/settings.[ch]' ! -path 'control/settings/view.[ch]' ! -path 'control/settings/doc.c' -exec cat {} + |
	sed -E 's,/\*.*\*/,,; /^[[:space:]]*(\/\*|\*([[:space:]\/]|$))/d' >"$code"
for name in $names; do
	checked=$((checked + 1))
	grep -qE "(->|\.)$name\b" "$code" || { echo "settings: nothing reads $name"; fail=1; }
done
if [ "${1:-}" = --self-test ]; then
	[ $fail = 1 ] || { echo "settings: a planted setting without a reader is not found"; exit 1; }
	echo "settings: a planted one is found"
	exit 0
fi
[ "$checked" -gt 100 ] || { echo "settings: only $checked found in the table"; fail=1; }
[ $fail = 1 ] || echo "settings: all $checked have a reader"
exit $fail
