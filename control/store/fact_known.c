#include "control/store/fact_known.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "control/memory/terms.h"
#include "control/memory/vectors.h"
#include "control/store/db.h"
#include "control/store/embedding.h"
#include "control/store/fact_people.h"

enum {
	CANDIDATES = 16, /* older facts that a new one is compared with, by words and by meaning */
	LOOKED_AT = 16 * FACT_LIKES,
};

/* ---- meaning ---- */

static int by_likeness(const void *a, const void *b)
{
	double x, y;

	memcpy(&x, (const char *)a + sizeof(uint64_t), sizeof x);
	memcpy(&y, (const char *)b + sizeof(uint64_t), sizeof y);
	return (x < y) - (x > y);
}

static int read_likes(struct db *db, const struct fact_new *f, const uint64_t *ids, size_t n,
		      struct fact_likes *out)
{
	struct vector v;
	int err = 0;

	for (size_t i = 0; i < n && out->n < FACT_LIKES && !err; i++) {
		err = embedding_get(db, EMBEDDING_FACTS, f->guild, ids[i], &v);
		if (!err) {
			out->fact[out->n].id = ids[i];
			out->fact[out->n++].likeness = vector_cosine(&v, f->meaning);
		} else if (err == ENOENT) {
			err = 0;
		}
	}
	return err;
}

/* The vectors in memory are also those of facts that have ended: where these leave too few, more
 * are looked at. */
int fact_known_find_likes(struct db *db, struct embedding *e, const struct fact_new *f,
			  uint64_t other, struct fact_likes *out)
{
	const struct vector_filter filter = {.group = {f->owner, other},
					     .until_ms = UINT64_MAX,
					     .speaker = vector_speaker(f->user)};
	const struct embedding_query query = {EMBEDDING_FACTS, f->guild, f->meaning, &filter};
	uint64_t ids[LOOKED_AT];
	size_t most = FACT_LIKES, n = most;
	int err = 0;

	out->n = 0;
	while (f->meaning && !err && n == most && out->n < CANDIDATES && most <= LOOKED_AT) {
		out->n = 0;
		err = embedding_find(e, db, &query, ids, most, &n);
		if (!err)
			err = read_likes(db, f, ids, n, out);
		if (n == most)
			n = most *= 4;
	}
	qsort(out->fact, out->n, sizeof out->fact[0], by_likeness);
	return err;
}

double fact_known_likeness(const struct fact_likes *likes, uint64_t id)
{
	for (size_t i = 0; i < likes->n; i++)
		if (likes->fact[i].id == id)
			return likes->fact[i].likeness;
	return 0;
}

sqlite3_stmt *fact_known_use(struct db *db, uint64_t guild, uint64_t owner, uint64_t other,
			     uint64_t id)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_FACT_BY_ID);

	db_bind_uint(s, 1, guild);
	db_bind_uint(s, 2, owner);
	db_bind_uint(s, 3, other);
	db_bind_uint(s, 4, id);
	return s;
}

uint64_t fact_known_said_ms(sqlite3_stmt *s)
{
	uint64_t again_ms = db_uint(s, 11);

	return again_ms ? again_ms : db_uint(s, 8);
}

/* ---- comparing ---- */

static double compare_meanings(const char *a, const char *b, void *arg)
{
	struct vector x, y;

	if (embedding_words(arg, a, &x) || embedding_words(arg, b, &y))
		return 0;
	return vector_cosine(&x, &y);
}

/* A comparison under way. */
struct comparison {
	struct db *db;
	const struct fact_new *f;
	struct fact_meaning meaning; /* without an encoder: no handler */
	struct fact_touched *out;
};

/* Of the same author and people: two people may contradict each other, and so may namesakes. */
static bool is_comparable(sqlite3_stmt *s, const struct comparison *c)
{
	struct fact_people people = {0};
	bool agree;

	if (db_uint(s, 4) != c->f->user || db_uint(s, 0) > c->f->newest)
		return false;
	agree = fact_people_read(c->db, db_uint(s, 0), &people) == 0 &&
		fact_people_agree(&people, c->f->people);
	fact_people_clear(&people);
	return agree;
}

/* Notes what the new text does to the fact of this row. True: nothing can change that any more. */
static bool compare_row(sqlite3_stmt *s, const struct comparison *c)
{
	enum fact_change change;

	if (!is_comparable(s, c))
		return false;
	change = fact_compare(db_text(s, 1), c->f->text, true,
			      c->meaning.likenessh ? &c->meaning : NULL);
	/* The same one wins over one that it would take the place of. */
	if (change != FACT_NEW && (!c->out->id || change == FACT_SAME))
		*c->out = (struct fact_touched){
			.id = db_uint(s, 0), .said_ms = fact_known_said_ms(s), .change = change};
	return change == FACT_SAME;
}

static int compare_by_words(const struct comparison *c)
{
	char query[TERMS_QUERY_MAX];
	sqlite3_stmt *s;
	int err;

	if (!terms_query(query, c->f->text))
		return 0;
	s = db_use(c->db, DB_FIND_FACTS);
	db_bind_uint(s, 1, c->f->guild);
	db_bind_uint(s, 2, c->f->owner);
	db_bind_uint(s, 3, c->f->owner);
	db_bind_text(s, 4, query);
	db_bind_uint(s, 5, CANDIDATES);
	db_bind_uint(s, 6, c->f->user);
	while ((err = db_step(c->db, s)) == 0)
		if (compare_row(s, c))
			break;
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

int fact_known_compare(struct db *db, struct embedding *e, const struct fact_new *f,
		       struct fact_touched *out)
{
	const struct comparison c = {
		.db = db, .f = f, .meaning = {f->meaning ? compare_meanings : NULL, e}, .out = out};
	struct fact_likes likes;
	bool same = false;
	int err = fact_known_find_likes(db, e, f, f->owner, &likes);

	*out = (struct fact_touched){0};
	for (size_t i = 0; i < likes.n && i < CANDIDATES && !err && !same; i++) {
		sqlite3_stmt *s =
			fact_known_use(db, f->guild, f->owner, f->owner, likes.fact[i].id);

		err = db_step(db, s);
		same = !err && compare_row(s, &c);
		sqlite3_reset(s);
		err = err == ENOENT ? 0 : err;
	}
	return err || same ? err : compare_by_words(&c);
}
