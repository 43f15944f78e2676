#!/bin/sh
# The incident guides of docs/operations.md: each name in the column "look at" is a rule or a reason of a turn, an event, a metric, a
# setting, an option of control, a route, or a line of the log.
set -eu
cd "$(dirname "$0")/../.."
fail=0
n=0
guide=$(sed -n '/^## Incident guides/,/^## Runbook/p' docs/operations.md)
names=$(echo "$guide" | awk -F'|' '/^\|/ {print $3}' | grep -oE '`[^`]+`' | tr -d '`' | sort -u)
for name in $(echo "$names" | grep -E '^[a-z_0-9]+$'); do
	n=$((n + 1))
	grep -qE "\((\w+), $name," control/room/base/reasons.def control/events/events.def control/settings/settings.def && continue
	grep -qE "\b$name\b" control/metrics/metrics.def && continue
	case $name in parley_*) grep -qE ", ${name#parley_}," control/metrics/metrics.def && continue ;; esac
	grep -rqE "log_[a-z]+\(\"$name\"|E\([A-Z_]+, $name,|B\($name,|U\($name," control --include=*.c --include=*.def && continue
	echo "docs/operations.md: the guides name $name, which nothing shows"
	fail=1
done
for route in $(echo "$names" | sed -n 's/^GET //p'); do
	n=$((n + 1))
	grep -q "\"$route\"" control/web/routes.def || { echo "docs/operations.md: there is no route $route"; fail=1; }
done
# The kinds of the audit: nothing writes one that is not in the table, and the section about the audit names all of them.
if grep -rnE '\.kind = "|access_audit(_of)?\([^;]*, "[a-z_]+", ("|target|name)' control/store control/agent/agent_record.c control/web/access.c --include=*.c; then
	echo "the kinds of the audit are those of control/events/audit_kinds.def"
	fail=1
fi
audit=$(sed -n '/^### The audit/,/^### An incident/p' docs/operations.md)
for kind in $(sed -nE 's/^[[:space:]]*X\([A-Z_]+, ([a-z_]+),.*/\1/p' control/events/audit_kinds.def); do
	n=$((n + 1))
	echo "$audit" | grep -q "\`$kind\`" || { echo "docs/operations.md: the audit has a kind $kind, which its section does not name"; fail=1; }
done
[ $n -ge 30 ] || { echo "the guides name hardly anything ($n)"; fail=1; }
[ $fail = 0 ] && echo "guides: $n names, all of them shown"
exit $fail
