#include "mediad/engine/loop_stream.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "ipc/env.h"
#include "ipc/tmr.h"
#include "mediad/engine/call_stream_internal.h"
#include "proto/base/time.h"

/* Datagrams that are read before the loop goes on to other inputs. */
enum { DATAGRAMS_A_TURN = 64, MUSIC_MS = 10 };

struct queued_event {
	struct queued_event *next;
	struct ev ev;
	int16_t pcm[]; /* of EV_HEARD */
};

struct loop_stream {
	struct env *env;
	struct call_stream *cs; /* NULL once it has gone */
	struct loop_stream_handlers h;
	struct video_receiver *in;
	struct video_sender *out;
	struct tmr *tick, *events;
	struct event *readable; /* NULL on replay and without a socket */
	struct event *music;	/* the time to read some; NULL on replay */
	uint32_t source, src_music;
	struct music_feed fed;
	int16_t pcm[MUSIC_FEED_MAX / sizeof(int16_t)];
	struct queued_event *first, **last;
	struct queued_event *gone; /* memory for the last event; NULL once it is queued */
	uint8_t buf[UDP_MAX_PACKET + 1];
};

/* ---- events ---- */

static void append_event(struct loop_stream *l, struct queued_event *q)
{
	q->next = NULL;
	*l->last = q;
	l->last = &q->next;
	tmr_start(l->events, 0);
}

static bool queue_event(const struct ev *ev, bool may_drop, void *arg)
{
	struct loop_stream *l = arg;
	size_t pcm = ev->type == EV_HEARD ? ev->heard.n * sizeof *ev->heard.pcm : 0;
	struct queued_event *q = malloc(sizeof *q + pcm);

	(void)may_drop;
	if (!q)
		return false;
	q->ev = *ev;
	if (pcm) {
		memcpy(q->pcm, ev->heard.pcm, pcm);
		q->ev.heard.pcm = q->pcm;
	}
	append_event(l, q);
	return true;
}

static bool has_room(void *arg)
{
	(void)arg;
	return true;
}

static void on_events(void *arg)
{
	struct loop_stream *l = arg;
	struct queued_event *q;

	/* Events that these cause come behind them. */
	while ((q = l->first)) {
		bool gone = q->ev.type == EV_STREAM_GONE;

		l->first = q->next;
		if (!l->first)
			l->last = &l->first;
		l->h.evh(&q->ev, q->ev.stream->owner);
		if (gone)
			l->cs = NULL;
		ev_dispose(&q->ev);
		free(q);
		if (gone) {
			l->h.goneh(l, l->h.arg);
			return;
		}
	}
}

/* ---- deadlines ---- */

static uint64_t next_deadline(const struct loop_stream *l)
{
	const uint64_t at[] = {call_stream_next(l->cs), video_receiver_next(l->in),
			       video_sender_next(l->out)};
	uint64_t min = UINT64_MAX;

	for (unsigned i = 0; i < sizeof at / sizeof at[0]; i++)
		if (at[i] < min)
			min = at[i];
	return min;
}

void loop_stream_wake(struct loop_stream *l)
{
	uint64_t at = l->gone ? next_deadline(l) : UINT64_MAX;

	if (at == UINT64_MAX)
		tmr_stop(l->tick);
	else
		tmr_start_at(l->tick, at);
}

static void on_tick(void *arg)
{
	struct loop_stream *l = arg;
	uint64_t now = env_now(l->env);

	if (call_stream_next(l->cs) <= now) {
		call_stream_send(l->cs);
		call_stream_work(l->cs);
	}
	video_receiver_tick(l->in, now);
	video_sender_tick(l->out, now);
	loop_stream_wake(l);
}

/* ---- the socket ---- */

static void on_datagram(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct loop_stream *l = arg;
	uint8_t packet[UDP_MAX_PACKET]; /* decrypted in place */

	(void)kind;
	if (!l->gone || len > sizeof packet)
		return;
	memcpy(packet, data, len);
	if (!video_receiver_input(l->in, packet, len))
		call_stream_receive(l->cs, packet, len);
	loop_stream_wake(l);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct loop_stream *l = arg;

	(void)what;
	/* Errors such as ECONNREFUSED come from the network and pass; the socket stays. */
	for (unsigned i = 0; i < DATAGRAMS_A_TURN && l->readable; i++) {
		ssize_t n = recv(fd, l->buf, sizeof l->buf, MSG_DONTWAIT);

		if (n < 0)
			return;
		if (n > 0 && n <= UDP_MAX_PACKET)
			env_deliver(l->env, l->source, 0, l->buf, (size_t)n);
	}
}

static void unwatch_socket(struct loop_stream *l)
{
	if (l->readable)
		event_free(l->readable);
	l->readable = NULL;
}

/* A socket that cannot be read is like one that nothing comes through. */
static void watch_socket(struct loop_stream *l)
{
	bool ok = true;

	if (!l->cs->linked)
		return;
	if (!env_replaying(l->env)) {
		l->readable = event_new(env_base(l->env), l->cs->fd, EV_READ | EV_PERSIST,
					on_readable, l);
		ok = l->readable && !event_add(l->readable, NULL);
	}
	if (!env_answer(l->env, ok))
		call_stream_report_udp(l->cs, PATH_SILENT);
}

/* ---- music ---- */

static void on_music(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct loop_stream *l = arg;

	if (l->gone && music_feed_parse(kind, data, len, &l->fed))
		call_stream_feed_music(l->cs, &l->fed);
}

/* While there is a lane its source is read, as by an audio thread. */
static void start_music(struct loop_stream *l)
{
	const struct timeval tv = {.tv_usec = MUSIC_MS * 1000};
	struct music_mixer *m = sender_music(l->cs->sender);

	if (l->music && m && music_mixer_at(m, 0))
		event_add(l->music, &tv);
}

static void on_music_due(evutil_socket_t fd, short what, void *arg)
{
	struct loop_stream *l = arg;
	struct music_mixer *m = l->gone ? sender_music(l->cs->sender) : NULL;
	struct music_lane *lane;

	(void)fd, (void)what;
	for (unsigned i = 0; m && (lane = music_mixer_at(m, i)); i++) {
		uint8_t kind;
		size_t n = music_feed_read(lane, 0, l->pcm, &kind);

		if (n)
			env_deliver(l->env, l->src_music, kind, l->pcm, n);
	}
	if (m)
		start_music(l);
}

/* ---- commands ---- */

void loop_stream_command(struct loop_stream *l, struct cmd *cmd)
{
	bool session = cmd->type == CMD_LINK || cmd->type == CMD_UNLINK;

	cmd->stream = l->cs;
	if (session)
		video_receiver_end_session(l->in);
	if (session)
		unwatch_socket(l);
	call_stream_run_command(l->cs, cmd);
	if (cmd->type == CMD_MUSIC_ADD)
		start_music(l);
	if (session)
		video_sender_stop(l->out);
	if (session)
		watch_socket(l);
	if (cmd->type == CMD_KEY)
		video_receiver_new_key(l->in);
	loop_stream_wake(l);
}

void loop_stream_remove(struct loop_stream *l)
{
	struct queued_event *q = l->gone;

	if (!q)
		return;
	l->gone = NULL;
	unwatch_socket(l);
	if (l->music)
		event_del(l->music);
	tmr_stop(l->tick);
	video_receiver_end_session(l->in);
	call_stream_stop(l->cs);
	video_sender_stop(l->out);
	q->ev = (struct ev){.type = EV_STREAM_GONE, .stream = l->cs};
	append_event(l, q);
}

struct video_receiver *loop_stream_receiver(struct loop_stream *l)
{
	return l->in;
}

struct video_sender *loop_stream_sender(struct loop_stream *l)
{
	return l->out;
}

/* ---- alloc, free ---- */

int loop_stream_alloc(struct loop_stream **out, struct env *env, struct call_stream *cs,
		      const struct loop_stream_handlers *h)
{
	struct loop_stream *l = calloc(1, sizeof *l);
	int err;

	if (!l)
		return ENOMEM;
	l->env = env;
	l->h = *h;
	l->last = &l->first;
	l->gone = malloc(sizeof *l->gone);
	err = l->gone ? 0 : ENOMEM;
	if (!err)
		err = video_receiver_alloc(&l->in, cs, h->frameh, h->codech, h->video_arg);
	if (!err)
		err = video_sender_alloc(&l->out, cs, h->stateh, h->video_arg);
	if (!err)
		err = tmr_alloc(&l->tick, env, on_tick, l);
	if (!err)
		err = tmr_alloc(&l->events, env, on_events, l);
	if (!err)
		err = env_source_add(env, &l->source, on_datagram, l);
	if (!err)
		err = env_source_add(env, &l->src_music, on_music, l);
	if (!err && !env_replaying(env)) {
		l->music = event_new(env_base(env), -1, 0, on_music_due, l);
		err = l->music ? 0 : ENOMEM;
	}
	if (err) {
		loop_stream_free(l);
		return err;
	}
	l->cs = cs;
	env_source_shape(env, l->src_music, music_feed_describe);
	cs->loop = l;
	cs->video = l->out;
	call_stream_attach(cs, env, 0, 0, queue_event, has_room, l);
	*out = l;
	return 0;
}

struct loop_stream *loop_stream_free(struct loop_stream *l)
{
	struct queued_event *q;

	if (!l)
		return NULL;
	unwatch_socket(l);
	while ((q = l->first)) {
		l->first = q->next;
		if (q->ev.type != EV_STREAM_GONE)
			ev_dispose(&q->ev);
		free(q);
	}
	free(l->gone);
	env_source_del(l->env, l->source);
	env_source_del(l->env, l->src_music);
	if (l->music)
		event_free(l->music);
	tmr_free(l->tick);
	tmr_free(l->events);
	video_receiver_free(l->in);
	video_sender_free(l->out);
	call_stream_free(l->cs);
	free(l);
	return NULL;
}
