#include "control/store/name_claim.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/memory/name.h"
#include "control/memory/terms.h"
#include "control/store/db.h"

enum { NOUN_SIZE = 2048 };

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

/* A name that cannot be written so is no noun that people use. */
int name_claim_is_noun(struct db *db, const struct name_claimed *c, bool *is)
{
	char noun[NOUN_SIZE];
	sqlite3_stmt *s;
	int err;

	*is = false;
	if (write_noun(c->name, noun))
		return 0;
	s = db_use(db, DB_FIND_AS_WORD);
	db_bind_uint(s, 1, c->guild);
	db_bind_text(s, 2, noun);
	db_bind_uint(s, 3, c->user);
	err = db_step(db, s);
	sqlite3_reset(s);
	*is = !err;
	return err == ENOENT ? 0 : err;
}

/* Since when somebody bears a name. */
struct beginning {
	uint64_t line, at_ms;
};

/* ENOENT: the person never bore it. */
static int find_beginning(struct db *db, const struct name_claimed *c, uint64_t user,
			  struct beginning *out)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_NAME_BEGINNING);
	int err;

	db_bind_uint(s, 1, c->guild);
	db_bind_text(s, 2, c->name);
	db_bind_uint(s, 3, user);
	err = db_step(db, s);
	if (!err)
		*out = (struct beginning){db_uint(s, 0), db_uint(s, 1)};
	sqlite3_reset(s);
	return err;
}

/* The first of all who bore it: what others say afterwards may mean that one. */
static int find_first(struct db *db, const struct name_claimed *c, struct beginning *out)
{
	uint64_t user = 0;
	int err;

	do {
		sqlite3_stmt *s = db_use(db, DB_FIND_NAMESAKE);
		struct beginning b;

		db_bind_uint(s, 1, c->guild);
		db_bind_text(s, 2, c->name);
		db_bind_uint(s, 3, user);
		err = db_step(db, s);
		user = err ? 0 : db_uint(s, 0);
		sqlite3_reset(s);
		if (!err)
			err = find_beginning(db, c, user, &b);
		if (!err && b.line < out->line)
			out->line = b.line;
		if (!err && b.at_ms < out->at_ms)
			out->at_ms = b.at_ms;
	} while (!err);
	return err == ENOENT ? 0 : err;
}

/* The name as a phrase of MATCH. The caller frees it. NULL without memory. */
static char *write_phrase(const char *name)
{
	char *terms = terms_index(name, strlen(name));
	size_t n = terms ? strlen(terms) : 0;
	char *phrase = terms ? malloc(n + 3) : NULL;

	if (phrase) {
		phrase[0] = phrase[n + 1] = '"';
		for (size_t i = 0; i < n; i++)
			phrase[i + 1] = terms[i];
		for (char *at = phrase + 1; at < phrase + n + 1; at++)
			if (*at == '"')
				*at = ' ';
		phrase[n + 2] = '\0';
	}
	free(terms);
	return phrase;
}

/* Looks at the oldest fact of others with the name. *theirs: it is of the person. */
static int find_in_facts(struct db *db, const struct name_claimed *c, const char *phrase,
			 const struct beginning *b, bool *used, bool *theirs)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_NAME_IN_FACTS);
	int err;

	db_bind_uint(s, 1, c->guild);
	db_bind_text(s, 2, phrase);
	db_bind_uint(s, 3, c->user);
	db_bind_uint(s, 4, b->at_ms);
	while ((err = db_step(db, s)) == 0) {
		if (!name_is_used(db_text(s, 0), c->name))
			continue;
		*theirs = db_uint(s, 1) != 0;
		*used = !*theirs;
		break;
	}
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

static int find_in_lines(struct db *db, const struct name_claimed *c, const char *phrase,
			 const struct beginning *b, bool *used)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_NAME_IN_LINES);
	int err = 0;

	db_bind_uint(s, 1, c->guild);
	db_bind_text(s, 2, phrase);
	db_bind_uint(s, 3, c->user);
	db_bind_uint(s, 4, b->line);
	db_bind_uint(s, 5, b->at_ms);
	while (!*used && (err = db_step(db, s)) == 0)
		*used = name_is_used(db_text(s, 0), c->name);
	sqlite3_reset(s);
	return *used || err == ENOENT ? 0 : err;
}

/* Others used the word before anybody bore it, or use one of everyday English as a noun. */
static int is_word(struct db *db, const struct name_claimed *c, bool *used)
{
	struct beginning b = {INT64_MAX, INT64_MAX};
	char *phrase = write_phrase(c->name);
	bool theirs = false;
	int err = phrase ? find_first(db, c, &b) : ENOMEM;

	*used = false;
	if (!err)
		err = find_in_facts(db, c, phrase, &b, used, &theirs);
	if (!err && !*used && !theirs)
		err = find_in_lines(db, c, phrase, &b, used);
	if (!err && !*used && name_is_everyday(c->name))
		err = name_claim_is_noun(db, c, used);
	free(phrase);
	return err;
}

static int is_name_then(struct db *db, const struct name_claimed *c, bool *is)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_NAME_AT);
	int err;

	db_bind_uint(s, 1, c->guild);
	db_bind_uint(s, 2, c->user);
	db_bind_uint(s, 3, c->told_ms);
	err = db_step(db, s);
	*is = !err && strcasecmp(db_text(s, 0), c->name) == 0;
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

int name_claim_find(struct db *db, const struct name_claimed *c, enum name_claim *out)
{
	struct beginning b;
	bool used = false, then = false;
	int err = find_beginning(db, c, c->user, &b);

	*out = NAME_CLAIM_NONE;
	if (err || b.at_ms > c->told_ms)
		return err == ENOENT ? 0 : err;
	err = is_word(db, c, &used);
	if (!err)
		err = is_name_then(db, c, &then);
	if (err)
		return err;
	/* What speaks is a person, and the word was then the name of one. */
	if (used)
		*out = name_speaks(c->fact, c->name) ? NAME_CLAIM_WEAK : NAME_CLAIM_NONE;
	else
		*out = then ? NAME_CLAIM_FULL : NAME_CLAIM_WEAK;
	return 0;
}
