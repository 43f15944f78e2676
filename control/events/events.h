/* The events of control, and the bus that carries them from who decides to who wants to know.
 *
 * A publisher fills a struct bus_event, whose texts it keeps, and calls bus_publish. Each
 * subscriber that asked for this type is called at once, on the publisher's thread, and must be
 * done quickly: one that writes to a disk copies the event and hands the copy to a thread of its
 * own. The bus allocates nothing, never blocks, and gives nothing back: no decision depends on who
 * listens. Pure. */
#ifndef CONTROL_EVENTS_EVENTS_H
#define CONTROL_EVENTS_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "control/events/events.def"

enum event_type {
#define X(NAME, name, version, audience, keep, level, set, text) EVENT_##NAME,
	EVENTS(X)
#undef X
		EVENT_COUNT
};

enum event_audience { EVENT_FOR_OPERATOR, EVENT_FOR_PERSON, EVENT_FOR_GUILD, EVENT_FOR_SPEAKER };
enum event_level { EVENT_LEVEL_NONE, EVENT_LEVEL_DEBUG, EVENT_LEVEL_INFO, EVENT_LEVEL_WARN };
enum event_kind {
	EVENT_KIND_ID,
	EVENT_KIND_UINT,
	EVENT_KIND_MAYBE,
	EVENT_KIND_FLAG,
	EVENT_KIND_TEXT,
	EVENT_KIND_WORDS,
	EVENT_KIND_NAME,
	EVENT_KIND_JSON,
	EVENT_KIND_SAID,
};

#define EVENT_TYPE_ID	 uint64_t
#define EVENT_TYPE_UINT	 uint64_t
#define EVENT_TYPE_MAYBE int64_t
#define EVENT_TYPE_FLAG	 bool
#define EVENT_TYPE_TEXT	 const char *
#define EVENT_TYPE_WORDS const char *
#define EVENT_TYPE_NAME	 const char *
#define EVENT_TYPE_JSON	 const char *
#define EVENT_TYPE_SAID	 const char *

/* struct event_turn, struct event_utterance, …. A text that is NULL counts as empty, JSON as null.
 */
#define EVENT_MEMBER(KIND, name, text) EVENT_TYPE_##KIND name;
#define X(set)                                                                                     \
	struct event_##set {                                                                       \
		EVENT_FIELDS_##set(EVENT_MEMBER)                                                   \
	};
EVENT_SETS(X)
#undef X
#undef EVENT_MEMBER

struct bus_event {
	enum event_type type;
	uint64_t at_ms; /* ms since 1970 */
	uint64_t guild, user;
	union {
#define X(set) struct event_##set set;
		EVENT_SETS(X)
#undef X
	};
};

struct bus_event_field {
	const char *name, *text;
	enum event_kind kind;
	size_t at; /* in struct bus_event */
};

struct bus_event_info {
	const char *name, *text;
	unsigned version, keep_days;
	enum event_audience audience;
	enum event_level level;
	const struct bus_event_field *fields;
	size_t n_fields;
};

/* Borrowed for ever. */
const struct bus_event_info *bus_event_info(enum event_type type);

/* One block that holds the event and all its texts; the caller frees it. NULL without memory.
 * *bytes: its size; NULL accepted. */
struct bus_event *bus_event_copy(const struct bus_event *ev, size_t *bytes);
/* {"event": name, "version": 1, "at": ms, "guild": "…", "user": "…", fields…}. words: with what was
 * said. Bytes of a text that are no UTF-8 are left out. NULL without memory. The caller owns it. */
json_t *bus_event_json(const struct bus_event *ev, bool words);
/* True if a turn that ended for this reason is part of another one. reason may be NULL. */
bool bus_turn_is_part(const char *reason);
/* True if no words of it may be kept. */
bool bus_event_is_transient(const struct bus_event *ev);
/* The fields as `key=value …` for a log line, cut at the size; always terminated. */
void bus_event_line(const struct bus_event *ev, bool words, char *buf, size_t size);

/* ---- the bus ---- */

struct bus;
enum { BUS_SUBSCRIBERS = 20 };
#define BUS_MASK(type) (UINT64_C(1) << (type))
#define BUS_ALL	       UINT64_MAX

/* ev is borrowed until the handler returns. It must not publish. */
typedef void(bus_h)(const struct bus_event *ev, void *arg);

/* ENOMEM. The caller owns *out and frees it after all publishers. */
int bus_alloc(struct bus **out);
struct bus *bus_free(struct bus *bus);
/* Before the first event. mask: BUS_MASK of each type, or BUS_ALL. ENOSPC. */
int bus_subscribe(struct bus *bus, uint64_t mask, bus_h *h, void *arg);
/* From now on nobody listens. What decides must not notice. */
void bus_drop_subscribers(struct bus *bus);
/* NULL accepted: nobody listens. */
void bus_publish(struct bus *bus, const struct bus_event *ev);

#endif
