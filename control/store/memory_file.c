#include "control/store/memory_file.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/memory/guard.h"
#include "control/store/consents.h"
#include "control/store/db.h"
#include "control/store/erased_facts.h"
#include "control/store/fact_channels.h"
#include "control/store/fact_known.h"
#include "control/store/fact_people.h"
#include "control/store/subject.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

/* By so much the clock of the other machine may be ahead. */
#define CLOCK_MS UINT64_C(86400000)

/* ---- writing ---- */

static json_t *id_json(sqlite3_stmt *s, int column)
{
	return json_sprintf("%llu", (unsigned long long)db_uint(s, column));
}

static json_t *maybe_json(sqlite3_stmt *s, int column)
{
	return sqlite3_column_type(s, column) == SQLITE_NULL
		       ? json_null()
		       : json_integer((json_int_t)db_uint(s, column));
}

static json_t *fact_json(struct db *db, sqlite3_stmt *s)
{
	struct fact_people people = {0};
	bool there = fact_people_read(db, db_uint(s, 0), &people) == 0 && people.n;
	json_t *fact;

	fact = json_pack("{s:o*,s:o*,s:o*,s:I,s:o,s:o,s:o,s:s,s:s,s:s,s:s,s:I,s:I,s:o,s:o}",
			 "people", there ? fact_people_json(&people) : NULL, "channels",
			 fact_channels(s, 12), "said_ms",
			 db_uint(s, 13) ? json_integer((json_int_t)db_uint(s, 13)) : NULL, "id",
			 (json_int_t)db_uint(s, 0), "guild", id_json(s, 1), "owner", id_json(s, 2),
			 "said_by", id_json(s, 3), "name", db_text(s, 4), "type", db_text(s, 5),
			 "tags", db_text(s, 6), "text", db_text(s, 7), "written_ms",
			 (json_int_t)db_uint(s, 8), "valid_from_ms", (json_int_t)db_uint(s, 9),
			 "valid_until_ms", maybe_json(s, 10), "superseded_by", maybe_json(s, 11));
	fact_people_clear(&people);
	return fact;
}

int memory_file_write(struct db *db, char **out)
{
	sqlite3_stmt *s = db_use(db, DB_LIST_FACTS);
	json_t *facts = json_array(), *file;
	int err;

	while ((err = db_step(db, s)) == 0)
		json_array_append_new(facts, fact_json(db, s));
	file = json_pack("{s:s,s:o}", "format", "parley-memory-1", "facts", facts);
	*out = err == ENOENT && file ? json_dumps(file, JSON_INDENT(1)) : NULL;
	json_decref(file);
	return err != ENOENT ? err : *out ? 0 : ENOMEM;
}

/* ---- parsing ---- */

static bool is_id(const json_t *fact, const char *key, bool or_zero)
{
	uint64_t id;

	return discord_u64(json_string_value(json_object_get(fact, key)), &id) && id <= INT64_MAX &&
	       (id || or_zero);
}

static bool is_text(const json_t *fact, const char *key)
{
	const json_t *text = json_object_get(fact, key);

	return json_is_string(text) && json_string_length(text) <= MEMORY_FILE_TEXT &&
	       strlen(json_string_value(text)) == json_string_length(text);
}

static bool is_number(const json_t *fact, const char *key, bool or_null)
{
	const json_t *number = json_object_get(fact, key);

	return (or_null && json_is_null(number)) ||
	       (json_is_integer(number) && json_integer_value(number) >= 0);
}

/* A JSON array of texts, as a text. The caller owns it. NULL: it is none. */
static json_t *parse_tags(const json_t *fact)
{
	json_t *tags = json_loads(json_string_value(json_object_get(fact, "tags")), 0, NULL), *tag;
	bool valid = json_is_array(tags);
	size_t i;

	json_array_foreach(tags, i, tag) valid = valid && json_is_string(tag);
	if (valid)
		return tags;
	json_decref(tags);
	return NULL;
}

static bool has_tags(const json_t *fact)
{
	json_t *tags = parse_tags(fact);
	bool has = tags != NULL;

	json_decref(tags);
	return has;
}

/* A fact whose place another one took ended at that moment. */
static bool has_end(const json_t *fact)
{
	return json_is_null(json_object_get(fact, "superseded_by")) ||
	       json_is_integer(json_object_get(fact, "valid_until_ms"));
}

/* One at least: an empty list would keep a fact from everybody. */
static bool are_channels(const json_t *list)
{
	const json_t *one;
	bool valid = json_array_size(list) && json_array_size(list) <= FACT_CHANNELS;
	uint64_t id;
	size_t i;

	json_array_foreach(list, i, one)
	{
		valid = valid && discord_u64(json_string_value(one), &id);
	}
	return valid;
}

static bool is_fact(const json_t *fact)
{
	static const char *const texts[] = {"name", "type", "tags", "text"};
	struct fact_people people = {0};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (!is_text(fact, texts[i]))
			return false;
	if (json_object_get(fact, "channels") && !are_channels(json_object_get(fact, "channels")))
		return false;
	if (json_object_get(fact, "people") &&
	    !fact_people_parse(json_object_get(fact, "people"), &people))
		return false;
	fact_people_clear(&people);
	if (json_object_get(fact, "said_ms") && !is_number(fact, "said_ms", false))
		return false;
	return is_id(fact, "guild", false) && is_id(fact, "owner", true) &&
	       is_id(fact, "said_by", true) && *json_string_value(json_object_get(fact, "text")) &&
	       is_number(fact, "id", false) && is_number(fact, "written_ms", false) &&
	       is_number(fact, "valid_from_ms", false) && is_number(fact, "valid_until_ms", true) &&
	       is_number(fact, "superseded_by", true) && has_tags(fact) && has_end(fact);
}

int memory_file_parse(const char *text, size_t n, json_t **out)
{
	json_t *file =
		n <= MEMORY_FILE_MAX ? json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL) : NULL;
	const char *format = json_string_value(json_object_get(file, "format"));
	json_t *facts = json_object_get(file, "facts"), *fact;
	bool valid = format && strcmp(format, "parley-memory-1") == 0 && json_is_array(facts) &&
		     json_array_size(facts) <= MEMORY_FILE_FACTS;
	size_t i;

	if (valid)
		json_array_foreach(facts, i, fact) valid = valid && is_fact(fact);
	if (valid)
		*out = json_incref(facts);
	json_decref(file);
	return valid ? 0 : EBADMSG;
}

void memory_file_fault(const char *text, size_t n, char *why, size_t size)
{
	json_error_t error = {.line = 0};
	json_t *file =
		n <= MEMORY_FILE_MAX ? json_loadb(text, n, JSON_REJECT_DUPLICATES, &error) : NULL;
	const char *format = json_string_value(json_object_get(file, "format"));
	json_t *facts = json_object_get(file, "facts");
	size_t i = 0;

	while (i < json_array_size(facts) && is_fact(json_array_get(facts, i)))
		i++;
	if (n > MEMORY_FILE_MAX || json_array_size(facts) > MEMORY_FILE_FACTS)
		snprintf(why, size, "it is too large");
	else if (!file)
		snprintf(why, size, "it is no JSON, line %d: %s", error.line, error.text);
	else if (!format || strcmp(format, "parley-memory-1") != 0 || !json_is_array(facts))
		snprintf(why, size, "it is no file of --export-memory (parley-memory-1)");
	else
		snprintf(why, size, "fact %zu of %zu is malformed", i + 1, json_array_size(facts));
	utf8_plain(why);
	json_decref(file);
}

/* ---- importing ---- */

static uint64_t id_of(const json_t *fact, const char *key)
{
	uint64_t id = 0;

	discord_u64(json_string_value(json_object_get(fact, key)), &id);
	return id;
}

static uint64_t number_of(const json_t *fact, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(fact, key));
}

/* The newest time when it was said. */
static uint64_t said_ms(const json_t *fact)
{
	uint64_t from_ms = number_of(fact, "valid_from_ms"), again_ms = number_of(fact, "said_ms");

	return again_ms > from_ms ? again_ms : from_ms;
}

static const char *text_of(const json_t *fact, const char *key)
{
	return json_string_value(json_object_get(fact, key));
}

static bool was_erased(struct db *db, const struct subject_key *key, uint64_t user,
		       uint64_t written_ms)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_DELETION);
	char mac[SUBJECT_MAC];
	bool erased;

	subject_mac(key, user, mac);
	db_bind_text(s, 1, mac);
	db_bind_uint(s, 2, written_ms);
	erased = user && db_step(db, s) == 0;
	sqlite3_reset(s);
	return erased;
}

/* Models are told the texts, types and tags of facts, whoever wrote the file. */
static bool is_guarded(const json_t *fact)
{
	const char *type = text_of(fact, "type");
	json_t *tags = parse_tags(fact);
	bool guarded = memory_check_text(text_of(fact, "text")) || memory_check_tags(tags) ||
		       (*type && memory_check_text(type));

	json_decref(tags);
	return guarded;
}

/* Facts are kept by their dates: one of the future would never expire. */
static bool is_of_future(const json_t *fact, uint64_t now_ms)
{
	return number_of(fact, "written_ms") > now_ms + CLOCK_MS ||
	       number_of(fact, "valid_from_ms") > now_ms + CLOCK_MS ||
	       number_of(fact, "said_ms") > now_ms + CLOCK_MS;
}

/* The author has answered that their words are not to be kept. */
static bool is_unwanted(struct db *db, const struct subject_key *key, const json_t *fact)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_CONSENT);
	char mac[SUBJECT_MAC];
	bool refused;

	subject_mac(key, id_of(fact, "said_by"), mac);
	db_bind_uint(s, 1, id_of(fact, "guild"));
	db_bind_text(s, 2, mac);
	refused = db_step(db, s) == 0 && strcmp(db_text(s, 0), "remembered") != 0;
	sqlite3_reset(s);
	return refused;
}

/* The author, the owner, or somebody whom it may name. */
static bool is_of_erased(struct db *db, const struct subject_key *key, const json_t *fact,
			 const struct fact_people *people)
{
	uint64_t at_ms = number_of(fact, "written_ms");
	bool erased = was_erased(db, key, id_of(fact, "owner"), at_ms) ||
		      was_erased(db, key, id_of(fact, "said_by"), at_ms);

	for (size_t i = 0; i < people->n; i++)
		erased = erased || was_erased(db, key, people->of[i].user, at_ms);
	return erased;
}

/* *id: its number here. */
static bool is_known(struct db *db, const json_t *fact, uint64_t *id)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_SAME_FACT);
	bool known;

	db_bind_uint(s, 1, id_of(fact, "guild"));
	db_bind_uint(s, 2, id_of(fact, "owner"));
	db_bind_uint(s, 3, id_of(fact, "said_by"));
	db_bind_text(s, 4, text_of(fact, "text"));
	db_bind_uint(s, 5, number_of(fact, "valid_from_ms"));
	known = db_step(db, s) == 0;
	if (known)
		*id = db_uint(s, 0);
	sqlite3_reset(s);
	return known;
}

static int add_fact(struct db *db, const json_t *fact, uint64_t *id)
{
	const json_t *list = json_object_get(fact, "channels");
	char *channels = list ? json_dumps(list, JSON_COMPACT) : NULL;
	sqlite3_stmt *s = db_use(db, DB_IMPORT_FACT);
	int err;

	if (list && !channels)
		return ENOMEM;

	db_bind_uint(s, 1, id_of(fact, "guild"));
	db_bind_uint(s, 2, id_of(fact, "owner"));
	db_bind_uint(s, 3, id_of(fact, "said_by"));
	db_bind_text(s, 4, text_of(fact, "name"));
	db_bind_text(s, 5, text_of(fact, "type"));
	db_bind_text(s, 6, text_of(fact, "tags"));
	db_bind_text(s, 7, text_of(fact, "text"));
	db_bind_uint(s, 8, number_of(fact, "written_ms"));
	db_bind_uint(s, 9, number_of(fact, "valid_from_ms"));
	if (json_is_integer(json_object_get(fact, "valid_until_ms")))
		db_bind_uint(s, 10, number_of(fact, "valid_until_ms"));
	if (channels)
		db_bind_text(s, 11, channels);
	if (said_ms(fact) > number_of(fact, "valid_from_ms"))
		db_bind_uint(s, 12, said_ms(fact));
	err = db_run(db, s);
	free(channels);
	if (err)
		return err;
	*id = db_last_row(db);
	s = db_use(db, DB_ADD_FACT_TERMS);
	db_bind_uint(s, 1, *id);
	return db_run(db, s);
}

/* An import under way. */
struct import {
	struct db *db;
	struct subject_key key;
	uint64_t now_ms;
	uint64_t newest; /* id of the newest fact that was here before */
	json_t *ids;	 /* {id in the file: id here} */
	struct memory_import *out;
};

static int note_id(const struct import *m, const json_t *fact, uint64_t id)
{
	char old[24];

	snprintf(old, sizeof old, "%llu", (unsigned long long)number_of(fact, "id"));
	return json_object_set_new(m->ids, old, json_integer((json_int_t)id)) ? ENOMEM : 0;
}

static bool is_open(const json_t *fact)
{
	return json_is_null(json_object_get(fact, "valid_until_ms"));
}

/* What it does to the facts that were here before, by their words. Those of the file were compared
 * with each other where they come from. */
static int compare_known(const struct import *m, const json_t *fact,
			 const struct fact_people *people, struct fact_touched *out)
{
	const struct fact_new f = {.guild = id_of(fact, "guild"),
				   .owner = id_of(fact, "owner"),
				   .user = id_of(fact, "said_by"),
				   .text = text_of(fact, "text"),
				   .people = people,
				   .newest = m->newest};
	sqlite3_stmt *s = db_use(m->db, DB_FIND_FACT_OF_AUTHOR);
	int err;

	*out = (struct fact_touched){0};
	db_bind_uint(s, 1, f.guild);
	db_bind_uint(s, 2, f.owner);
	db_bind_uint(s, 3, f.user);
	db_bind_uint(s, 4, f.newest);
	err = f.user && is_open(fact) ? db_step(m->db, s) : ENOENT;
	sqlite3_reset(s);
	if (err)
		return err == ENOENT ? 0 : err;
	return fact_known_compare(m->db, NULL, &f, out);
}

static int close_fact(struct db *db, uint64_t older, uint64_t newer, uint64_t at_ms)
{
	sqlite3_stmt *s = db_use(db, DB_CLOSE_FACT);

	db_bind_uint(s, 1, older);
	db_bind_uint(s, 2, at_ms);
	db_bind_uint(s, 3, newer);
	return db_run(db, s);
}

static int renew_fact(struct db *db, const json_t *fact, uint64_t id)
{
	sqlite3_stmt *s = db_use(db, DB_RENEW_IMPORTED);

	db_bind_uint(s, 1, id);
	db_bind_uint(s, 2, number_of(fact, "written_ms"));
	db_bind_uint(s, 3, said_ms(fact));
	return db_run(db, s);
}

/* The later one of both stands: the file may be older than what is here. */
static int end_older(struct db *db, const json_t *fact, uint64_t id,
		     const struct fact_touched *known)
{
	if (!known->id)
		return 0;
	if (said_ms(fact) < known->said_ms)
		return close_fact(db, id, known->id, known->said_ms);
	return close_fact(db, known->id, id, said_ms(fact));
}

static int find_people(const struct import *m, const json_t *fact, uint64_t told_ms,
		       struct fact_people *people)
{
	const struct fact_place place = {id_of(fact, "guild"), id_of(fact, "owner"),
					 id_of(fact, "said_by"), told_ms};

	return fact_people_find(m->db, &place, text_of(fact, "text"), people);
}

/* Older files do not tell whom a fact names. Somebody who was erased may be there again, and the
 * lines that told of the name go with an erasure: who has it now counts. */
static int names_erased(const struct import *m, const json_t *fact, bool *is)
{
	struct fact_people people = {0};
	int err = find_people(m, fact, FACT_TOLD_NOW, &people);

	*is = !err && is_of_erased(m->db, &m->key, fact, &people);
	fact_people_clear(&people);
	return err;
}

static int add_new(const struct import *m, const json_t *fact, struct fact_people *people)
{
	struct fact_touched known = {0};
	uint64_t id = 0;
	bool erased = false;
	int err = people->n ? 0 : names_erased(m, fact, &erased);

	if (erased) {
		m->out->erased++;
		return 0;
	}
	if (!err && !people->n)
		err = find_people(m, fact, number_of(fact, "valid_from_ms"), people);
	if (!err)
		err = compare_known(m, fact, people, &known);
	if (!err && known.change == FACT_SAME) {
		m->out->known++;
		err = renew_fact(m->db, fact, known.id);
		return err ? err : note_id(m, fact, known.id);
	}
	if (!err)
		err = add_fact(m->db, fact, &id);
	if (!err)
		err = fact_people_add(m->db, id, people);
	if (!err)
		err = end_older(m->db, fact, id, &known);
	if (err)
		return err;
	m->out->added++;
	return note_id(m, fact, id);
}

static int import_of(const struct import *m, const json_t *fact, struct fact_people *people)
{
	const struct erased_fact erased = {id_of(fact, "guild"), id_of(fact, "owner"),
					   id_of(fact, "said_by"), text_of(fact, "text")};
	uint64_t id = 0;
	bool gone;
	int err;

	err = erased_facts_find(m->db, &m->key, &erased, number_of(fact, "written_ms"), &gone);
	if (err)
		return err;
	if (gone || is_of_erased(m->db, &m->key, fact, people)) {
		m->out->erased++;
		return 0;
	}
	if (is_known(m->db, fact, &id)) {
		m->out->known++;
		return note_id(m, fact, id);
	}
	if (is_of_future(fact, m->now_ms) || is_guarded(fact) ||
	    is_unwanted(m->db, &m->key, fact)) {
		m->out->refused++;
		return 0;
	}
	return add_new(m, fact, people);
}

static int import_one(const struct import *m, const json_t *fact)
{
	const json_t *named = json_object_get(fact, "people");
	struct fact_people people = {0};
	int err = 0;

	/* The file was checked: what cannot be read now found no memory. */
	if (named && !fact_people_parse(named, &people))
		err = ENOMEM;
	if (!err)
		err = import_of(m, fact, &people);
	fact_people_clear(&people);
	return err;
}

/* The ids of the file are other ones here. A fact that was there before may have ended since. */
static int link_one(const struct import *m, const json_t *fact)
{
	const json_t *by = json_object_get(fact, "superseded_by"), *from, *to;
	char old[24], later[24];
	sqlite3_stmt *s;

	snprintf(old, sizeof old, "%llu", (unsigned long long)number_of(fact, "id"));
	snprintf(later, sizeof later, "%llu", (unsigned long long)json_integer_value(by));
	from = json_object_get(m->ids, old);
	to = json_object_get(m->ids, later);
	if (!json_is_integer(by) || !from || !to)
		return 0;
	s = db_use(m->db, DB_LINK_FACT);
	db_bind_uint(s, 1, (uint64_t)json_integer_value(from));
	db_bind_uint(s, 2, number_of(fact, "valid_until_ms"));
	db_bind_uint(s, 3, (uint64_t)json_integer_value(to));
	return db_run(m->db, s);
}

static int find_newest(struct db *db, uint64_t *out)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_LAST_FACT);
	int err = db_step(db, s);

	if (!err)
		*out = db_uint(s, 0);
	sqlite3_reset(s);
	return err;
}

static int import_all(struct import *m, const json_t *facts)
{
	const json_t *fact;
	size_t i;
	int err = db_begin_synced(m->db);

	if (err)
		return err;
	err = find_newest(m->db, &m->newest);
	json_array_foreach(facts, i, fact)
	{
		err = err ? err : import_one(m, fact);
	}
	json_array_foreach(facts, i, fact)
	{
		err = err ? err : link_one(m, fact);
	}
	if (err)
		db_rollback(m->db);
	return err ? err : db_commit(m->db);
}

int memory_file_import(struct db *db, const char *dir, const json_t *facts, uint64_t now_ms,
		       struct memory_import *out)
{
	struct import m = {.db = db, .now_ms = now_ms, .ids = json_object(), .out = out};
	int err = m.ids ? consents_read_key(db, dir, &m.key) : ENOMEM;

	*out = (struct memory_import){0};
	if (!err)
		err = import_all(&m, facts);
	json_decref(m.ids);
	explicit_bzero(&m.key, sizeof m.key);
	return err;
}
