#include "control/music/queue_document.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/music/queue_inside.h"
#include "proto/discord.h"

static void set_id(json_t *o, const char *key, uint64_t id)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, id);
	json_object_set_new(o, key, json_string(text));
}

static void set_text(json_t *o, const char *key, const char *text)
{
	if (*text)
		json_object_set_new(o, key, json_string(text));
}

static void set_number(json_t *o, const char *key, uint64_t n)
{
	if (n)
		json_object_set_new(o, key, json_integer((json_int_t)n));
}

static json_t *write_track(const struct track *t)
{
	json_t *o = json_pack("{s:I,s:s}", "id", (json_int_t)t->id, "source",
			      track_source_name(t->source));

	set_number(o, "root", t->root);
	set_text(o, "reference", t->reference);
	set_text(o, "title", t->title);
	set_text(o, "artist", t->artist);
	set_text(o, "album", t->album);
	set_number(o, "durationMs", t->duration_ms);
	if (t->may_be_live)
		json_object_set_new(o, "mayBeLive", json_true());
	set_id(o, "requester", t->requester);
	return o;
}

char *music_queue_write(const struct music_queue *q)
{
	json_t *o = json_object(), *tracks = json_array();
	char *text;

	set_id(o, "guild", q->guild);
	set_id(o, "channel", q->channel);
	set_number(o, "next_id", q->next_id);
	set_text(o, "loop", music_loop_name(q->loop));
	json_object_set_new(o, "paused", json_boolean(q->paused));
	json_object_set_new(o, "volume", json_integer(q->volume));
	json_object_set_new(o, "position", json_integer((json_int_t)q->position));
	set_number(o, "playing", music_queue_playing(q));
	set_number(o, "prepared", music_queue_prepared(q));
	set_number(o, "last_number", music_queue_last_number(q));
	json_object_set_new(o, "now", q->at < q->n ? json_integer((json_int_t)q->at) : json_null());
	for (size_t i = 0; i < q->n; i++)
		json_array_append_new(tracks, write_track(q->tracks[i]));
	json_object_set_new(o, "tracks", tracks);
	text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return text;
}

/* Members that are missing read as ""; a text that does not fit is refused. */
static bool read_text(char *to, size_t size, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	const char *text = v ? json_string_value(v) : "";

	if (!text || strlen(text) >= size)
		return false;
	memcpy(to, text, strlen(text) + 1);
	return true;
}

static bool read_number(uint64_t *to, const json_t *o, const char *key, uint64_t most)
{
	const json_t *v = json_object_get(o, key);
	json_int_t n = json_integer_value(v);

	if ((v && !json_is_integer(v)) || n < 0 || (uint64_t)n > most)
		return false;
	*to = (uint64_t)n;
	return true;
}

static bool read_track(struct track *t, const json_t *o)
{
	const char *source = json_string_value(json_object_get(o, "source"));
	const char *requester = json_string_value(json_object_get(o, "requester"));
	uint64_t id, root;

	if (!source || !track_source_parse(&t->source, source) || !requester ||
	    !discord_u64(requester, &t->requester))
		return false;
	if (!read_number(&id, o, "id", UINT32_MAX - 1) || !id ||
	    !read_number(&root, o, "root", UINT32_MAX) ||
	    !read_number(&t->duration_ms, o, "durationMs", (uint64_t)TRACK_DURATION_MAX_S * 1000))
		return false;
	t->id = (uint32_t)id;
	t->root = (uint32_t)root;
	t->may_be_live = json_is_true(json_object_get(o, "mayBeLive"));
	return read_text(t->reference, sizeof t->reference, o, "reference") && *t->reference &&
	       read_text(t->title, sizeof t->title, o, "title") &&
	       read_text(t->artist, sizeof t->artist, o, "artist") &&
	       read_text(t->album, sizeof t->album, o, "album");
}

static bool has_id(const struct music_queue *q, uint32_t id)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->tracks[i]->id == id)
			return true;
	return false;
}

/* q->at was read: the index of the present track among all of them. A track that cannot be read is
 * left out, and the others stay. *lost: the number of those. */
static int read_tracks(struct music_queue *q, const json_t *tracks, size_t *lost)
{
	const size_t at = q->at;
	const json_t *o;
	size_t i;

	json_array_foreach(tracks, i, o)
	{
		struct track *t = calloc(1, sizeof *t);

		if (!t)
			return ENOMEM;
		if (read_track(t, o) && t->id < q->next_id && !has_id(q, t->id)) {
			q->tracks[q->n++] = t;
			continue;
		}
		free(t);
		++*lost;
		q->at -= i < at;
		q->position = i == at ? 0 : q->position;
	}
	return 0;
}

/* Of the tracks that are present and following by now. */
static bool read_playing(struct music_queue *q, const json_t *o, bool complete)
{
	uint64_t playing, prepared, last;

	if (!read_number(&playing, o, "playing", UINT32_MAX) ||
	    !read_number(&prepared, o, "prepared", UINT32_MAX) ||
	    !read_number(&last, o, "last_number", UINT32_MAX))
		return false;
	/* Another track may stand in the place of one that was left out. */
	if (complete)
		music_queue_set_playing(q, (uint32_t)playing, (uint32_t)prepared);
	music_queue_note_number(q, (uint32_t)playing);
	music_queue_note_number(q, (uint32_t)prepared);
	music_queue_note_number(q, (uint32_t)last);
	return true;
}

static bool read_head(struct music_queue *q, const json_t *o)
{
	const char *guild = json_string_value(json_object_get(o, "guild"));
	const char *channel = json_string_value(json_object_get(o, "channel"));
	const char *loop = json_string_value(json_object_get(o, "loop"));
	uint64_t next, volume;

	if (!guild || !channel || !loop || !discord_u64(guild, &q->guild) ||
	    !discord_u64(channel, &q->channel) || !music_loop_parse(&q->loop, loop))
		return false;
	if (!read_number(&next, o, "next_id", UINT32_MAX) || !next ||
	    !read_number(&volume, o, "volume", MUSIC_VOLUME_FULL))
		return false;
	q->next_id = (uint32_t)next;
	q->volume = (unsigned)volume;
	return true;
}

/* The index of the present track, its position and its pause; at most MUSIC_QUEUE_HISTORY tracks
 * may stand before it. */
static bool read_present(struct music_queue *q, const json_t *o)
{
	const json_t *tracks = json_object_get(o, "tracks");
	size_t n = json_array_size(tracks);
	bool none = json_is_null(json_object_get(o, "now"));
	uint64_t at;

	if (!json_is_array(tracks) || n > MUSIC_QUEUE_TRACKS ||
	    !read_number(&q->position, o, "position", MUSIC_POSITION_MAX))
		return false;
	if (none)
		at = n;
	else if (!json_is_integer(json_object_get(o, "now")) || !read_number(&at, o, "now", n) ||
		 at == n)
		return false;
	q->at = (size_t)at;
	q->paused = !none && json_is_true(json_object_get(o, "paused"));
	q->position = none ? 0 : q->position;
	return q->at <= MUSIC_QUEUE_HISTORY;
}

int music_queue_read(struct music_queue **out, const char *document)
{
	size_t n = strlen(document);
	json_t *o = n > MUSIC_DOCUMENT_MAX ? NULL
					   : json_loadb(document, n, JSON_REJECT_DUPLICATES, NULL);
	struct music_queue *q = NULL;
	size_t lost = 0;
	int err = music_queue_alloc(&q, 0, 0);

	if (!err && (!read_head(q, o) || !read_present(q, o)))
		err = EBADMSG;
	if (!err)
		err = read_tracks(q, json_object_get(o, "tracks"), &lost);
	if (!err && !read_playing(q, o, !lost))
		err = EBADMSG;
	json_decref(o);
	if (err) {
		music_queue_free(q);
		return err;
	}
	/* The present track was left out, and nothing waits behind it. */
	q->paused = q->paused && q->at < q->n;
	*out = q;
	return 0;
}
