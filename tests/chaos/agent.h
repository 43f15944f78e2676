/* A minimal client in the call: a process that drives one mediad by control's own link to it. It
 * joins a channel, speaks its tone in one playback after the other, receives the others, and gets
 * fresh credentials on request. It can be killed, stopped and replaced at any time, because its
 * state is in shared memory. After it lost its place it rejoins, as an application does. */
#ifndef TESTS_CHAOS_AGENT_H
#define TESTS_CHAOS_AGENT_H

#include "tests/chaos/script.h"

#include <stdatomic.h>
#include <sys/types.h>

/* What a test of the tests can make it do wrong. */
enum agent_plant {
	PLANT_NONE,
	PLANT_NO_CREDENTIALS, /* after the first it keeps them to itself */
	PLANT_NO_END,	      /* its playbacks are opened and never ended */
	PLANT_SILENT,	      /* it does not speak */
	PLANT_RESTLESS,	      /* it joins again all the time */
	PLANT_OTHER_VOICE,    /* it speaks with somebody else's tone */
};

/* What its main gateway would tell it. */
enum agent_errand { ERRAND_NONE, ERRAND_NEW_SERVER, ERRAND_NO_SERVER };

/* Between the one who runs the script and the agent. All counts rise, over restarts too. */
struct agent_state {
	atomic_bool present, quit; /* it ought to be in the call; it ought to leave and end */
	atomic_ullong channel;
	atomic_uint plant;
	atomic_uint errand; /* enum agent_errand; taken once */

	atomic_uint phase, reason, ups, failed; /* of the call; times it came up, and failed */
	atomic_uint failed_reason, unexplained; /* what ended without a word why */
	atomic_uint version, members, ready, pending;
	atomic_ullong epoch, code;		   /* of the group; code: the privacy code's sum */
	atomic_uint heard_ms[CHAOS_PEOPLE];	   /* in the right voice */
	atomic_uint wrong;			   /* sound in the voice of somebody else */
	atomic_uint drained, stopped, leases;	   /* playbacks; leases got */
	atomic_uint music_reports, music_failures; /* the music is at another position; failed */
};

struct agent_conf {
	enum chaos_who who;
	const char *api; /* guildd's control API */
	const char *socket;
	uint64_t epoch;
	bool music;		   /* it plays music as well */
	struct agent_state *state; /* shared */
};

extern const uint64_t chaos_user[CHAOS_PEOPLE];

/* In the child, for its whole life. Exit status. */
int agent_run(const struct agent_conf *conf);

#endif
