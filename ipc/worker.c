#include "ipc/worker.h"

#include "ipc/env.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { NAME_SIZE = 16, ANSWER_FIRST = 256 };

struct worker_answer {
	uint8_t *p;
	size_t n, cap;
};

struct item {
	struct item *next;
	void *job;
	bool posted; /* has no result */
	uint64_t owner;
	struct worker_answer answer;
};

struct queue {
	struct item *head, **tail;
	uint32_t n;
};

struct worker {
	struct env *env;
	struct worker_conf conf;
	char name[NAME_SIZE];
	uint32_t source;
	uint32_t out;		/* put and not handled yet; the loop thread's */
	struct item *delivered; /* whose answer is being delivered; the loop thread's */

	pthread_t thread;
	bool running;
	int fd; /* readable when a job is done */
	struct event *ev;

	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t more;
	bool quit;
	bool released;		    /* the thread frees it */
	uint32_t posted;	    /* and not done yet */
	struct queue waiting, done; /* on replay all jobs wait until their return is delivered */
};

/* Of the whole process. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t fewer;
	unsigned n;
} released = {.lock = PTHREAD_MUTEX_INITIALIZER, .fewer = PTHREAD_COND_INITIALIZER};

/* ---- queues ---- */

static void queue_init(struct queue *q)
{
	*q = (struct queue){.tail = &q->head};
}

static void queue_push(struct queue *q, struct item *i)
{
	i->next = NULL;
	*q->tail = i;
	q->tail = &i->next;
	q->n++;
}

/* NULL when it is empty. */
static struct item *queue_pop(struct queue *q)
{
	struct item *i = q->head;

	if (!i)
		return NULL;
	q->head = i->next;
	if (!q->head)
		q->tail = &q->head;
	q->n--;
	return i;
}

static void item_free(struct item *i)
{
	free(i->answer.p);
	free(i);
}

static void queue_free(struct worker *w, struct queue *q)
{
	struct item *i;

	while ((i = queue_pop(q))) {
		w->conf.freeh(i->job);
		item_free(i);
	}
}

int worker_answer_add(struct worker_answer *a, const void *data, size_t len)
{
	if (len > WORKER_ANSWER_MAX - a->n)
		return EMSGSIZE;
	if (len > a->cap - a->n) {
		size_t cap = a->cap ? a->cap : ANSWER_FIRST;
		uint8_t *p;

		while (cap - a->n < len)
			cap *= 2;
		p = realloc(a->p, cap);
		if (!p)
			return ENOMEM;
		a->p = p;
		a->cap = cap;
	}
	if (len)
		memcpy(a->p + a->n, data, len);
	a->n += len;
	return 0;
}

/* ---- the thread ---- */

/* NULL when the thread has to end. */
static struct item *wait_for_item(struct worker *w)
{
	struct item *i = NULL;

	pthread_mutex_lock(&w->lock);
	while (!w->quit && !w->waiting.head)
		pthread_cond_wait(&w->more, &w->lock);
	if (!w->quit || w->conf.finish)
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
		/* The counter is full, so the descriptor is readable already. */
	}
}

static void end_posted(struct worker *w, struct item *i)
{
	w->conf.freeh(i->job);
	item_free(i);
	pthread_mutex_lock(&w->lock);
	w->posted--;
	pthread_mutex_unlock(&w->lock);
}

static void clear_worker(struct worker *w)
{
	queue_free(w, &w->waiting);
	queue_free(w, &w->done);
	if (w->fd >= 0)
		close(w->fd);
	if (w->conf.endh)
		w->conf.endh(w->conf.arg);
	pthread_cond_destroy(&w->more);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

/* On its own thread, with which nobody waits. */
static void end_released(struct worker *w)
{
	clear_worker(w);
	pthread_mutex_lock(&released.lock);
	released.n--;
	pthread_cond_broadcast(&released.fewer);
	pthread_mutex_unlock(&released.lock);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct item *i;

	pthread_setname_np(pthread_self(), w->name);
	if (w->conf.starth)
		w->conf.starth(w->conf.arg);
	while ((i = wait_for_item(w))) {
		w->conf.runh(i->job, i->posted ? NULL : &i->answer, w->conf.arg);
		if (i->posted)
			end_posted(w, i);
		else
			give_back(w, i);
	}
	/* Written before the thread was told to quit. */
	if (w->released)
		end_released(w);
	return NULL;
}

/* ---- the loop thread ---- */

static struct item *take_item(struct worker *w, struct queue *q)
{
	struct item *i;

	pthread_mutex_lock(&w->lock);
	i = queue_pop(q);
	pthread_mutex_unlock(&w->lock);
	return i;
}

/* Jobs come back in the order in which they were put, so the input need not say which one it was.
 */
static void on_done(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct worker *w = arg;
	bool replaying = env_replaying(w->env);
	struct item *i = replaying ? take_item(w, &w->waiting) : w->delivered;

	(void)kind;
	if (!i)
		return; /* the journal is of another program */
	w->out--;
	if (replaying && !w->conf.outside)
		w->conf.runh(i->job, &i->answer, w->conf.arg);
	w->conf.doneh(i->job, i->owner, data, len, w->conf.arg);
	if (replaying)
		item_free(i);
}

static uint32_t count_done(struct worker *w)
{
	uint32_t n;

	pthread_mutex_lock(&w->lock);
	n = w->done.n;
	pthread_mutex_unlock(&w->lock);
	return n;
}

/* Jobs done while these are handled wait for the next turn of the loop, so other inputs get theirs.
 */
static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;
	uint64_t n;

	(void)what;
	if (read((int)fd, &n, sizeof n) < 0) {
		/* Nothing to drain. */
	}
	for (uint32_t left = count_done(w); left; left--) {
		struct item *i = take_item(w, &w->done);

		w->delivered = i;
		env_deliver(w->env, w->source, 0, i->answer.p, w->conf.outside ? i->answer.n : 0);
		w->delivered = NULL;
		item_free(i);
	}
}

/* ---- life ---- */

static int start_thread(struct worker *w)
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

static int watch_done(struct worker *w)
{
	w->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (w->fd < 0)
		return errno;
	w->ev = event_new(env_base(w->env), w->fd, EV_READ | EV_PERSIST, on_readable, w);
	return w->ev && !event_add(w->ev, NULL) ? 0 : ENOMEM;
}

int worker_alloc(struct worker **out, struct env *env, const struct worker_conf *conf)
{
	struct worker *w;
	int err;

	if (!out || !env || !conf->name || strlen(conf->name) >= NAME_SIZE || !conf->max ||
	    !conf->runh || !conf->freeh)
		return EINVAL;
	w = calloc(1, sizeof *w);
	if (!w)
		return ENOMEM;
	w->env = env;
	w->conf = *conf;
	memcpy(w->name, conf->name, strlen(conf->name));
	w->conf.name = w->name;
	w->fd = -1;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->more, NULL);
	queue_init(&w->waiting);
	queue_init(&w->done);
	err = env_source_add(env, &w->source, on_done, w);
	if (!err && !env_replaying(env))
		err = watch_done(w);
	if (!err && !env_replaying(env))
		err = start_thread(w);
	if (err) {
		w->conf.endh = NULL;
		worker_free(w);
	} else {
		*out = w;
	}
	return err;
}

static void end_thread(struct worker *w)
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

static void leave_loop(struct worker *w)
{
	if (w->ev)
		event_free(w->ev);
	w->ev = NULL;
	env_source_del(w->env, w->source);
}

struct worker *worker_free(struct worker *w)
{
	if (!w)
		return NULL;
	end_thread(w);
	leave_loop(w);
	clear_worker(w);
	return NULL;
}

void worker_release(struct worker *w)
{
	if (!w->running) {
		worker_free(w);
		return;
	}
	leave_loop(w);
	pthread_detach(w->thread);
	pthread_mutex_lock(&released.lock);
	released.n++;
	pthread_mutex_unlock(&released.lock);
	pthread_mutex_lock(&w->lock);
	w->released = w->quit = true;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
}

bool worker_await_released(uint32_t ms)
{
	struct timespec until;
	bool all;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&released.lock);
	while (released.n && pthread_cond_timedwait(&released.fewer, &released.lock, &until) == 0)
		;
	all = released.n == 0;
	pthread_mutex_unlock(&released.lock);
	return all;
}

int worker_put(struct worker *w, void *job, uint64_t owner)
{
	struct item *i;

	if (!w->conf.doneh)
		return EINVAL;
	if (w->out == w->conf.max)
		return ENOSPC;
	i = calloc(1, sizeof *i);
	if (!i)
		return ENOMEM;
	i->job = job;
	i->owner = owner;
	w->out++;
	pthread_mutex_lock(&w->lock);
	queue_push(&w->waiting, i);
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
	return 0;
}

int worker_post(struct worker *w, void *job)
{
	struct item *i;
	int err = 0;

	if (env_replaying(w->env)) {
		w->conf.freeh(job);
		return 0;
	}
	i = calloc(1, sizeof *i);
	if (!i)
		return ENOMEM;
	i->job = job;
	i->posted = true;
	pthread_mutex_lock(&w->lock);
	if (w->posted == w->conf.max) {
		err = ENOSPC;
	} else {
		w->posted++;
		queue_push(&w->waiting, i);
		pthread_cond_signal(&w->more);
	}
	pthread_mutex_unlock(&w->lock);
	if (err)
		free(i);
	return err;
}

bool worker_waits(struct worker *w)
{
	bool waits;

	pthread_mutex_lock(&w->lock);
	waits = w->quit || w->waiting.head;
	pthread_mutex_unlock(&w->lock);
	return waits;
}
