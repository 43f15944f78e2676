/* A DAVE simulation: a voice channel in simulated time, with DAVE sessions and their MLS states on
 * one side, guildd's delivery service on the other, and a faulty network in between. The two sides
 * share no code.
 *
 * A speaker is received by members that hold a key for it; the others get the reports of the audio
 * thread. */
#ifndef TESTS_DAVE_SIM_DAVE_SIM_H
#define TESTS_DAVE_SIM_DAVE_SIM_H

#include "mediad/dave/session.h"
#include "tests/guildd/dave_group.h"

enum { DAVE_SIM_MAX = 16, DAVE_SIM_TICK_MS = 20 };

struct dave_sim;

/* A message; JSON messages have no bytes. */
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
	bool broken;  /* nobody can decrypt its packets */
	unsigned max; /* highest DAVE version it supports */
	struct dave_session *s;
	struct dave_heal_state heal;
	struct dave_job *job;
	struct dave_sim_message *first, **tail; /* to the server: ops 23, 26, 28, 31 */
	bool clear;				/* it may send in the clear */
	bool rejoin, resume;
	unsigned undecryptable_run[DAVE_SIM_MAX]; /* undecryptable packets of this speaker in a row
						   */
	uint64_t heard_at[DAVE_SIM_MAX], silent_ms[DAVE_SIM_MAX];
	unsigned epochs; /* number of epochs received */
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
	unsigned broken; /* invariants that were violated */
};

/* Starts with no members. Users are 100 + index. Returns ENOMEM. */
int dave_sim_init(struct dave_sim *v);
void dave_sim_free(struct dave_sim *v);
void dave_sim_join(struct dave_sim *v, unsigned i);
void dave_sim_leave(struct dave_sim *v, unsigned i);
/* Runs for ms of simulated time. */
void dave_sim_run(struct dave_sim *v, uint64_t ms);
/* True if all members present share one group and receive each other; one alone must have no key.
 */
bool dave_sim_agree(const struct dave_sim *v);
/* Runs until they agree; returns the time in ms, or UINT64_MAX after `most`. */
uint64_t dave_sim_run_until_agreed(struct dave_sim *v, uint64_t most);

#endif
