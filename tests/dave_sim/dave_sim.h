/* A voice channel in simulated time: DAVE sessions with their keyrooms on one side, guildd's
 * delivery service on the other, and between them whatever the network does. Nothing is shared by
 * the two sides but the wire.
 *
 * Who speaks is heard by those who have a key for it; the others are told what the audio thread
 * would tell. */
#ifndef TESTS_DAVE_SIM_DAVE_SIM_H
#define TESTS_DAVE_SIM_DAVE_SIM_H

#include "mediad/dave/session.h"
#include "tests/guildd/dave_group.h"

enum { DAVE_SIM_MAX = 16, DAVE_SIM_TICK_MS = 20 };

struct dave_sim;

/* From the server; JSON messages have no bytes. */
struct dave_sim_message {
	struct dave_sim_message *next;
	unsigned to;
	unsigned op; /* 11 and 13 too: user in `number` */
	uint16_t transition, version;
	uint64_t number;
	uint8_t *p;
	size_t n;
};

struct dave_sim_member {
	struct dave_sim *v;
	uint64_t user;
	bool here, mute;
	unsigned max; /* version of DAVE it speaks */
	struct dave_session *s;
	struct dave_heal_state heal;
	struct dave_job *job;
	struct dave_sim_message *first, **tail; /* to the server: user's op 23, 26, 28, 31 */
	bool clear;				/* it may send in the clear */
	bool rejoin, resume;
	unsigned deaf_run[DAVE_SIM_MAX]; /* packets in a row of this speaker that did not open */
	uint64_t heard_at[DAVE_SIM_MAX], silent_ms[DAVE_SIM_MAX];
	unsigned epochs; /* so many were given */
};

enum fate { DELIVER, LOSE, TWICE };
typedef enum fate(dave_sim_fate_h)(struct dave_sim *v, struct dave_sim_message *l, void *arg);

struct dave_sim {
	struct gd_group *ds;
	struct gd_switches sw;
	uint64_t now, next_tick, seeds;
	struct dave_sim_member who[DAVE_SIM_MAX];
	struct dave_sim_message *first, **tail; /* from the server */
	dave_sim_fate_h *fateh;
	void *arg;
	unsigned jobs, late_commits, lost;
	unsigned broken; /* rules of the house that were not kept */
};

/* ENOMEM. Nobody is there yet. Users are 100 + index. */
int dave_sim_init(struct dave_sim *v);
void dave_sim_free(struct dave_sim *v);
void dave_sim_join(struct dave_sim *v, unsigned i);
void dave_sim_leave(struct dave_sim *v, unsigned i);
/* Runs for so long. */
void dave_sim_run(struct dave_sim *v, uint64_t ms);
/* All who are here share one group and hear each other; alone: no key. */
bool dave_sim_agree(const struct dave_sim *v);
/* Runs until they do: ms, or UINT64_MAX after `most`. */
uint64_t dave_sim_run_until_agreed(struct dave_sim *v, uint64_t most);

#endif
