/* struct env: the one seam between a thread and the outside world (law 2).
 *
 * A thread has one env. Every input from outside reaches its code through a *source*: a timer, a
 * WebSocket, a Unix-socket peer, a UDP socket, a ring. The source's shell calls env_deliver(),
 * which writes the input to the journal (if there is one) and calls the source's handler. Answers
 * of the system in the middle of a step (random bytes, wall time, the number of bytes a socket
 * accepted) go through env too, and every output is reported to env_output().
 *
 * On replay the same handlers are called with the recorded inputs in the recorded order; shells
 * check env_replaying() and touch no kernel object. Source ids are assigned in order of
 * registration, which is deterministic.
 *
 * Time is CLOCK_MONOTONIC in ns, sampled once when an input is delivered, and constant within a
 * step.
 *
 * An env belongs to its thread. Nothing here locks. With `conf.loop` false (the audio threads)
 * nothing here allocates after env_alloc: sources live in a table of fixed size. */
#ifndef IPC_ENV_H
#define IPC_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct env;
struct journal;
struct event_base;
struct tmr_queue;

enum { ENV_MAX_SOURCES_AUDIO = 4096, ENV_SOURCE_NONE = 0 };

/* data is borrowed until the handler returns. Each source defines its own kinds. */
typedef void(env_input_h)(uint8_t kind, const uint8_t *data, size_t len, void *arg);

struct env_conf {
	uint8_t thread;		 /* number of this thread in the journal; loop thread 0 */
	bool loop;		 /* make a libevent base with priorities */
	bool replaying;		 /* inputs come from env_replay(), the kernel is not touched */
	struct journal *journal; /* borrowed, may be NULL; ipc/journal.h. On replay: of shapes */
};

/* Writes the harmless part of an input as one line of text: no key, no sound, no words of anybody.
 * Returns its length, at most size. Called only for a journal of shapes, on the thread of the env;
 * must not allocate. */
typedef size_t(env_shape_h)(uint8_t kind, const uint8_t *data, size_t len, char *text, size_t size);

/* EINVAL, ENOMEM. Caller owns *out. */
int env_alloc(struct env **out, const struct env_conf *conf);
struct env *env_free(struct env *env);
/* Ends the recording of this thread: its digest goes to the journal, and outputs of the teardown
 * are not counted. Call it after the last step, before teardown; env_free does it otherwise. */
void env_finish(struct env *env);

/* Priorities of events of the base: those of a lower number are handled first. Of ENV_LAST one is
 * handled in each turn of the loop, and only in turns in which nothing else is to be done: work
 * that may wait, such as readers of a dashboard, delays a room by one such event at most. */
enum env_priority { ENV_FIRST, ENV_USUAL, ENV_LAST, ENV_PRIORITIES };

/* NULL for an env without loop or on replay. Borrowed. */
struct event_base *env_base(struct env *env);
bool env_replaying(const struct env *env);
/* True if the contents of inputs are written to a journal, or come from one. */
bool env_journalled(const struct env *env);
/* The running timers, for ipc/tmr.c; NULL for an env without loop or on replay. */
struct tmr_queue *env_timers(struct env *env);

/* Runs the libevent loop until env_stop(). */
void env_run(struct env *env);
void env_stop(struct env *env);
/* env_stop was called in the running turn of the loop. */
bool env_stopping(const struct env *env);

/* ns, CLOCK_MONOTONIC, at which the running step's input arrived. Outside a step: the present time.
 */
uint64_t env_now(struct env *env);
/* ms since 1970, recorded. */
uint64_t env_wall_ms(struct env *env);
/* Seconds east of UTC of this time zone ("Europe/Berlin"), now; recorded. "", and one that cannot
 * be read (zone_file.h): the machine's. Its days begin at midnight there. */
int64_t env_utc_offset(struct env *env, const char *zone);
/* The same at that time, in ms since 1970: clocks change twice a year. */
int64_t env_utc_offset_at(struct env *env, const char *zone, uint64_t at_ms);
/* Fills buf with random bytes from the system, recorded. Never fails (aborts the process instead).
 */
void env_random(struct env *env, void *buf, size_t n);
/* An answer of the system in the middle of a step, such as the number of bytes a socket accepted.
 * Live it is recorded and returned; on replay the recorded answer is returned and `live` is
 * ignored. */
int64_t env_answer(struct env *env, int64_t live);

/* Registers a source; *id is never 0. ENOMEM, ENOSPC. The handler is called only by env_deliver and
 * replay. */
int env_source_add(struct env *env, uint32_t *id, env_input_h *h, void *arg);
/* Describes the source's inputs in a journal of shapes. Without it only their lengths are written.
 */
void env_source_shape(struct env *env, uint32_t id, env_shape_h *h);
/* Removes it; later deliveries to this id are dropped. 0 is accepted and ignored. */
void env_source_del(struct env *env, uint32_t id);
/* One input: samples the clock, journals, calls the handler. Steps do not nest: a delivery made
 * inside a step is a bug and aborts in debug builds. */
void env_deliver(struct env *env, uint32_t id, uint8_t kind, const void *data, size_t len);

/* Registers a long-lived credential: inputs and outputs have as many '*' in its place, in the
 * journal and in the digests; with a journal the handlers see them too. Call it before the first
 * step. ENOSPC, ENOMEM. */
int env_secret(struct env *env, const char *secret);

/* Reports an output of this thread (datagram, WebSocket message, IPC frame) for the digests. */
enum env_out {
	ENV_OUT_DATAGRAM = 1,
	ENV_OUT_WS = 2,
	ENV_OUT_IPC = 3,
	ENV_OUT_HTTP = 4,
	ENV_OUT_PIPE = 5,
	ENV_OUT_FILE = 6,
};
void env_output(struct env *env, enum env_out kind, uint32_t source, const void *data, size_t len);
/* The same for an output that ends in codec output, whose bytes and length differ between CPUs:
 * only the first `firm` bytes go into the shape. */
void env_output_sound(struct env *env, enum env_out kind, uint32_t source, const void *data,
		      size_t len, size_t firm);
/* BLAKE2b-256 over all inputs and outputs so far, as 64 hex digits and NUL. All zero without a
 * journal or a replay. */
void env_digest(struct env *env, char hex[65]);
/* The same without codec output: equal on every CPU. */
void env_shape(struct env *env, char hex[65]);

#endif
