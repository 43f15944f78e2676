#include "control/web/level_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "control/web/event_stream.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/discord.h"

enum { AGAIN = 50 }; /* the times until all is told anew */

struct level_stream {
	struct event_stream *streams[2];
	json_t *(*levelsh)(void *arg);
	void *arg;
	struct tmr *timer;
	bool runs;
	unsigned times; /* of the timer */
	json_t *told;	/* what was published last: {guild: its room}; own */
};

static void publish(struct level_stream *l, const char *id, json_t *room)
{
	char *text = json_dumps(room, JSON_COMPACT);
	const char *in = json_string_value(json_object_get(room, "channel"));
	uint64_t guild = 0, channel = in ? strtoull(in, NULL, 10) : 0;

	if (text && discord_u64(id, &guild))
		for (unsigned i = 0; i < 2; i++)
			event_stream_level(l->streams[i], guild, channel, text);
	free(text);
}

static void on_timer(void *arg)
{
	struct level_stream *l = arg;
	json_t *rooms, *next, *room;
	size_t i;

	l->runs = event_stream_readers(l->streams[0]) || event_stream_readers(l->streams[1]);
	if (!l->runs) {
		json_object_clear(l->told);
		return;
	}
	/* Whoever came meanwhile, or missed one, would take a level that ended for one that lasts.
	 */
	if (++l->times % AGAIN == 0)
		json_object_clear(l->told);
	rooms = l->levelsh(l->arg);
	next = json_object();
	json_array_foreach(rooms, i, room)
	{
		const char *id = json_string_value(json_object_get(room, "guild"));

		if (!id || json_object_set(next, id, room))
			continue;
		if (!json_equal(room, json_object_get(l->told, id)))
			publish(l, id, room);
	}
	json_decref(rooms);
	json_decref(l->told);
	l->told = next;
	tmr_start(l->timer, LEVEL_STREAM_MS * NS_PER_MS);
}

int level_stream_alloc(struct level_stream **out, struct env *env,
		       struct event_stream *const streams[2], json_t *(*levelsh)(void *arg),
		       void *arg)
{
	struct level_stream *l = calloc(1, sizeof *l);
	int err;

	if (!l)
		return ENOMEM;
	memcpy(l->streams, streams, sizeof l->streams);
	l->levelsh = levelsh;
	l->arg = arg;
	l->told = json_object();
	err = l->told ? tmr_alloc(&l->timer, env, on_timer, l) : ENOMEM;
	if (err)
		level_stream_free(l);
	else
		*out = l;
	return err;
}

struct level_stream *level_stream_free(struct level_stream *l)
{
	if (!l)
		return NULL;
	tmr_free(l->timer);
	json_decref(l->told);
	free(l);
	return NULL;
}

void level_stream_start(struct level_stream *l)
{
	if (!l || l->runs)
		return;
	l->runs = true;
	tmr_start(l->timer, LEVEL_STREAM_MS * NS_PER_MS);
}
