/* A voice channel in simulated time: DAVE sessions with their keyrooms on one side, guildd's
 * delivery service on the other, and between them whatever the network does. Nothing is shared by
 * the two sides but the wire.
 *
 * Who speaks is heard by those who have a key for it; the others are told what the audio thread
 * would tell. */
#ifndef TESTS_VILLAGE_VILLAGE_H
#define TESTS_VILLAGE_VILLAGE_H

#include "mediad/dave/session.h"
#include "tests/guildd/dave_group.h"

enum { VILLAGE_MAX = 16, VILLAGE_TICK_MS = 20 };

struct village;

/* From the server; JSON messages have no bytes. */
struct letter {
	struct letter *next;
	unsigned to;
	unsigned op; /* 11 and 13 too: user in `number` */
	uint16_t transition, version;
	uint64_t number;
	uint8_t *p;
	size_t n;
};

struct villager {
	struct village *v;
	uint64_t user;
	bool here, mute;
	unsigned max; /* version of DAVE it speaks */
	struct dave_session *s;
	struct dave_ladder ladder;
	struct dave_job *job;
	struct letter *first, **tail; /* to the server: user's op 23, 26, 28, 31 */
	bool clear;		      /* it may send in the clear */
	bool rejoin, resume;
	unsigned deaf_run[VILLAGE_MAX]; /* packets in a row of this speaker that did not open */
	uint64_t heard_at[VILLAGE_MAX], silent_ms[VILLAGE_MAX];
	unsigned epochs; /* so many were given */
};

enum fate { DELIVER, LOSE, TWICE };
typedef enum fate(village_fate_h)(struct village *v, struct letter *l, void *arg);

struct village {
	struct gd_group *ds;
	struct gd_switches sw;
	uint64_t now, next_tick, seeds;
	struct villager who[VILLAGE_MAX];
	struct letter *first, **tail; /* from the server */
	village_fate_h *fateh;
	void *arg;
	unsigned jobs, late_commits, lost;
	unsigned broken; /* rules of the house that were not kept */
};

/* ENOMEM. Nobody is there yet. Users are 100 + index. */
int village_start(struct village *v);
void village_end(struct village *v);
void village_join(struct village *v, unsigned i);
void village_leave(struct village *v, unsigned i);
/* Runs for so long. */
void village_run(struct village *v, uint64_t ms);
/* All who are here share one group and hear each other; alone: no key. */
bool village_agree(const struct village *v);
/* Runs until they do: ms, or UINT64_MAX after `most`. */
uint64_t village_until_agreed(struct village *v, uint64_t most);

#endif
