/* A worker thread that an env owns: jobs go out in order, run in order on that thread, and come
 * back in order as inputs of the env's loop. An input carries the job's answer, so it is journalled
 * and replayed like every other.
 *
 * Two kinds of work are served:
 * - Pure work (conf.outside false): a result depends on nothing but its job and stays inside the
 * job. The answer is empty. On replay there is no thread: a job runs on the replaying thread when
 * its recorded return is delivered.
 * - Work that touches the outside (conf.outside true), such as a database: the result is the bytes
 * of the answer and nothing else. On replay the job is not run; the handler gets the job as it was
 * put, with the recorded answer.
 *
 * A job that was posted instead of put has no result: nothing comes back, nothing is journalled,
 * and on replay it is only freed. For work whose outcome no decision waits for, such as a log.
 *
 * Everything but run and starth belongs to the env's thread. */
#ifndef IPC_WORKER_H
#define IPC_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct env;
struct worker;
struct worker_answer;

/* A journal's ring holds 4 MiB a thread; an answer leaves it room for what else comes. */
enum { WORKER_ANSWER_MAX = 1 << 20 };

/* On the worker thread; on replay, for pure work, on the replaying thread. job is borrowed. */
typedef void(worker_run_h)(void *job, struct worker_answer *answer, void *arg);
/* On the env's thread, a step of its own. The job is the handler's from here on. answer is borrowed
 * until the handler returns. owner: as given to worker_put. Must not free the worker. */
typedef void(worker_done_h)(void *job, uint64_t owner, const uint8_t *answer, size_t len,
			    void *arg);
typedef void(worker_free_h)(void *job);

struct worker_conf {
	const char *name; /* of the thread: at most 15 characters; borrowed until worker_alloc
			     returns */
	uint32_t max;	  /* jobs that are out and not handled yet; more are refused */
	bool outside;	  /* see above */
	bool finish; /* worker_free runs the jobs that still wait, instead of only freeing them */
	void (*starth)(void *arg); /* first thing on the thread: niceness, system-call filter. NULL:
				      nothing */
	worker_run_h *runh;
	worker_done_h *doneh;	 /* NULL when jobs are only posted */
	void (*endh)(void *arg); /* last thing, on the thread if there is one: arg may be freed.
				    Not when worker_alloc fails. NULL: nothing */
	worker_free_h *freeh;	 /* for jobs that never reach the handler; on the thread, for posted
				    ones */
	void *arg;		 /* of starth, runh, doneh and endh */
};

/* EINVAL, ENOMEM, EAGAIN, errors of eventfd. Caller owns *out; frees it before env. */
int worker_alloc(struct worker **out, struct env *env, const struct worker_conf *conf);
/* Waits for the running job and, with conf.finish, for all that wait. No job reaches the handler
 * any more; all are freed. NULL accepted. */
struct worker *worker_free(struct worker *w);
/* The same without waiting: the thread runs all that waits, calls endh and frees the worker by
 * itself. For workers whose jobs are only posted, so that no slow disk delays the caller. */
void worker_release(struct worker *w);
/* Waits until no released worker of the process is left; false after `ms`. For the end of the
 * program. */
bool worker_await_released(uint32_t ms);
/* Takes the job over when it succeeds. ENOSPC when conf.max are out, ENOMEM. owner: any number by
 * which the handler finds the caller, who may be gone by then. */
int worker_put(struct worker *w, void *job, uint64_t owner);
/* The same without a result; runh gets no answer to append to. Jobs run in the order in which they
 * were put and posted. ENOSPC when conf.max posted jobs are not done yet, ENOMEM. */
int worker_post(struct worker *w, void *job);

/* Another job waits for the running one; for runh. */
bool worker_waits(struct worker *w);
/* Appends to the answer of the running job; for runh of work that touches the outside. EMSGSIZE
 * above WORKER_ANSWER_MAX, ENOMEM; the answer is then as before. */
int worker_answer_add(struct worker_answer *a, const void *data, size_t len);

#endif
