#include "ipc/tmr.h"

#include "ipc/env.h"
#include "ipc/tmr_queue.h"
#include "proto/base/time.h"

#include <errno.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_NS (UINT64_C(1000000000) * 86400 * 365) /* of a delay */

enum { FIRST_TIMERS = 64 };

struct tmr {
	struct env *env;
	uint32_t source;
	tmr_h *h;
	void *arg;
	uint64_t due;	/* UINT64_MAX: not running; also on replay, where nothing fires by itself */
	uint64_t order; /* of the starts, for equal times */
	size_t at;	/* place in the heap, counted from 1; 0: not running */
};

/* A binary heap, the earliest first. It has room for every timer that exists, so starting one never
 * fails. */
struct tmr_queue {
	struct env *env;
	int fd;
	struct event *ev;
	struct tmr **heap; /* heap[0] is not used */
	size_t n, cap, timers;
	uint64_t orders;
	uint64_t armed; /* when fd fires; UINT64_MAX: never */
};

static uint64_t mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts);
}

/* ---- the heap ---- */

static bool is_before(const struct tmr *a, const struct tmr *b)
{
	return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void place(struct tmr_queue *q, struct tmr *t, size_t at)
{
	q->heap[at] = t;
	t->at = at;
}

static void move_up(struct tmr_queue *q, struct tmr *t, size_t at)
{
	for (; at > 1 && is_before(t, q->heap[at / 2]); at /= 2)
		place(q, q->heap[at / 2], at);
	place(q, t, at);
}

static void move_down(struct tmr_queue *q, struct tmr *t, size_t at)
{
	for (size_t child; (child = 2 * at) <= q->n; at = child) {
		if (child < q->n && is_before(q->heap[child + 1], q->heap[child]))
			child++;
		if (!is_before(q->heap[child], t))
			break;
		place(q, q->heap[child], at);
	}
	place(q, t, at);
}

static void take_out(struct tmr_queue *q, struct tmr *t)
{
	size_t at = t->at;
	struct tmr *last;

	if (!at)
		return;
	t->at = 0;
	last = q->heap[q->n--];
	if (last == t)
		return;
	if (at > 1 && is_before(last, q->heap[at / 2]))
		move_up(q, last, at);
	else
		move_down(q, last, at);
}

/* ---- the kernel's timer ---- */

/* A timer that was moved later leaves the kernel's as it is: that fires once without effect. */
static void arm(struct tmr_queue *q)
{
	uint64_t when = q->n ? q->heap[1]->due : UINT64_MAX;
	struct itimerspec its = {0};

	if (q->armed <= when)
		return;
	q->armed = when;
	its.it_value.tv_sec = (time_t)(when / NS_PER_S);
	its.it_value.tv_nsec = (long)(when % NS_PER_S);
	timerfd_settime(q->fd, TFD_TIMER_ABSTIME, &its, NULL);
}

/* Timers that a handler starts have their turn after other events of the loop. */
static void on_expiry(evutil_socket_t fd, short what, void *arg)
{
	struct tmr_queue *q = arg;
	uint64_t now = mono_ns(), orders = q->orders;

	(void)fd, (void)what;
	q->armed = UINT64_MAX;
	while (q->n && q->heap[1]->due <= now && q->heap[1]->order <= orders &&
	       !env_stopping(q->env)) {
		struct tmr *t = q->heap[1];

		take_out(q, t);
		env_deliver(q->env, t->source, 0, NULL, 0);
	}
	arm(q);
}

int tmr_queue_alloc(struct tmr_queue **out, struct env *env)
{
	struct tmr_queue *q = calloc(1, sizeof *q);

	if (!q)
		return ENOMEM;
	q->env = env;
	q->armed = UINT64_MAX;
	q->cap = FIRST_TIMERS;
	q->heap = calloc(q->cap + 1, sizeof(struct tmr *));
	q->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	/* Edge-triggered, so that nobody needs to read it. */
	if (q->fd >= 0)
		q->ev = event_new(env_base(env), q->fd, EV_READ | EV_PERSIST | EV_ET, on_expiry, q);
	if (!q->heap || !q->ev || event_add(q->ev, NULL)) {
		tmr_queue_free(q);
		return ENOMEM;
	}
	*out = q;
	return 0;
}

struct tmr_queue *tmr_queue_free(struct tmr_queue *q)
{
	if (!q)
		return NULL;
	if (q->ev)
		event_free(q->ev);
	if (q->fd >= 0)
		close(q->fd);
	free(q->heap);
	free(q);
	return NULL;
}

/* ---- timers ---- */

static void input(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct tmr *t = arg;

	(void)kind;
	(void)data;
	(void)len;
	t->due = UINT64_MAX;
	t->h(t->arg);
}

/* Makes room for one more timer. */
static int grow_queue(struct tmr_queue *q)
{
	struct tmr **more;

	if (!q || q->timers < q->cap)
		return 0;
	more = realloc(q->heap, (2 * q->cap + 1) * sizeof(struct tmr *));
	if (!more)
		return ENOMEM;
	q->heap = more;
	q->cap *= 2;
	return 0;
}

int tmr_alloc(struct tmr **out, struct env *env, tmr_h *h, void *arg)
{
	struct tmr *t;
	int err;

	if (!out || !env || !h)
		return EINVAL;
	t = calloc(1, sizeof *t);
	if (!t)
		return ENOMEM;
	t->env = env;
	t->h = h;
	t->arg = arg;
	t->due = UINT64_MAX;
	err = grow_queue(env_timers(env));
	if (!err)
		err = env_source_add(env, &t->source, input, t);
	if (err) {
		free(t);
		return err;
	}
	if (env_timers(env))
		env_timers(env)->timers++;
	*out = t;
	return 0;
}

struct tmr *tmr_free(struct tmr *t)
{
	if (t) {
		tmr_stop(t);
		if (env_timers(t->env))
			env_timers(t->env)->timers--;
		env_source_del(t->env, t->source);
		free(t);
	}
	return NULL;
}

static void start(struct tmr *t, uint64_t due)
{
	struct tmr_queue *q = env_timers(t->env);

	take_out(q, t);
	t->due = due;
	t->order = ++q->orders;
	move_up(q, t, ++q->n);
	arm(q);
}

void tmr_start(struct tmr *t, uint64_t delay_ns)
{
	delay_ns = delay_ns < LONGEST_NS ? delay_ns : LONGEST_NS;
	if (env_timers(t->env))
		start(t, mono_ns() + delay_ns);
	else
		t->due = env_now(t->env) + delay_ns;
}

/* Keeps the requested time, so that late ones still fire in the order of their times. */
void tmr_start_at(struct tmr *t, uint64_t when_ns)
{
	uint64_t last;

	if (!env_timers(t->env)) {
		t->due = when_ns;
		return;
	}
	last = mono_ns() + LONGEST_NS;
	start(t, !when_ns ? 1 : when_ns < last ? when_ns : last);
}

void tmr_stop(struct tmr *t)
{
	if (env_timers(t->env))
		take_out(env_timers(t->env), t);
	t->due = UINT64_MAX;
}

uint64_t tmr_due(const struct tmr *t)
{
	return t->due;
}
