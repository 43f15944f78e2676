#include "control/text/taken.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/fnv.h"

struct taken_table {
	/* Beside the rows, for a search through all of them: */
	uint64_t message[TAKEN_ROWS]; /* 0: free */
	struct taken row[TAKEN_ROWS];
	size_t n; /* places that were ever in use */
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

static bool is_owed(const struct taken *row)
{
	return row->state == TAKEN_WAITS || row->state == TAKEN_SENDING;
}

/* Ids grow with time. */
static size_t oldest_place(const struct taken_table *t)
{
	size_t best = 0;

	for (size_t i = 1; i < TAKEN_ROWS; i++) {
		bool owed = is_owed(&t->row[i]), worse = is_owed(&t->row[best]);

		if (owed != worse ? worse : t->message[i] < t->message[best])
			best = i;
	}
	return best;
}

void taken_put(struct taken_table *t, const struct taken *row)
{
	size_t i = place_of(t, row->message);

	if (i == t->n)
		i = place_of(t, 0);
	if (i == TAKEN_ROWS)
		i = oldest_place(t);
	t->n = i < t->n ? t->n : i + 1;
	t->message[i] = row->message;
	t->row[i] = *row;
}

void taken_forget(struct taken_table *t, uint64_t user)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->message[i] && t->row[i].user == user) {
			t->message[i] = 0;
			t->row[i] = (struct taken){0};
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
}

json_t *taken_row(const struct taken *row)
{
	return json_pack("[I,I,I,I,s,I]", (json_int_t)row->message, (json_int_t)row->guild,
			 (json_int_t)row->channel, (json_int_t)row->user, names[row->state],
			 (json_int_t)row->mark);
}

uint64_t taken_mark(const char *words)
{
	static const char space[] = " \t\r\n";
	uint64_t hash;
	size_t n;

	words += strspn(words, space);
	n = strlen(words);
	while (n && strchr(space, words[n - 1]))
		n--;
	hash = fnv_bytes(FNV_BEGIN, words, n) >> 1;
	return hash ? hash : 1;
}
