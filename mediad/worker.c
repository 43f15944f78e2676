#include "mediad/worker.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ipc/env.h"
#include "mediad/dave/job.h"
#include "mediad/sandbox.h"

enum { WORKER_NICE = 10 };

struct item {
	struct item *next;
	struct dave_job *job;
	uint64_t owner;
};

struct queue {
	struct item *head, **tail;
};

struct worker {
	struct env *env;
	worker_done_h *h;
	void *arg;
	uint32_t source;
	unsigned under_way; /* put and not come back; the loop thread's */

	pthread_t thread;
	bool running;
	int fd; /* readable when something is done */
	struct event *ev;

	pthread_mutex_t lock; /* from here on */
	pthread_cond_t more;
	bool quit;
	struct queue waiting, done; /* on replay nothing is ever done before it is asked for */
};

static void queue_init(struct queue *q)
{
	q->head = NULL;
	q->tail = &q->head;
}

static void queue_push(struct queue *q, struct item *i)
{
	i->next = NULL;
	*q->tail = i;
	q->tail = &i->next;
}

/* NULL. */
static struct item *queue_pop(struct queue *q)
{
	struct item *i = q->head;

	if (!i)
		return NULL;
	q->head = i->next;
	if (!q->head)
		q->tail = &q->head;
	return i;
}

static void queue_free(struct queue *q)
{
	struct item *i;

	while ((i = queue_pop(q))) {
		dave_job_free(i->job);
		free(i);
	}
}

/* ---- the thread ---- */

/* NULL: it is time to go. */
static struct item *next_item(struct worker *w)
{
	struct item *i = NULL;

	pthread_mutex_lock(&w->lock);
	while (!w->quit && !w->waiting.head)
		pthread_cond_wait(&w->more, &w->lock);
	if (!w->quit)
		i = queue_pop(&w->waiting);
	pthread_mutex_unlock(&w->lock);
	return i;
}

static void give_back(struct worker *w, struct item *i)
{
	uint64_t one = 1;

	pthread_mutex_lock(&w->lock);
	queue_push(&w->done, i);
	pthread_mutex_unlock(&w->lock);
	if (write(w->fd, &one, sizeof one) < 0) {
		/* Full: it is readable already. */
	}
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct item *i;

	/* The audio threads come first. Linux has a niceness for each thread. */
	setpriority(PRIO_PROCESS, 0, WORKER_NICE);
	sandbox_enter(SANDBOX_WORKER);
	while ((i = next_item(w))) {
		dave_job_run(i->job);
		give_back(w, i);
	}
	return NULL;
}

/* ---- the loop thread ---- */

static struct item *take(struct worker *w, struct queue *q)
{
	struct item *i;

	pthread_mutex_lock(&w->lock);
	i = queue_pop(q);
	pthread_mutex_unlock(&w->lock);
	return i;
}

/* Jobs come back in the order in which they were put, so the input need not say which one it was. */
static void on_done(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct worker *w = arg;
	bool replaying = env_replaying(w->env);
	struct item *i = take(w, replaying ? &w->waiting : &w->done);

	(void)kind, (void)data, (void)len;
	if (!i)
		return; /* a journal that is not ours */
	w->under_way--;
	if (replaying)
		dave_job_run(i->job);
	w->h(i->job, i->owner, w->arg);
	free(i);
}

static bool any_done(struct worker *w)
{
	bool any;

	pthread_mutex_lock(&w->lock);
	any = w->done.head != NULL;
	pthread_mutex_unlock(&w->lock);
	return any;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;
	uint64_t n;

	(void)what;
	if (read((int)fd, &n, sizeof n) < 0) {
		/* Nothing to drain. */
	}
	while (any_done(w))
		env_deliver(w->env, w->source, 0, NULL, 0);
}

/* ---- life ---- */

static int run(struct worker *w)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&w->thread, NULL, worker_main, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	w->running = !err;
	return err;
}

static int watch(struct worker *w)
{
	w->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (w->fd < 0)
		return errno;
	w->ev = event_new(env_base(w->env), w->fd, EV_READ | EV_PERSIST, on_readable, w);
	return w->ev && !event_add(w->ev, NULL) ? 0 : ENOMEM;
}

int worker_alloc(struct worker **out, struct env *env, worker_done_h *h, void *arg)
{
	struct worker *w = calloc(1, sizeof *w);
	int err;

	if (!w)
		return ENOMEM;
	w->env = env;
	w->h = h;
	w->arg = arg;
	w->fd = -1;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->more, NULL);
	queue_init(&w->waiting);
	queue_init(&w->done);
	err = env_source_add(env, &w->source, on_done, w);
	if (!err && !env_replaying(env))
		err = watch(w);
	if (!err && !env_replaying(env))
		err = run(w);
	if (err)
		worker_free(w);
	else
		*out = w;
	return err;
}

static void end(struct worker *w)
{
	if (!w->running)
		return;
	pthread_mutex_lock(&w->lock);
	w->quit = true;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	w->running = false;
}

struct worker *worker_free(struct worker *w)
{
	if (!w)
		return NULL;
	end(w);
	queue_free(&w->waiting);
	queue_free(&w->done);
	if (w->ev)
		event_free(w->ev);
	if (w->fd >= 0)
		close(w->fd);
	env_source_del(w->env, w->source);
	pthread_cond_destroy(&w->more);
	pthread_mutex_destroy(&w->lock);
	free(w);
	return NULL;
}

int worker_put(struct worker *w, struct dave_job *job, uint64_t owner)
{
	struct item *i;

	if (w->under_way == WORKER_WAITING_MAX)
		return ENOSPC;
	i = malloc(sizeof *i);
	if (!i)
		return ENOMEM;
	i->job = job;
	i->owner = owner;
	w->under_way++;
	pthread_mutex_lock(&w->lock);
	queue_push(&w->waiting, i);
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
	return 0;
}
