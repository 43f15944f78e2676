/* Longer tasks that models hand to workers, agents of the Agent Client Protocol: the tools ask,
 * ask_status and ask_list in each room's registry.
 *
 * A worker is an agent of the Agent Client Protocol, a command, or a model with tools (process.h).
 * A room has one process of each worker, started by its first task and kept for the next ones,
 * which it does one after another; what was said in one task is known in the next. The same task
 * given again while it waits or runs is joined: both calls get the one result. A long answer is
 * written into the text channel, and the model gets it fenced as text of strangers. Everything runs
 * on env's thread. */
#ifndef CONTROL_DELEGATE_DELEGATES_H
#define CONTROL_DELEGATE_DELEGATES_H

#include "control/engine/core/ask.h"
#include "control/tools/builtin/seats.h"
#include "control/tools/policy.h"

struct delegate_seat;
struct delegates;
struct settings;
struct tool_output; /* control/tools/run.h */

/* Numbers of asks and calls of workers: no turn and no call of the room has this bit. */
#define DELEGATE_NUMBER UINT32_C(0x80000000)

/* The caller of a worker's model. */
struct delegate_model {
	/* Asks the provider of the purpose worker; events of it come by delegate_seat_event with
	 * ask->turn, perhaps before this returns. EDQUOT: the budget is spent. */
	int (*askh)(const struct engine_ask *ask, void *model_arg);
	/* Nothing more of the ask is wanted. */
	void (*stoph)(uint32_t turn, void *model_arg);
	void *model_arg;
	/* The room's policy (control/tools/policy.h) on a call of the model for this user, whose
	 * rank the room fills in. An allowed call counts for the user's rates. */
	enum tool_verdict (*judgeh)(const struct tool_request *request, void *arg);
	/* A call of the model, for the audit: TOOL_DO_JOURNAL before it starts, TOOL_DO_SETTLE when
	 * it has ended or was refused. Borrowed until return. */
	void (*calledh)(const struct tool_output *call, void *arg);
	void *arg;
};

struct delegate_event {
	enum { DELEGATE_WORDS, DELEGATE_CALL, DELEGATE_COST, DELEGATE_DONE, DELEGATE_FAILED } type;
	uint32_t turn;
	const char *call, *tool; /* of CALL; borrowed until return */
	struct slice text;	 /* words, the arguments of a call, why it failed */
	uint64_t cost;		 /* millionths of a dollar */
	enum engine_end end;	 /* of DONE */
};

/* The workers that the settings name, none while their `tools` is off. env and settings are
 * borrowed. ENOMEM. Caller owns *out. */
int delegates_alloc(struct delegates **out, struct env *env, const struct settings *settings,
		    const char *version);
/* All seats are gone before. Waits at most 3 s for the workers' programs. */
struct delegates *delegates_free(struct delegates *d);
/* The settings changed: other workers than before end all tasks. */
void delegates_update(struct delegates *d);

/* A room takes part. d is borrowed, room and model are copied. ENOMEM, ENOSPC. Caller owns *out,
 * and frees it before the room's registry. */
int delegate_seat_alloc(struct delegate_seat **out, struct delegates *d,
			const struct tool_room *room, const struct delegate_model *model);
/* ---- tasks that people give in writing ---- */

struct delegate_told {
	uint32_t call;
	bool ok;
	const char *outcome; /* "done", "too late" */
	const char *text;    /* the worker's words, text of strangers; "" */
};
/* Borrowed until it returns. */
typedef void(delegate_told_h)(const struct delegate_told *told, void *arg);
/* From now on the seat's results go to this handler, as the worker wrote them, and not to models.
 */
void delegate_seat_listen(struct delegate_seat *seat, delegate_told_h *h, void *arg);
/* Gives a task to a worker ("": the first one); the result follows with this call, never from
 * inside. EINVAL: there is no such worker; EBUSY: too many tasks wait; ENOMEM. */
int delegate_seat_give(struct delegate_seat *seat, uint32_t call, uint64_t user, const char *text,
		       const char *worker);
/* Nobody wants the result of this call any more. */
void delegate_seat_leave(struct delegate_seat *seat, uint32_t call);
/* What the worker of this call does, as it says; "": nothing was told. Borrowed. */
const char *delegate_seat_progress(const struct delegate_seat *seat, uint32_t call);
/* The i-th worker's name, and whether it acts outside the room; NULL past the last. */
const char *delegates_worker(const struct delegates *d, unsigned i, bool *outside);

/* Words of somebody who is forgotten may stand in any task: nobody is told any more what the tasks
 * until now are about, and a worker that knows of one is started anew for the next one. Tasks under
 * way go on. NULL accepted. */
void delegate_seat_forget(struct delegate_seat *seat);

/* An event of an ask, and the output of a call of a tool whose id has DELEGATE_NUMBER. NULL
 * accepted. */
void delegate_seat_event(struct delegate_seat *seat, const struct delegate_event *ev);
void delegate_seat_output(struct delegate_seat *seat, uint32_t id, bool ok, struct slice text);
/* Cancels its tasks and ends its workers without waiting for them. No handler is called. NULL
 * accepted. */
struct delegate_seat *delegate_seat_free(struct delegate_seat *seat);

#endif
