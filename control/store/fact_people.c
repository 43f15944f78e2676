#include "control/store/fact_people.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "control/memory/name.h"
#include "control/store/db.h"
#include "proto/discord.h"

static void add_person(struct fact_people *p, uint64_t user, bool bound)
{
	unsigned i = 0;

	while (i < p->n && p->of[i].user < user)
		i++;
	if (i < p->n && p->of[i].user == user) {
		/* One of their names is theirs alone. */
		p->of[i].bound = p->of[i].bound || bound;
		return;
	}
	if (p->n == FACT_PEOPLE_MAX)
		return;
	memmove(&p->of[i + 1], &p->of[i], (p->n++ - i) * sizeof p->of[0]);
	p->of[i].user = user;
	p->of[i].bound = bound;
}

int fact_people_find(struct db *db, uint64_t guild, uint64_t author, const char *text,
		     struct fact_people *out)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_NAMES);
	int err;

	*out = (struct fact_people){0};
	db_bind_uint(s, 1, guild);
	while ((err = db_step(db, s)) == 0)
		if (db_uint(s, 0) != author && name_is_told(text, db_text(s, 1)))
			add_person(out, db_uint(s, 0), db_uint(s, 2) == 1);
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

int fact_people_read(struct db *db, uint64_t fact, struct fact_people *out)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_FACT_PEOPLE);
	int err;

	*out = (struct fact_people){0};
	db_bind_uint(s, 1, fact);
	while ((err = db_step(db, s)) == 0)
		add_person(out, db_uint(s, 0), db_uint(s, 1) != 0);
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

int fact_people_add(struct db *db, uint64_t fact, const struct fact_people *people)
{
	int err = 0;

	for (unsigned i = 0; i < people->n && !err; i++) {
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

	for (unsigned i = 0; agree && i < a->n; i++)
		agree = a->of[i].user == b->of[i].user && a->of[i].bound && b->of[i].bound;
	return agree;
}

json_t *fact_people_json(const struct fact_people *people)
{
	json_t *object = json_object();

	for (unsigned i = 0; object && i < people->n; i++) {
		char id[24];

		snprintf(id, sizeof id, "%llu", (unsigned long long)people->of[i].user);
		json_object_set_new(object, id, json_boolean(people->of[i].bound));
	}
	return object;
}

bool fact_people_parse(const json_t *object, struct fact_people *out)
{
	const char *id;
	json_t *bound;
	uint64_t user;

	*out = (struct fact_people){0};
	if (!json_is_object(object))
		return false;
	json_object_foreach((json_t *)(uintptr_t)object, id, bound)
	{
		if (!discord_u64(id, &user) || !user || user > INT64_MAX || !json_is_boolean(bound))
			return false;
		add_person(out, user, json_is_true(bound));
	}
	return true;
}
