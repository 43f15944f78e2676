/* The tools that a worker of kind model calls for its task, a round at a time: the calls of one
 * answer run together, and the model gets all their outputs (model_worker.c).
 *
 * The worker may call the tools that its record allows, of those that everybody in the room may
 * use, that change nothing, need no yes, and whose output the model hears, as far as the room's
 * policy allows. Any other call gets an error for an output. Everything runs on env's thread. */
#ifndef CONTROL_DELEGATE_MODEL_CALLS_H
#define CONTROL_DELEGATE_MODEL_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/cursor.h"

struct delegate_model;
struct engine_message;
struct engine_tool;
struct env;
struct model_calls;
struct tools_registry;

enum { MODEL_CALLS_MAX = 8 /* of one answer; the rest is dropped */ };

/* All is borrowed. */
struct model_calls_conf {
	struct env *env;
	const char *allowed; /* names as a JSON array; "" for none */
	const struct tools_registry *registry;
	const char *off;		    /* tools that are not offered, separated by commas */
	const struct delegate_model *model; /* judges and records the calls */
	uint32_t (*numberh)(void *arg);	    /* a new id for a call */
	void (*doneh)(void *arg);	    /* all calls of the round have their outputs */
	void *arg;
};

/* ENOMEM. Caller owns *out. */
int model_calls_alloc(struct model_calls **out, const struct model_calls_conf *conf);
/* Cancels what runs. NULL accepted. */
struct model_calls *model_calls_free(struct model_calls *c);

/* A task begins. tainted: the turn that gave it had read words of strangers, or of others. */
void model_calls_begin(struct model_calls *c, uint64_t user, bool tainted);
/* The allowed tools that the room has now; out takes ENGINE_TOOLS_MAX, the texts are the
 * registry's. */
size_t model_calls_list(const struct model_calls *c, struct engine_tool *out);
/* A call of the answer under way. ENOSPC, ENOMEM: it is dropped. */
int model_calls_add(struct model_calls *c, const char *call, const char *tool,
		    struct slice arguments);
/* True if the answer has calls. */
bool model_calls_open(const struct model_calls *c);
/* The answer is whole: runs its calls. doneh may be called before this returns. */
void model_calls_start(struct model_calls *c);
/* The output of a tool, or why it failed. Other ids are passed over. */
void model_calls_output(struct model_calls *c, uint32_t id, bool ok, struct slice text);
/* The calls, then their outputs: 2 * MODEL_CALLS_MAX messages at most. The texts live until the
 * round is cleared. */
size_t model_calls_messages(const struct model_calls *c, struct engine_message *out);
/* Forgets the round; calls that run are cancelled. */
void model_calls_clear(struct model_calls *c);

#endif
