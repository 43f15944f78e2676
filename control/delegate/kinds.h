/* The kinds of workers (process.h), one table of functions each: acp_worker.c, command_worker.c,
 * model_worker.c. Every function has the meaning of the delegate_process function of its name. */
#ifndef CONTROL_DELEGATE_KINDS_H
#define CONTROL_DELEGATE_KINDS_H

#include "control/delegate/process.h"

struct worker_kind {
	bool jailed; /* a program, which needs the sandbox */
	int (*alloc)(void **out, const struct delegate_process_conf *conf);
	void (*free)(void *worker); /* not NULL */
	void (*stop)(void *worker);
	enum delegate_process_state (*state)(const void *worker);
	bool (*runs)(const void *worker);
	const char *(*why)(const void *worker);
	int (*prompt)(void *worker, const struct delegate_task *task);
	void (*cancel)(void *worker, uint64_t task);
	/* Of a kind that asks a model; NULL elsewhere. */
	void (*event)(void *worker, const struct delegate_event *ev);
	void (*output)(void *worker, uint32_t id, bool ok, struct slice text);
};

extern const struct worker_kind worker_acp, worker_command, worker_model;

#endif
