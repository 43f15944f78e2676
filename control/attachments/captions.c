#include "control/attachments/captions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/time.h"
#include "proto/base/utf8.h"

#define HOUR_NS (UINT64_C(3600) * NS_PER_S)

struct kept {
	struct caption caption; /* its text is owned; NULL: free */
	uint64_t at;
};

/* The descriptions of a server in the hour that began at this time. */
struct counted {
	uint64_t guild, since;
	unsigned n; /* 0: free */
};

struct captions {
	struct kept kept[CAPTIONS_KEPT];
	unsigned n_kept; /* ever */
	struct counted counted[CAPTIONS_GUILDS];
};

int captions_alloc(struct captions **out)
{
	*out = calloc(1, sizeof **out);
	return *out ? 0 : ENOMEM;
}

static void drop(struct kept *k)
{
	free((char *)(uintptr_t)k->caption.text);
	*k = (struct kept){0};
}

struct captions *captions_free(struct captions *c)
{
	for (unsigned i = 0; c && i < CAPTIONS_KEPT; i++)
		drop(&c->kept[i]);
	free(c);
	return NULL;
}

static struct kept *find(struct captions *c, uint64_t guild, const uint8_t hash[CAPTION_HASH])
{
	for (unsigned i = 0; i < CAPTIONS_KEPT; i++) {
		struct kept *k = &c->kept[i];

		if (k->caption.text && k->caption.guild == guild &&
		    memcmp(k->caption.hash, hash, CAPTION_HASH) == 0)
			return k;
	}
	return NULL;
}

void captions_drop_old(struct captions *c, uint64_t now)
{
	for (unsigned i = 0; i < CAPTIONS_KEPT; i++) {
		struct kept *k = &c->kept[i];

		if (k->caption.text && now - k->at >= CAPTIONS_KEPT_S * NS_PER_S)
			drop(k);
	}
}

const char *captions_find(struct captions *c, uint64_t guild, const uint8_t hash[CAPTION_HASH],
			  uint64_t now)
{
	const struct kept *k;

	captions_drop_old(c, now);
	k = find(c, guild, hash);
	return k ? k->caption.text : NULL;
}

void captions_keep(struct captions *c, const struct caption *caption, uint64_t now)
{
	char *text = strndup(caption->text, CAPTION_TEXT);
	struct kept *k;

	captions_drop_old(c, now);
	if (!text)
		return;
	utf8_mend(text);
	k = find(c, caption->guild, caption->hash);
	if (!k)
		k = &c->kept[c->n_kept++ % CAPTIONS_KEPT];
	drop(k);
	*k = (struct kept){.caption = *caption, .at = now};
	k->caption.text = text;
}

/* The server's count, or a free place, or the oldest one. */
static struct counted *count_of(struct captions *c, uint64_t guild)
{
	struct counted *best = &c->counted[0];

	for (unsigned i = 0; i < CAPTIONS_GUILDS; i++) {
		struct counted *k = &c->counted[i];

		if (k->n && k->guild == guild)
			return k;
		if (best->n && (!k->n || k->since < best->since))
			best = k;
	}
	*best = (struct counted){0};
	return best;
}

bool captions_take(struct captions *c, uint64_t guild, unsigned most, uint64_t now)
{
	struct counted *k;

	if (!most)
		return false;
	k = count_of(c, guild);
	if (!k->n || now - k->since >= HOUR_NS)
		*k = (struct counted){.guild = guild, .since = now};
	if (k->n >= most)
		return false;
	k->n++;
	return true;
}

void captions_drop_message(struct captions *c, uint64_t message)
{
	for (unsigned i = 0; message && i < CAPTIONS_KEPT; i++)
		if (c->kept[i].caption.message == message)
			drop(&c->kept[i]);
}

void captions_forget(struct captions *c, uint64_t guild, uint64_t user)
{
	for (unsigned i = 0; i < CAPTIONS_KEPT; i++) {
		const struct caption *k = &c->kept[i].caption;

		if (k->text && k->user == user && (!guild || k->guild == guild))
			drop(&c->kept[i]);
	}
}

size_t captions_count(const struct captions *c)
{
	size_t n = 0;

	for (unsigned i = 0; i < CAPTIONS_KEPT; i++)
		n += c->kept[i].caption.text != NULL;
	return n;
}
