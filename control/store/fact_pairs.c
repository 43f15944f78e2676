#include "control/store/fact_pairs.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/audit_kind.h"
#include "control/memory/slice.h"
#include "control/memory/terms.h"
#include "control/memory/vectors.h"
#include "control/store/audit.h"
#include "control/store/db.h"
#include "control/store/embedding.h"
#include "control/store/fact_channels.h"
#include "control/store/fact_known.h"
#include "control/store/fact_people.h"
#include "control/store/job.h"

enum {
	NEAR = 4,      /* pairs of a fact with earlier ones */
	BY_WORDS = 16, /* facts that share words with it, of which some make pairs */
	SCAN = 256,    /* facts that are looked at in one job, so that no search waits for long */
};
/* Cosine from which two facts are near: of the paraphrases in tests/memory/tuned 93 of 100 lie
 * above, and of pairs of unlike facts one in eighty. */
#define ALIKE 0.5

/* A fact that stands. */
struct standing {
	uint64_t id, owner, user;
	uint64_t from_ms, said_ms; /* its first time, and its newest one */
	char *text;		   /* own */
};

/* Pairs under way, of one author. */
struct gathering {
	struct db *db;
	struct embedding *e;
	uint64_t guild;
	uint64_t owner, user; /* of the pairs that are there */
	uint64_t mark;	      /* facts up to this id were looked at */
	size_t most;
	json_t *pairs;
};

static json_t *id_json(uint64_t id)
{
	return json_sprintf("%llu", (unsigned long long)id);
}

/* ---- meta ---- */

/* 0: there is none. */
static int get_number(struct db *db, const char *key, uint64_t *out)
{
	sqlite3_stmt *s = db_use(db, DB_GET_META);
	int err;

	db_bind_text(s, 1, key);
	err = db_step(db, s);
	*out = err ? 0 : db_uint(s, 0);
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

static int set_number(struct db *db, const char *key, uint64_t value)
{
	sqlite3_stmt *s = db_use(db, DB_SET_META);

	db_bind_text(s, 1, key);
	db_bind_uint(s, 2, value);
	return db_run(db, s);
}

static const char *mark_key(uint64_t guild, char key[48])
{
	snprintf(key, 48, "reflected:%llu", (unsigned long long)guild);
	return key;
}

/* ---- pairs of one fact ---- */

static void clear_standing(struct standing *f)
{
	free(f->text);
	*f = (struct standing){0};
}

/* Columns of FIND_NEXT_STANDING. */
static int read_standing(sqlite3_stmt *s, struct standing *out)
{
	char *text = strdup(db_text(s, 1));

	if (!text)
		return ENOMEM;
	*out = (struct standing){.id = db_uint(s, 0),
				 .owner = db_uint(s, 2),
				 .user = db_uint(s, 3),
				 .said_ms = db_uint(s, 4),
				 .text = text};
	return 0;
}

static bool was_given(struct db *db, uint64_t a, uint64_t b)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_PAIR);
	bool given;

	db_bind_uint(s, 1, a);
	db_bind_uint(s, 2, b);
	given = db_step(db, s) == 0;
	sqlite3_reset(s);
	return given;
}

static bool agree(struct db *db, uint64_t fact, const struct fact_people *people)
{
	struct fact_people others = {0};
	bool same = fact_people_read(db, fact, &others) == 0 && fact_people_agree(&others, people);

	fact_people_clear(&others);
	return same;
}

static json_t *pair_json(const struct standing *f, sqlite3_stmt *s)
{
	uint64_t id = db_uint(s, 0), said_ms = fact_known_said_ms(s);
	bool later = said_ms > f->said_ms; /* an import brings earlier facts */

	return json_pack("{s:I,s:s,s:I,s:I,s:s,s:I}", "older", (json_int_t)(later ? f->id : id),
			 "was", later ? f->text : db_text(s, 1), "older_ms",
			 (json_int_t)(later ? f->said_ms : said_ms), "newer",
			 (json_int_t)(later ? id : f->id), "is", later ? db_text(s, 1) : f->text,
			 "newer_ms", (json_int_t)(later ? said_ms : f->said_ms));
}

/* The row of a fact that may be near. */
static void take_row(struct gathering *g, const struct standing *f,
		     const struct fact_people *people, sqlite3_stmt *s, bool near, json_t *found)
{
	uint64_t id = db_uint(s, 0);

	if (json_array_size(found) == NEAR || id >= f->id || db_uint(s, 4) != f->user ||
	    !(near || slice_fits(f->text, db_text(s, 1))) || was_given(g->db, id, f->id) ||
	    !agree(g->db, id, people))
		return;
	json_array_append_new(found, pair_json(f, s));
}

static int find_by_meaning(struct gathering *g, const struct standing *f,
			   const struct fact_people *people, json_t *found)
{
	struct vector v;
	const struct fact_new fact = {
		.guild = g->guild, .owner = f->owner, .user = f->user, .meaning = &v};
	struct fact_likes likes = {0};
	int err = embedding_get(g->db, EMBEDDING_FACTS, g->guild, f->id, &v);

	if (!err)
		err = fact_known_find_likes(g->db, g->e, &fact, f->owner, &likes);
	for (size_t i = 0; i < likes.n && !err && likes.fact[i].likeness >= ALIKE; i++) {
		sqlite3_stmt *s =
			fact_known_use(g->db, g->guild, f->owner, f->owner, likes.fact[i].id);

		err = db_step(g->db, s);
		if (!err)
			take_row(g, f, people, s, true, found);
		sqlite3_reset(s);
		err = err == ENOENT ? 0 : err;
	}
	return err == ENOENT ? 0 : err;
}

static bool is_found(const json_t *found, uint64_t id)
{
	const json_t *pair;
	size_t i;

	json_array_foreach(found, i, pair)
	{
		if ((uint64_t)json_integer_value(json_object_get(pair, "older")) == id ||
		    (uint64_t)json_integer_value(json_object_get(pair, "newer")) == id)
			return true;
	}
	return false;
}

static int find_by_words(struct gathering *g, const struct standing *f,
			 const struct fact_people *people, json_t *found)
{
	char query[TERMS_QUERY_MAX];
	sqlite3_stmt *s;
	int err;

	if (!terms_query(query, f->text))
		return 0;
	s = db_use(g->db, DB_FIND_FACTS);
	db_bind_uint(s, 1, g->guild);
	db_bind_uint(s, 2, f->owner);
	db_bind_uint(s, 3, f->owner);
	db_bind_text(s, 4, query);
	db_bind_uint(s, 5, BY_WORDS);
	db_bind_uint(s, 6, f->user);
	while ((err = db_step(g->db, s)) == 0)
		if (!is_found(found, db_uint(s, 0)))
			take_row(g, f, people, s, false, found);
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

/* Adds the pairs of the fact. ENOSPC: they belong to another request. */
static int add_fact(struct gathering *g, const struct standing *f)
{
	struct fact_people people = {0};
	json_t *found = json_array();
	size_t n;
	int err = found ? fact_people_read(g->db, f->id, &people) : ENOMEM;

	if (!err)
		err = find_by_meaning(g, f, &people, found);
	if (!err)
		err = find_by_words(g, f, &people, found);
	fact_people_clear(&people);
	n = json_array_size(found);
	if (!err && n && json_array_size(g->pairs) &&
	    (g->owner != f->owner || g->user != f->user || json_array_size(g->pairs) + n > g->most))
		err = ENOSPC;
	for (size_t i = 0; !err && i < n; i++) {
		g->owner = f->owner;
		g->user = f->user;
		err = json_array_append(g->pairs, json_array_get(found, i)) ? ENOMEM : 0;
	}
	json_decref(found);
	return err;
}

/* ---- the pairs of a server ---- */

static int next_standing(const struct gathering *g, struct standing *out)
{
	sqlite3_stmt *s = db_use(g->db, DB_FIND_NEXT_STANDING);
	int err;

	db_bind_uint(s, 1, g->guild);
	db_bind_uint(s, 2, g->mark);
	err = db_step(g->db, s);
	if (!err)
		err = read_standing(s, out);
	sqlite3_reset(s);
	return err;
}

/* ENOENT: all of them were looked at. */
static int gather(struct gathering *g)
{
	int err = 0;

	for (unsigned i = 0; i < SCAN && !err; i++) {
		struct standing f = {0};

		err = next_standing(g, &f);
		if (!err)
			err = add_fact(g, &f);
		if (!err)
			g->mark = f.id;
		clear_standing(&f);
	}
	return err == ENOSPC || (err == ENOENT && json_array_size(g->pairs)) ? 0 : err;
}

static json_t *gathered_json(const struct gathering *g, uint64_t servers)
{
	return json_pack("{s:o,s:o,s:o,s:I,s:I,s:O}", "guild", id_json(g->guild), "owner",
			 id_json(g->owner), "user", id_json(g->user), "servers",
			 (json_int_t)servers, "mark", (json_int_t)g->mark, "pairs", g->pairs);
}

/* Pairs that the server was given since then. */
static int count_given(struct db *db, uint64_t guild, uint64_t since_ms, uint64_t *out)
{
	sqlite3_stmt *s = db_use(db, DB_COUNT_PAIRS);
	int err;

	db_bind_uint(s, 1, guild);
	db_bind_uint(s, 2, since_ms);
	err = db_step(db, s);
	*out = err ? 0 : db_uint(s, 0);
	sqlite3_reset(s);
	return err;
}

/* ENOENT: the server has none. Facts without pairs are marked at once, others with the decisions.
 */
static int next_of_guild(struct db *db, struct embedding *e, const struct job *j, uint64_t guild,
			 uint64_t servers, json_t **out)
{
	struct gathering g = {.db = db, .e = e, .guild = guild, .pairs = json_array()};
	uint64_t given = 0;
	char key[48];
	int err = g.pairs ? count_given(db, guild, j->now_ms, &given) : ENOMEM;

	/* Pairs of a fact come together. */
	if (!err && given + NEAR > j->version)
		err = ENOENT;
	g.most = err ? 0 : (size_t)(j->version - given);
	if (!err)
		err = get_number(db, mark_key(guild, key), &g.mark);
	if (!err)
		err = gather(&g);
	if ((!err || err == ENOENT) && g.mark && !json_array_size(g.pairs)) {
		int failed = set_number(db, mark_key(guild, key), g.mark);

		err = failed ? failed : err;
	}
	if (!err)
		*out = gathered_json(&g, servers);
	json_decref(g.pairs);
	return err || *out ? err : ENOMEM;
}

/* [[server, it is left out], …] */
static int list_guilds(struct db *db, const struct job *j, json_t *guilds)
{
	sqlite3_stmt *s = db_use(db, DB_LIST_FACT_GUILDS);
	int err;

	db_bind_text(s, 1, j->text);
	while ((err = db_step(db, s)) == 0)
		json_array_append_new(
			guilds, json_pack("[I,b]", (json_int_t)db_uint(s, 0), (int)db_uint(s, 1)));
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

static int next_of_all(struct db *db, struct embedding *e, const struct job *j, json_t **out)
{
	json_t *guilds = json_array(), *guild;
	int err = guilds ? list_guilds(db, j, guilds) : ENOMEM;
	size_t i;

	json_array_foreach(guilds, i, guild)
	{
		if (err || *out)
			break;
		if (json_is_true(json_array_get(guild, 1)))
			continue;
		err = next_of_guild(db, e, j,
				    (uint64_t)json_integer_value(json_array_get(guild, 0)),
				    json_array_size(guilds), out);
		err = err == ENOENT ? 0 : err;
	}
	json_decref(guilds);
	return err;
}

/* A database that no reflection has seen begins with the next day, at its hour. */
static int is_due(struct db *db, uint64_t day)
{
	uint64_t done;
	int err = get_number(db, "reflected", &done);

	if (err)
		return err;
	if (!done)
		return set_number(db, "reflected", day) ? EIO : ENOENT;
	return done < day ? 0 : ENOENT;
}

static int end_day(struct db *db, uint64_t day)
{
	int err = db_run(db, db_use(db, DB_DROP_LOST_PAIRS));

	return err ? err : set_number(db, "reflected", day);
}

int fact_pairs_next(struct db *db, struct embedding *e, const struct job *j, char **out)
{
	json_t *found = NULL;
	bool done;
	int err = db_begin(db);

	if (err)
		return err;
	err = is_due(db, j->owner);
	done = err == ENOENT;
	if (!err)
		err = next_of_all(db, e, j, &found);
	if (!err && !found) {
		err = end_day(db, j->owner);
		done = !err;
	}
	if (!err || done)
		err = db_commit(db);
	else
		db_rollback(db);
	if (!err && found)
		*out = json_dumps(found, JSON_COMPACT);
	json_decref(found);
	return err ? err : done ? ENOENT : *out ? 0 : ENOMEM;
}

/* ---- decisions ---- */

struct decided {
	unsigned duplicate, update, conflict, other;
};

static bool read_fact(struct db *db, const struct job *j, uint64_t id, struct standing *out)
{
	sqlite3_stmt *s = fact_known_use(db, j->guild, j->owner, j->owner, id);
	bool stands = db_step(db, s) == 0 && db_uint(s, 4) == j->user;

	if (stands)
		*out = (struct standing){
			.id = id, .from_ms = db_uint(s, 8), .said_ms = fact_known_said_ms(s)};
	sqlite3_reset(s);
	return stands;
}

static int close_fact(struct db *db, uint64_t id, uint64_t by, uint64_t at_ms)
{
	sqlite3_stmt *s = db_use(db, DB_CLOSE_FACT);

	db_bind_uint(s, 1, id);
	db_bind_uint(s, 2, at_ms);
	db_bind_uint(s, 3, by);
	return db_run(db, s);
}

/* The earlier one stays, with the evidence of both, for as long as the later one would have. The
 * later one ends before it began: it never was another value, so no
 * search gives it as a former one. */
static int merge(struct db *db, const struct standing *older, const struct standing *newer)
{
	static const enum db_statement both[] = {DB_COPY_FACT_SOURCES, DB_RENEW_BY_FACT};
	int err = 0;

	for (size_t i = 0; i < sizeof both / sizeof both[0] && !err; i++) {
		sqlite3_stmt *s = db_use(db, both[i]);

		db_bind_uint(s, 1, older->id);
		db_bind_uint(s, 2, newer->id);
		err = db_run(db, s);
	}
	return err ? err : close_fact(db, newer->id, older->id, newer->from_ms - 1);
}

static int note_pair(struct db *db, const struct job *j, uint64_t older, uint64_t newer,
		     const char *relation)
{
	sqlite3_stmt *s = db_use(db, DB_ADD_PAIR);

	db_bind_uint(s, 1, older);
	db_bind_uint(s, 2, newer);
	db_bind_text(s, 3, relation);
	db_bind_uint(s, 4, j->now_ms);
	return db_run(db, s);
}

/* Of facts that were forgotten or ended meanwhile nothing is decided. */
static int decide(struct db *db, const struct job *j, const json_t *pair, struct decided *d)
{
	uint64_t older = (uint64_t)json_integer_value(json_object_get(pair, "older"));
	uint64_t newer = (uint64_t)json_integer_value(json_object_get(pair, "newer"));
	const char *relation = json_string_value(json_object_get(pair, "relation"));
	struct standing was = {0}, is = {0};
	int err = relation ? 0 : EINVAL;

	if (err || !read_fact(db, j, older, &was) || !read_fact(db, j, newer, &is))
		return err;
	if (strcmp(relation, "duplicate") == 0) {
		d->duplicate++;
		err = merge(db, &was, &is);
	} else if (strcmp(relation, "update") == 0 && was.said_ms <= is.said_ms) {
		d->update++;
		err = close_fact(db, older, newer, is.said_ms);
	} else if (strcmp(relation, "conflict") == 0) {
		d->conflict++;
	} else {
		d->other++;
	}
	return err ? err : note_pair(db, j, older, newer, relation);
}

static int tell_audit(struct db *db, const struct job *j, const struct decided *d)
{
	char target[32], result[96];

	snprintf(target, sizeof target, "guild:%llu", (unsigned long long)j->guild);
	snprintf(result, sizeof result, "merged=%u updated=%u conflicts=%u kept=%u", d->duplicate,
		 d->update, d->conflict, d->other);
	return audit_add(db, &(struct audit_row){.at_ms = j->now_ms,
						 .actor = "control",
						 .via = "reflection",
						 .kind = audit_kind_name(AUDIT_KIND_MEMORY_REFLECT),
						 .target = target,
						 .result = result});
}

static int decide_all(struct db *db, const struct job *j, const json_t *request, struct decided *d)
{
	const json_t *pairs = json_object_get(request, "pairs"), *pair;
	char key[48];
	size_t i;
	int err = 0;

	json_array_foreach(pairs, i, pair)
	{
		err = err ? err : decide(db, j, pair, d);
	}
	if (!err)
		err = set_number(db, mark_key(j->guild, key), j->version);
	return err || !json_array_size(pairs) ? err : tell_audit(db, j, d);
}

int fact_pairs_end(struct db *db, const struct job *j, char **out)
{
	json_t *request = json_loads(j->text, 0, NULL), *done;
	struct decided d = {0};
	int err = request ? db_begin_synced(db) : EINVAL;

	if (!err) {
		err = decide_all(db, j, request, &d);
		if (err)
			db_rollback(db);
		else
			err = db_commit(db);
	}
	json_decref(request);
	if (err)
		return err;
	done = json_pack("{s:I,s:I,s:I,s:I}", "merged", (json_int_t)d.duplicate, "updated",
			 (json_int_t)d.update, "conflicts", (json_int_t)d.conflict, "kept",
			 (json_int_t)d.other);
	*out = done ? json_dumps(done, JSON_COMPACT) : NULL;
	json_decref(done);
	return *out ? 0 : ENOMEM;
}

/* ---- telling ---- */

int fact_pairs_tell(struct db *db, json_t *fact)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_CONFLICTS);
	json_t *conflicts = json_array();
	int err;

	db_bind_uint(s, 1, (uint64_t)json_integer_value(json_object_get(fact, "id")));
	while ((err = db_step(db, s)) == 0)
		json_array_append_new(
			conflicts,
			json_pack("{s:s,s:I,s:o,s:o*}", "text", db_text(s, 0), "from_ms",
				  (json_int_t)db_uint(s, 1), "user",
				  json_sprintf("%llu", (unsigned long long)db_uint(s, 3)),
				  "channels", fact_channels(s, 2)));
	sqlite3_reset(s);
	if (json_array_size(conflicts))
		json_object_set(fact, "conflicts", conflicts);
	json_decref(conflicts);
	return err == ENOENT ? 0 : err;
}
