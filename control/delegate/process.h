/* One worker that runs: its program in the sandbox and the client that speaks with it
 * (control/dialect/acp.h). It is started once; after it has ended its owner makes another.
 *
 * A worker that does not answer, does not stop on request, or sends messages without end is
 * killed. Everything runs on env's thread; a replay starts no program. */
#ifndef CONTROL_DELEGATE_PROCESS_H
#define CONTROL_DELEGATE_PROCESS_H

#include <stdint.h>

#include "control/dialect/acp.h"

struct env;
struct reaper;
struct delegate_process;
struct worker_record;

struct delegate_process_conf {
	struct env *env;
	const struct worker_record *record; /* borrowed while the worker lives */
	const char *bwrap;		    /* of the sandbox */
	const char *version;		    /* of Parley */
	struct reaper *reaper;		    /* waits for the program's end; NULL: the owner does */
	/* Its state is another. The worker must not be freed in it. */
	void (*changeh)(void *arg);
	void (*progressh)(uint64_t task, const char *text, void *arg);
	void (*resulth)(uint64_t task, const struct acp_result *result, void *arg);
	void *arg;
};

enum delegate_process_state {
	DELEGATE_STARTING,
	DELEGATE_IDLE,
	DELEGATE_BUSY,	/* it works, or stops to */
	DELEGATE_ENDED, /* delegate_process_why; or it is being killed */
};

/* ENOMEM, E2BIG. Caller owns *out. */
int delegate_process_alloc(struct delegate_process **out, const struct delegate_process_conf *conf);
/* Leaves the program to the reaper. No handler is called. NULL accepted. */
struct delegate_process *delegate_process_free(struct delegate_process *w);
/* Ends the program without waiting; the open task is lost. */
void delegate_process_stop(struct delegate_process *w);

enum delegate_process_state delegate_process_state(const struct delegate_process *w);
/* Whether the program still runs. */
bool delegate_process_runs(const struct delegate_process *w);
/* Why it has ended. */
const char *delegate_process_why(const struct delegate_process *w);
/* As acp_prompt and acp_cancel. */
int delegate_process_prompt(struct delegate_process *w, uint64_t task, const char *text,
			    uint32_t timeout_ms);
void delegate_process_cancel(struct delegate_process *w, uint64_t task);

#endif
