#include "control/consent/consent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/subject.h"

enum { NAME_SIZE = 24 + SUBJECT_MAC };

struct consent_table {
	struct subject_key key;
	json_t *rows; /* "GUILD:MAC": enum consent; an integer changes without an allocation */
	bool unread;
};

static const char *const names[CONSENT_COUNT] = {
#define X(NAME, name) #name,
	CONSENTS(X)
#undef X
};

const char *consent_name(enum consent consent)
{
	return names[consent];
}

bool consent_parse(const char *name, enum consent *out)
{
	for (unsigned i = 0; name && i < CONSENT_COUNT; i++)
		if (strcmp(names[i], name) == 0) {
			*out = (enum consent)i;
			return true;
		}
	return false;
}

static int set_row(struct consent_table *t, const char *key, enum consent consent)
{
	return json_object_set_new(t->rows, key, json_integer((json_int_t)consent)) ? ENOMEM : 0;
}

static int add_row(struct consent_table *t, const char *key, const json_t *state)
{
	enum consent consent;

	if (!consent_parse(json_string_value(state), &consent) || consent == CONSENT_DEFAULT)
		return 0;
	return set_row(t, key, consent);
}

int consent_table_alloc(struct consent_table **out, const json_t *kept)
{
	struct consent_table *t = calloc(1, sizeof *t);
	const char *key;
	json_t *state;
	int err = 0;

	if (!t)
		return ENOMEM;
	t->rows = json_object();
	if (!t->rows) {
		free(t);
		return ENOMEM;
	}
	t->unread = kept && subject_key_parse(json_string_value(json_object_get(kept, "key")),
					      &t->key) != 0;
	if (!t->unread)
		json_object_foreach(json_object_get(kept, "rows"), key, state)
		{
			/* A refusal that is left out would not count. */
			err = err ? err : add_row(t, key, state);
		}
	if (err)
		consent_table_free(t);
	else
		*out = t;
	return err;
}

struct consent_table *consent_table_free(struct consent_table *t)
{
	if (!t)
		return NULL;
	json_decref(t->rows);
	explicit_bzero(&t->key, sizeof t->key);
	free(t);
	return NULL;
}

static void name_row(const struct consent_table *t, uint64_t guild, uint64_t user,
		     char out[NAME_SIZE])
{
	char mac[SUBJECT_MAC];

	subject_mac(&t->key, user, mac);
	snprintf(out, NAME_SIZE, "%llu:%s", (unsigned long long)guild, mac);
}

enum consent consent_answer(const struct consent_table *t, uint64_t guild, uint64_t user)
{
	char row[NAME_SIZE];
	const json_t *state;

	/* Most servers have no answers, and a mac is not free. */
	if (!t || !json_object_size(t->rows))
		return CONSENT_DEFAULT;
	name_row(t, guild, user, row);
	state = json_object_get(t->rows, row);
	return state ? (enum consent)json_integer_value(state) : CONSENT_DEFAULT;
}

enum consent consent_of(const struct consent_table *t, uint64_t guild, uint64_t user,
			enum consent by_default)
{
	enum consent consent = consent_answer(t, guild, user);

	return consent == CONSENT_DEFAULT ? consent_default(t, by_default) : consent;
}

enum consent consent_default(const struct consent_table *t, enum consent by_default)
{
	return consent_table_unread(t) ? CONSENT_NEITHER : by_default;
}

bool consent_table_unread(const struct consent_table *t)
{
	return t && t->unread;
}

int consent_set(struct consent_table *t, uint64_t guild, uint64_t user, enum consent consent)
{
	char row[NAME_SIZE];

	if ((unsigned)consent >= CONSENT_COUNT)
		return EINVAL;
	name_row(t, guild, user, row);
	if (consent == CONSENT_DEFAULT) {
		json_object_del(t->rows, row);
		return 0;
	}
	return set_row(t, row, consent);
}

void consent_end(struct consent_table *t, uint64_t user)
{
	char mac[SUBJECT_MAC];
	const char *key;
	json_t *state;

	subject_mac(&t->key, user, mac);
	json_object_foreach(t->rows, key, state)
	{
		const char *of = strchr(key, ':');

		if (of && strcmp(of + 1, mac) == 0 &&
		    json_integer_value(state) == CONSENT_REMEMBERED)
			json_integer_set(state, CONSENT_HEARD);
	}
}
