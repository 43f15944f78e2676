/* The one thread for key work (MLS, scrypt): jobs go in, run in order, and come back as inputs of the loop thread's env.
 *
 * On replay there is no thread: a job runs when its recorded return is delivered, and gives what it gave, because it depends
 * on nothing but what it carries. */
#ifndef MEDIAD_WORKER_H
#define MEDIAD_WORKER_H

#include <stdint.h>

struct dave_job;
struct env;
struct worker;

enum { WORKER_WAITING_MAX = 4096 };

/* owner: as given to worker_put. The job is the handler's. */
typedef void(worker_done_h)(struct dave_job *job, uint64_t owner, void *arg);

/* ENOMEM, EAGAIN, errors of eventfd. Caller owns *out; frees it before env. */
int worker_alloc(struct worker **out, struct env *env, worker_done_h *h, void *arg);
/* Waits for the running job; those that wait are freed. */
struct worker *worker_free(struct worker *w);
/* Takes the job over when it succeeds. ENOSPC, ENOMEM. owner: any number that finds who asked; who is gone by then frees
 * what comes. */
int worker_put(struct worker *w, struct dave_job *job, uint64_t owner);

#endif
