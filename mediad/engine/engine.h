/* The audio threads as the loop thread sees them: lines are lent to them, commands go down, events
 * come up.
 *
 * Events are inputs of the loop thread's env, one each. What comes back over the rings (sockets,
 * cipher contexts, slots, decoders, lanes, lines) is freed here after the owner's handler saw it.
 * Everything is called on the loop thread. Only this folder joins transport and audio. */
#ifndef MEDIAD_ENGINE_ENGINE_H
#define MEDIAD_ENGINE_ENGINE_H

#include "mediad/engine/line.h"

struct engine;
struct env;
struct journal;

/* owner: of the line. Borrowed until return. */
typedef void(engine_ev_h)(const struct ev *ev, void *owner);

struct engine_conf {
	struct env *env;	 /* the loop thread's */
	struct journal *journal; /* NULL */
	unsigned threads;	 /* 1..ENGINE_THREADS */
	engine_ev_h *evh;
};
enum { ENGINE_THREADS = 32 };

/* EINVAL, ENOMEM, EAGAIN. Starts the threads, unless env is replaying. Caller owns *out. */
int engine_alloc(struct engine **out, const struct engine_conf *conf);
/* Ends the threads. Lines that are still lent are freed; their owners hear nothing. */
struct engine *engine_free(struct engine *e);
/* Ends the threads and the recording of their envs, which can be read then. */
void engine_join(struct engine *e);

/* The env of thread 1…threads. */
struct env *engine_env(struct engine *e, unsigned thread);

/* Lends a line to the least loaded thread. ENOSPC: full, the line stays the caller's. */
int engine_line_add(struct engine *e, struct line *l);
/* Sends a command for a lent line. Never blocks: what does not fit waits here. ENOMEM: the command
 * is lost, and what it lent was freed. */
int engine_send(struct engine *e, struct line *l, struct cmd *cmd);

#endif
