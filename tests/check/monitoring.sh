#!/bin/sh
# The alert rules and the Grafana dashboard of deploy/monitoring: each name that they use is one that control shows (and the metrics
# of a running control are given as FILE, if any). With promtool installed, the rules' own tests and every expression are checked too.
#
#   monitoring.sh [FILE]      FILE: what GET /metrics answered
set -eu
cd "$(dirname "$0")/../.."
fail=0
known=$(
	grep -oE '^	C\([A-Z_]+, [a-z_0-9]+' control/metrics/counters.def | sed -E 's/.*, (.*)/parley_\1_total/'
	grep -oE '^	[GD]\([a-z_0-9]+' control/metrics/metrics.def | sed 's/.*(/parley_/'
	sed -nE 's/^	M\([A-Z_]+, ([a-z_0-9]+), (SECONDS|TOKENS),.*/parley_\1_bucket\nparley_\1_sum\nparley_\1_count\nparley_\1/p
		s/^	M\([A-Z_]+, ([a-z_0-9]+), (COUNT|UNITS|MILLIS|DOLLARS),.*/parley_\1/p' control/metrics/metrics.def | sed 's/^parley_gen_ai_/gen_ai_/'
)
used=$(grep -ohE '\b(parley|gen_ai_client)_[a-z_0-9]+' deploy/monitoring/alerts.yml deploy/monitoring/dashboard.json | sort -u)
for name in $used; do
	echo "$known" | grep -qx "$name" || { echo "deploy/monitoring uses $name, which control does not show"; fail=1; }
done
[ "$(echo "$used" | wc -l)" -ge 10 ] || { echo "deploy/monitoring uses hardly any metric"; fail=1; }
if [ -n "${1:-}" ]; then
	for name in $(echo "$known" | grep '_total$' | head -5); do
		grep -q "^# TYPE $name counter" "$1" || { echo "$1 lacks $name"; fail=1; }
	done
fi
if command -v promtool >/dev/null; then
	(cd deploy/monitoring && promtool check rules alerts.yml && promtool test rules alerts_test.yml) || fail=1
	[ -z "${1:-}" ] || promtool check metrics <"$1" || fail=1
	python3 - <<-'END' >"${TMPDIR:-/tmp}/parley-expressions.$$"
		import json
		print("groups:\n- name: dashboard\n  rules:")
		for p in json.load(open("deploy/monitoring/dashboard.json"))["panels"]:
		    for i, t in enumerate(p["targets"]):
		        expr = t["expr"].replace("$__rate_interval", "5m")
		        print("  - record: panel:%d:%d\n    expr: %s" % (p["id"], i, json.dumps(expr)))
	END
	promtool check rules "${TMPDIR:-/tmp}/parley-expressions.$$" || fail=1
	rm -f "${TMPDIR:-/tmp}/parley-expressions.$$"
fi
[ $fail = 0 ] && echo "monitoring: $(echo "$used" | wc -l) names, all of them shown"
exit $fail
