#include "control/store/summaries.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/memory/slice.h"
#include "control/memory/terms.h"
#include "control/store/db.h"
#include "control/store/forgotten.h"
#include "control/store/job.h"
#include "proto/discord.h"

/* ---- writing ---- */

static sqlite3_stmt *use_part(struct db *db, enum db_statement statement, const struct job *j)
{
	sqlite3_stmt *s = db_use(db, statement);

	db_bind_uint(s, 1, j->guild);
	db_bind_uint(s, 2, j->owner);
	db_bind_uint(s, 3, j->version);
	return s;
}

static int add_person(struct db *db, const struct job *j, uint64_t user)
{
	sqlite3_stmt *s = use_part(db, DB_FIND_PART_OF_PERSON, j);
	int err;

	db_bind_uint(s, 4, user);
	err = db_step(db, s);
	sqlite3_reset(s);
	if (err)
		return err == ENOENT ? ESTALE : err;
	s = use_part(db, DB_ADD_SUMMARY_PERSON, j);
	db_bind_uint(s, 4, user);
	return db_run(db, s);
}

/* Adds a line on which the summary rests, and its speaker. */
static int add_source(struct db *db, const struct job *j, uint64_t line)
{
	sqlite3_stmt *s = use_part(db, DB_FIND_SUMMARY_LINE, j);
	uint64_t user;
	int err;

	db_bind_uint(s, 4, line);
	err = db_step(db, s);
	user = err ? 0 : db_uint(s, 0);
	sqlite3_reset(s);
	if (err)
		return err == ENOENT ? ESTALE : err;
	s = use_part(db, DB_ADD_SUMMARY_SOURCE, j);
	db_bind_uint(s, 4, line);
	err = db_run(db, s);
	return err ? err : add_person(db, j, user);
}

int summaries_add(struct db *db, const struct job *j)
{
	json_t *request = json_loads(j->text, 0, NULL), *person, *line;
	const json_t *people = json_object_get(request, "people");
	const char *text = json_string_value(json_object_get(request, "text"));
	sqlite3_stmt *s;
	int err = text && json_array_size(people) ? 0 : EINVAL;
	uint64_t user;
	size_t i;

	json_array_foreach(people, i, person)
	{
		if (!err && !discord_u64(json_string_value(person), &user))
			err = EINVAL;
		if (!err)
			err = add_person(db, j, user);
	}
	json_array_foreach(json_object_get(request, "lines"), i, line)
	{
		err = err ? err : add_source(db, j, (uint64_t)json_integer_value(line));
	}
	if (!err) {
		s = use_part(db, DB_ADD_SUMMARY, j);
		db_bind_uint(s, 4, j->channel);
		db_bind_text(s, 5, text);
		err = db_run(db, s);
	}
	json_decref(request);
	return err;
}

/* ---- reading ---- */

static int list_people(struct db *db, const struct job *part, json_t *people)
{
	sqlite3_stmt *s = use_part(db, DB_LIST_SUMMARY_PEOPLE, part);
	int err;

	while ((err = db_step(db, s)) == 0)
		json_array_append_new(people,
				      json_sprintf("%llu", (unsigned long long)db_uint(s, 0)));
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

static int list_parts(struct db *db, const struct job *j, json_t *list)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_SUMMARIES);
	int err;

	db_bind_uint(s, 1, j->guild);
	db_bind_uint(s, 2, j->channel);
	db_bind_uint(s, 3, j->now_ms);
	db_bind_uint(s, 4, j->version);
	while ((err = db_step(db, s)) == 0)
		json_array_append_new(list,
				      json_pack("{s:I,s:I,s:s,s:I,s:[]}", "session",
						(json_int_t)db_uint(s, 0), "line",
						(json_int_t)db_uint(s, 1), "text", db_text(s, 2),
						"ended_ms", (json_int_t)db_uint(s, 3), "people"));
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

int summaries_find(struct db *db, const struct job *j, char **out)
{
	json_t *list = json_array(), *one;
	int err = list ? db_begin_reading(db) : ENOMEM;
	size_t i;

	if (!err)
		err = list_parts(db, j, list);
	json_array_foreach(list, i, one)
	{
		const struct job part = {
			.guild = j->guild,
			.owner = (uint64_t)json_integer_value(json_object_get(one, "session")),
			.version = (uint64_t)json_integer_value(json_object_get(one, "line"))};

		if (!err)
			err = list_people(db, &part, json_object_get(one, "people"));
	}
	db_rollback(db);
	if (!err)
		*out = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return !err && !*out ? ENOMEM : err;
}

/* ---- forgetting ---- */

static sqlite3_stmt *use_fact(struct db *db, enum db_statement statement, uint64_t fact)
{
	sqlite3_stmt *s = db_use(db, statement);

	db_bind_uint(s, 1, fact);
	return s;
}

static int list_texts(struct db *db, uint64_t fact, json_t *texts)
{
	sqlite3_stmt *s = use_fact(db, DB_LIST_FACT_TEXTS, fact);
	int err;

	while ((err = db_step(db, s)) == 0)
		json_array_append_new(texts, json_string(db_text(s, 0)));
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

static bool repeats_fact(const char *line, const json_t *texts)
{
	const json_t *text;
	size_t i;

	json_array_foreach(texts, i, text)
	{
		if (slice_fits(json_string_value(text), line))
			return true;
	}
	return false;
}

/* Summaries that rest on a line of the fact. Another line may say the same, and old summaries do
 * not know their lines, so the words of the fact are compared, too. */
static int list_parts_of_fact(struct db *db, uint64_t fact, const json_t *texts, json_t *parts)
{
	sqlite3_stmt *s = use_fact(db, DB_FIND_SUMMARIES_OF_FACT, fact);
	int err;

	while ((err = db_step(db, s)) == 0)
		if (db_uint(s, 4) || repeats_fact(db_text(s, 3), texts))
			json_array_append_new(parts, json_pack("[I,I,I]", (json_int_t)db_uint(s, 0),
							       (json_int_t)db_uint(s, 1),
							       (json_int_t)db_uint(s, 2)));
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

static int forget_part(struct db *db, const json_t *part)
{
	static const enum db_statement all[] = {DB_FORGET_PARTS, DB_REOPEN_EPISODE};
	const struct job j = {.guild = (uint64_t)json_integer_value(json_array_get(part, 0)),
			      .owner = (uint64_t)json_integer_value(json_array_get(part, 1)),
			      .version = (uint64_t)json_integer_value(json_array_get(part, 2))};
	int err = 0;

	for (size_t i = 0; i < sizeof all / sizeof all[0] && !err; i++)
		err = db_run(db, use_part(db, all[i], &j));
	return err;
}

/* words: of the request, which the sentence that asks for it holds. */
static bool tells_fact_again(const char *line, const char *author, const json_t *texts,
			     const char *words)
{
	const json_t *text;
	size_t i;

	json_array_foreach(texts, i, text)
	{
		if (slice_repeats(json_string_value(text), author, line))
			return true;
	}
	return slice_fits(words, line);
}

static int list_repeats(struct db *db, uint64_t fact, const json_t *texts, const char *words,
			json_t *lines)
{
	sqlite3_stmt *s = use_fact(db, DB_LIST_LINES_OF_AUTHOR, fact);
	int err;

	while ((err = db_step(db, s)) == 0)
		if (tells_fact_again(db_text(s, 1), db_text(s, 2), texts, words))
			json_array_append_new(lines, json_integer((json_int_t)db_uint(s, 0)));
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

/* All of the words, which hold no blanks, instead of one of them. */
static void ask_for_all(char to[2 * TERMS_QUERY_MAX], const char *query)
{
	static const char any[] = " OR ", all[] = " AND ";
	const size_t size = 2 * (size_t)TERMS_QUERY_MAX;
	const char *p = query, *at;
	size_t n = 0;

	for (; (at = strstr(p, any)) != NULL; p = at + sizeof any - 1)
		n += (size_t)snprintf(to + n, size - n, "%.*s%s", (int)(at - p), p, all);
	snprintf(to + n, size - n, "%s", p);
}

/* Of what the bot said with all words of this text. One word alone says too little of whose fact it
 * was: the answers to others stay. */
static int list_answers(struct db *db, uint64_t fact, const char *text, json_t *lines)
{
	char any[TERMS_QUERY_MAX], all[2 * TERMS_QUERY_MAX];
	unsigned terms = terms_query(any, text);
	sqlite3_stmt *s = use_fact(db, DB_LIST_LINES_OF_BOT, fact);
	int err;

	if (!terms)
		return 0;
	ask_for_all(all, any);
	db_bind_text(s, 2, all);
	db_bind_uint(s, 3, terms > 1);
	while ((err = db_step(db, s)) == 0)
		json_array_append_new(lines, json_integer((json_int_t)db_uint(s, 0)));
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

/* Runs a statement that marks lines, and notes them. */
static int mark_lines(struct db *db, sqlite3_stmt *s, struct forgotten *f)
{
	int err, failed = 0;

	while (!failed && (err = db_step(db, s)) == 0) {
		const struct forgotten_line line = {.guild = db_uint(s, 0),
						    .session = db_uint(s, 1),
						    .utterance = db_uint(s, 2),
						    .user = db_uint(s, 3),
						    .started_ms = db_uint(s, 4),
						    .turn = db_uint(s, 5),
						    .message = db_uint(s, 6)};

		failed = forgotten_note_line(f, &line);
	}
	sqlite3_reset(s);
	return failed ? failed : err == ENOENT ? 0 : err;
}

int summaries_forget_line(struct db *db, uint64_t line, struct forgotten *f)
{
	return mark_lines(db, use_fact(db, DB_FORGET_LINE, line), f);
}

/* The sentence that asks to forget the fact repeats it, too, and so did the bot when it was asked
 * to remember it. */
static int forget_repeats(struct db *db, uint64_t fact, const json_t *texts, const char *words,
			  struct forgotten *f)
{
	json_t *lines = json_array(), *line;
	int err = lines ? list_repeats(db, fact, texts, words, lines) : ENOMEM;
	size_t i;

	json_array_foreach(texts, i, line)
	{
		err = err ? err : list_answers(db, fact, json_string_value(line), lines);
	}

	json_array_foreach(lines, i, line)
	{
		err = err ? err : summaries_forget_line(db, (uint64_t)json_integer_value(line), f);
	}
	json_decref(lines);
	return err;
}

static int forget_all_parts(struct db *db, const json_t *parts)
{
	static const enum db_statement rest[] = {DB_FORGET_SUMMARY_PEOPLE,
						 DB_ERASE_SUMMARY_SOURCES};
	const json_t *part;
	size_t i;
	int err = 0;

	json_array_foreach(parts, i, part)
	{
		err = err ? err : forget_part(db, part);
	}
	for (i = 0; i < sizeof rest / sizeof rest[0] && json_array_size(parts) && !err; i++)
		err = db_run(db, db_use(db, rest[i]));
	return err;
}

int summaries_forget(struct db *db, uint64_t fact, const char *words, struct forgotten *f)
{
	json_t *texts = json_array(), *parts = json_array();
	int err = texts && parts ? mark_lines(db, use_fact(db, DB_FORGET_LINES, fact), f) : ENOMEM;

	if (!err)
		err = list_texts(db, fact, texts);
	if (!err)
		err = forget_repeats(db, fact, texts, words, f);
	if (!err)
		err = list_parts_of_fact(db, fact, texts, parts);
	if (!err)
		err = forget_all_parts(db, parts);
	json_decref(texts);
	json_decref(parts);
	return err;
}

int summaries_forget_parts(struct db *db)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_PARTS_OF_FORGOTTEN);
	json_t *parts = json_array();
	int err;

	while ((err = db_step(db, s)) == 0)
		json_array_append_new(parts, json_pack("[I,I,I]", (json_int_t)db_uint(s, 0),
						       (json_int_t)db_uint(s, 1),
						       (json_int_t)db_uint(s, 2)));
	sqlite3_reset(s);
	err = err == ENOENT ? forget_all_parts(db, parts) : err;
	json_decref(parts);
	return err;
}

/* ---- erasing ---- */

int summaries_reopen(struct db *db, uint64_t user)
{
	sqlite3_stmt *s = db_use(db, DB_REOPEN_EPISODES);

	db_bind_uint(s, 1, user);
	return db_run(db, s);
}

int summaries_expire(struct db *db, uint64_t before_ms, unsigned *changed)
{
	static const enum db_statement all[] = {DB_EXPIRE_SUMMARY_PEOPLE, DB_EXPIRE_SUMMARY_SOURCES,
						DB_EXPIRE_SUMMARIES};
	int err = db_begin(db);

	*changed = 0;
	if (err)
		return err;
	err = db_run_each(db, all, sizeof all / sizeof all[0], before_ms);
	*changed = err ? 0 : db_changes(db);
	if (!err)
		return db_commit(db);
	db_rollback(db);
	return err;
}
