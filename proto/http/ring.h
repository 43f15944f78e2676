/* The last events of an event stream (server-sent events, HTML Standard section 9.2), as they go
 * out.
 *
 * One ring serves all readers: each keeps a cursor, the number of the event it gets next. Events
 * are numbered from 1 and have the id `epoch-number`, the epoch being 8 hexadecimal digits that
 * differ between runs of the program. The oldest go when 4096 events or 1 MiB are held; a cursor
 * that points at one of those has missed something.
 *
 * A reader that wants some events only has a filter. It is compared with the topic of each event;
 * the cursor passes over the others.
 *
 * A ring of fleeting events (levels of sound, say) has no ids: what such an event told is over when
 * a reader comes back, and the id that it comes back with is that of an event of another ring.
 *
 * The ring owns its memory, all of it allocated at once. */
#ifndef PROTO_HTTP_RING_H
#define PROTO_HTTP_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SSE_RING_EVENTS = 4096,
	SSE_RING_BYTES = 1 << 20,
	SSE_EVENT_MAX = 64 << 10, /* bytes of one event as it goes out */
	SSE_ID_SIZE = 8 + 1 + 20 + 1,
};

struct sse_ring;

/* The subject of an event. */
struct sse_topic {
	unsigned type; /* < 64 */
	uint64_t key;  /* 0: none */
	bool hidden;   /* from those who see only what everybody may */
};
/* Which events a reader wants. */
struct sse_filter {
	uint64_t types; /* a bit for each type */
	uint64_t key;	/* 0: any, or none */
	bool open;	/* nothing that is hidden */
};

/* epoch: 0 for fleeting events. ENOMEM. Caller owns *out. */
int sse_ring_alloc(struct sse_ring **out, uint32_t epoch);
struct sse_ring *sse_ring_free(struct sse_ring *r);

/* Adds an event; *text and *n tell it as it goes out, borrowed until the next one. topic: NULL for
 * type 0 without a key. EINVAL: the name is empty or ends a line. EMSGSIZE. */
int sse_ring_add(struct sse_ring *r, const struct sse_topic *topic, const char *name,
		 const char *data, size_t len, const char **text, size_t *n);
/* The number of the next event to come: the cursor of somebody who knows all. */
uint64_t sse_ring_next(const struct sse_ring *r);
/* The cursor of somebody whose last event had this id. False when what followed it is no longer
 * held, or the id is none of this ring. Of fleeting events nobody resumes. */
bool sse_ring_resume(const struct sse_ring *r, const char *id, size_t n, uint64_t *cursor);
/* Event number `cursor`, borrowed until the next one is added. False when it is not held: gone, or
 * yet to come. */
bool sse_ring_get(const struct sse_ring *r, uint64_t cursor, const char **text, size_t *n);
/* The first cursor from this one on whose event the filter lets through; that of the next event to
 * come when there is none. A cursor whose event was dropped is returned as it is. */
uint64_t sse_ring_seek(const struct sse_ring *r, uint64_t cursor, const struct sse_filter *filter);
/* True if events from this cursor on were dropped. */
bool sse_ring_missed(const struct sse_ring *r, uint64_t cursor);

/* An event for one reader, not held: its id is that of the last event held, so that its reader
 * resumes behind it. Returns its length, 0 when the name is not to be sent or it does not fit. */
size_t sse_ring_format(const struct sse_ring *r, char *buf, size_t size, const char *name,
		       const char *data, size_t len);

#endif
