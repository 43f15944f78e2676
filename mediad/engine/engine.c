#include "mediad/engine/engine.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "mediad/engine/audio_thread.h"
#include "mediad/engine/image_pages.h"
#include "mediad/engine/loop_stream.h"
#include "proto/base/time.h"

#define RETRY_NS (2 * NS_PER_MS)

enum { TOGETHER = 8 };
/* Events of one audio thread that are handled before the loop goes on to other inputs. */
enum { EVENTS_A_TURN = 256 };
/* Inputs of the loop thread about one audio thread. */
enum { INPUT_EVENT, INPUT_DEMOTED };

struct queued_command {
	struct queued_command *next;
	struct cmd cmd;
	int16_t pcm[]; /* of CMD_LANE_PCM */
};

struct engine_thread {
	struct engine *e;
	struct audio_thread *t;
	struct event *ev, *kick; /* kick: commands were pushed in this turn of the loop */
	struct event *rest;	 /* handles the events that are left */
	bool resting;		 /* events are left, and wakes are not looked at */
	uint32_t source;
	unsigned streams;
	struct queued_command *head, **tail; /* commands that did not fit into the ring */
};

struct engine {
	struct engine_conf conf;
	struct tmr *retry;
	struct loop_stream *loop[ENGINE_LOOP_STREAMS];
	struct engine_thread m[ENGINE_THREADS];
};

/* The speed of the other thread decides whether a command fits, so the result comes from the
 * system and is recorded. */
static bool push_command(struct engine_thread *m, const struct cmd *c)
{
	struct env *env = m->e->conf.env;

	if (env_replaying(env)) {
		/* The ring of a replay is far larger than any step can fill. If it is full, the
		 * journal was not written by this program. */
		return env_answer(env, 0) && audio_thread_push(m->t, c);
	}
	event_active(m->kick, 0, 0);
	return env_answer(env, audio_thread_push(m->t, c) ? 1 : 0) != 0;
}

/* A frame of speech is many commands; one wake is enough for all of them. */
static void on_kick(evutil_socket_t fd, short what, void *arg)
{
	struct engine_thread *m = arg;

	(void)fd, (void)what;
	audio_thread_wake(m->t);
}

static void flush_commands(struct engine_thread *m)
{
	struct queued_command *w;

	while ((w = m->head) && push_command(m, &w->cmd)) {
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
		flush_commands(&e->m[i]);
		more = more || e->m[i].head;
	}
	if (more)
		tmr_start(e->retry, RETRY_NS);
}

static void on_event(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct engine_thread *m = arg;
	struct ev ev;

	(void)data, (void)len;
	if (kind == INPUT_DEMOTED) {
		log_warn("audio_thread_lost_real_time", "thread=%u", (unsigned)(m - m->e->m) + 1);
		if (m->e->conf.demotedh)
			m->e->conf.demotedh(m->e->conf.arg);
		return;
	}
	if (!audio_thread_pop(m->t, &ev))
		return;
	m->e->conf.evh(&ev, ev.stream->owner);
	if (ev.type == EV_STREAM_GONE)
		m->streams--;
	ev_dispose(&ev); /* frees the returned object after its owner has handled the event */
}

/* An audio thread may write as fast as the loop thread reads, and its wakes come before all other
 * inputs. The events beyond EVENTS_A_TURN take their turn with those, and no wake overtakes it. */
static void handle_events(struct engine_thread *m)
{
	static const struct timeval at_once = {0};
	bool left;

	for (unsigned i = 0; i < EVENTS_A_TURN && audio_thread_waiting(m->t); i++)
		env_deliver(m->e->conf.env, m->source, INPUT_EVENT, NULL, 0);
	left = audio_thread_waiting(m->t) || (m->resting && event_add(m->ev, NULL));
	if (left && event_add(m->rest, &at_once))
		event_active(m->rest, EV_TIMEOUT, 0); /* without memory for a timer */
	if (left && !m->resting)
		event_del(m->ev);
	m->resting = left;
}

static void on_rest(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	handle_events(arg);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct engine_thread *m = arg;

	(void)fd, (void)what;
	if (audio_thread_lost_real_time(m->t))
		env_deliver(m->e->conf.env, m->source, INPUT_DEMOTED, NULL, 0);
	handle_events(m);
}

static int start_thread(struct engine *e, unsigned i)
{
	struct engine_thread *m = &e->m[i];
	struct event_base *base = env_base(e->conf.env);
	bool replaying = env_replaying(e->conf.env);
	int err;

	m->e = e;
	m->tail = &m->head;
	err = audio_thread_alloc(&m->t, (uint8_t)(i + 1), replaying, e->conf.journal);
	if (!err)
		err = env_source_add(e->conf.env, &m->source, on_event, m);
	if (err || replaying)
		return err;
	m->ev = event_new(base, audio_thread_fd(m->t), EV_READ | EV_PERSIST | EV_ET, on_readable,
			  m);
	m->kick = event_new(base, -1, 0, on_kick, m);
	m->rest = evtimer_new(base, on_rest, m);
	if (!m->ev || !m->kick || !m->rest)
		return ENOMEM;
	event_priority_set(m->ev, 0);
	event_priority_set(m->kick, 0);
	if (event_add(m->ev, NULL))
		return ENOMEM;
	return audio_thread_run(m->t);
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
		err = start_thread(e, i);
	if (err)
		engine_free(e);
	else
		*out = e;
	return err;
}

void engine_join(struct engine *e)
{
	for (unsigned i = 0; i < e->conf.threads; i++) {
		audio_thread_join(e->m[i].t);
		env_finish(audio_thread_env(e->m[i].t));
	}
}

struct engine *engine_free(struct engine *e)
{
	if (!e)
		return NULL;
	for (unsigned i = 0; i < e->conf.threads; i++) {
		struct engine_thread *m = &e->m[i];
		struct queued_command *w;

		while ((w = m->head)) {
			m->head = w->next;
			cmd_dispose(&w->cmd);
			free(w);
		}
		if (m->ev)
			event_free(m->ev);
		if (m->kick)
			event_free(m->kick);
		if (m->rest)
			event_free(m->rest);
		env_source_del(e->conf.env, m->source);
		audio_thread_free(m->t);
	}
	for (unsigned i = 0; i < ENGINE_LOOP_STREAMS; i++)
		loop_stream_free(e->loop[i]);
	tmr_free(e->retry);
	free(e);
	return NULL;
}

struct env *engine_env(struct engine *e, unsigned thread)
{
	return thread >= 1 && thread <= e->conf.threads ? audio_thread_env(e->m[thread - 1].t)
							: NULL;
}

static void append_command(struct engine_thread *m, struct queued_command *w)
{
	w->next = NULL;
	*m->tail = w;
	m->tail = &w->next;
	tmr_start(m->e->retry, RETRY_NS);
}

static int queue_command(struct engine_thread *m, const struct cmd *cmd)
{
	size_t pcm = cmd->type == CMD_LANE_PCM ? cmd->lane.n * sizeof *cmd->lane.pcm : 0;
	struct queued_command *w = malloc(sizeof *w + pcm);

	if (!w)
		return ENOMEM;
	w->cmd = *cmd;
	if (pcm) {
		memcpy(w->pcm, cmd->lane.pcm, pcm);
		w->cmd.lane.pcm = w->pcm;
	}
	append_command(m, w);
	return 0;
}

int engine_add_stream(struct engine *e, struct call_stream *cs)
{
	struct cmd cmd = {.type = CMD_STREAM_ADD, .stream = cs};
	struct engine_thread *best = &e->m[0];

	/* Streams of one thread share wakes, so a few stay together before another thread gets one.
	 */
	for (unsigned i = 1; i < e->conf.threads && best->streams >= TOGETHER; i++)
		if (e->m[i].streams < best->streams)
			best = &e->m[i];
	if (best->streams >= THREAD_STREAMS)
		return ENOSPC;
	cs->removal = malloc(sizeof(struct queued_command));
	if (!cs->removal)
		return ENOMEM;
	if (!env_replaying(e->conf.env))
		image_pages_populate();
	cs->thread = (unsigned)(best - e->m);
	if (best->head || !push_command(best, &cmd)) {
		int err = queue_command(best, &cmd);

		if (err)
			return err;
	}
	best->streams++;
	return 0;
}

static void on_loop_stream_gone(struct loop_stream *l, void *arg)
{
	struct engine *e = arg;

	for (unsigned i = 0; i < ENGINE_LOOP_STREAMS; i++)
		if (e->loop[i] == l)
			e->loop[i] = loop_stream_free(l);
}

int engine_add_loop_stream(struct engine *e, struct call_stream *cs,
			   const struct loop_stream_handlers *h)
{
	struct loop_stream_handlers all = *h;
	unsigned i = 0;

	all.evh = e->conf.evh;
	all.goneh = on_loop_stream_gone;
	all.arg = e;
	while (i < ENGINE_LOOP_STREAMS && e->loop[i])
		i++;
	return i < ENGINE_LOOP_STREAMS ? loop_stream_alloc(&e->loop[i], e->conf.env, cs, &all)
				       : ENOSPC;
}

int engine_send(struct engine *e, struct call_stream *cs, struct cmd *cmd)
{
	struct engine_thread *m = &e->m[cs->thread];
	int err;

	if (cs->loop) {
		loop_stream_command(cs->loop, cmd);
		return 0;
	}
	cmd->stream = cs;
	if (!m->head && push_command(m, cmd))
		return 0;
	err = queue_command(m, cmd);
	if (err)
		cmd_dispose(cmd);
	return err;
}

void engine_remove_stream(struct engine *e, struct call_stream *cs)
{
	struct engine_thread *m = &e->m[cs->thread];
	struct queued_command *w = cs->removal;
	struct cmd cmd = {.type = CMD_STREAM_REMOVE, .stream = cs};

	if (cs->loop) {
		loop_stream_remove(cs->loop);
		return;
	}
	if (!m->head && push_command(m, &cmd))
		return;
	cs->removal = NULL;
	w->cmd = cmd;
	append_command(m, w);
}
