/* Observes a cluster until every invariant holds: the agents' reports, the audio they receive, and
 * guildd's state. */
#ifndef TESTS_CHAOS_WATCH_H
#define TESTS_CHAOS_WATCH_H

#include "tests/chaos/cluster.h"

struct watch {
	struct cluster *h;
	bool real;
	bool bot_there; /* guildd has the bot in the channel */
	bool marked;
	uint64_t asked_at;
	/* when all came up */
	unsigned heard[CHAOS_PEOPLE][CHAOS_PEOPLE], music[CHAOS_PEOPLE][CHAOS_PEOPLE],
		drained[CHAOS_PEOPLE], ups[CHAOS_PEOPLE];
	uint64_t music_at_ms[CHAOS_PEOPLE];
	char text[1000];
};

void watch_begin(struct watch *w, struct cluster *h, bool real);
bool watch_well(struct watch *w);
/* Notes what has been heard. */
void watch_mark(struct watch *w);
/* True if in the ms since then everybody's music was heard, and has moved on, for most of the time,
 * and for no longer. */
bool watch_music_steady(struct watch *w, unsigned ms);
/* What was missing at the last look, and where everybody stood. */
const char *watch_text(struct watch *w);

/* Of guildd's stats: a counter of a user; whether it has a session; packets refused for this
 * reason. */
uint64_t watch_count(const json_t *stats, uint64_t user, const char *name);
bool watch_there(const json_t *stats, enum chaos_who who);
uint64_t watch_refused(const json_t *stats, const char *why);

#endif
