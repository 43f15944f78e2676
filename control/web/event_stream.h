/* The bus as server-sent events: GET /api/events.
 *
 * A subscriber of the bus. Until the first reader joins it costs nothing; from then on a ring
 * (ipc/http_server.h) holds the last events, so that a reader that comes back with Last-Event-ID
 * gets those that it missed. A stream with words carries those of the people who consented; it is
 * for operators, and the one without for viewers. The bytes for readers are output of control and
 * part of its digest, with or without other subscribers. */
#ifndef CONTROL_WEB_EVENT_STREAM_H
#define CONTROL_WEB_EVENT_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "control/web/roles.h"
#include "ipc/http_server.h"

struct bus;
struct env;
struct event_stream;

/* Whether everybody of the server may enter this voice channel. */
typedef bool(open_channel_h)(uint64_t guild, uint64_t channel, void *arg);

struct event_stream_conf {
	struct env *env;
	struct bus *bus;
	bool words;
	open_channel_h *openh; /* NULL: nobody knows, so none is open */
	void *arg;
};

/* Subscribes; env and bus are borrowed. ENOMEM, ENOSPC. Caller owns *out and frees it before the
 * HTTP server and when nobody publishes any more. */
int event_stream_alloc(struct event_stream **out, const struct event_stream_conf *conf);
struct event_stream *event_stream_free(struct event_stream *s);
/* Ends the streams of those readers of whom h says so. */
void event_stream_end(struct event_stream *s, http_reader_h *h, void *arg);
/* Drops the ring and its readers, who come back to a new one. */
void event_stream_forget(struct event_stream *s);

/* Makes the exchange a reader of the events that this role may see, of the server scope alone
 * unless it is 0, and with open of those alone that name a channel which everybody may enter. The
 * query selects: `type`, names of control/events/events.def with commas between them or `level`,
 * and `guild`. Without them a reader gets every event but `level`. EINVAL: the query names no
 * event, or no guild; ENOMEM; then nothing was answered. */
int event_stream_join(struct event_stream *s, struct http_exchange *x, const struct http_head *head,
		      enum web_role role, uint64_t scope, bool open);
unsigned event_stream_readers(const struct event_stream *s);
/* Sends the event `level` (control/web/level_stream.h) to those who asked for it by name. */
void event_stream_level(struct event_stream *s, uint64_t guild, uint64_t channel, const char *text);

#endif
