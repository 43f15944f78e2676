/* struct env: the one seam through which a thread meets the world (law 2).
 *
 * A thread has one env. Whatever comes from outside reaches its code through a *source*: a timer, a
 * WebSocket, a Unix-socket peer, a UDP socket, a ring. The shell of that thing calls env_deliver(), which
 * writes the input to the journal (when there is one) and calls the source's handler. What code asks of
 * the system in the middle of a step (random bytes, wall time, how much a socket took) goes through env
 * too, and what it sends is told to env_output().
 *
 * On replay the same handlers are called with the recorded inputs in the recorded order; shells look at
 * env_replaying() and touch no kernel object. Source ids are given in order of registration, which is
 * deterministic, so they need no names.
 *
 * Time is CLOCK_MONOTONIC in ns, sampled once when an input is delivered: within a step it stands still.
 *
 * An env belongs to its thread. Nothing here locks. With `conf.loop` false (the audio threads) nothing
 * here allocates after env_alloc: sources live in a table of fixed size. */
#ifndef IPC_ENV_H
#define IPC_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct env;
struct journal;
struct event_base;

enum { ENV_MAX_SOURCES_AUDIO = 4096, ENV_SOURCE_NONE = 0 };

/* data is borrowed until the handler returns. kind is the source's own vocabulary. */
typedef void(env_input_h)(uint8_t kind, const uint8_t *data, size_t len, void *arg);

struct env_conf {
	uint8_t thread;		 /* number of this thread in the journal; loop thread 0 */
	bool loop;		 /* make a libevent base (priorities, precise timers) */
	bool replaying;		 /* inputs come from env_replay(), the kernel is not touched */
	struct journal *journal; /* borrowed, may be NULL; ipc/journal.h. On replay: of shapes */
};

/* What may be read of an input by anybody, as one line of text: no key, no sound, no word of anyone. Returns its
 * length, at most size. Called only for a journal of shapes, by the thread of the env; must not allocate. */
typedef size_t(env_shape_h)(uint8_t kind, const uint8_t *data, size_t len, char *text, size_t size);

/* EINVAL, ENOMEM. Caller owns *out. */
int env_alloc(struct env **out, const struct env_conf *conf);
struct env *env_free(struct env *env);
/* Ends the recording of this thread: its digest goes to the journal, and what teardown still sends or asks counts no
 * more. To be called when the last step is done, before teardown; env_free does it otherwise. */
void env_finish(struct env *env);

/* NULL for an env without loop or on replay. Borrowed. */
struct event_base *env_base(struct env *env);
bool env_replaying(const struct env *env);

/* Runs the libevent loop until env_stop(). */
void env_run(struct env *env);
void env_stop(struct env *env);

/* ns, CLOCK_MONOTONIC, when the running step's input came. Outside a step: now. */
uint64_t env_now(struct env *env);
/* ms since 1970, recorded. */
uint64_t env_wall_ms(struct env *env);
/* Fills buf with random bytes from the system, recorded. Never fails (aborts the process instead). */
void env_random(struct env *env, void *buf, size_t n);
/* An answer of the system in the middle of a step, such as the bytes a socket took: recorded live and
 * returned; on replay the recorded one is returned and `live` ignored. */
int64_t env_answer(struct env *env, int64_t live);

/* Registers a source; *id is never 0. ENOMEM, ENOSPC. The handler is called only by env_deliver and replay. */
int env_source_add(struct env *env, uint32_t *id, env_input_h *h, void *arg);
/* How its inputs are told in a journal of shapes. Without it: by their length alone. */
void env_source_shape(struct env *env, uint32_t id, env_shape_h *h);
/* Removes it; later deliveries to this id are dropped. 0 is accepted and ignored. */
void env_source_del(struct env *env, uint32_t id);
/* One input: samples the clock, journals, calls the handler. Steps do not nest: a delivery made inside a
 * step is a bug and aborts in debug builds. */
void env_deliver(struct env *env, uint32_t id, uint8_t kind, const void *data, size_t len);

/* A long-lived credential: whatever comes in or is sent has as many '*' in its place, in the journal and in the
 * digests; with a journal also for the handlers. To be told before the first step. ENOSPC, ENOMEM. */
int env_secret(struct env *env, const char *secret);

/* Something leaves this thread for the outside (datagram, WebSocket message, IPC frame): goes into the
 * digests. `kind` is one of enum env_out. */
enum env_out {
	ENV_OUT_DATAGRAM = 1,
	ENV_OUT_WS = 2,
	ENV_OUT_IPC = 3,
	ENV_OUT_HTTP = 4,
	ENV_OUT_PIPE = 5,
	ENV_OUT_FILE = 6,
};
void env_output(struct env *env, enum env_out kind, uint32_t source, const void *data, size_t len);
/* The same for what ends in sound that a codec made, whose bytes, and their number, differ between CPUs: only the
 * first `firm` bytes go into the shape. */
void env_output_sound(struct env *env, enum env_out kind, uint32_t source, const void *data, size_t len,
		      size_t firm);
/* BLAKE2b-256 over all that came in and was sent so far, as 64 hex digits and NUL. All zero without a journal or
 * replay. */
void env_digest(struct env *env, char hex[65]);
/* The same without sound that a codec made: equal on every CPU. */
void env_shape(struct env *env, char hex[65]);

#endif
