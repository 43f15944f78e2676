#include "control/store/fact_later.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>

#include "control/memory/rank.h"
#include "control/memory/terms.h"
#include "control/memory/vectors.h"
#include "control/store/db.h"
#include "control/store/embedding.h"
#include "control/store/fact_filter.h"
#include "control/store/fact_known.h"
#include "control/store/fact_newer.h"
#include "control/store/job.h"

enum { NEAR = 16 }; /* facts of the author that are looked at */

/* A look-up under way. */
struct lookup {
	const struct fact_later *q;
	const struct vector *was; /* of the best fact; NULL: it has none */
	uint64_t id, at_ms;	  /* the newest so far; id 0: none */
};

static bool is_within(uint64_t at_ms, const json_t *request)
{
	return at_ms >= (uint64_t)json_integer_value(json_object_get(request, "since_ms")) &&
	       at_ms < (uint64_t)json_integer_value(json_object_get(request, "until_ms"));
}

/* True if the question names the time of the best fact, and another one. */
static bool leaves_time(const struct fact_later *q, uint64_t at_ms)
{
	return is_within(q->best->at_ms, q->request) && !is_within(at_ms, q->request);
}

/* Takes the fact of this row if it is the newest one so far. is: its vector; NULL: it has none. */
static void take_row(struct lookup *l, sqlite3_stmt *s, const struct vector *is)
{
	const struct fact_later *q = l->q;
	const struct fact_text best = {q->text, l->was}, row = {db_text(s, 1), is};
	uint64_t at_ms = fact_known_said_ms(s);

	if (db_uint(s, 4) != q->author || at_ms <= q->best->at_ms + RANK_APART_MS ||
	    at_ms <= l->at_ms || leaves_time(q, at_ms) ||
	    !fact_filter_has_tags(db_text(s, 3), json_object_get(q->request, "tags")) ||
	    !fact_newer_alike(&best, &row, db_text(s, 5)))
		return;
	l->id = db_uint(s, 0);
	l->at_ms = at_ms;
}

static int look_by_meaning(struct db *db, struct embedding *e, struct lookup *l)
{
	const struct job *j = l->q->j;
	const struct vector_filter filter = {.group = {j->owner, l->q->other},
					     .until_ms = UINT64_MAX,
					     .speaker = vector_speaker(l->q->author)};
	const struct embedding_query query = {EMBEDDING_FACTS, j->guild, l->was, &filter};
	uint64_t ids[NEAR];
	struct vector is;
	size_t n = 0;
	int err = embedding_find(e, db, &query, ids, NEAR, &n);

	for (size_t i = 0; i < n && !err; i++) {
		sqlite3_stmt *s;

		err = embedding_get(db, EMBEDDING_FACTS, j->guild, ids[i], &is);
		if (err == ENOENT) {
			err = 0;
			continue;
		}
		s = fact_known_use(db, j->guild, j->owner, l->q->other, ids[i]);
		fact_filter_bind_untold(s, j, l->q->request);
		err = err ? err : db_step(db, s);
		if (!err)
			take_row(l, s, &is);
		sqlite3_reset(s);
		err = err == ENOENT ? 0 : err;
	}
	return err;
}

static int look_by_words(struct db *db, struct lookup *l)
{
	const struct job *j = l->q->j;
	char query[TERMS_QUERY_MAX];
	sqlite3_stmt *s;
	int err;

	if (!terms_query(query, l->q->text))
		return 0;
	s = db_use(db, DB_FIND_FACTS);
	db_bind_uint(s, 1, j->guild);
	db_bind_uint(s, 2, j->owner);
	db_bind_uint(s, 3, l->q->other);
	db_bind_text(s, 4, query);
	db_bind_uint(s, 5, NEAR);
	db_bind_uint(s, 6, l->q->author);
	fact_filter_bind_untold(s, j, l->q->request);
	while ((err = db_step(db, s)) == 0)
		take_row(l, s, NULL);
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

int fact_later_find(struct db *db, struct embedding *e, const struct fact_later *q, uint64_t *id)
{
	struct vector was;
	struct lookup l = {.q = q};
	int err = e ? embedding_get(db, EMBEDDING_FACTS, q->j->guild, q->best->id, &was) : ENOENT;

	l.was = err ? NULL : &was;
	if (!err)
		err = look_by_meaning(db, e, &l);
	else if (err == ENOENT)
		err = look_by_words(db, &l);
	if (!err && l.id)
		*id = l.id;
	return err ? err : l.id ? 0 : ENOENT;
}
