/* The replayer's interface to an env, for ipc/journal_read.c and for tests that simulate the
 * outside world. */
#ifndef IPC_ENV_REPLAY_H
#define IPC_ENV_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct env;

/* One recorded answer of the system: random bytes or an i64. Borrowed from the reader. */
struct env_answer_rec {
	uint8_t what; /* enum journal_what */
	const uint8_t *p;
	size_t n;
};

/* The recording's meta line, which is part of the digests. */
void env_replay_meta(struct env *env, const char *meta);
/* The answers of this thread, in order; borrowed for as long as the replay runs. */
void env_replay_answers(struct env *env, const struct env_answer_rec *recs, size_t n);
/* Supplies answers instead of a recording. what: enum journal_what; n: its size. Must not return
 * NULL; the answer is borrowed until the next one. */
typedef const uint8_t *(env_world_h)(uint8_t what, size_t n, void *arg);
void env_replay_world(struct env *env, env_world_h *h, void *arg);
/* Takes the time from h instead of CLOCK_MONOTONIC, in an env that does not replay. */
typedef uint64_t(env_clock_h)(void *arg);
void env_replay_clock(struct env *env, env_clock_h *h, void *arg);
/* Runs one recorded step. Returns false when the run diverged: it asked for an answer that is
 * missing or of another kind. */
bool env_replay_step(struct env *env, uint64_t now, uint32_t source, uint8_t kind, const uint8_t *p,
		     size_t n);
/* What the owner of a source gave with it, of a timer's source its struct tmr; NULL: there is no
 * such source. */
void *env_replay_arg(const struct env *env, uint32_t source);
/* True when every answer was used. */
bool env_replay_done(const struct env *env);

#endif
