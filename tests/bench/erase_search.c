#include "tests/bench/erase_search.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/db.h"
#include "control/store/incident.h"
#include "control/store/memory_file.h"
#include "control/store/store.h"
#include "tests/bench/bench.h"
#include "tests/bench/canaries.h"
#include "tests/bench/erase_corpus.h"
#include "tests/bench/traces.h"

void erase_search_check(const struct erase_corpus *c)
{
	const char *const files[] = {c->turns, c->old};
	char path[96];

	if (traces_in_folder(c->dir) < 20 || !traces_in_folder(c->rooms))
		bench_die("the corpus has too few traces");
	for (unsigned i = 0; i < sizeof files / sizeof files[0]; i++)
		if (!traces_in_file(files[i]))
			bench_die("no trace in %s", files[i]);
	snprintf(path, sizeof path, "%s/parley.db", c->dir);
	if (canaries_missing(path))
		bench_die("a place of the database has no canary");
}

/* May be shown to others, so nothing of her is in it before an erasure either. */
unsigned erase_search_incident(const struct erase_corpus *c)
{
	const struct incident what = {.dir = c->dir, .to = c->incident};
	struct incident_rows rows = {0};
	unsigned found;

	BENCH_OK(incident_export(&what, &rows));
	if (!rows.turns || !rows.events)
		bench_die("an incident of no rows");
	found = traces_in_folder(c->incident);
	erase_corpus_remove(c->incident);
	return found;
}

/* Words alone: it may name people by their ids. */
unsigned erase_search_log(const struct erase_corpus *c)
{
	unsigned found;

	erase_corpus_trace_words(c);
	found = traces_in_file(c->log);
	erase_corpus_trace(c);
	return found;
}

static unsigned search_facts(const struct erase_corpus *c)
{
	struct db *db = NULL;
	char *text = NULL;
	unsigned found;

	BENCH_OK(db_open(&db, c->dir, DB_CHECK));
	BENCH_OK(memory_file_write(db, &text));
	db_close(db);
	found = traces_in(text, strlen(text));
	free(text);
	return found;
}

unsigned erase_search_exports(struct erase_corpus *c)
{
	unsigned found = 0;

	erase_corpus_wait(c, store_export_person(c->store, c->ana, erase_corpus_on_document, c));
	/* It names whom it is about. */
	if (strstr(c->document, c->word[0]) || strstr(c->document, c->number))
		found++;
	erase_corpus_copy(c, "backup");
	found += traces_in_folder(c->dir) + search_facts(c);
	erase_corpus_wait(c, store_export_person(c->store, c->bob, erase_corpus_on_document, c));
	if (!strstr(c->document, "release") && !strstr(c->document, "tests"))
		bench_die("Bob's words are gone, too");
	return found;
}

/* Rows that name nobody, and are of no use without what was erased. */
unsigned erase_search_orphans(const struct erase_corpus *c)
{
	sqlite3 *sql = NULL;
	sqlite3_stmt *s = NULL;
	char path[96];
	unsigned n = 0;

	snprintf(path, sizeof path, "%s/parley.db", c->dir);
	if (sqlite3_open(path, &sql) == SQLITE_OK &&
	    sqlite3_busy_timeout(sql, ERASE_BUSY_MS) == SQLITE_OK &&
	    sqlite3_prepare_v2(
		    sql,
		    "SELECT (SELECT count(*) FROM fact_sources WHERE fact NOT IN"
		    " (SELECT id FROM facts)) + (SELECT count(*) FROM fact_people WHERE fact NOT IN"
		    " (SELECT id FROM facts)) + (SELECT count(*) FROM summary_sources o"
		    " WHERE NOT EXISTS (SELECT 1 FROM summaries s WHERE s.guild = o.guild"
		    " AND s.session = o.session AND s.line = o.line))",
		    -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		n = (unsigned)sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(sql);
	return n;
}
