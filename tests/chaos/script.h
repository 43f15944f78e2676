/* The faults of one chaos run and their times, as a script that people can read and edit. Pure: the
 * same seed gives the same script.
 *
 * Example lines: "seed 17", "control lean", "120 net 200 50 10 30 40 60", "400 drop bot", "900
 * kill-mediad bot". */
#ifndef TESTS_CHAOS_SCRIPT_H
#define TESTS_CHAOS_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum chaos_who { CHAOS_BOT, CHAOS_ALICE, CHAOS_BOB, CHAOS_PEOPLE, CHAOS_ALL = CHAOS_PEOPLE };

/* V(NAME, name, of one person, numbers, weight, settle ms, identifies, what)
 *   weight: how often it is drawn; 0: in scripts with music alone · settle: so much longer it may
 * take until all is well · identifies: so many more may be sent by those it befalls */
#define CHAOS_VERBS(V)                                                                             \
	V(NET, "net", false, 6, 12, 1000, 1,                                                       \
	  "LOSS UP DUP REORDER DELAY JITTER: a bad network, in permille and ms, until calm")       \
	V(CALM, "calm", false, 0, 4, 0, 0, "the network is good again")                            \
	V(DROP, "drop", true, 0, 8, 2500, 1, "the voice socket is gone without a goodbye")         \
	V(HALF, "half-open", true, 0, 4, 9000, 1,                                                  \
	  "the server forgot the voice socket, and nobody closes it")                              \
	V(CLOSE, "close", true, 1, 12, 6000, 2, "CODE: the voice gateway closes")                  \
	V(SILENT, "silent", false, 1, 4, 9000, 3, "MS: the voice gateway answers nothing")         \
	V(NO_UDP, "no-udp", false, 1, 3, 7000, 3, "MS: IP discovery is not answered")              \
	V(CRASH, "crash", false, 0, 3, 3000, 1, "the voice server crashes")                        \
	V(REGION, "region", true, 0, 4, 3000, 2, "the voice server changes")                       \
	V(NO_SERVER, "no-server", true, 1, 3, 3000, 2,                                             \
	  "MS: endpoint null, and another server so much later")                                   \
	V(MOVE, "move", true, 0, 4, 4000, 3, "dragged to another channel, and back at the end")    \
	V(KICK, "kick", true, 0, 3, 4000, 3, "thrown out, and asked in again")                     \
	V(LEAVE, "leave", true, 1, 6, 3000, 2, "MS: leaves, and is back so much later")            \
	V(STORM, "storm", false, 2, 4, 4000, 9,                                                    \
	  "N MS: bob joins and leaves so many times, so far apart")                                \
	V(FREEZE_MEDIAD, "freeze-mediad", true, 1, 6, 6000, 3, "MS: SIGSTOP")                      \
	V(FREEZE_CONTROL, "freeze-control", true, 1, 5, 4000, 1, "MS")                             \
	V(FREEZE_SERVER, "freeze-server", false, 1, 3, 6000, 3, "MS: Discord stands still")        \
	V(KILL_MEDIAD, "kill-mediad", true, 0, 7, 4000, 3, "SIGKILL; it is started again")         \
	V(KILL_CONTROL, "kill-control", true, 0, 6, 5000, 2, "SIGKILL; another one is started")    \
	V(WALL, "wall", true, 1, 3, 0, 0,                                                          \
	  "S: the wall clock of its mediad jumps, back for odd numbers")                           \
	V(LOSE, "lose", true, 1, 7, 14000, 3, "OP: the next such message is lost, and numbered")   \
	V(SKIP, "skip", true, 1, 5, 14000, 3, "OP: the next such message never existed")           \
	V(CORRUPT, "corrupt", true, 1, 6, 14000, 3, "OP: the next such binary message is another") \
	V(DELAY, "delay", true, 2, 4, 14000, 3,                                                    \
	  "OP MS: the next such message is overtaken by others")                                   \
	V(HOLD, "hold", true, 2, 3, 14000, 3,                                                      \
	  "OP MS: the next such message holds up what follows")                                    \
	V(NEW_SENDER, "new-sender", false, 0, 2, 14000, 4,                                         \
	  "the external sender changes without a word")                                            \
	V(STALE, "stale", false, 0, 2, 14000, 3, "a proposal of the epoch before")                 \
	V(REINIT, "reinit", false, 0, 3, 4000, 1, "op 24 to all: a new group")                     \
	V(KILL_DECODER, "kill-decoder", true, 0, 0, 2000, 0,                                       \
	  "SIGKILL to a process that decodes its music")                                           \
	V(KILL_DECODERS, "kill-decoders", true, 0, 0, 4000, 0,                                     \
	  "SIGKILL to the process that starts those; decoderd starts another one")

enum chaos_verb {
#define X(NAME, name, who, n, weight, settle, identifies, what) CHAOS_##NAME,
	CHAOS_VERBS(X)
#undef X
		CHAOS_VERBS_N
};

enum { CHAOS_STEPS = 32, CHAOS_ARGS = 6 };

struct chaos_step {
	unsigned at; /* ms */
	enum chaos_verb verb;
	enum chaos_who who; /* CHAOS_ALL when the verb is not of one person */
	unsigned arg[CHAOS_ARGS];
};

struct chaos_script {
	uint64_t seed;
	bool real;	     /* the bot has the real control, not a lean one */
	unsigned journal_kb; /* mediad of the bot keeps a journal, and the disk is full after so
				much; 0: no journal */
	bool music;	     /* everybody plays music, under the speech of all but a real control */
	unsigned n;
	struct chaos_step step[CHAOS_STEPS]; /* by time */
};

const char *chaos_verb_name(enum chaos_verb v);
const char *chaos_verb_what(enum chaos_verb v);
const char *chaos_who_name(enum chaos_who w);

void chaos_generate(struct chaos_script *s, uint64_t seed);
/* Length of the text, at most size - 1; terminated. */
size_t chaos_print(const struct chaos_script *s, char *buf, size_t size);
/* Comments begin with #. EINVAL with the number of the line, ENOSPC. */
int chaos_parse(struct chaos_script *s, const char *text, unsigned *line);

/* When the last step, and what it set going, is over. */
unsigned chaos_length_ms(const struct chaos_script *s);
/* How long after that all must be well again. */
unsigned chaos_settle_ms(const struct chaos_script *s);
/* How many Identifies of one person all that explains. */
unsigned chaos_identifies(const struct chaos_script *s, enum chaos_who who);
#endif
