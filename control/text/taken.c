#include "control/text/taken.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/room/language/language.h"
#include "proto/base/fnv.h"

struct taken_table {
	/* Beside the rows, for a search through all of them: */
	uint64_t message[TAKEN_ROWS]; /* 0: free */
	struct taken row[TAKEN_ROWS];
	size_t n;	  /* places that were ever in use */
	uint64_t dropped; /* the newest that gave way to all others; 0: none did */
};

static const char *const names[] = {
#define NAME_(NAME, name, text) #name,
	TEXT_TAKEN(NAME_)
#undef NAME_
};

enum { STATES = sizeof names / sizeof names[0] };

int taken_alloc(struct taken_table **out)
{
	struct taken_table *t = calloc(1, sizeof *t);

	if (!t)
		return ENOMEM;
	*out = t;
	return 0;
}

struct taken_table *taken_free(struct taken_table *t)
{
	free(t);
	return NULL;
}

static size_t place_of(const struct taken_table *t, uint64_t message)
{
	size_t i = 0;

	while (i < t->n && t->message[i] != message)
		i++;
	return i;
}

struct taken *taken_find(struct taken_table *t, uint64_t message)
{
	size_t i = message ? place_of(t, message) : t->n;

	return i < t->n ? &t->row[i] : NULL;
}

/* Rows that matter more give way later. */
static unsigned rank_of(enum taken_state state)
{
	return state == TAKEN_ENDED ? 0 : state == TAKEN_POSTED ? 1 : 2;
}

/* Ids grow with time. */
static size_t oldest_place(const struct taken_table *t)
{
	size_t best = 0;

	for (size_t i = 1; i < TAKEN_ROWS; i++) {
		unsigned rank = rank_of(t->row[i].state), least = rank_of(t->row[best].state);

		if (rank != least ? rank < least : t->message[i] < t->message[best])
			best = i;
	}
	return best;
}

static void drop(struct taken_table *t, size_t i)
{
	t->message[i] = 0;
	t->row[i] = (struct taken){0};
}

/* Drops the oldest that ended of this author, or (0) of this server, if there are more than most.
 */
static void limit(struct taken_table *t, uint64_t user, uint64_t guild, unsigned most)
{
	size_t oldest = t->n;
	unsigned n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct taken *r = &t->row[i];

		if (!t->message[i] || r->state != TAKEN_ENDED ||
		    (user ? r->user != user : r->guild != guild))
			continue;
		n++;
		if (oldest == t->n || t->message[i] < t->message[oldest])
			oldest = i;
	}
	if (n > most)
		drop(t, oldest);
}

static void note_dropped(struct taken_table *t, const struct taken *row)
{
	if (row->state != TAKEN_POSTED && row->message > t->dropped)
		t->dropped = row->message;
}

void taken_put(struct taken_table *t, const struct taken *row)
{
	size_t i = place_of(t, row->message);

	if (i == t->n)
		i = place_of(t, 0);
	if (i == TAKEN_ROWS) {
		i = oldest_place(t);
		if (rank_of(t->row[i].state) > rank_of(row->state)) {
			note_dropped(t, row);
			return;
		}
		note_dropped(t, &t->row[i]);
	}
	t->n = i < t->n ? t->n : i + 1;
	t->message[i] = row->message;
	t->row[i] = *row;
	if (row->state == TAKEN_ENDED && row->user)
		limit(t, row->user, 0, TAKEN_OF_AUTHOR);
	if (row->state == TAKEN_ENDED && row->guild)
		limit(t, 0, row->guild, TAKEN_OF_SERVER);
}

/* The oldest row of an author or a server always gives way first. So a row that gave way is older
 * than each that is left, also after rows of that author gave way to the server's or to all others.
 */
bool taken_may_have_dropped(const struct taken_table *t, uint64_t message, uint64_t user,
			    uint64_t guild)
{
	uint64_t oldest = UINT64_MAX, oldest_there = UINT64_MAX;
	unsigned n = 0, there = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct taken *r = &t->row[i];

		if (!t->message[i] || r->state != TAKEN_ENDED)
			continue;
		if (user && r->user == user) {
			n++;
			oldest = t->message[i] < oldest ? t->message[i] : oldest;
		}
		if (guild && r->guild == guild) {
			there++;
			oldest_there = t->message[i] < oldest_there ? t->message[i] : oldest_there;
		}
	}
	return message <= t->dropped || (n >= TAKEN_OF_AUTHOR && message < oldest) ||
	       (there >= TAKEN_OF_SERVER && message < oldest_there);
}

void taken_forget(struct taken_table *t, uint64_t user)
{
	for (size_t i = 0; user && i < t->n; i++)
		if (t->message[i] && t->row[i].user == user) {
			t->row[i].user = 0;
			t->row[i].mark = 0;
			t->row[i].state = TAKEN_ENDED;
		}
}

const struct taken *taken_at(const struct taken_table *t, size_t i)
{
	return i < t->n ? &t->row[i] : NULL;
}

/* ---- on the disk ---- */

const char *taken_state_name(enum taken_state state)
{
	return names[state];
}

static bool read_state(const char *name, enum taken_state *to)
{
	for (unsigned i = 0; name && i < STATES; i++)
		if (strcmp(names[i], name) == 0) {
			*to = (enum taken_state)i;
			return true;
		}
	return false;
}

static uint64_t number_at(const json_t *row, size_t i)
{
	json_int_t n = json_integer_value(json_array_get(row, i));

	return n > 0 ? (uint64_t)n : 0;
}

void taken_read(struct taken_table *t, const json_t *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		struct taken taken = {.message = number_at(row, 0),
				      .guild = number_at(row, 1),
				      .channel = number_at(row, 2),
				      .user = number_at(row, 3),
				      .mark = number_at(row, 5),
				      .before = true};

		if (taken.message && taken.channel &&
		    read_state(json_string_value(json_array_get(row, 4)), &taken.state))
			taken_put(t, &taken);
	}
	/* The store may have more rows than it returned. */
	if (json_array_size(rows) >= TAKEN_ROWS)
		note_dropped(t, &t->row[oldest_place(t)]);
}

json_t *taken_row(const struct taken *row)
{
	return json_pack("[I,I,I,I,s,I]", (json_int_t)row->message, (json_int_t)row->guild,
			 (json_int_t)row->channel, (json_int_t)row->user, names[row->state],
			 (json_int_t)row->mark);
}

/* Discord removes more than ASCII's: paragraphs of Chinese and Japanese begin with U+3000. */
static bool is_blank(uint32_t ch)
{
	static const struct {
		uint32_t from, to;
	} blanks[] = {{0x09, 0x0d},	{' ', ' '},	  {0x85, 0x85},	    {0xa0, 0xa0},
		      {0x1680, 0x1680}, {0x180e, 0x180e}, {0x2000, 0x200f}, {0x2028, 0x202f},
		      {0x205f, 0x206f}, {0x2800, 0x2800}, {0x3000, 0x3000}, {0x3164, 0x3164},
		      {0xfeff, 0xfeff}};

	for (size_t i = 0; i < sizeof blanks / sizeof blanks[0]; i++)
		if (ch >= blanks[i].from && ch <= blanks[i].to)
			return true;
	return false;
}

uint64_t taken_mark(const char *words)
{
	const char *begin = NULL, *end = NULL;
	uint64_t hash;

	for (const char *p = words; *p;) {
		const char *at = p;

		if (is_blank(room_script_next(&p)))
			continue;
		begin = begin ? begin : at;
		end = p;
	}
	hash = fnv_bytes(FNV_BEGIN, begin ? begin : words, begin ? (size_t)(end - begin) : 0) >> 1;
	return hash ? hash : 1;
}

bool taken_is_open(const struct taken *row)
{
	return row->state == TAKEN_WAITS || row->state == TAKEN_LATE || row->state == TAKEN_SENDING;
}

uint64_t taken_answer_mark(const struct taken *row)
{
	return row->state == TAKEN_WAITS || row->state == TAKEN_LATE ? 0 : row->mark;
}

uint64_t taken_reaction_mark(uint64_t message, const char *emoji)
{
	static const char shown[] = "\xef\xb8\x8f";
	uint64_t hash = fnv_bytes(FNV_BEGIN, &message, sizeof message);

	while (*emoji) {
		size_t skip = strncmp(emoji, shown, sizeof shown - 1) == 0 ? sizeof shown - 1 : 0;

		if (!skip)
			hash = fnv_bytes(hash, emoji, 1);
		emoji += skip ? skip : 1;
	}
	hash >>= 1;
	return hash ? hash : 1;
}
