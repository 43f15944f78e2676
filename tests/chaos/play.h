/* One run: plays the script in a cluster of its own; afterwards every invariant must hold. */
#ifndef TESTS_CHAOS_PLAY_H
#define TESTS_CHAOS_PLAY_H

#include "tests/chaos/agent.h"

/* The invariants. I(NAME, name, what) */
#define CHAOS_INVARIANTS(I)                                                                        \
	I(NONE, "none", "all is well")                                                             \
	I(START, "start", "the programs start and the call comes up before anything goes wrong")   \
	I(ALIVE, "alive", "no program ends on its own")                                            \
	I(WELL, "well",                                                                            \
	  "in the stated time the call is up, encrypted alike for all, heard in all directions, "  \
	  "speaks, and plays its music")                                                           \
	I(REASON, "reason", "whatever ends or waits says why")                                     \
	I(VOICES, "voices", "nobody is heard in somebody else's place")                            \
	I(MUSIC, "music",                                                                          \
	  "music goes on at its place: none of it is left out, played again, mixed into itself "   \
	  "or noise, and no track is lost from the queue; speech has no noise under it")           \
	I(PLAIN, "plain", "nothing goes out in the clear where it must be sealed")                 \
	I(LOOP, "loop", "no more Identifies than the faults explain")                              \
	I(RATE, "rate",                                                                            \
	  "nobody meets a rate limit of the voice gateway (4021) of their own doing")              \
	I(NONCE, "nonce", "no nonce twice, and nothing that cannot be opened")                     \
	I(CALLS, "calls", "a mediad whose call was left holds none")                               \
	I(FILES, "files", "and no descriptor, and no thread, more than when it was new")           \
	I(MEMORY, "memory", "and no memory beyond a bound")                                        \
	I(END, "end", "and ends in good order when asked; an incomplete journal is told")          \
	I(DRIVER, "driver", "the run itself comes to its end")

enum chaos_invariant {
#define X(NAME, name, what) CHAOS_##NAME##_,
	CHAOS_INVARIANTS(X)
#undef X
		CHAOS_INVARIANTS_N
};

const char *chaos_invariant_name(enum chaos_invariant i);
const char *chaos_invariant_what(enum chaos_invariant i);

/* What a test of this program does wrong. The agent's plants are the bot's. */
enum chaos_plant {
	CHAOS_PLANT_AGENT_N = PLANT_QUEUE_FORGOTTEN,
	CHAOS_PLANT_NO_RESTART, /* what was killed stays dead */
	CHAOS_PLANT_CRASH,	/* the bot's mediad dies of its own */
	CHAOS_PLANT_GUEST,	/* somebody holds on to the bot's mediad */
	CHAOS_PLANT_STUCK,	/* mediad does not end when asked */
	CHAOS_PLANT_OFTEN,	/* one op 5 in ten seconds is too many */
	CHAOS_PLANTS_N
};

struct chaos_verdict {
	enum chaos_invariant broken;
	char text[1200], folder[64]; /* folder: with the logs, when kept */
	unsigned settle_ms;	     /* from the last fault's end until all was well */
	unsigned failed;	     /* calls that ended with a named reason meanwhile */
	unsigned decoders;	     /* processes of decoderd that were killed */
};

struct chaos_play_conf {
	const char *bin; /* folder of the programs */
	unsigned plant;
	bool keep; /* the logs, also when all is well */
};

void chaos_play(struct chaos_verdict *v, const struct chaos_script *s,
		const struct chaos_play_conf *conf);

#endif
