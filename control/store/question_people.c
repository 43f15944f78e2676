#include "control/store/question_people.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <strings.h>

#include "control/memory/question.h"
#include "control/store/db.h"
#include "proto/discord.h"

enum { LOOK_UPS = 64 }; /* of one question */

struct search {
	struct db *db;
	uint64_t guild;
	const json_t *present;
	struct question_people *out;
	unsigned look_ups;
	int err;
};

static void add_person(struct question_people *people, uint64_t user)
{
	if (people->n < QUESTION_PEOPLE_MAX && !question_people_has(people, user))
		people->user[people->n++] = user;
}

bool question_people_has(const struct question_people *people, uint64_t user)
{
	for (unsigned i = 0; i < people->n; i++)
		if (people->user[i] == user)
			return true;
	return false;
}

bool question_people_is_present(const json_t *present, const char *name, size_t n)
{
	const char *key;
	json_t *id;

	json_object_foreach((json_t *)(uintptr_t)present, key, id)
	{
		if (strlen(key) == n && strncasecmp(key, name, n) == 0)
			return true;
	}
	return false;
}

/* The next person behind *user who had the name; *user: 0 if there is none. */
static int find_bearer(struct db *db, uint64_t guild, const char *name, size_t n, uint64_t *user)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_NAMESAKE);
	int err;

	db_bind_uint(s, 1, guild);
	sqlite3_bind_text(s, 2, name, (int)n, SQLITE_TRANSIENT);
	db_bind_uint(s, 3, *user);
	err = db_step(db, s);
	*user = err ? 0 : db_uint(s, 0);
	sqlite3_reset(s);
	return err;
}

/* Adds everybody who had the name, in the order of their ids. */
static bool find_people(const char *name, size_t n, void *arg)
{
	struct search *search = arg;
	uint64_t user = 0;

	if (question_people_is_present(search->present, name, n))
		return true;
	while (!search->err && search->out->n < QUESTION_PEOPLE_MAX &&
	       search->look_ups++ < LOOK_UPS) {
		search->err = find_bearer(search->db, search->guild, name, n, &user);
		if (user)
			add_person(search->out, user);
	}
	if (search->err == ENOENT)
		search->err = 0;
	return !search->err;
}

int question_people_only(struct db *db, uint64_t guild, const char *name, uint64_t *user)
{
	uint64_t only = 0, other;
	int err = find_bearer(db, guild, name, strlen(name), &only);

	*user = 0;
	if (err)
		return err == ENOENT ? 0 : err;
	other = only;
	err = find_bearer(db, guild, name, strlen(name), &other);
	if (err == ENOENT)
		*user = only;
	return err == ENOENT ? 0 : err;
}

int question_people_find(struct db *db, uint64_t guild, const json_t *present, const char *question,
			 struct question_people *out)
{
	struct search search = {.db = db, .guild = guild, .present = present, .out = out};
	uint64_t user;
	const char *name;
	json_t *id;

	*out = (struct question_people){0};
	json_object_foreach((json_t *)(uintptr_t)present, name, id)
	{
		if (discord_u64(json_string_value(id), &user))
			add_person(out, user);
	}
	question_each_name(question, find_people, &search);
	return search.err;
}
