#!/bin/sh
# Fails if the traced event of docs/architecture.md names a function that its file does not define, or a file of the tree that
# does not exist.
set -eu
cd "$(dirname "$0")/../.."
page=docs/architecture.md
fail=0
n=0
rows=$(sed -nE 's/^\| `([a-z0-9_]+)` \| `([a-z0-9_/]+\.[ch])` \|.*/\1 \2/p' $page)
while read -r function file; do
	n=$((n + 1))
	grep -qE "^[a-z].*[ *]$function\(" "$file" 2>/dev/null || { echo "$page: $file does not define $function"; fail=1; }
done <<END
$rows
END
[ "$n" -ge 30 ] || { echo "$page: the traced event has only $n rows"; fail=1; }
for path in $(grep -oE '`(proto|ipc|mediad|control|tests|deploy|docs)/[a-z0-9_/.-]*`' $page | tr -d '\140' | sort -u); do
	[ -e "$path" ] || { echo "$page: there is no $path"; fail=1; }
done
[ $fail = 0 ] && echo "trace: $n functions of the traced event exist"
exit $fail
