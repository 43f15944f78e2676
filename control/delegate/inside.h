/* The parts of delegates.h: delegates.c, the set and its rooms; rows.c, rows of the rooms'
 * registries; tasks.c, tasks and their workers; result.c, what becomes of an answer. */
#ifndef CONTROL_DELEGATE_INSIDE_H
#define CONTROL_DELEGATE_INSIDE_H

#include "control/delegate/delegates.h"
#include "control/delegate/process.h"
#include "control/settings/record.h"
#include "control/tools/registry.h"
#include "proto/base/backoff.h"

/* The values of worker_record.effects. */
enum { EFFECTS_OUTSIDE };
enum {
	WORKERS_MAX = 4,
	RUNNING_MAX = 16, /* processes of all rooms together */
	TASKS_MAX = 16,	  /* of a room: those that are over are remembered while there is place */
	WAITING_MAX = 4,  /* of a room */
	JOINED_MAX = 4,	  /* calls that wait for one task */
	TASK_TEXT_MAX = 4000,
	TASK_MS = 540000,	/* of work */
	TASK_WAIT_MS = 2700000, /* in the queue; both end before the call's own limit, so that the
				   worker's words are kept */
	OUTPUT_MAX = 8000,
};

struct delegates;
struct reaper;

struct task {
	uint64_t number; /* 0: a free place */
	enum { TASK_WAITS, TASK_RUNS, TASK_ENDED } state;
	unsigned desk;
	uint64_t user; /* the speaker who gave it; 0: several people spoke */
	bool tainted;
	bool untold;		    /* its words may be of somebody who was forgotten since */
	uint32_t calls[JOINED_MAX]; /* 0: none */
	char *text;
	char progress[ACP_PROGRESS_MAX];
	const char *outcome; /* of an ENDED one */
	uint64_t given_at, begun_at, ended_at, cost;
};

/* A worker of a room. */
struct desk {
	struct delegate_seat *seat;
	struct delegate_process *worker; /* NULL: it does not run */
	bool ready;			 /* it was, since it was started */
	uint64_t idle_since;
	unsigned tasks; /* since it was started */
	bool served;	/* it gave a result since it was started */
	bool knows;	/* words of somebody who was forgotten since: it does no further task */
	struct backoff backoff;
	uint64_t start_at; /* not before */
};

struct delegate_seat {
	struct delegates *set;
	struct tool_room room;
	struct desk desk[WORKERS_MAX];
	struct task task[TASKS_MAX];
	struct delegate_model model;
	delegate_told_h *toldh; /* NULL: results are models' */
	void *told_arg;
	uint64_t numbers;
	uint32_t asks;	  /* and calls of models */
	struct tmr *step; /* what handlers must not do themselves */
	struct tmr *idle; /* ends workers that wait for tasks */
};

struct delegates {
	struct env *env;
	const struct settings *settings;
	char version[32];
	struct sandbox *sandbox;
	struct reaper *reaper;
	struct worker_record record[WORKERS_MAX];
	unsigned n;
	struct tool_seats seats; /* of struct delegate_seat */
};

/* ---- rows.c ---- */
/* ENOSPC, EEXIST, ENOMEM. */
int delegate_rows_add(struct delegate_seat *seat);
void delegate_rows_remove(struct delegate_seat *seat);

/* ---- tasks.c ---- */
/* The place of the worker, of the first one for "". EINVAL: there is none. */
int delegate_desk_find(const struct delegates *d, const char *worker, unsigned *at);
/* The task of the call; its result comes by host.outputh. EINVAL: no such worker; EBUSY: too many
 * wait; ENOMEM. */
int delegate_task_give(struct delegate_seat *seat, const struct tool_start *call, const char *text,
		       const char *worker);
/* Nobody waits for this call any more. */
void delegate_task_leave(struct delegate_seat *seat, uint32_t call);
/* Starts what can be started and frees what has ended. */
void delegate_tasks_step(void *seat);
/* As delegate_seat_forget. */
void delegate_tasks_forget(struct delegate_seat *seat);
/* Cancels all tasks and kills the workers, without a word. */
void delegate_tasks_end(struct delegate_seat *seat);
/* The task of this number, 0: the newest; NULL: there is none. */
const struct task *delegate_task_find(const struct delegate_seat *seat, uint64_t number);

/* ---- result.c ---- */
/* Gives the call its output, or tells people of it. */
void delegate_result_give(const struct delegate_seat *seat, uint32_t call, const char *worker,
			  const struct acp_result *result);
/* Writes a long answer into the text channel. */
void delegate_result_write(const struct delegate_seat *seat, const struct acp_result *result);
/* "done", "cancelled": for ask_list. */
/* A worker's words, cut so that their fence stays whole. The caller frees it. NULL without memory.
 */
char *delegate_result_fence(struct env *env, const char *worker, const char *text, size_t most);
const char *delegate_result_name(enum acp_outcome outcome);

#endif
