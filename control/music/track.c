#include "control/music/track.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/cursor.h"
#include "proto/base/utf8.h"

static const char *const names[] = {
#define S(NAME, name) [TRACK_##NAME] = name,
	TRACK_SOURCES(S)
#undef S
};

const char *track_source_name(enum track_source source)
{
	return (unsigned)source < TRACK_SOURCE_COUNT ? names[source] : "";
}

bool track_source_parse(enum track_source *source, const char *name)
{
	for (unsigned i = 0; i < TRACK_SOURCE_COUNT; i++)
		if (strcmp(names[i], name) == 0) {
			*source = (enum track_source)i;
			return true;
		}
	return false;
}

void track_set_text(char *to, size_t size, const char *from, size_t n)
{
	size_t len;

	while (n && (*from == ' ' || *from == '\t')) {
		from++;
		n--;
	}
	utf8_copy_or_latin1(to, size, from, n);
	utf8_plain(to);
	for (len = strlen(to); len && to[len - 1] == ' '; len--)
		to[len - 1] = '\0';
}

/* Without userinfo and port. */
static struct slice find_host(const char *url)
{
	const char *at = strstr(url, "://"), *user;
	size_t n;

	at = at ? at + 3 : url;
	n = strcspn(at, "/?#");
	user = memchr(at, '@', n);
	if (user) {
		n -= (size_t)(user + 1 - at);
		at = user + 1;
	}
	if (*at != '[' && memchr(at, ':', n))
		n = (size_t)((const char *)memchr(at, ':', n) - at);
	return (struct slice){(const uint8_t *)at, n};
}

/* The last name of a path or address; the host of an address that ends in "/". Signed addresses
 * carry their secrets in the query, those of stations in a folder, and everybody sees labels. */
static struct slice find_last_name(const struct track *t)
{
	const char *at = t->reference;
	size_t n = t->source == TRACK_LOCAL ? strlen(at) : strcspn(at, "?#"), from = n;

	while (from && at[from - 1] != '/')
		from--;
	if (from == n && t->source != TRACK_LOCAL)
		return find_host(at);
	if (from == n)
		from = 0;
	return (struct slice){(const uint8_t *)at + from, n - from};
}

void track_write_label(char to[TRACK_LABEL_MAX], const struct track *t)
{
	struct slice title = {(const uint8_t *)t->title, strlen(t->title)};
	int n;

	if (!title.n)
		title = find_last_name(t);
	n = title.n < TRACK_TITLE_MAX ? (int)title.n : TRACK_TITLE_MAX - 1;
	if (*t->artist)
		snprintf(to, TRACK_LABEL_MAX, "%s - %.*s", t->artist, n, (const char *)title.p);
	else
		snprintf(to, TRACK_LABEL_MAX, "%.*s", n, (const char *)title.p);
	to[utf8_whole(to, strlen(to))] = '\0';
}

void track_write_edition(char *to, size_t size, const struct track *t)
{
	char label[TRACK_LABEL_MAX], album[TRACK_EDITION_MIN / 2];
	size_t n = size - 1;

	track_write_label(label, t);
	utf8_copy(album, sizeof album, t->album);
	if (*album)
		n -= strlen(" []") + strlen(album);
	if (strlen(label) > n)
		label[utf8_whole(label, n)] = '\0';
	snprintf(to, size, *album ? "%s [%s]" : "%s", label, album);
}

bool track_is_other_edition(const struct track *a, const struct track *b)
{
	return *a->title && strcmp(a->title, b->title) == 0 && strcmp(a->artist, b->artist) == 0 &&
	       strcmp(a->album, b->album) != 0;
}

/* FNV-1a */
static uint64_t hash_reference(const struct track *t)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ t->root;

	for (const char *c = t->reference; *c; c++)
		h = (h ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
	return h;
}

void track_write_selection(char to[TRACK_SELECTION_MAX], const struct track *t)
{
	snprintf(to, TRACK_SELECTION_MAX, "%s-%012" PRIx64, track_source_name(t->source),
		 hash_reference(t) & UINT64_C(0xffffffffffff));
}

bool track_is_same(const struct track *a, const struct track *b)
{
	return a->source == b->source && a->root == b->root &&
	       strcmp(a->reference, b->reference) == 0;
}
