#include "control/store/fact_people.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/memory/name.h"
#include "control/store/db.h"
#include "control/store/name_claim.h"
#include "proto/discord.h"

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

/* In small letters a name is one only where nobody else uses it as a noun: anybody may take a word
 * of the server as a name, and be erased. */
static int is_told_small(struct db *db, const struct fact_place *place,
			 const struct name_claimed *c, bool *is)
{
	bool noun = false;
	int err;

	*is = false;
	if (place->owner || !name_in_small(c->fact, c->name))
		return 0;
	err = name_claim_is_noun(db, c, &noun);
	*is = !err && !noun;
	return err;
}

static int add_if_told(struct db *db, const struct fact_place *place, const char *text,
		       sqlite3_stmt *row, struct fact_people *people)
{
	enum name_use least = place->owner ? NAME_SURE : NAME_LIKELY;
	const struct name_claimed c = {.guild = place->guild,
				       .user = db_uint(row, 0),
				       .name = db_text(row, 1),
				       .fact = text,
				       .told_ms = place->told_ms};
	bool is = name_told(text, c.name) >= least, alone = db_uint(row, 2) == 1;
	enum name_claim claim;
	int err = 0;

	if (c.user == place->author)
		return 0;
	if (!is)
		err = is_told_small(db, place, &c, &is);
	if (err || !is)
		return err;
	err = name_claim_find(db, &c, &claim);
	if (err || claim == NAME_CLAIM_NONE)
		return err;
	return add_person(people, c.user, alone && claim == NAME_CLAIM_FULL);
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
