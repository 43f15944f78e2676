/* What GET /metrics shows: durations as histograms and counts by cause (metrics.def), beside the
 * counters and the present state. Since the start of the program; fed by the bus.
 *
 * A family keeps at most METRIC_VALUES combinations of its labels; what comes after that counts
 * under "other", so that no configuration makes a scrape grow without end. Pure. */
#ifndef CONTROL_METRICS_METRICS_H
#define CONTROL_METRICS_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/metrics/metrics.def"

struct bus_event;
struct counters;
struct media_msg;
struct metrics;

enum { METRIC_VALUES = 64 };

/* The state at the time of a scrape. */
struct metrics_now {
	unsigned voice_sessions, mediads, mediads_expected;
	unsigned mcp_servers, mcp_servers_up;
	unsigned brains, brains_up; /* of the calls */
	bool discord, store;
	uint64_t spent_nano, limit_nano; /* of the day */
	uint64_t started_ms;		 /* since 1970 */
};

/* ENOMEM. The caller owns *out. */
int metrics_alloc(struct metrics **out);
struct metrics *metrics_free(struct metrics *m);
/* A fault that a call may have: it is counted from 0, so that an increase shows the first one. */
void metrics_expect_fault(struct metrics *m, const char *fault);
/* Counts nothing when a new combination of labels finds no memory. */
void metrics_take_event(struct metrics *m, const struct bus_event *ev);
/* CALL_STATS and USER_STATS of the call in this server; others are ignored. */
void metrics_take_media(struct metrics *m, uint64_t guild, const struct media_msg *msg);
/* In Prometheus's text format, version 0.0.4. NULL without memory. The caller frees it. */
char *metrics_write(const struct metrics *m, const struct counters *c,
		    const struct metrics_now *now);

#endif
