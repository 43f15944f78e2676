#include "control/store/said.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/memory/english.h"
#include "control/memory/question.h"
#include "control/memory/rank.h"
#include "control/memory/support.h"
#include "control/memory/terms.h"
#include "control/memory/time_cue.h"
#include "control/memory/vectors.h"
#include "control/memory/whose.h"
#include "control/store/db.h"
#include "control/store/embedding.h"
#include "control/store/job.h"
#include "control/store/question_people.h"
#include "control/store/scope_rows.h"
#include "control/store/term_search.h"
#include "ipc/log.h"

enum {
	FOUND = 24,   /* lines that share most words with the question */
	LIKELY = 256, /* lines whose vectors are compared with the question's */
	LIKE = 32,    /* those of them that stay */
	BESIDE = 2,   /* lines before and after each of them */
	NEWER = 32,   /* of the best lines, a newer one about the same comes first */
	CLOSE = 12,   /* of these; a line behind them has to be more alike */
	LINES = 2 * (FOUND + LIKE) * (1 + 2 * BESIDE), /* of a loose window and of all times */
};

/* Cosine from which two lines are taken to be about the same. */
#define ALIKE	  0.45
#define ALIKE_FAR 0.6

struct lines {
	size_t n;
	struct question_people named;
	struct time_window loose; /* whose lines are worth more; until_ms 0: none */
	struct rank_line rank[LINES];
	json_t *line[LINES];
	bool unsure;	 /* nothing in the best lines supports an answer */
	bool late;	 /* the time was up before all were found */
	bool other_time; /* nothing was found of the time that the question names */
};

static bool is_within(const struct time_window *w, uint64_t at_ms)
{
	return at_ms >= w->since_ms && at_ms < w->until_ms;
}

static int64_t end_of(const struct job *j)
{
	return j->until_ms && j->until_ms < INT64_MAX ? (int64_t)j->until_ms : INT64_MAX;
}

/* by_speaker: only those of the speaker whom the query names. */
static sqlite3_stmt *use_lines(struct db *db, enum db_statement statement, const struct job *j,
			       bool by_speaker, unsigned most)
{
	sqlite3_stmt *s = db_use(db, statement);

	db_bind_uint(s, 1, j->guild);
	db_bind_uint(s, 2, j->channel);
	db_bind_uint(s, 3, j->now_ms);
	db_bind_uint(s, 4, (uint64_t)end_of(j));
	db_bind_text(s, 5, by_speaker ? j->author : "");
	db_bind_uint(s, 6, most);
	db_bind_uint(s, 9, by_speaker ? j->user : 0);
	db_bind_uint(s, 10, by_speaker && j->bot);
	return s;
}

/* The lines before this one, or after it. Its time is the only bound on its side: SQLite would scan
 * from the other one if there were two. */
static sqlite3_stmt *use_beside(struct db *db, const struct job *j, const struct rank_line *r,
				bool after, bool by_speaker, unsigned most)
{
	sqlite3_stmt *s =
		use_lines(db, after ? DB_FIND_AFTER : DB_FIND_BEFORE, j, by_speaker, most);

	db_bind_uint(s, after ? 3 : 4, r->at_ms + 1);
	db_bind_uint(s, 7, r->id);
	return s;
}

/* An answer to several people may quote each of them, and everybody whom its prompt quoted. */
static json_t *list_people(struct db *db, enum db_statement which, uint64_t id)
{
	sqlite3_stmt *s = db_use(db, which);
	json_t *list = json_array();
	char user[24];

	db_bind_uint(s, 1, id);
	while (db_step(db, s) == 0) {
		snprintf(user, sizeof user, "%llu", (unsigned long long)db_uint(s, 0));
		json_array_append_new(list, json_string(user));
	}
	return list;
}

static json_t *is_cut(struct db *db, uint64_t id)
{
	sqlite3_stmt *s = db_use(db, DB_IS_CUT);
	bool cut;

	db_bind_uint(s, 1, id);
	cut = db_step(db, s) == 0;
	sqlite3_reset(s);
	return cut ? json_true() : NULL;
}

static json_t *line_json(struct db *db, sqlite3_stmt *s)
{
	bool bot = db_uint(s, 5) != 0;
	char user[24];

	snprintf(user, sizeof user, "%llu", (unsigned long long)db_uint(s, 2));
	return json_pack("{s:I,s:s,s:s,s:I,s:s,s:b,s:o*,s:o*,s:o*}", "id",
			 (json_int_t)db_uint(s, 0), "user", user, "name", db_text(s, 3), "at_ms",
			 (json_int_t)db_uint(s, 1), "text", db_text(s, 4), "bot", (int)bot,
			 "askers", bot ? list_people(db, DB_FIND_ASKERS, db_uint(s, 0)) : NULL,
			 "quoted", bot ? list_people(db, DB_FIND_QUOTED, db_uint(s, 0)) : NULL,
			 "cut", bot ? is_cut(db, db_uint(s, 0)) : NULL);
}

/* Takes the rows; a line that is there already stays as it is. */
static int take_lines(struct db *db, sqlite3_stmt *s, struct lines *out)
{
	int err;

	while ((err = db_step(db, s)) == 0) {
		struct rank_line r = {.id = db_uint(s, 0),
				      .at_ms = db_uint(s, 1),
				      .match = db_real(s, 6),
				      .timely = is_within(&out->loose, db_uint(s, 1)),
				      .named = !db_uint(s, 5) &&
					       question_people_has(&out->named, db_uint(s, 2))};
		size_t i = 0;

		while (i < out->n && out->rank[i].id != r.id)
			i++;
		if (i < out->n || out->n == LINES)
			continue;
		out->line[out->n] = line_json(db, s);
		if (!out->line[out->n]) {
			sqlite3_reset(s);
			return ENOMEM;
		}
		r.index = (unsigned)out->n;
		out->rank[out->n++] = r;
	}
	out->late = out->late || err == ETIMEDOUT;
	return err == ENOENT || err == ETIMEDOUT ? 0 : err;
}

/* The line with this number, if the search may find it. */
static int take_line(struct db *db, const struct job *j, uint64_t id, double match,
		     struct lines *out)
{
	sqlite3_stmt *s = use_lines(db, DB_FIND_LINE, j, true, 1);

	db_bind_uint(s, 7, id);
	db_bind_real(s, 8, match);
	return take_lines(db, s, out);
}

static int take_beside(struct db *db, const struct job *j, struct lines *out)
{
	size_t found = out->n;
	int err = 0;

	for (size_t i = 0; i < 2 * found && !err; i++)
		err = take_lines(db, use_beside(db, j, &out->rank[i / 2], i % 2, true, BESIDE),
				 out);
	return err;
}

/* The line before and the one after, of anybody. */
static int add_near(struct db *db, const struct job *j, const struct rank_line *r, json_t *line)
{
	json_t *near = json_array();
	int err = 0;

	for (size_t i = 0; i < 2 && !err; i++) {
		sqlite3_stmt *s = use_beside(db, j, r, i, false, 1);

		err = db_step(db, s);
		if (!err)
			json_array_append_new(near, line_json(db, s));
		else if (err == ENOENT)
			err = 0;
		sqlite3_reset(s);
	}
	json_object_set_new(line, "near", near);
	return err;
}

/* ---- meaning ---- */

struct like {
	uint64_t id;
	double likeness;
};

static int by_likeness(const void *a, const void *b)
{
	const struct like *x = a, *y = b;

	if (x->likeness != y->likeness)
		return x->likeness > y->likeness ? -1 : 1;
	return (x->id < y->id) - (x->id > y->id); /* the newest first */
}

/* The lines nearest in meaning, at most LIKE, by their whole vectors. */
static int find_like(struct db *db, struct embedding *e, const struct job *j,
		     const struct vector *question, struct like like[LIKELY], size_t *n)
{
	const struct vector_filter filter = {.group = {j->channel, j->channel},
					     .since_ms = j->now_ms,
					     .until_ms = (uint64_t)end_of(j),
					     .name = vector_name(j->author),
					     .speaker = vector_speaker(j->user)};
	const struct embedding_query query = {EMBEDDING_UTTERANCES, j->guild, question, &filter};
	uint64_t ids[LIKELY];
	struct vector v;
	size_t found = 0;
	int err = embedding_find(e, db, &query, ids, LIKELY, &found);

	*n = 0;
	for (size_t i = 0; i < found && !err; i++) {
		err = embedding_get(db, EMBEDDING_UTTERANCES, j->guild, ids[i], &v);
		if (!err)
			like[(*n)++] = (struct like){ids[i], vector_cosine(&v, question)};
		else if (err == ENOENT)
			err = 0; /* the line is gone */
	}
	qsort(like, *n, sizeof like[0], by_likeness);
	*n = *n < LIKE ? *n : LIKE;
	return err;
}

static int take_like(struct db *db, struct embedding *e, const struct job *j,
		     const struct vector *question, struct lines *out)
{
	struct like like[LIKELY];
	size_t n;
	int err = find_like(db, e, j, question, like, &n);

	for (size_t i = 0; i < n && !err; i++)
		err = take_line(db, j, like[i].id, 0, out);
	return err;
}

static int compare_meanings(struct db *db, const struct job *j, const struct vector *question,
			    struct lines *out)
{
	struct vector v;
	int err = 0;

	for (size_t i = 0; i < out->n && !err; i++) {
		struct rank_line *r = &out->rank[i];

		err = embedding_get(db, EMBEDDING_UTTERANCES, j->guild, r->id, &v);
		r->has_likeness = !err;
		r->likeness = err ? 0 : vector_cosine(&v, question);
		err = err == ENOENT ? 0 : err;
	}
	return err;
}

/* Vectors of the best lines, by their index; scale 0: none. */
struct best {
	struct vector v[NEWER];
	unsigned index[NEWER];
	size_t n;
	const char *question;
	json_t *const *line;
	/* Of the last line that was compared as the older one: reading a question costs time. */
	unsigned asked_index;
	bool asked_known, asked;
};

static const struct vector *vector_of(const struct best *b, unsigned index)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->index[i] == index)
			return &b->v[i];
	return NULL;
}

static const char *told(const struct best *b, unsigned index, const char *key)
{
	return json_string_value(json_object_get(b->line[index], key));
}

/* Two people may have one name. */
static bool is_by_same(const struct best *b, unsigned older, unsigned newer)
{
	return strcmp(told(b, older, "user"), told(b, newer, "user")) == 0;
}

/* The question names somebody of whom the older line tells, and the newer one tells of others. */
static bool is_of_others(struct best *b, unsigned older, unsigned newer)
{
	const char *was = told(b, older, "text"), *name = told(b, older, "name");

	if (!b->asked_known || b->asked_index != older)
		b->asked = whose_is_asked(b->question, was, name);
	b->asked_known = true;
	b->asked_index = older;
	return b->asked &&
	       whose_differ(was, told(b, newer, "text"), is_by_same(b, older, newer) ? name : "");
}

static bool are_alike(unsigned older, unsigned newer, void *arg)
{
	struct best *best = arg;
	const struct vector *x = vector_of(best, older), *y = vector_of(best, newer),
			    *far = best->v + CLOSE;

	return x && y && vector_cosine(x, y) >= (x >= far || y >= far ? ALIKE_FAR : ALIKE) &&
	       !is_of_others(best, older, newer);
}

static int put_newer_first(struct db *db, const struct job *j, struct lines *out)
{
	struct best best = {.question = j->text, .line = out->line};
	int err = 0;

	for (size_t i = 0; i < out->n && i < NEWER && !err; i++) {
		best.index[best.n] = out->rank[i].index;
		err = embedding_get(db, EMBEDDING_UTTERANCES, j->guild, out->rank[i].id,
				    &best.v[best.n]);
		best.n += !err;
		err = err == ENOENT ? 0 : err;
	}
	if (!err)
		rank_newer_first(out->rank, out->n < NEWER ? out->n : NEWER, RANK_APART_MS,
				 are_alike, &best);
	return err;
}

struct speakers {
	struct embedding *e;
	struct db *db;
	uint64_t guild;
	const json_t *present;
};

static bool is_speaker(const char *word, void *arg)
{
	const struct speakers *s = arg;

	return question_people_is_present(s->present, word, strlen(word)) ||
	       embedding_has_name(s->e, s->db, s->guild, word);
}

/* A question that means something to the encoder. */
struct meaning {
	bool is;
	struct vector vector;
	char words[QUESTION_SIZE]; /* without speakers' names */
	bool names;		   /* there were some */
};

static void read_meaning(struct db *db, struct embedding *e, const struct job *j,
			 const json_t *present, struct meaning *out)
{
	struct speakers speakers = {e, db, j->guild, present};

	out->is = embedding_is_elsewhere(e) ? j->meaning != NULL
					    : e && english_is(j->text, strlen(j->text));
	if (!out->is)
		return;
	out->names = question_strip(out->words, j->text, is_speaker, &speakers) > 0;
	if (j->meaning)
		out->vector = *j->meaning;
	else if (embedding_has_rows(e, db, EMBEDDING_UTTERANCES, j->guild))
		out->is = embedding_words(e, out->words, &out->vector) == 0;
}

/* The words of a time have been used to find the lines; they stand in none. */
static void check_support(const struct meaning *m, bool timed, struct lines *out)
{
	char words[TIME_CUE_TEXT];
	struct support_line lines[SUPPORT_LINES];
	size_t n = out->n < SUPPORT_LINES ? out->n : SUPPORT_LINES;

	for (size_t i = 0; i < n; i++) {
		const struct rank_line *r = &out->rank[i];

		lines[i] = (struct support_line){
			json_string_value(json_object_get(out->line[r->index], "text")), r->named,
			r->likeness};
	}
	if (timed)
		time_cue_strip(words, m->words);
	out->unsure = !support_check(timed ? words : m->words, m->names, lines, n);
}

/* Lines with the question's words. The index holds all channels: rows of others are passed over. */
static int take_terms(struct db *db, const struct job *j, const char *query, struct lines *out)
{
	const struct search_scope scope = {j->guild, j->channel, j->now_ms, (uint64_t)end_of(j)};
	struct term_search *t = NULL;
	size_t most = out->n + FOUND;
	uint64_t id;
	double match;
	int err = term_search_alloc(&t, db, &scope, query);

	while (!err && out->n < most) {
		err = term_search_next(t, &id, &match);
		if (!err)
			err = take_line(db, j, id, match, out);
	}
	out->late = out->late || err == ETIMEDOUT;
	term_search_free(t);
	return err == ENOENT || err == ETIMEDOUT ? 0 : err;
}

/* By the question's words and meaning; without both the newest ones. */
static int take_found(struct db *db, struct embedding *e, const struct job *j,
		      const struct meaning *m, const char *query, struct lines *out)
{
	int err = 0;

	if (j->now_ms >= (uint64_t)end_of(j))
		return 0;
	if (!*query && !m->is)
		return take_lines(db, use_lines(db, DB_FIND_NEWEST, j, true, (unsigned)j->version),
				  out);
	if (*query)
		err = take_terms(db, j, query, out);
	if (!err && m->is)
		err = take_like(db, e, j, &m->vector, out);
	out->late = out->late || err == ETIMEDOUT;
	return err == ETIMEDOUT ? 0 : err;
}

/* Of the time that the question names. If that is loose, or empty, of all times, but for one that
 * was not searched to its end; *j becomes the time that was searched. */
static int take_timely(struct db *db, struct embedding *e, struct job *j, const struct meaning *m,
		       const char *query, struct lines *out)
{
	const struct time_window *when = &j->when;
	/* Else the rest of it stands in the conversation, which nobody searched. */
	bool whole = !j->shared || when->until_ms <= (uint64_t)end_of(j);
	struct job in = *j;
	int err;

	if (!when->until_ms)
		return take_found(db, e, j, m, query, out);
	in.now_ms = when->since_ms > j->now_ms ? when->since_ms : j->now_ms;
	if (when->until_ms < (uint64_t)end_of(j))
		in.until_ms = when->until_ms;
	if (when->loose)
		out->loose = *when;
	err = take_found(db, e, &in, m, query, out);
	if (!err && ((!out->n && whole) || (when->loose && (*query || m->is)))) {
		out->other_time = !out->n && !when->loose;
		return take_found(db, e, j, m, query, out);
	}
	*j = in;
	return err;
}

static int find_lines(struct db *db, struct embedding *e, struct job *j, const json_t *present,
		      struct lines *out)
{
	char query[TERMS_QUERY_MAX];
	struct meaning m = {0};
	int err = question_people_find(db, j->guild, present, j->text, &out->named);

	/* Without those whom it names a search is better than none. */
	out->late = err == ETIMEDOUT;
	if (err && !out->late)
		return err;
	read_meaning(db, e, j, present, &m);
	terms_query(query, m.is ? m.words : j->text);
	err = take_timely(db, e, j, &m, query, out);
	if (!*query && !m.is)
		return err;
	/* What follows are short look-ups for the lines that were found. */
	db_lift_limit(db);
	if (!err)
		err = take_beside(db, j, out);
	if (!err && m.is)
		err = compare_meanings(db, j, &m.vector, out);
	if (err)
		return err;
	rank_lines(out->rank, out->n);
	if (m.is)
		err = put_newer_first(db, j, out);
	rank_named_first(out->rank, out->n);
	if (!err && m.is)
		check_support(&m, j->when.until_ms, out);
	return err;
}

/* Who is not here is known by name alone. If only one person ever had it, their lines are wanted,
 * whatever they were called. */
static int find_speaker(struct db *db, struct job *j)
{
	uint64_t user = 0;
	int err = j->user || !*j->author ? 0 : question_people_only(db, j->guild, j->author, &user);

	if (user) {
		j->user = user;
		j->author = (char *)(uintptr_t) "";
	}
	/* By the name is better than nothing. */
	return err == ETIMEDOUT ? 0 : err;
}

int said_find(struct db *db, struct embedding *e, const struct job *asked, char **out)
{
	struct job whose = *asked, *j = &whose;
	struct lines *lines = calloc(1, sizeof *lines);
	json_t *found = json_array(), *present = json_loads(j->scope ? j->scope : "", 0, NULL);
	int err = lines && found ? db_begin_search(db, j->search_ms) : ENOMEM;

	if (!err)
		err = find_speaker(db, &whose);
	if (!err)
		err = find_lines(db, e, j, present, lines);
	for (size_t i = 0; !err && i < lines->n && i < j->version; i++) {
		json_t *line = lines->line[lines->rank[i].index];

		err = add_near(db, j, &lines->rank[i], line);
		if (lines->unsure)
			json_object_set_new(line, "unsure", json_true());
		if (lines->other_time)
			json_object_set_new(line, "other_time", json_true());
		json_array_append(found, line);
	}
	db_rollback(db);
	if (lines && lines->late)
		log_warn("memory_search_late", "guild=%llu lines=%zu ms=%u",
			 (unsigned long long)j->guild, lines->n, j->search_ms);
	if (!err)
		*out = json_dumps(found, JSON_COMPACT);
	for (size_t i = 0; lines && i < lines->n; i++)
		json_decref(lines->line[i]);
	free(lines);
	json_decref(found);
	json_decref(present);
	return !err && !*out ? ENOMEM : err;
}
