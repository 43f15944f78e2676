/* Turns mediad's statistics, which are totals since the start of a call or of a speaker, into
 * increments since the last report. A total that fell was reset, and counts whole. What a call's
 * first report tells, of itself and of its speakers, counts nothing: the call may be hours old,
 * when control alone was started again, and an hour of old trouble would look like new one. At most
 * MEDIA_COUNTS_MAX calls and speakers are followed; beyond that, the one with the oldest report is
 * dropped. Pure. */
#ifndef CONTROL_METRICS_MEDIA_COUNTS_H
#define CONTROL_METRICS_MEDIA_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/metrics/metrics.def"

struct media_counts;
struct media_msg;

enum media_count {
#define X(member, NAME) MEDIA_COUNT_##NAME,
	METRIC_MEDIA(X, X)
#undef X
		MEDIA_COUNT_COUNT
};
enum { MEDIA_COUNTS_MAX = 4096 };

/* v[from] to v[to - 1] are valid. */
struct media_delta {
	unsigned from, to;
	uint64_t v[MEDIA_COUNT_COUNT];
};

/* ENOMEM. The caller owns *out. */
int media_counts_alloc(struct media_counts **out);
struct media_counts *media_counts_free(struct media_counts *c);
/* False: the message has no statistics. */
bool media_counts_take(struct media_counts *c, uint64_t guild, const struct media_msg *msg,
		       struct media_delta *out);

#endif
