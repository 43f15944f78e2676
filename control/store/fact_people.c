#include "control/store/fact_people.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/memory/name.h"
#include "control/store/db.h"
#include "proto/discord.h"

enum { NOUN_SIZE = 2048 };

void fact_people_clear(struct fact_people *people)
{
	free(people->of);
	*people = (struct fact_people){0};
}

/* Room for one more: it doubles whenever n is a power of two. */
static int make_room(struct fact_people *p)
{
	struct fact_person *of;

	if (p->n & (p->n - 1))
		return 0;
	of = realloc(p->of, (p->n ? 2 * p->n : 1) * sizeof *of);
	if (!of)
		return ENOMEM;
	p->of = of;
	return 0;
}

/* People mostly come in the order of their ids. */
static int add_person(struct fact_people *p, uint64_t user, bool bound)
{
	size_t i = p->n;
	int err;

	while (i && p->of[i - 1].user > user)
		i--;
	if (i && p->of[i - 1].user == user) {
		/* One of their names is theirs alone. */
		p->of[i - 1].bound = p->of[i - 1].bound || bound;
		return 0;
	}
	err = make_room(p);
	if (err)
		return err;
	memmove(&p->of[i + 1], &p->of[i], (p->n++ - i) * sizeof p->of[0]);
	p->of[i] = (struct fact_person){user, bound};
	return 0;
}

/* Gives the people in the place of those that were there; on an error none of them stays. */
static int give(int err, struct fact_people *people, struct fact_people *out)
{
	if (err != ENOENT) {
		fact_people_clear(people);
		return err;
	}
	fact_people_clear(out);
	*out = *people;
	return 0;
}

/* "the roadmap", "my roadmap". ENAMETOOLONG, EINVAL: the name has other characters. */
static int write_noun(const char *name, char out[NOUN_SIZE])
{
	static const char *const before[] = {"the", "a", "an", "my", "our", "your", "this", "no"};
	size_t n = 0;

	if (strchr(name, '"'))
		return EINVAL;
	out[0] = '\0';
	for (size_t i = 0; i < sizeof before / sizeof before[0] && n < NOUN_SIZE; i++)
		n += (size_t)snprintf(out + n, NOUN_SIZE - n, "%s\"%s %s\"", i ? " OR " : "",
				      before[i], name);
	return n < NOUN_SIZE ? 0 : ENAMETOOLONG;
}

/* In small letters a name is one only where nobody else uses it as a noun: anybody may take a word
 * of the server as a name, and be erased. */
static int is_told_small(struct db *db, const struct fact_place *place, const char *text,
			 uint64_t user, const char *name, bool *is)
{
	char noun[NOUN_SIZE];
	sqlite3_stmt *s;
	int err;

	*is = false;
	if (place->owner || !name_in_small(text, name) || write_noun(name, noun))
		return 0;
	s = db_use(db, DB_FIND_AS_WORD);
	db_bind_uint(s, 1, place->guild);
	db_bind_text(s, 2, noun);
	db_bind_uint(s, 3, user);
	err = db_step(db, s);
	sqlite3_reset(s);
	*is = err == ENOENT;
	return err == ENOENT ? 0 : err;
}

static int add_if_told(struct db *db, const struct fact_place *place, const char *text,
		       sqlite3_stmt *row, struct fact_people *people)
{
	enum name_use least = place->owner ? NAME_SURE : NAME_LIKELY;
	const char *name = db_text(row, 1);
	uint64_t user = db_uint(row, 0);
	bool is = name_told(text, name) >= least;
	int err = 0;

	if (user == place->author)
		return 0;
	if (!is)
		err = is_told_small(db, place, text, user, name, &is);
	return err || !is ? err : add_person(people, user, db_uint(row, 2) == 1);
}

int fact_people_find(struct db *db, const struct fact_place *place, const char *text,
		     struct fact_people *out)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_NAMES);
	struct fact_people people = {0};
	int err;

	db_bind_uint(s, 1, place->guild);
	while ((err = db_step(db, s)) == 0) {
		err = add_if_told(db, place, text, s, &people);
		if (err)
			break;
	}
	sqlite3_reset(s);
	return give(err, &people, out);
}

int fact_people_read(struct db *db, uint64_t fact, struct fact_people *out)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_FACT_PEOPLE);
	struct fact_people people = {0};
	int err;

	db_bind_uint(s, 1, fact);
	while ((err = db_step(db, s)) == 0) {
		err = add_person(&people, db_uint(s, 0), db_uint(s, 1) != 0);
		if (err)
			break;
	}
	sqlite3_reset(s);
	return give(err, &people, out);
}

int fact_people_add(struct db *db, uint64_t fact, const struct fact_people *people)
{
	int err = 0;

	for (size_t i = 0; i < people->n && !err; i++) {
		sqlite3_stmt *s = db_use(db, DB_ADD_FACT_PERSON);

		db_bind_uint(s, 1, fact);
		db_bind_uint(s, 2, people->of[i].user);
		db_bind_uint(s, 3, people->of[i].bound);
		err = db_run(db, s);
	}
	return err;
}

bool fact_people_agree(const struct fact_people *a, const struct fact_people *b)
{
	bool agree = a->n == b->n;

	for (size_t i = 0; agree && i < a->n; i++)
		agree = a->of[i].user == b->of[i].user && a->of[i].bound && b->of[i].bound;
	return agree;
}

json_t *fact_people_json(const struct fact_people *people)
{
	json_t *object = json_object();

	for (size_t i = 0; object && i < people->n; i++) {
		char id[24];

		snprintf(id, sizeof id, "%llu", (unsigned long long)people->of[i].user);
		json_object_set_new(object, id, json_boolean(people->of[i].bound));
	}
	return object;
}

bool fact_people_parse(const json_t *object, struct fact_people *out)
{
	struct fact_people people = {0};
	const char *id;
	json_t *bound;
	uint64_t user;

	if (!json_is_object(object))
		return false;
	json_object_foreach((json_t *)(uintptr_t)object, id, bound)
	{
		if (!discord_u64(id, &user) || !user || user > INT64_MAX ||
		    !json_is_boolean(bound) || add_person(&people, user, json_is_true(bound))) {
			fact_people_clear(&people);
			return false;
		}
	}
	return give(ENOENT, &people, out) == 0;
}
