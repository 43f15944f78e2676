/* The present speakers of each room and their levels, as the event `level` of GET /api/events: at
 * most ten times a second for each room, while somebody reads, and only what has changed. Not of
 * the bus: only the newest one is of use, and nobody keeps it. */
#ifndef CONTROL_WEB_LEVEL_STREAM_H
#define CONTROL_WEB_LEVEL_STREAM_H

#include <jansson.h>

struct env;
struct event_stream;
struct level_stream;

enum { LEVEL_STREAM_MS = 100 };

/* levelsh: [{"guild": "ID", …}] of all rooms, which is the stream's then; NULL without memory.
 * streams: two, borrowed; they outlive it. ENOMEM. Caller owns *out. */
int level_stream_alloc(struct level_stream **out, struct env *env,
		       struct event_stream *const streams[2], json_t *(*levelsh)(void *arg),
		       void *arg);
struct level_stream *level_stream_free(struct level_stream *l);
/* Somebody reads one of the streams. NULL accepted. */
void level_stream_start(struct level_stream *l);

#endif
