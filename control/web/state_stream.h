/* An event stream of the seeds: a snapshot for each new reader, the state every three seconds, and
 * events of the bus as they happen. Until the first reader joins it costs nothing; without readers
 * its timer stops. */
#ifndef CONTROL_WEB_STATE_STREAM_H
#define CONTROL_WEB_STATE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "ipc/http_server.h"

struct bus;
struct bus_event;
struct env;
struct state_stream;

enum { STATE_STREAM_MS = 3000 };

struct state_stream_conf {
	struct env *env;
	struct bus *bus;
	uint64_t mask;			      /* BUS_MASK of the events that it carries */
	bool words;			      /* with what people and the bot said */
	const char *snapshot, *state, *event; /* names of its events */
	/* Each answer is the stream's; NULL: nothing is sent. first: what the reader joined with,
	 * borrowed, or NULL. guild: the only server that it wants; 0: all of them. */
	json_t *(*snapshoth)(bool words, uint64_t guild, json_t *first, void *arg);
	json_t *(*stateh)(bool words, uint64_t guild, void *arg);
	json_t *(*eventh)(const struct bus_event *ev, bool words, void *arg);
	void *arg;
};

/* Subscribes; conf's pointers are borrowed. ENOMEM, ENOSPC. Caller owns *out and frees it before
 * the HTTP server and when nobody publishes any more. */
int state_stream_alloc(struct state_stream **out, const struct state_stream_conf *conf);
struct state_stream *state_stream_free(struct state_stream *s);
/* Ends the streams of those readers of whom h says so. */
void state_stream_end(struct state_stream *s, http_reader_h *h, void *arg);
/* Drops the ring and its readers, who come back to a new one. */
void state_stream_forget(struct state_stream *s);
/* Makes the exchange a reader, of one server unless guild is 0. first: for the snapshot, borrowed,
 * or NULL. ENOMEM: nothing was answered. */
int state_stream_join(struct state_stream *s, struct http_exchange *x, const struct http_head *head,
		      uint64_t guild, json_t *first);

#endif
