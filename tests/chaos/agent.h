/* A minimal client in the call: a process that drives one mediad by control's own link to it. It
 * joins a channel, speaks its tone in one playback after the other, receives the others, and gets
 * fresh credentials on request. It can be killed, stopped and replaced at any time, because its
 * state is in shared memory. After it lost its place it rejoins, as an application does. */
#ifndef TESTS_CHAOS_AGENT_H
#define TESTS_CHAOS_AGENT_H

#include "tests/chaos/script.h"
#include "tests/chaos/timeline.h"

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
	PLANT_NOISE,	      /* there is noise under what it says */
	PLANT_NO_MUSIC,	      /* its music is never ordered */
	PLANT_MUSIC_AGAIN,    /* its music begins anew wherever it was */
	PLANT_MUSIC_AHEAD,    /* its music goes on a second later than it was */
	PLANT_MUSIC_SKIPS,    /* half a second is missing in the middle of its tracks */
	PLANT_MUSIC_REPEATS,  /* a second comes twice in the middle of its tracks */
	PLANT_TRACK_LOST,     /* a track leaves its queue when mediad is lost */
	PLANT_OTHER_MUSIC,    /* it plays somebody else's music */
	PLANT_TWO_TRACKS,     /* its tracks sound at the same time */
	PLANT_QUEUE_FORGOTTEN /* another agent begins with a new queue */
};

/* What its main gateway would tell it. */
enum agent_errand { ERRAND_NONE, ERRAND_NEW_SERVER, ERRAND_NO_SERVER };

/* The queue of an agent's music, as control's store has it: the document that was written last is
 * whole even if the agent is killed while it writes the other one. */
enum { AGENT_QUEUE_MAX = 4096 };
struct agent_queue {
	atomic_uint newest; /* 0: none; else 1 + the index of the document */
	char document[2][AGENT_QUEUE_MAX];
	struct timeline timeline;
};

/* Between the one who runs the script and the agent. All counts rise, over restarts too. */
struct agent_state {
	atomic_bool present, quit; /* it ought to be in the call; it ought to leave and end */
	atomic_ullong channel;
	atomic_uint plant;
	atomic_uint errand; /* enum agent_errand; taken once */

	atomic_uint phase, reason, ups, failed; /* of the call; times it came up, and failed */
	atomic_uint failed_reason, unexplained; /* what ended without a word why */
	atomic_uint version, members, ready, pending;
	atomic_ullong epoch, code;	      /* of the group; code: the privacy code's sum */
	atomic_uint heard_ms[CHAOS_PEOPLE];   /* in the right voice */
	atomic_uint wrong;		      /* sound in the voice of somebody else */
	atomic_uint drained, stopped, leases; /* playbacks; leases got */
	atomic_uint music_failures;	      /* of its own music */
	atomic_ullong music_at_ms;	      /* what it has played, over all tracks */
	atomic_uint music_misplaced;	      /* positions that cannot be; see the log */
	atomic_uint music_lost;		      /* tracks that left its queue */
	atomic_uint music_ms[CHAOS_PEOPLE];   /* music of the others that it heard */
	atomic_uint sound_wrong;	      /* what was wrong with what it heard; see the log */
	struct agent_queue queue;
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
