/* Questions to the memory: their terms for the full-text index, and the time that they name; texts
 * before its guard, and the people of whom they tell. */
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "control/memory/guard.h"
#include "control/memory/terms.h"
#include "control/memory/time_cue.h"
#include "control/memory/whose.h"

/* Summer time begins at that moment. */
static int64_t offset_at(uint64_t at_ms, void *arg)
{
	const size_t *size = arg;

	return (int64_t)(*size % 43200) + (at_ms < UINT64_C(1795442400000) ? 0 : 3600);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* FTS5 must take every expression. */
static void match(const char *query)
{
	static sqlite3 *db;
	static sqlite3_stmt *s;

	if (!db && (sqlite3_open(":memory:", &db) ||
		    sqlite3_exec(db,
				 "CREATE VIRTUAL TABLE t USING fts5(x, content='',"
				 " tokenize='porter unicode61 remove_diacritics 2')",
				 NULL, NULL, NULL) ||
		    sqlite3_prepare_v2(db, "SELECT rowid FROM t WHERE t MATCH ?1", -1, &s, NULL)))
		abort();
	sqlite3_reset(s);
	sqlite3_bind_text(s, 1, query, -1, SQLITE_STATIC);
	if (sqlite3_step(s) != SQLITE_DONE)
		abort();
}

/* Both halves of a text, as statements: the order in which they were told changes nothing, and a
 * statement tells of nobody else than itself. */
static void compare(const char *text, size_t size)
{
	const char *half = text + strnlen(text, size) / 2;

	if (whose_differ(text, text, half) ||
	    whose_differ(half, text, "Bob") != whose_differ(text, half, "Bob"))
		abort();
	whose_is_asked(half, text, "Bob");
	whose_takes_over(text, half, "Bob");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char query[TERMS_QUERY_MAX], *text = malloc(size + 1), *terms;
	const struct calendar_zone zone = {offset_at, &size};
	struct time_window w;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	terms = terms_index(text, size);
	if (terms && strlen(terms) > 3 * size + 1)
		abort();
	free(terms);
	if (terms_query(query, text))
		match(query);
	if (time_cue_find(text, UINT64_C(1795442400000), &zone, &w) && w.until_ms <= w.since_ms)
		abort();
	if (size > MEMORY_TEXT_MAX && !memory_check_text(text) && strlen(text) > MEMORY_TEXT_MAX)
		abort();
	memory_check_text(text);
	compare(text, size);
	free(text);
	return 0;
}
