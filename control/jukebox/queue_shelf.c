#include "control/jukebox/queue_shelf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/music/queue_document.h"
#include "ipc/log.h"

struct queue_shelf {
	json_t *queues; /* {guild: document} */
};

int queue_shelf_alloc(struct queue_shelf **out, const json_t *kept)
{
	struct queue_shelf *s = calloc(1, sizeof *s);

	if (!s)
		return ENOMEM;
	s->queues = json_is_object(kept) ? json_copy((json_t *)kept) : json_object();
	if (!s->queues) {
		queue_shelf_free(s);
		return ENOMEM;
	}
	*out = s;
	return 0;
}

struct queue_shelf *queue_shelf_free(struct queue_shelf *s)
{
	if (s)
		json_decref(s->queues);
	free(s);
	return NULL;
}

static struct music_queue *read_queue(const json_t *document)
{
	char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;
	struct music_queue *q = NULL;

	if (text && music_queue_read(&q, text))
		q = NULL;
	free(text);
	return q;
}

static void put_under(struct queue_shelf *s, const char *key, const char *document)
{
	json_t *o = json_loads(document, 0, NULL);

	if (!o || json_object_set_new(s->queues, key, o))
		json_object_del(s->queues, key);
}

static void tell_losses(uint64_t guild, const json_t *document, const struct music_queue *q)
{
	size_t kept = q ? music_queue_count(q) + music_queue_played_count(q) : 0;
	size_t n = json_array_size(json_object_get(document, "tracks"));

	if (!q || kept < n)
		log_warn("queue_not_read", "guild=%llu tracks=%zu lost=%zu",
			 (unsigned long long)guild, n, n - kept);
}

struct music_queue *queue_shelf_take(struct queue_shelf *s, uint64_t guild)
{
	const json_t *document;
	struct music_queue *q;
	char key[24];

	snprintf(key, sizeof key, "%llu", (unsigned long long)guild);
	document = json_object_get(s->queues, key);
	q = read_queue(document);
	if (document)
		tell_losses(guild, document, q);
	json_object_del(s->queues, key);
	return q;
}

void queue_shelf_put(struct queue_shelf *s, uint64_t guild, const char *document)
{
	char key[24];

	snprintf(key, sizeof key, "%llu", (unsigned long long)guild);
	put_under(s, key, document);
}

/* A queue that cannot be read, or written again, may name anybody: it leaves the shelf. */
static void forget_in(struct queue_shelf *s, const char *key, const json_t *document, uint64_t user)
{
	struct music_queue *q = read_queue(document);
	char *text;

	if (q)
		music_queue_forget(q, user);
	text = q ? music_queue_write(q) : NULL;
	put_under(s, key, text ? text : "");
	free(text);
	music_queue_free(q);
}

void queue_shelf_forget(struct queue_shelf *s, uint64_t user)
{
	const char *key;
	json_t *document;
	void *next;

	if (!s)
		return;
	json_object_foreach_safe(s->queues, next, key, document)
	{
		forget_in(s, key, document, user);
	}
}
