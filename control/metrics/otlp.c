#include "control/metrics/otlp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/metrics/counters.h"
#include "control/metrics/inside.h"

enum { CUMULATIVE = 2 };

struct times {
	uint64_t start_ms, at_ms;
};

json_t *otlp_resource(uint64_t started_ms)
{
	return json_pack("{s:[{s:s,s:{s:s}},{s:s,s:{s:s}},{s:s,s:{s:o}}]}", "attributes", "key",
			 "service.name", "value", "stringValue", "parley-control", "key",
			 "service.version", "value", "stringValue", PARLEY_VERSION, "key",
			 "service.instance.id", "value", "stringValue",
			 json_sprintf("%" PRIu64, started_ms));
}

static json_t *number(uint64_t n)
{
	return json_sprintf("%" PRIu64, n);
}

static json_t *nanos(uint64_t ms)
{
	return json_sprintf("%" PRIu64 "000000", ms);
}

/* Of OpenTelemetry's own the underscores are points; of ours the unit is told apart. */
static void write_name(const char *name, char out[96])
{
	static const char *const ends[] = {"_total", "_seconds", "_usd"};
	bool ours = strncmp(name, "gen_ai_", 7) != 0;
	size_t n;

	snprintf(out, 96, "%s%s", ours ? "parley." : "gen_ai.", ours ? name : name + 7);
	for (unsigned i = 0; i < sizeof ends / sizeof ends[0] && ours; i++) {
		n = strlen(out);
		if (n > strlen(ends[i]) && strcmp(out + n - strlen(ends[i]), ends[i]) == 0)
			out[n - strlen(ends[i])] = '\0';
	}
	for (char *p = out + strlen("gen_ai."); !ours && *p; p++)
		*p = *p == '_' ? '.' : *p;
}

static json_t *point(const struct times *t)
{
	return json_pack("{s:o,s:o}", "startTimeUnixNano", nanos(t->start_ms), "timeUnixNano",
			 nanos(t->at_ms));
}

static void add_attributes(json_t *p, const struct metric_family *f, const struct metric_series *s)
{
	json_t *list = json_array();
	char name[96];

	for (unsigned i = 0; i < METRIC_LABELS_MAX && f->label[i]; i++) {
		write_name(f->label[i], name);
		json_array_append_new(
			list,
			json_pack("{s:s,s:{s:s}}", "key",
				  strncmp(f->label[i], "gen_ai_", 7) == 0 ? name : f->label[i],
				  "value", "stringValue", s->value[i]));
	}
	json_object_set_new(p, "attributes", list);
}

static void add_histogram(json_t *p, enum metric metric, const struct metric_series *s)
{
	bool seconds = metric_families[metric].kind == METRIC_KIND_SECONDS;
	json_t *counts = json_array(), *bounds = json_array();
	uint64_t below = 0;
	const uint32_t *limits;
	unsigned n = metric_buckets(metric, &limits);

	for (unsigned i = 0; i < n; i++) {
		below += s->bucket[i];
		json_array_append_new(counts, number(s->bucket[i]));
		json_array_append_new(bounds, seconds ? json_real(limits[i] / 1000.0)
						      : json_integer((json_int_t)limits[i]));
	}
	json_array_append_new(counts, number(s->n - below));
	json_object_set_new(p, "count", number(s->n));
	json_object_set_new(p, "sum",
			    json_real(seconds ? (double)s->sum / 1000.0 : (double)s->sum));
	json_object_set_new(p, "bucketCounts", counts);
	json_object_set_new(p, "explicitBounds", bounds);
}

static void add_sum(json_t *p, enum metric_kind kind, uint64_t sum)
{
	if (kind == METRIC_KIND_DOLLARS)
		json_object_set_new(p, "asDouble", json_real((double)sum / 1e9));
	else if (kind == METRIC_KIND_MILLIS)
		json_object_set_new(p, "asDouble", json_real((double)sum / 1000.0));
	else
		json_object_set_new(p, "asInt", number(sum));
}

static const char *unit_of(enum metric_kind kind)
{
	switch (kind) {
	case METRIC_KIND_SECONDS:
	case METRIC_KIND_MILLIS:
		return "s";
	case METRIC_KIND_TOKENS:
		return "{token}";
	case METRIC_KIND_DOLLARS:
		return "{USD}";
	default:
		return "1";
	}
}

static json_t *family_json(const struct metrics *m, enum metric metric, const struct times *t)
{
	const struct metric_family *f = &metric_families[metric];
	bool histogram = f->kind == METRIC_KIND_SECONDS || f->kind == METRIC_KIND_TOKENS;
	json_t *points = json_array(), *data;
	char name[96];

	for (const struct metric_series *s = m->first[metric]; s; s = s->next) {
		json_t *p = point(t);

		add_attributes(p, f, s);
		if (histogram)
			add_histogram(p, metric, s);
		else
			add_sum(p, f->kind, s->sum);
		json_array_append_new(points, p);
	}
	data = json_pack("{s:i,s:o}", "aggregationTemporality", (int)CUMULATIVE, "dataPoints",
			 points);
	if (!histogram)
		json_object_set_new(data, "isMonotonic", json_true());
	write_name(f->name, name);
	return json_pack("{s:s,s:s,s:s,s:o}", "name", name, "description", f->text, "unit",
			 unit_of(f->kind), histogram ? "histogram" : "sum", data);
}

static json_t *counter_json(const struct counters *c, unsigned i, const struct times *t)
{
	json_t *p = point(t);
	char name[96];

	json_object_set_new(p, "asInt", number(c->v[i]));
	write_name(counter_name(i), name);
	return json_pack("{s:s,s:s,s:s,s:{s:i,s:b,s:[o]}}", "name", name, "description",
			 counter_text(i), "unit", "1", "sum", "aggregationTemporality",
			 (int)CUMULATIVE, "isMonotonic", 1, "dataPoints", p);
}

static json_t *gauge_json(const char *gauge, const char *text, const char *unit, json_t *value,
			  uint64_t at_ms)
{
	bool whole = json_is_string(value);
	char name[96];

	write_name(gauge, name);
	return json_pack("{s:s,s:s,s:s,s:{s:[{s:o,s:o}]}}", "name", name, "description", text,
			 "unit", unit, "gauge", "dataPoints", "timeUnixNano", nanos(at_ms),
			 whole ? "asInt" : "asDouble", value);
}

static void add_gauges(json_t *list, const struct metrics_now *now, uint64_t at_ms)
{
#define G(name, value, text)                                                                       \
	json_array_append_new(list, gauge_json(#name, text, "1", number(value), at_ms));
#define D(name, value, text)                                                                       \
	json_array_append_new(                                                                     \
		list, gauge_json(#name, text, "{USD}", json_real((double)(value) / 1e9), at_ms));
	METRIC_GAUGES(G, D)
#undef G
#undef D
}

char *metrics_write_otlp(const struct metrics *m, const struct counters *c,
			 const struct metrics_now *now, uint64_t at_ms)
{
	const struct times t = {now->started_ms, at_ms};
	json_t *list = json_array(), *root;
	char *text;

	add_gauges(list, now, at_ms);
	for (unsigned i = 0; i < COUNTER_COUNT; i++)
		json_array_append_new(list, counter_json(c, i, &t));
	for (unsigned i = 0; i < METRIC_COUNT; i++)
		if (m->first[i])
			json_array_append_new(list, family_json(m, i, &t));
	root = json_pack("{s:[{s:o,s:[{s:{s:s,s:s},s:o}]}]}", "resourceMetrics", "resource",
			 otlp_resource(now->started_ms), "scopeMetrics", "scope", "name", "parley",
			 "version", PARLEY_VERSION, "metrics", list);
	text = root ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
	json_decref(root);
	return text;
}
