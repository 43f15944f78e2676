#include "control/store/fact_rows.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/memory/compare.h"
#include "control/memory/rank.h"
#include "control/memory/slice.h"
#include "control/memory/support.h"
#include "control/memory/terms.h"
#include "control/memory/vectors.h"
#include "control/store/audit.h"
#include "control/store/db.h"
#include "control/store/db_merge.h"
#include "control/store/erased_facts.h"
#include "control/store/embedding.h"
#include "control/store/fact_channels.h"
#include "control/store/fact_filter.h"
#include "control/store/fact_known.h"
#include "control/store/fact_later.h"
#include "control/store/fact_newer.h"
#include "control/store/fact_pairs.h"
#include "control/store/fact_people.h"
#include "control/store/fact_sources.h"
#include "control/store/forgotten.h"
#include "control/store/job.h"
#include "control/store/store.h"
#include "control/store/summaries.h"
#include "ipc/log.h"

enum {
	LIKE = 64, /* facts whose vectors are near the question's */
	MINUTE_MS = 60000,
};

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static uint64_t ms_at(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

/* ---- what was done, without content ---- */

int fact_rows_audit(struct db *db, const struct job *j, enum audit_kind kind, const char *result)
{
	char actor[24], target[32];

	snprintf(actor, sizeof actor, "%llu", (unsigned long long)j->user);
	snprintf(target, sizeof target, "guild:%llu", (unsigned long long)j->guild);
	return audit_add(db, &(struct audit_row){.at_ms = j->now_ms,
						 .actor = j->by_operator ? "operator" : actor,
						 .via = j->by_operator ? "http" : "tool",
						 .kind = audit_kind_name(kind),
						 .target = target,
						 .result = result});
}

static int count_writes(struct db *db, const struct job *j, unsigned *out)
{
	sqlite3_stmt *s = db_use(db, DB_COUNT_FACT_WRITES);
	char target[32];
	int err;

	snprintf(target, sizeof target, "guild:%llu", (unsigned long long)j->guild);
	db_bind_uint(s, 1, j->now_ms > MINUTE_MS ? j->now_ms - MINUTE_MS : 0);
	db_bind_text(s, 2, target);
	err = db_step(db, s);
	if (!err)
		*out = (unsigned)db_uint(s, 0);
	sqlite3_reset(s);
	return err;
}

/* ---- writing ---- */

/* A new fact and its evidence. Pointers are borrowed. */
struct statement {
	const json_t *item;
	const struct vector *meaning; /* NULL without an encoder */
	uint64_t said_ms;	      /* 0: its lines are gone */
	struct fact_people people;
};

static int insert_fact(struct db *db, const struct job *j, const json_t *item, uint64_t said_ms,
		       uint64_t *out)
{
	char *tags = json_dumps(json_object_get(item, "tags"), JSON_COMPACT);
	sqlite3_stmt *s = db_use(db, DB_ADD_FACT);
	int err;

	db_bind_uint(s, 1, j->guild);
	db_bind_uint(s, 2, j->owner);
	db_bind_uint(s, 3, j->user);
	db_bind_text(s, 4, j->author);
	db_bind_text(s, 5, text_at(item, "type"));
	db_bind_text(s, 6, tags ? tags : "[]");
	db_bind_text(s, 7, text_at(item, "text"));
	db_bind_uint(s, 8, j->now_ms);
	db_bind_uint(s, 9, said_ms);
	db_bind_uint(s, 10, j->channel);
	err = db_run(db, s);
	free(tags);
	if (err)
		return err;
	*out = db_last_row(db);
	s = db_use(db, DB_ADD_FACT_TERMS);
	db_bind_uint(s, 1, *out);
	err = db_run(db, s);
	return err ? err : fact_sources_add(db, j, item, *out);
}

static int close_fact(struct db *db, uint64_t older, uint64_t newer, uint64_t said_ms)
{
	sqlite3_stmt *s = db_use(db, DB_CLOSE_FACT);

	db_bind_uint(s, 1, older);
	db_bind_uint(s, 2, said_ms);
	db_bind_uint(s, 3, newer);
	return db_run(db, s);
}

/* Somebody who says a fact again wants it kept for as long as a new one. */
static int renew_fact(struct db *db, const struct job *j, const struct statement *f, uint64_t id)
{
	sqlite3_stmt *s = db_use(db, DB_RENEW_FACT);
	int err;

	db_bind_uint(s, 1, id);
	db_bind_uint(s, 2, f->said_ms);
	db_bind_uint(s, 3, j->channel);
	db_bind_text(s, 4, text_at(f->item, "text"));
	err = db_run(db, s);
	return err ? err : fact_sources_add(db, j, f->item, id);
}

/* What was done with the items of a request. */
struct told {
	json_t *written, *skipped;
};

static void tell_skipped(json_t *skipped, const char *text, const char *reason)
{
	json_array_append_new(skipped, json_pack("{s:s,s:s}", "text", text, "reason", reason));
}

static int replace_fact(struct db *db, struct embedding *e, const struct job *j,
			const struct statement *f, const struct fact_touched *older, uint64_t *id)
{
	int err = insert_fact(db, j, f->item, f->said_ms, id);

	if (!err)
		err = fact_people_add(db, *id, &f->people);
	if (!err && f->meaning)
		err = embedding_add_fact(db, e, *id, f->meaning);
	if (!err && older->id)
		err = close_fact(db, older->id, *id, f->said_ms);
	return err ? err
		   : fact_rows_audit(db, j, AUDIT_KIND_MEMORY_WRITE,
				     older->id ? "updated" : "inserted");
}

/* A fact without named lines is said now. One with lines was said in the newest of them; 0 if one
 * is missing: it expired, its speaker was erased or a fact from it was forgotten while a model
 * looked for facts. The words that carry the fact may be those of the missing line. */
static int find_time(struct db *db, const struct job *j, const json_t *item, uint64_t *said_ms)
{
	const json_t *lines = json_object_get(item, "evidence"), *id;
	size_t i;

	*said_ms = lines ? 0 : j->now_ms;
	json_array_foreach(lines, i, id)
	{
		sqlite3_stmt *s = db_use(db, DB_FIND_FACT_LINE);
		int err;

		db_bind_uint(s, 1, (uint64_t)json_integer_value(id));
		db_bind_uint(s, 2, j->user);
		db_bind_uint(s, 3, j->guild);
		err = db_step(db, s);
		if (!err && db_uint(s, 0) > *said_ms)
			*said_ms = db_uint(s, 0);
		sqlite3_reset(s);
		if (err) {
			*said_ms = 0;
			return err == ENOENT ? 0 : err;
		}
	}
	return 0;
}

/* Compares it with what the memory has, and writes it unless that says it already. */
static int write_statement(struct db *db, struct embedding *e, const struct job *j,
			   const struct statement *f, struct told *told)
{
	const char *text = text_at(f->item, "text");
	const struct fact_new fact = {.guild = j->guild,
				      .owner = j->owner,
				      .user = j->user,
				      .text = text,
				      .meaning = f->meaning,
				      .people = &f->people,
				      .newest = UINT64_MAX};
	struct fact_touched older = {0};
	uint64_t id = 0;
	int err = fact_known_compare(db, e, &fact, &older);

	if (err)
		return err;
	if (older.change == FACT_SAME) {
		tell_skipped(told->skipped, text, "duplicate");
		return renew_fact(db, j, f, older.id);
	}
	if (older.id && f->said_ms < older.said_ms) {
		tell_skipped(told->skipped, text, "outdated");
		return 0;
	}
	err = replace_fact(db, e, j, f, &older, &id);
	if (!err)
		json_array_append_new(told->written,
				      json_pack("{s:I,s:s,s:s}", "id", (json_int_t)id, "status",
						older.id ? "updated" : "inserted", "text", text));
	return err;
}

static int write_one(struct db *db, struct embedding *e, const struct job *j, const json_t *item,
		     struct told *told)
{
	const char *text = text_at(item, "text");
	struct vector v;
	struct statement f = {.item = item, .meaning = embedding_text(e, text, &v) ? NULL : &v};
	struct fact_place place = {j->guild, j->owner, j->user, FACT_TOLD_NOW};
	int err = find_time(db, j, item, &f.said_ms);

	if (!err && !f.said_ms) {
		tell_skipped(told->skipped, text, "no_evidence");
		return 0;
	}
	if (json_object_get(item, "evidence"))
		place.told_ms = f.said_ms;
	if (!err)
		err = fact_people_find(db, &place, text, &f.people);
	if (!err)
		err = write_statement(db, e, j, &f, told);
	fact_people_clear(&f.people);
	return err;
}

static int write_all(struct db *db, struct embedding *e, const struct job *j, const json_t *items,
		     json_t *out)
{
	struct told told = {json_array(), json_array()};
	const json_t *item;
	unsigned writes = 0;
	size_t i;
	int err = count_writes(db, j, &writes);

	json_array_foreach(items, i, item)
	{
		if (!err && writes + json_array_size(told.written) >= FACTS_A_MINUTE)
			tell_skipped(told.skipped, text_at(item, "text"), "write_rate_limited");
		else if (!err)
			err = write_one(db, e, j, item, &told);
	}
	json_object_set_new(out, "written", told.written);
	json_object_set_new(out, "skipped", told.skipped);
	return err;
}

int fact_rows_dump(int err, json_t *json, char **out)
{
	if (!err)
		*out = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	return !err && !*out ? ENOMEM : err;
}

int fact_rows_write(struct db *db, struct embedding *e, const struct job *j, char **out)
{
	json_t *items = json_loads(j->text, 0, NULL), *done = json_object();
	int err = items ? db_begin_synced(db) : EINVAL;

	if (!err) {
		err = write_all(db, e, j, items, done);
		if (err)
			db_rollback(db);
		else
			err = db_commit(db);
	}
	json_decref(items);
	return fact_rows_dump(err, done, out);
}

/* ---- finding ---- */

sqlite3_stmt *fact_rows_use(struct db *db, const struct job *j, const char *words, bool mine,
			    bool own_first)
{
	char query[TERMS_QUERY_MAX];
	bool terms = !mine && terms_query(query, words);
	sqlite3_stmt *s = db_use(db, terms ? DB_FIND_FACTS : DB_FIND_NEWEST_FACTS);

	db_bind_uint(s, 1, j->guild);
	db_bind_uint(s, 2, j->owner);
	db_bind_uint(s, 3, j->any ? 0 : j->owner);
	if (terms)
		db_bind_text(s, 4, query);
	else
		db_bind_uint(s, 4, mine ? j->user : 0);
	db_bind_uint(s, 5, STORE_FACTS_MAX);
	if (terms)
		db_bind_uint(s, 6, own_first ? j->user : 0);
	return s;
}

static json_t *fact_json(sqlite3_stmt *s)
{
	char user[24];
	json_t *tags = json_loads(db_text(s, 3), 0, NULL);

	snprintf(user, sizeof user, "%llu", (unsigned long long)db_uint(s, 4));
	return json_pack("{s:I,s:s,s:s,s:o,s:s,s:s,s:b,s:I,s:f,s:o*,s:o*}", "id",
			 (json_int_t)db_uint(s, 0), "text", db_text(s, 1), "type", db_text(s, 2),
			 "tags", tags ? tags : json_array(), "user", user, "name", db_text(s, 5),
			 "private", db_uint(s, 6) != 0, "at_ms", (json_int_t)db_uint(s, 8), "score",
			 db_real(s, 9), "channels", fact_channels(s, 10), "again_ms",
			 db_uint(s, 11) ? json_integer((json_int_t)db_uint(s, 11)) : NULL);
}

/* Adds the people to whom it is bound or may be bound. */
static int add_people(struct db *db, json_t *fact)
{
	struct fact_people people = {0};
	int err = fact_people_read(db, (uint64_t)json_integer_value(json_object_get(fact, "id")),
				   &people);

	if (!err && people.n)
		json_object_set_new(fact, "people", fact_people_json(&people));
	fact_people_clear(&people);
	return err;
}

/* Adds the facts that it replaced, with their dates, before the one that it may have replaced. */
static int add_former(struct db *db, json_t *fact)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_FORMER_FACTS);
	json_t *former = json_array();
	int err;

	db_bind_uint(s, 1, (uint64_t)json_integer_value(json_object_get(fact, "id")));
	while ((err = db_step(db, s)) == 0)
		json_array_append_new(former, json_pack("{s:s,s:I,s:I,s:o*}", "text", db_text(s, 1),
							"from_ms", (json_int_t)db_uint(s, 2),
							"until_ms", (json_int_t)db_uint(s, 3),
							"channels", fact_channels(s, 4)));
	json_array_extend(former, json_object_get(fact, "former"));
	json_object_set_new(fact, "former", former);
	return err == ENOENT ? 0 : err;
}

/* Facts in the order in which they answer the question. */
struct found {
	size_t n;
	enum fact_self self; /* the question is about the speaker */
	struct rank_line rank[STORE_FACTS_MAX + LIKE];
	json_t *fact[STORE_FACTS_MAX + LIKE];
};

/* ENOENT: no more rows, or no more room. */
static int take_fact(struct db *db, sqlite3_stmt *s, const struct job *j, const json_t *request,
		     const struct fact_likes *like, struct found *out)
{
	struct rank_line r = {.index = (unsigned)out->n};
	int err = out->n < sizeof out->rank / sizeof out->rank[0] ? db_step(db, s) : ENOENT;

	if (err)
		return err;
	r.id = db_uint(s, 0);
	r.at_ms = fact_known_said_ms(s);
	r.match = db_real(s, 9);
	r.likeness = fact_known_likeness(like, r.id);
	r.has_likeness = r.likeness != 0;
	r.named = out->self != FACT_SELF_NONE && db_uint(s, 4) == j->user;
	for (size_t i = 0; i < out->n; i++) {
		if (out->rank[i].id != r.id)
			continue;
		out->rank[i].match = r.match;
		return 0;
	}
	if (!fact_filter_has_tags(db_text(s, 3), json_object_get(request, "tags")))
		return 0;
	out->fact[out->n] = fact_json(s);
	out->rank[out->n++] = r;
	return out->fact[r.index] ? 0 : ENOMEM;
}

/* The fact with this id, if it may be told. */
static int take_by_id(struct db *db, uint64_t id, const struct job *j, const json_t *request,
		      const struct fact_likes *like, struct found *out)
{
	sqlite3_stmt *s = fact_known_use(db, j->guild, j->owner, j->any ? 0 : j->owner, id);
	int err;

	fact_filter_bind_untold(s, j, request);
	err = take_fact(db, s, j, request, like, out);
	sqlite3_reset(s);
	return err == ENOENT || err == ETIMEDOUT ? 0 : err;
}

/* Puts it before the fact that answered the question best, with that one's score: it answers as
 * well. */
static void put_first(struct found *out, size_t place)
{
	struct rank_line moved = out->rank[0];

	moved.id = out->rank[place].id;
	moved.at_ms = out->rank[place].at_ms;
	moved.index = out->rank[place].index;
	memmove(&out->rank[1], &out->rank[0], place * sizeof out->rank[0]);
	out->rank[0] = moved;
}

/* Whoever tells that something changed often leaves out what: the question finds the former value
 * alone. */
static int add_later(struct db *db, struct embedding *e, const struct job *j, const json_t *request,
		     struct found *out)
{
	const json_t *best = out->n ? out->fact[out->rank[0].index] : NULL;
	struct fact_later q = {j,
			       request,
			       j->any ? 0 : j->owner,
			       out->rank,
			       text_at(best, "text"),
			       strtoull(text_at(best, "user"), NULL, 10)};
	size_t i = 0;
	uint64_t id = 0;
	int err = best ? fact_later_find(db, e, &q, &id) : ENOENT;

	if (err)
		return err == ENOENT || err == ETIMEDOUT ? 0 : err;
	while (i < out->n && out->rank[i].id != id)
		i++;
	if (i == out->n)
		err = take_by_id(db, id, j, request, &(struct fact_likes){0}, out);
	if (!err && i < out->n) {
		fact_newer_note(out->fact[out->rank[i].index], out->rank[i].at_ms, best);
		put_first(out, i);
	}
	return err;
}

static int find_facts(struct db *db, struct embedding *e, const struct job *j,
		      const json_t *request, struct found *out)
{
	const char *words = text_at(request, "words");
	bool mine = json_is_true(json_object_get(request, "mine"));
	uint64_t other = j->any ? 0 : j->owner;
	char query[TERMS_QUERY_MAX];
	struct vector v;
	struct fact_likes like;
	bool elsewhere = embedding_is_elsewhere(e);
	bool embeds = !mine && !elsewhere && embedding_has_rows(e, db, EMBEDDING_FACTS, j->guild);
	const struct vector *meaning = mine					 ? NULL
				       : elsewhere				 ? j->meaning
				       : embeds && !embedding_text(e, words, &v) ? &v
										 : NULL;
	const struct fact_new question = {.guild = j->guild, .owner = j->owner, .meaning = meaning};
	int err = fact_known_find_likes(db, e, &question, other, &like);
	sqlite3_stmt *s;
	uint64_t best;

	out->self = fact_asks_about_self(words);
	/* Facts that are found in time are better than none. */
	err = err == ETIMEDOUT ? 0 : err;
	for (size_t i = 0; i < like.n && out->n < LIKE && !err; i++)
		err = take_by_id(db, like.fact[i].id, j, request, &like, out);
	if (!err && (!like.n || terms_query(query, words))) {
		s = fact_rows_use(db, j, words, mine, out->self != FACT_SELF_NONE);
		fact_filter_bind_tags(s, json_object_get(request, "tags"));
		fact_filter_bind_untold(s, j, request);
		while ((err = take_fact(db, s, j, request, &like, out)) == 0)
			;
		sqlite3_reset(s);
		if (err == ETIMEDOUT)
			log_warn("memory_search_late", "guild=%llu facts=%zu ms=%u",
				 (unsigned long long)j->guild, out->n, j->search_ms);
		err = err == ENOENT || err == ETIMEDOUT ? 0 : err;
	}
	if (!err && !mine && (like.n || terms_query(query, words))) {
		rank_facts(out->rank, out->n);
		best = out->n ? out->rank[0].id : 0;
		err = fact_newer_first(
			db, &(struct fact_found){.guild = j->guild,
						 .rank = out->rank,
						 .n = out->n,
						 .facts = out->fact,
						 .question = words,
						 .since_ms = ms_at(request, "since_ms"),
						 .until_ms = ms_at(request, "until_ms")});
		/* One that came before the best one is a later one already. */
		if (!err && out->n && out->rank[0].id == best)
			err = add_later(db, e, j, request, out);
	}
	return err;
}

/* "what do you know about me?": whatever the speaker has told. */
static bool is_asked_for(const struct found *f, size_t i)
{
	return f->self == FACT_SELF_ALL && f->rank[i].named;
}

int fact_rows_find(struct db *db, struct embedding *e, const struct job *j, char **out)
{
	json_t *request = json_loads(j->text, 0, NULL), *list = json_array();
	struct found *found = calloc(1, sizeof *found);
	int err = found && list ? db_begin_search(db, j->search_ms) : ENOMEM;

	if (!err)
		err = find_facts(db, e, j, request, found);
	db_lift_limit(db);
	for (size_t i = 0; !err && i < found->n && json_array_size(list) < j->version; i++) {
		json_t *fact = found->fact[found->rank[i].index];

		if (!is_asked_for(found, i) && !support_check_fact(&found->rank[i]))
			continue;
		json_object_set_new(fact, "score", json_real(found->rank[i].score));
		if (!is_asked_for(found, i) && !support_is_sure(&found->rank[i]))
			json_object_set_new(fact, "unsure", json_true());
		err = add_former(db, fact);
		err = err ? err : add_people(db, fact);
		err = err ? err : fact_pairs_tell(db, fact);
		json_array_append(list, fact);
	}
	db_rollback(db);
	for (size_t i = 0; found && i < found->n; i++)
		json_decref(found->fact[i]);
	free(found);
	json_decref(request);
	return fact_rows_dump(err, list, out);
}

/* ---- forgetting ---- */

/* It, and the facts whose place it took. */
static int note_facts(struct db *db, uint64_t id, struct forgotten *f)
{
	sqlite3_stmt *s = db_use(db, DB_LIST_FORMER_FACTS);
	int err, failed = 0;

	db_bind_uint(s, 1, id);
	while (!failed && (err = db_step(db, s)) == 0) {
		const struct erased_fact fact = {db_uint(s, 0), db_uint(s, 1), db_uint(s, 2),
						 db_text(s, 3)};

		failed = forgotten_note_fact(f, &fact);
	}
	sqlite3_reset(s);
	return failed ? failed : err == ENOENT ? 0 : err;
}

int fact_rows_drop(struct db *db, uint64_t id, const char *words, struct forgotten *f)
{
	static const enum db_statement all[] = {DB_FORGET_FACT_TERMS, DB_FORGET_FACT_VECTORS,
						DB_FORGET_FACT_SOURCES, DB_FORGET_FACT_PEOPLE,
						DB_FORGET_FACT};
	int err = note_facts(db, id, f);

	if (!err)
		err = summaries_forget(db, id, words, f);
	if (!err)
		err = db_run_each(db, all, sizeof all / sizeof all[0], id);
	return err;
}

int fact_rows_expire(struct db *db, uint64_t before_ms, unsigned *changed)
{
	static const enum db_statement all[] = {DB_EXPIRE_FACT_TERMS, DB_EXPIRE_FACT_VECTORS,
						DB_EXPIRE_FACT_SOURCES, DB_EXPIRE_FACT_PEOPLE,
						DB_EXPIRE_FACTS};
	int err = db_begin(db);

	*changed = 0;
	if (err)
		return err;
	err = db_run_each(db, all, sizeof all / sizeof all[0], before_ms);
	*changed = err ? 0 : db_changes(db);
	if (err)
		db_rollback(db);
	else
		err = db_commit(db);
	return !err && *changed ? db_merge(db, DB_INDEX_FACTS) : err;
}
