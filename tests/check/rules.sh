#!/bin/sh
# The map of the room's 151 statements: each is named by a unit test (TEST(rule_042_…) under tests/unit/control), by a scenario (a
# line `rules 42`), or stands in tests/scenarios/room/waiting with the part it waits for. Fails when one does none of that, and when
# one waits that may not.
#
#   rules.sh [-v]      -v: where each of them is
set -eu
cd "$(dirname "$0")/../.."
waiting=tests/scenarios/room/waiting
{
	grep -rnoE '^TEST(_OOM)?\(rule(_[0-9]{3})+' tests/unit/control | sed -E 's/^([^:]+):([0-9]+):.*\(rule/unit \1:\2 /' |
		awk '{ where = $2; gsub(/_/, " ", $0); n = split($0, f, " "); for (i = n; f[i] ~ /^[0-9][0-9][0-9]$/; i--) print f[i] + 0, "unit", where }'
	grep -nE '^[[:space:]]*rules([[:space:]]+[0-9]+)+' tests/scenarios/room/*.room |
		awk -F: '{ sub(/#.*/, "", $3); n = split($3, f, " "); for (i = 2; i <= n; i++) print f[i] + 0, "scenario", $1 ":" $2 }'
	grep -E '^[0-9]' $waiting | awk '{ n = split($1, r, "-"); for (i = r[1]; i <= r[n]; i++) { printf "%d waits", i; for (k = 2; k <= NF; k++) printf " %s", $k; print "" } }'
} | awk -v verbose="${1:-}" '
function ranges(kind,   i, from, out) {
	for (i = 1; i <= 152; i++) {
		if (i <= 151 && is[i] == kind) { if (!from) from = i }
		else if (from) { out = out (out ? " " : "") (from == i - 1 ? from : from "-" i - 1); from = 0 }
	}
	return out ? out : "none"
}
function may_wait(n) { return n <= 10 || n == 85 || n == 86 || n >= 93 && n <= 100 || n >= 114 && n <= 115 }
{
	n = $1; kind = $2
	if (n < 1 || n > 151) { print "no statement has the number " n ": " $3; bad = 1; next }
	line = $0; sub(/^[0-9]+ /, "", line)
	where[n] = where[n] "\n    " line
	if (kind == "waits" && !may_wait(n)) { print n " may not wait"; bad = 1 }
	if (kind == "waits" && is[n] && is[n] != "waits") { print n " waits and is proven: " where[n]; bad = 1 }
	if (kind != "waits") count[kind]++
	if (is[n] == "" || is[n] == "scenario" && kind == "unit") is[n] = kind
}
END {
	for (i = 1; i <= 151; i++) {
		if (!is[i]) { is[i] = "missing"; missing++ }
		if (verbose == "-v") printf "%3d%s\n", i, where[i] ? where[i] : "    missing"
	}
	print "by unit tests:      " ranges("unit")
	print "by scenarios alone: " ranges("scenario")
	print "waiting:            " ranges("waits")
	print "missing:            " ranges("missing")
	printf "rules: %d proven in %d places, %d wait, %d missing\n", 151 - missing - waits(), count["unit"] + count["scenario"], waits(), missing
	exit bad || missing > 0
}
function waits(   i, n) { for (i = 1; i <= 151; i++) n += is[i] == "waits"; return n + 0 }'
