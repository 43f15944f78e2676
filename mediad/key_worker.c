#include "mediad/key_worker.h"

#include <stddef.h>
#include <sys/resource.h>

#include "mediad/dave/job.h"
#include "mediad/sandbox/sandbox.h"

enum { KEY_WORKER_NICE = 10 };

/* Lowers the priority of this thread below the audio threads; on Linux niceness is per thread. */
static void enter_thread(void *arg)
{
	(void)arg;
	setpriority(PRIO_PROCESS, 0, KEY_WORKER_NICE);
	sandbox_require(SANDBOX_WORKER);
}

static void run_job(void *job, struct worker_answer *answer, void *arg)
{
	(void)answer, (void)arg;
	dave_job_run(job);
}

static void free_job(void *job)
{
	dave_job_free(job);
}

int key_worker_alloc(struct worker **out, struct env *env, worker_done_h *doneh, void *arg)
{
	const struct worker_conf conf = {.name = "keys",
					 .max = KEY_WORKER_MAX,
					 .starth = enter_thread,
					 .runh = run_job,
					 .doneh = doneh,
					 .freeh = free_job,
					 .arg = arg};

	return worker_alloc(out, env, &conf);
}
