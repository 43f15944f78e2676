/* The families and series of metrics, for those who write them: metrics.c (Prometheus) and otlp.c
 * (OpenTelemetry). For these two alone. */
#ifndef CONTROL_METRICS_INSIDE_H
#define CONTROL_METRICS_INSIDE_H

#include "control/metrics/metrics.h"

#define METRIC_ONE_(limit) +1
enum {
	METRIC_LABELS_MAX = 4,
	METRIC_VALUE_MAX = 64,
	METRIC_BUCKETS = 0 METRIC_BUCKETS_MS(METRIC_ONE_),
};
#undef METRIC_ONE_

enum metric_kind {
	METRIC_KIND_SECONDS,
	METRIC_KIND_TOKENS,
	METRIC_KIND_COUNT,
	METRIC_KIND_UNITS,
	METRIC_KIND_MILLIS,
	METRIC_KIND_DOLLARS,
};
enum metric {
#define M(NAME, name, kind, labels, text) METRIC_##NAME,
	METRICS(M)
#undef M
		METRIC_COUNT
};

struct metric_family {
	const char *name, *label[METRIC_LABELS_MAX], *text;
	enum metric_kind kind;
};
extern const struct metric_family metric_families[METRIC_COUNT];
/* How many buckets the family has; *limits: their upper limits, in ms or tokens. */
unsigned metric_buckets(enum metric metric, const uint32_t **limits);

struct metric_series {
	struct metric_series *next;
	char value[METRIC_LABELS_MAX][METRIC_VALUE_MAX];
	uint64_t n, sum;		 /* of events; of ms, tokens, units or billionths */
	uint64_t bucket[METRIC_BUCKETS]; /* not cumulative */
};

struct media_counts;
struct metrics {
	struct metric_series *first[METRIC_COUNT];
	unsigned n[METRIC_COUNT];
	struct media_counts *media;
};

#endif
