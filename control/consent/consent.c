#include "control/consent/consent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/subject.h"

enum { NAME_SIZE = 24 + SUBJECT_MAC };

struct consent_table {
	struct subject_key key;
	json_t *rows;  /* "GUILD:MAC": enum consent; an integer changes without an allocation */
	json_t *since; /* "GUILD:MAC": when that was answered, ms */
	/* "GUILD:MAC": until when they refused to be read, "0:MAC": when they were erased, ms */
	json_t *unread_before;
	json_t *withdrawn;  /* "GUILD": when somebody there last came to allow less, ms */
	uint64_t erased_ms; /* when somebody was last erased */
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

static int set_time(json_t *times, const char *key, uint64_t at_ms)
{
	json_t *known = json_object_get(times, key);

	/* Without an allocation. */
	if (known)
		return json_integer_set(known, (json_int_t)at_ms) ? ENOMEM : 0;
	return json_object_set_new(times, key, json_integer((json_int_t)at_ms)) ? ENOMEM : 0;
}

static uint64_t time_of(const json_t *times, const char *key)
{
	json_int_t ms = json_integer_value(json_object_get(times, key));

	return ms > 0 ? (uint64_t)ms : 0;
}

static int add_times(json_t *to, json_t *from)
{
	const char *key;
	json_t *ms;
	int err = 0;

	json_object_foreach(from, key, ms)
	{
		if (!err && json_integer_value(ms) > 0)
			err = set_time(to, key, (uint64_t)json_integer_value(ms));
	}
	return err;
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
	t->since = json_object();
	t->unread_before = json_object();
	t->withdrawn = json_object();
	if (!t->rows || !t->since || !t->unread_before || !t->withdrawn) {
		consent_table_free(t);
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
	if (!t->unread && !err)
		err = add_times(t->since, json_object_get(kept, "since"));
	if (!t->unread && !err)
		err = add_times(t->unread_before, json_object_get(kept, "unread_before"));
	if (!t->unread && !err)
		err = add_times(t->withdrawn, json_object_get(kept, "withdrawn"));
	t->erased_ms = time_of(t->withdrawn, "0");
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
	json_decref(t->since);
	json_decref(t->unread_before);
	json_decref(t->withdrawn);
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

uint64_t consent_since(const struct consent_table *t, uint64_t guild, uint64_t user)
{
	char row[NAME_SIZE];

	if (!t || !json_object_size(t->since))
		return 0;
	name_row(t, guild, user, row);
	return time_of(t->since, row);
}

uint64_t consent_unread_before(const struct consent_table *t, uint64_t guild, uint64_t user,
			       enum consent by_default)
{
	char row[NAME_SIZE];
	uint64_t refused, erased, answered = 0;

	if (!t || !(json_object_size(t->since) + json_object_size(t->unread_before)))
		return 0;
	/* They were not to be read until they answered. */
	if (consent_default(t, by_default) == CONSENT_NEITHER)
		answered = consent_since(t, guild, user);
	name_row(t, guild, user, row);
	refused = time_of(t->unread_before, row);
	name_row(t, 0, user, row);
	erased = time_of(t->unread_before, row);
	refused = refused > answered ? refused : answered;
	return refused > erased ? refused : erased;
}

static void name_guild(uint64_t guild, char out[NAME_SIZE])
{
	snprintf(out, NAME_SIZE, "%llu", (unsigned long long)guild);
}

int consent_withdraw(struct consent_table *t, uint64_t guild, uint64_t at_ms)
{
	char key[NAME_SIZE];

	name_guild(guild, key);
	return set_time(t->withdrawn, key, at_ms);
}

uint64_t consent_withdrawn(const struct consent_table *t, uint64_t guild)
{
	char key[NAME_SIZE];
	uint64_t ms;

	if (!t)
		return 0;
	if (t->unread)
		return UINT64_MAX;
	name_guild(guild, key);
	ms = time_of(t->withdrawn, key);
	return ms > t->erased_ms ? ms : t->erased_ms;
}

int consent_set(struct consent_table *t, uint64_t guild, uint64_t user, enum consent consent,
		uint64_t at_ms)
{
	char row[NAME_SIZE];
	int err = 0;

	if ((unsigned)consent >= CONSENT_COUNT)
		return EINVAL;
	name_row(t, guild, user, row);
	if (consent == CONSENT_DEFAULT) {
		json_object_del(t->rows, row);
		json_object_del(t->since, row);
		return 0;
	}
	/* An answer that allows more than is known to be allowed since then would do so for words
	 * from before. */
	if (consent_answer(t, guild, user) == CONSENT_NEITHER && consent != CONSENT_NEITHER)
		err = set_time(t->unread_before, row, at_ms);
	if (!err)
		err = set_time(t->since, row, at_ms);
	return err ? err : set_row(t, row, consent);
}

void consent_end(struct consent_table *t, uint64_t user, uint64_t at_ms)
{
	char mac[SUBJECT_MAC], row[NAME_SIZE];
	const char *key;
	json_t *state;

	subject_mac(&t->key, user, mac);
	json_object_foreach(t->rows, key, state)
	{
		const char *of = strchr(key, ':');

		if (of && strcmp(of + 1, mac) == 0 &&
		    json_integer_value(state) == CONSENT_REMEMBERED) {
			json_integer_set(state, CONSENT_HEARD);
			set_time(t->since, key, at_ms);
		}
	}
	t->erased_ms = at_ms;
	/* Without memory the next control knows it. */
	name_row(t, 0, user, row);
	set_time(t->unread_before, row, at_ms);
}
