#include "control/agent/agent_music.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/library/library.h"
#include "proto/media.h"

enum { ASKS_MAX = 8 };

/* A call that waits for the library. */
struct music_ask {
	struct agent_music *m; /* NULL: free */
	uint32_t id;
};

struct agent_music {
	struct library *library;
	agent_music_h *h;
	void *arg;
	struct music_ask ask[ASKS_MAX];
};

int agent_music_alloc(struct agent_music **out, struct library *library, agent_music_h *h,
		      void *arg)
{
	struct agent_music *m = calloc(1, sizeof *m);

	if (!m)
		return ENOMEM;
	*m = (struct agent_music){.library = library, .h = h, .arg = arg};
	*out = m;
	return 0;
}

struct agent_music *agent_music_free(struct agent_music *m)
{
	for (unsigned i = 0; m && i < ASKS_MAX; i++)
		library_forget(m->library, &m->ask[i]);
	free(m);
	return NULL;
}

static json_t *tell_track(const struct track *t)
{
	char selection[TRACK_SELECTION_MAX];

	track_write_selection(selection, t);
	return json_pack("{s:s,s:s,s:s,s:s,s:s}", "selection_id", selection, "title", t->title,
			 "artist", t->artist, "album", t->album, "source",
			 track_source_name(t->source));
}

static void take_hits(int err, const struct library_hit *hits, size_t n, void *arg)
{
	struct music_ask *ask = arg;
	struct agent_music *m = ask->m;
	json_t *tracks = json_array(), *output;
	char *text;

	for (size_t i = 0; i < n; i++)
		json_array_append_new(tracks, tell_track(&hits[i].track));
	output = json_pack("{s:o}", "tracks", tracks);
	text = err ? NULL : json_dumps(output, JSON_COMPACT);
	json_decref(output);
	ask->m = NULL;
	m->h(ask->id, text != NULL, slice_str(text ? text : strerror(err ? err : ENOMEM)), m->arg);
	free(text);
}

int agent_music_search(struct agent_music *m, uint32_t id, const char *query, unsigned most)
{
	unsigned i = 0;
	int err;

	while (i < ASKS_MAX && m->ask[i].m)
		i++;
	if (i == ASKS_MAX)
		return ENOSPC;
	m->ask[i] = (struct music_ask){.m = m, .id = id};
	err = library_search(m->library, query, most, take_hits, &m->ask[i]);
	if (err)
		m->ask[i].m = NULL;
	return err;
}
