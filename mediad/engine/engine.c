#include "mediad/engine/engine.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "mediad/engine/thread.h"
#include "proto/base/time.h"

#define RETRY_NS (2 * NS_PER_MS)

struct waiting {
	struct waiting *next;
	struct cmd cmd;
};

struct member {
	struct engine *e;
	struct athread *t;
	struct event *ev, *kick; /* kick: commands were pushed in this turn of the loop */
	uint32_t source;
	unsigned lines;
	uint64_t lost;		      /* told */
	struct waiting *head, **tail; /* commands that did not fit */
};

struct engine {
	struct engine_conf conf;
	struct tmr *retry;
	struct member m[ENGINE_THREADS];
};

/* Whether a command fits depends on how fast the other thread is: an answer of the system,
 * recorded. */
static bool push(struct member *m, const struct cmd *c)
{
	struct env *env = m->e->conf.env;

	if (env_replaying(env)) {
		/* The ring of a replay is far larger than what a step can fill; where it is not,
		 * the journal was not made by us. */
		return env_answer(env, 0) && athread_push(m->t, c);
	}
	event_active(m->kick, 0, 0);
	return env_answer(env, athread_push(m->t, c) ? 1 : 0) != 0;
}

/* Speech comes down in many commands at a time; one wake is enough for all of them. */
static void on_kick(evutil_socket_t fd, short what, void *arg)
{
	struct member *m = arg;

	(void)fd, (void)what;
	athread_wake(m->t);
}

static void flush(struct member *m)
{
	struct waiting *w;

	while ((w = m->head) && push(m, &w->cmd)) {
		m->head = w->next;
		if (!m->head)
			m->tail = &m->head;
		free(w);
	}
}

static void on_retry(void *arg)
{
	struct engine *e = arg;
	bool more = false;

	for (unsigned i = 0; i < e->conf.threads; i++) {
		flush(&e->m[i]);
		more = more || e->m[i].head;
	}
	if (more)
		tmr_start(e->retry, RETRY_NS);
}

static void on_event(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct member *m = arg;
	struct ev ev;

	(void)kind, (void)data, (void)len;
	if (!athread_pop(m->t, &ev))
		return;
	if (athread_lost(m->t) != m->lost) {
		m->lost = athread_lost(m->t);
		log_warn("engine_events_lost", "count=%llu", (unsigned long long)m->lost);
	}
	m->e->conf.evh(&ev, ev.line->owner);
	if (ev.type == EV_LINE_GONE)
		m->lines--;
	ev_dispose(&ev); /* what was given back, now that its owner knows */
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct member *m = arg;
	uint64_t n;

	(void)what;
	if (read((int)fd, &n, sizeof n) < 0) {
		/* Nothing to drain. */
	}
	while (athread_waiting(m->t))
		env_deliver(m->e->conf.env, m->source, 0, NULL, 0);
}

static int member_start(struct engine *e, unsigned i)
{
	struct member *m = &e->m[i];
	struct event_base *base = env_base(e->conf.env);
	bool replaying = env_replaying(e->conf.env);
	int err;

	m->e = e;
	m->tail = &m->head;
	err = athread_alloc(&m->t, (uint8_t)(i + 1), replaying, e->conf.journal);
	if (!err)
		err = env_source_add(e->conf.env, &m->source, on_event, m);
	if (err || replaying)
		return err;
	m->ev = event_new(base, athread_fd(m->t), EV_READ | EV_PERSIST, on_readable, m);
	m->kick = event_new(base, -1, 0, on_kick, m);
	if (!m->ev || !m->kick)
		return ENOMEM;
	event_priority_set(m->ev, 0);
	event_priority_set(m->kick, 0);
	if (event_add(m->ev, NULL))
		return ENOMEM;
	return athread_run(m->t);
}

int engine_alloc(struct engine **out, const struct engine_conf *conf)
{
	struct engine *e;
	int err;

	if (!out || !conf || !conf->env || !conf->evh || !conf->threads ||
	    conf->threads > ENGINE_THREADS)
		return EINVAL;
	e = calloc(1, sizeof *e);
	if (!e)
		return ENOMEM;
	e->conf = *conf;
	err = tmr_alloc(&e->retry, conf->env, on_retry, e);
	for (unsigned i = 0; !err && i < conf->threads; i++)
		err = member_start(e, i);
	if (err)
		engine_free(e);
	else
		*out = e;
	return err;
}

void engine_join(struct engine *e)
{
	for (unsigned i = 0; i < e->conf.threads; i++) {
		athread_join(e->m[i].t);
		env_finish(athread_env(e->m[i].t));
	}
}

struct engine *engine_free(struct engine *e)
{
	if (!e)
		return NULL;
	for (unsigned i = 0; i < e->conf.threads; i++) {
		struct member *m = &e->m[i];
		struct waiting *w;

		while ((w = m->head)) {
			m->head = w->next;
			cmd_dispose(&w->cmd);
			free(w);
		}
		if (m->ev)
			event_free(m->ev);
		if (m->kick)
			event_free(m->kick);
		env_source_del(e->conf.env, m->source);
		athread_free(m->t);
	}
	tmr_free(e->retry);
	free(e);
	return NULL;
}

struct env *engine_env(struct engine *e, unsigned thread)
{
	return thread >= 1 && thread <= e->conf.threads ? athread_env(e->m[thread - 1].t) : NULL;
}

static int queue(struct member *m, const struct cmd *cmd)
{
	struct waiting *w = malloc(sizeof *w);

	if (!w)
		return ENOMEM;
	w->cmd = *cmd;
	w->next = NULL;
	*m->tail = w;
	m->tail = &w->next;
	tmr_start(m->e->retry, RETRY_NS);
	return 0;
}

int engine_line_add(struct engine *e, struct line *l)
{
	struct cmd cmd = {.type = CMD_LINE_ADD, .line = l};
	struct member *best = &e->m[0];

	for (unsigned i = 1; i < e->conf.threads; i++)
		if (e->m[i].lines < best->lines)
			best = &e->m[i];
	if (best->lines >= THREAD_LINES)
		return ENOSPC;
	l->thread = (unsigned)(best - e->m);
	if (best->head || !push(best, &cmd)) {
		int err = queue(best, &cmd);

		if (err)
			return err;
	}
	best->lines++;
	return 0;
}

int engine_send(struct engine *e, struct line *l, struct cmd *cmd)
{
	struct member *m = &e->m[l->thread];
	int err;

	cmd->line = l;
	if (!m->head && push(m, cmd))
		return 0;
	err = queue(m, cmd);
	if (err)
		cmd_dispose(cmd);
	return err;
}
