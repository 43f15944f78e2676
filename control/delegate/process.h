/* One worker that can be given tasks, of one of three kinds (worker_record.kind):
 *
 *   acp      an agent of the Agent Client Protocol in the sandbox, one process for all its tasks
 *   command  a program in the sandbox, one process for each task
 *   model    a provider of text, which may call tools that only read
 *
 * A worker that does not answer, does not stop on request, or sends messages without end is killed.
 * After an agent has ended its owner makes another worker. Everything runs on env's thread; a
 * replay starts no program. */
#ifndef CONTROL_DELEGATE_PROCESS_H
#define CONTROL_DELEGATE_PROCESS_H

#include <stdint.h>

#include "control/delegate/delegates.h"
#include "control/dialect/acp.h"

struct delegate_process;
struct reaper;
struct worker_record;

struct delegate_process_conf {
	struct env *env;
	const struct worker_record *record; /* borrowed while the worker lives */
	const char *bwrap;		    /* of the sandbox; NULL where the kind needs none */
	const char *version;		    /* of Parley */
	struct reaper *reaper;		    /* waits for the program's end; NULL: the owner does */
	/* Of a model, all borrowed: who asks it, and the tools of the room. */
	const struct delegate_model *model;
	const struct tools_registry *registry;
	const char *off; /* tools that a model is not offered, separated by commas */
	/* Another number at each call: of an ask, and of a call of a tool. */
	uint32_t (*numberh)(void *arg);
	/* Its state is another. The worker must not be freed in it. */
	void (*changeh)(void *arg);
	void (*progressh)(uint64_t task, const char *text, void *arg);
	void (*resulth)(uint64_t task, const struct acp_result *result, void *arg);
	void *arg;
};

struct delegate_task {
	uint64_t number;
	uint64_t user;	  /* who gave it; 0: nobody */
	bool tainted;	  /* the turn that gave it had read words of strangers, or of others */
	const char *text; /* borrowed until delegate_process_prompt returns */
	uint32_t timeout_ms;
};

enum delegate_process_state {
	DELEGATE_STARTING,
	DELEGATE_IDLE,
	DELEGATE_BUSY,	/* it works, or stops to */
	DELEGATE_ENDED, /* delegate_process_why; or it is being killed */
};

/* True if workers of this record are programs, for which conf.bwrap is needed. */
bool delegate_process_jailed(const struct worker_record *record);
/* ENOMEM, E2BIG. Caller owns *out. */
int delegate_process_alloc(struct delegate_process **out, const struct delegate_process_conf *conf);
/* Leaves the program to the reaper. No handler is called. NULL accepted. */
struct delegate_process *delegate_process_free(struct delegate_process *w);
/* Ends the program without waiting; the open task is lost. */
void delegate_process_stop(struct delegate_process *w);

enum delegate_process_state delegate_process_state(const struct delegate_process *w);
/* True if the program still runs. */
bool delegate_process_runs(const struct delegate_process *w);
/* Why it has ended. */
const char *delegate_process_why(const struct delegate_process *w);
/* Gives it a task, which gets exactly one result, perhaps before this returns. EBUSY, ENOTCONN: it
 * is not IDLE; EINVAL, E2BIG, ENOMEM. On error there is no result. */
int delegate_process_prompt(struct delegate_process *w, const struct delegate_task *task);
/* The task's result is ACP_CANCELLED, before this returns. Another task is passed over. */
void delegate_process_cancel(struct delegate_process *w, uint64_t task);

/* An event of the model, and the output of a tool that it called; those of others are passed over.
 */
void delegate_process_event(struct delegate_process *w, const struct delegate_event *ev);
void delegate_process_output(struct delegate_process *w, uint32_t id, bool ok, struct slice text);

#endif
