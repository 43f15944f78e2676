#include "control/web/event_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "ipc/env.h"
#include "ipc/http_server.h"
#include "ipc/log.h"
#include "proto/discord.h"

/* LEVEL: the type of `level`, which is none of the bus. */
enum { QUERY_SIZE = 1024, LEVEL = 63 };
_Static_assert((int)EVENT_COUNT <= LEVEL, "a filter has a bit for each event");
static const char level_name[] = "level";

struct event_stream {
	struct env *env;
	struct http_events *events; /* NULL until somebody reads */
	bool words;
	open_channel_h *openh;
	void *arg;
};

static bool is_hidden(const struct event_stream *s, uint64_t guild, uint64_t channel)
{
	return !channel || !s->openh || !s->openh(guild, channel, s->arg);
}

/* 0: it names none, such as a fault, which may be of any. */
static uint64_t channel_of(const json_t *event)
{
	const char *id = json_string_value(json_object_get(event, "channel"));

	return id ? strtoull(id, NULL, 10) : 0;
}

static void on_event(const struct bus_event *ev, void *arg)
{
	struct event_stream *s = arg;
	struct sse_topic topic = {.type = ev->type, .key = ev->guild};
	const char *name = bus_event_info(ev->type)->name;
	/* Who comes back is told again: a stream keeps what it tells. */
	bool words = s->words && !bus_event_is_transient(ev);
	json_t *j = s->events ? bus_event_json(ev, words) : NULL;
	char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
	int err;

	topic.hidden = is_hidden(s, ev->guild, channel_of(j));
	err = text ? http_events_publish(s->events, &topic, name, text, strlen(text)) : ENOMEM;
	if (err && s->events)
		log_warn("event_not_streamed", "event=%s error=\"%s\"", name, strerror(err));
	free(text);
	json_decref(j);
}

int event_stream_alloc(struct event_stream **out, const struct event_stream_conf *conf)
{
	struct event_stream *s = calloc(1, sizeof *s);
	int err;

	if (!s)
		return ENOMEM;
	s->env = conf->env;
	s->words = conf->words;
	s->openh = conf->openh;
	s->arg = conf->arg;
	err = bus_subscribe(conf->bus, BUS_ALL, on_event, s);
	if (err)
		free(s);
	else
		*out = s;
	return err;
}

void event_stream_end(struct event_stream *s, http_reader_h *h, void *arg)
{
	if (s->events)
		http_events_end(s->events, h, arg);
}

void event_stream_forget(struct event_stream *s)
{
	s->events = http_events_free(s->events);
}

struct event_stream *event_stream_free(struct event_stream *s)
{
	if (!s)
		return NULL;
	http_events_free(s->events);
	free(s);
	return NULL;
}

static bool add_type(struct sse_filter *filter, const char *name, size_t n)
{
	if (n == strlen(level_name) && memcmp(name, level_name, n) == 0) {
		filter->types |= BUS_MASK(LEVEL);
		return true;
	}
	for (unsigned i = 0; i < EVENT_COUNT; i++) {
		const char *known = bus_event_info((enum event_type)i)->name;

		if (strlen(known) != n || memcmp(known, name, n) != 0)
			continue;
		filter->types |= BUS_MASK(i);
		return true;
	}
	return false;
}

static bool read_types(struct sse_filter *filter, const char *list)
{
	size_t n = strcspn(list, ",");

	filter->types = 0;
	while (add_type(filter, list, n)) {
		if (!list[n])
			return true;
		list += n + 1;
		n = strcspn(list, ",");
	}
	return false;
}

static bool read_filter(struct sse_filter *filter, const struct http_head *head)
{
	char text[QUERY_SIZE];

	*filter = (struct sse_filter){.types = UINT64_MAX & ~BUS_MASK(LEVEL)};
	if (http_head_has_query(head, "type") &&
	    (!http_head_query(head, "type", text, sizeof text) || !read_types(filter, text)))
		return false;
	return !http_head_has_query(head, "guild") ||
	       (http_head_query(head, "guild", text, sizeof text) &&
		discord_snowflake(text, &filter->key));
}

/* The audit is for admins, and what is for operators not for viewers. Nor is what is for one
 * person: Discord shows a command to its user alone. */
static uint64_t visible_types(enum web_role role)
{
	uint64_t types = BUS_MASK(LEVEL);

	for (unsigned i = 0; i < EVENT_COUNT; i++)
		if (bus_event_info((enum event_type)i)->audience >= EVENT_FOR_GUILD ||
		    role >= (i == EVENT_OPERATOR_ACTION ? WEB_ADMIN : WEB_OPERATOR))
			types |= BUS_MASK(i);
	return types;
}

int event_stream_join(struct event_stream *s, struct http_exchange *x, const struct http_head *head,
		      enum web_role role, uint64_t scope, bool open)
{
	struct sse_filter filter;
	int err = 0;

	if (!read_filter(&filter, head))
		return EINVAL;
	filter.types &= visible_types(role);
	filter.open = open;
	if (scope)
		filter.key = scope;
	if (!s->events)
		err = http_events_alloc(&s->events, s->env, NULL, NULL);
	if (!err)
		http_events_join(s->events, x, head, &filter);
	return err;
}

unsigned event_stream_readers(const struct event_stream *s)
{
	return s->events ? http_events_readers(s->events) : 0;
}

void event_stream_level(struct event_stream *s, uint64_t guild, uint64_t channel, const char *text)
{
	const struct sse_topic topic = {
		.type = LEVEL, .key = guild, .hidden = is_hidden(s, guild, channel)};
	int err = s->events ? http_events_publish_fleeting(s->events, &topic, level_name, text,
							   strlen(text))
			    : 0;

	if (err)
		log_warn("event_not_streamed", "event=level error=\"%s\"", strerror(err));
}
