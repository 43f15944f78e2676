/* Counts of control's actions since it started (counters.def). Fed by the bus, and by
 * counter_add for what no event tells. A value without I/O, all zero at first; it is kept in the
 * state file, where `control --counters` reads it. */
#ifndef CONTROL_METRICS_COUNTERS_H
#define CONTROL_METRICS_COUNTERS_H

#include <stdint.h>

#include <jansson.h>

#include "control/metrics/counters.def"

struct bus_event;

enum counter {
#define X(NAME, name, text) COUNTER_##NAME,
	COUNTERS(X)
#undef X
		COUNTER_COUNT
};

struct counters {
	uint64_t v[COUNTER_COUNT];
};

void counter_add(struct counters *c, enum counter counter);
void counters_take_event(struct counters *c, const struct bus_event *ev);
const char *counter_name(enum counter counter);
const char *counter_text(enum counter counter);
/* {name: value}. New reference, NULL without memory. */
json_t *counters_json(const struct counters *c);
/* Names that are missing count as 0, others are ignored. */
void counters_read(const json_t *j, struct counters *out);

#endif
