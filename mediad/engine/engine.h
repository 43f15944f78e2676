/* The audio threads as the loop thread sees them: call streams are lent to threads, commands go
 * down, events come up.
 *
 * Each event is an input of the loop thread's env. What returns over the rings (sockets, ciphers,
 * slots, decoders, lanes, streams) is freed here after the owner's handler saw it. Every function
 * is called on the loop thread. No other folder joins transport and audio. */
#ifndef MEDIAD_ENGINE_ENGINE_H
#define MEDIAD_ENGINE_ENGINE_H

#include "mediad/engine/call_stream.h"

struct engine;
struct loop_stream_handlers;
struct env;
struct journal;

/* owner: of the stream. The event is borrowed until return. */
typedef void(engine_ev_h)(const struct ev *ev, void *owner);

struct engine_conf {
	struct env *env;	 /* of the loop thread */
	struct journal *journal; /* NULL: none */
	unsigned threads;	 /* 1..ENGINE_THREADS */
	engine_ev_h *evh;
	/* A thread has lost real-time priority (priority.h), once for each thread; may be NULL. */
	void (*demotedh)(void *arg);
	void *arg; /* of demotedh */
};
enum { ENGINE_THREADS = 32, ENGINE_LOOP_STREAMS = 8 };

/* Starts the threads, unless env is replaying. Returns EINVAL, ENOMEM or EAGAIN. The caller owns
 * *out. */
int engine_alloc(struct engine **out, const struct engine_conf *conf);
/* Ends the threads. Streams that are still lent are freed without an event. */
struct engine *engine_free(struct engine *e);
/* Ends the threads and the recording of their envs, which may be read afterwards. */
void engine_join(struct engine *e);

/* The env of thread 1…threads. */
struct env *engine_env(struct engine *e, unsigned thread);

/* Lends a stream to the least loaded thread. Returns ENOSPC when all are full; the stream stays
 * with the caller. */
int engine_add_stream(struct engine *e, struct call_stream *cs);
/* Keeps a stream with video on the loop thread (loop_stream.h): cs->loop. Of the handlers those of
 * the owner are read. Returns ENOSPC when there are ENGINE_LOOP_STREAMS, ENOMEM; the stream stays
 * with the caller then. */
int engine_add_loop_stream(struct engine *e, struct call_stream *cs,
			   const struct loop_stream_handlers *h);
/* Asks for a lent stream back, after all commands before; none may follow. Never fails, because
 * engine_add_stream has allocated what it needs. */
void engine_remove_stream(struct engine *e, struct call_stream *cs);
/* Sends a command for a lent stream. Never blocks: a command that does not fit is queued here.
 * Returns ENOMEM when the command is lost; whatever it lent has been freed then. */
int engine_send(struct engine *e, struct call_stream *cs, struct cmd *cmd);

#endif
