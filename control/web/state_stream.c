#include "control/web/state_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "ipc/env.h"
#include "ipc/http_server.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

/* Topics. Readers of all servers get the state of all, others that of their own. */
enum { TOPIC_EVENT, TOPIC_ALL, TOPIC_ONE };
/* As many servers with readers of their own get the state in each round. */
enum { KEYS_MAX = 256 };

struct state_stream {
	struct state_stream_conf conf;
	struct http_events *events; /* NULL until somebody reads */
	struct tmr *timer;
	json_t *first; /* of the reader that joins now; borrowed */
};

static char *write_text(json_t *j)
{
	char *text = j ? json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;

	json_decref(j);
	return text;
}

static void publish(struct state_stream *s, const struct sse_topic *topic, const char *name,
		    json_t *j)
{
	char *text = write_text(j);
	int err = text ? http_events_publish(s->events, topic, name, text, strlen(text)) : 0;

	if (err)
		log_warn("event_not_streamed", "event=%s error=\"%s\"", name, strerror(err));
	free(text);
}

static void on_event(const struct bus_event *ev, void *arg)
{
	struct state_stream *s = arg;
	const struct sse_topic topic = {.type = TOPIC_EVENT, .key = ev->guild};

	if (s->events && http_events_readers(s->events))
		publish(s, &topic, s->conf.event, s->conf.eventh(ev, s->conf.words, s->conf.arg));
}

static void on_timer(void *arg)
{
	struct state_stream *s = arg;
	uint64_t keys[KEYS_MAX];
	unsigned n = s->events ? http_events_keys(s->events, keys, KEYS_MAX) : 0;

	for (unsigned i = 0; i < n; i++) {
		const struct sse_topic topic = {.type = keys[i] ? TOPIC_ONE : TOPIC_ALL,
						.key = keys[i]};

		publish(s, &topic, s->conf.state,
			s->conf.stateh(s->conf.words, keys[i], s->conf.arg));
	}
	if (n)
		tmr_start(s->timer, STATE_STREAM_MS * NS_PER_MS);
}

static void tell_snapshot(struct http_exchange *x, void *arg)
{
	struct state_stream *s = arg;
	char *text = write_text(
		s->conf.snapshoth(s->conf.words, http_events_key(x), s->first, s->conf.arg));

	if (text)
		http_events_tell(x, s->conf.snapshot, text, strlen(text));
	free(text);
}

int state_stream_alloc(struct state_stream **out, const struct state_stream_conf *conf)
{
	struct state_stream *s = calloc(1, sizeof *s);
	int err;

	if (!s)
		return ENOMEM;
	s->conf = *conf;
	err = tmr_alloc(&s->timer, conf->env, on_timer, s);
	if (!err)
		err = bus_subscribe(conf->bus, conf->mask, on_event, s);
	if (err) {
		tmr_free(s->timer);
		free(s);
		return err;
	}
	*out = s;
	return 0;
}

void state_stream_end(struct state_stream *s, http_reader_h *h, void *arg)
{
	if (s->events)
		http_events_end(s->events, h, arg);
}

void state_stream_forget(struct state_stream *s)
{
	s->events = http_events_free(s->events);
}

struct state_stream *state_stream_free(struct state_stream *s)
{
	if (!s)
		return NULL;
	http_events_free(s->events);
	tmr_free(s->timer);
	free(s);
	return NULL;
}

int state_stream_join(struct state_stream *s, struct http_exchange *x, const struct http_head *head,
		      uint64_t guild, json_t *first)
{
	const struct sse_filter filter = {
		.types = 1 << TOPIC_EVENT | 1 << (guild ? TOPIC_ONE : TOPIC_ALL), .key = guild};
	int err = s->events ? 0 : http_events_alloc(&s->events, s->conf.env, tell_snapshot, s);

	if (err)
		return err;
	s->first = first;
	http_events_join(s->events, x, head, &filter);
	s->first = NULL;
	/* Whoever comes later does not put off what the others wait for. */
	if (http_events_readers(s->events) == 1)
		tmr_start(s->timer, STATE_STREAM_MS * NS_PER_MS);
	return 0;
}
