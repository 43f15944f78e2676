/* A run of tool calls for tests: rows of every kind, time that only calls_pass moves, and what was
 * decided as a line of words. */
#ifndef TESTS_CALLS_H
#define TESTS_CALLS_H

#include "control/settings/settings.h"
#include "control/tools/run.h"

/* Rows: look (reads, REUSE), again (reads, RUN), page (taints), quote (taints its turn), titles
 * (strangers' names), quiet (stays silent), fire (nobody waits), ring (room), chime (room, RUN),
 * send (outside), hand (outside and confirmed, but for the argument "read"), wipe (final), write
 * (room, detaches), work (reads, 60 s, detaches), long (the same, 600 s), task (as long, taints).
 * Alice is 5, Bob 6.
 */
enum { ALICE = 5, BOB = 6 };

struct calls {
	struct settings *settings;
	struct tools_registry *registry;
	struct tools_run *run;
	struct tool_outputs *out;
	uint64_t ms;
	uint32_t id;   /* of the call that began last */
	uint32_t jobs; /* of one person, as told last */
	bool titled;   /* the models knew titles when the last call started */
	bool agreed;   /* its asker had said yes to it */
	char said[8192];
};

/* False without memory. */
bool calls_open(struct calls *c);
void calls_close(struct calls *c);
void calls_step(struct calls *c, struct tool_input in);
/* A call of Alice's turn in session 1; arguments {"q":"ARG"}, or none for NULL. */
void calls_call(struct calls *c, uint32_t turn, const char *id, const char *tool, const char *arg);
void calls_output(struct calls *c, uint32_t id, const char *text);
/* Time passes, and the run's timers fire. */
void calls_pass(struct calls *c, unsigned ms);
/* What was decided since the last time, in words: "begin:1 start:1:look:{"q":"x"} answer:a:{…}
 * end:1:go settle:1:ok". Borrowed until the next use. */
const char *calls_said(struct calls *c);
/* How often a word of it begins so. */
unsigned calls_count(const char *said, const char *word);

#endif
