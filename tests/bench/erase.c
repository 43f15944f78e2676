/* erase_left: traces of an erased person in 1000 random state directories. The search knows no
 * tables and shares no code with control's own: random words and their ends, a number, a vector,
 * and encodings of the id, in every file of the directory, in a backup made afterwards and in an
 * export. Every second erasure is killed at a random system call and repeated by the next start,
 * and an extraction goes on that had read the lines before.
 *
 * Every fourth one gets back the database from before the erasure, as from a backup; every second
 * of these is of the schema before lines had people (24). Of every third one the words are 40 days
 * old, and rows that had grown too old went before. Every eighth one is erased by `control --erase`
 * while no control runs, which also finds the session that the last one left. The log, at its most
 * talkative level, may name the person by id, and has none of their words. An incident has neither,
 * nor has one that was made before the erasure.
 *
 *   erase --few      4 directories, and no eraser is switched off, for tests/mutants
 *   erase --short    20 directories, for make check
 *   erase --long     all of them, for make check-long */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control/store/audit.h"
#include "control/store/db.h"
#include "control/store/db_merge.h"
#include "control/store/listed.h"
#include "control/store/store.h"
#include "ipc/log.h"
#include "tests/bench/bench.h"
#include "tests/bench/erase_corpus.h"
#include "tests/bench/erase_crash.h"
#include "tests/bench/erase_events.h"
#include "tests/bench/erase_search.h"
#include "tests/bench/erase_store.h"
#include "tests/bench/traces.h"

enum { CORPORA = 1000, SHORT = 20, FEW = 4 };

static struct erase_corpus corpus;
static unsigned crashes;
static uint64_t began_ms;

static void make_corpus(void)
{
	erase_corpus_open(&corpus, began_ms);
	erase_events_fill(&corpus);
	erase_store_fill(&corpus);
	erase_corpus_trace(&corpus);
}

static unsigned begin_erasure(struct erase_corpus *c)
{
	erase_corpus_wait(c, store_begin_erasure(c->store, c->ana, false, erase_corpus_on_list, c));
	for (size_t i = 0; i < c->n_listed; i++)
		if (c->listed[i] == c->guild)
			return 0;
	return 1; /* its conversations would not begin anew */
}

static unsigned erase_live(struct erase_corpus *c)
{
	erase_corpus_wait(c, store_erase_person(c->store, c->ana, "bench", false,
						erase_corpus_on_document, c));
	if (!strstr(c->document, "\"traces\":0"))
		bench_die("the receipt tells of traces: %s", c->document);
	return traces_in(c->document, strlen(c->document));
}

/* How the i-th one is erased. */
static unsigned erase_and_search(unsigned i)
{
	bool crash = i % 2, restore = i % 4 == 2, command = i % 8 == 0, old = i % 3 == 1;
	unsigned found;

	make_corpus();
	erase_corpus_copy(&corpus, "parley.db.before-6");     /* of a migration */
	erase_corpus_copy(&corpus, "parley.db.before-7.new"); /* of one that was killed */
	erase_store_leave_copies(&corpus);
	erase_search_check(&corpus);
	found = erase_search_incident(&corpus);
	if (old)
		erase_store_grow_old(&corpus);
	if (restore)
		erase_crash_keep_older(&corpus);
	found += begin_erasure(&corpus);
	if (crash && erase_crash(&corpus))
		crashes++;
	if (command)
		erase_crash_command(&corpus);
	else if (!crash)
		found += erase_live(&corpus);
	erase_store_extract(&corpus);
	found += erase_search_exports(&corpus) + erase_search_log(&corpus);
	if (restore)
		found += erase_crash_restore_older(&corpus, i % 8 == 6);
	erase_corpus_close(&corpus);
	return found;
}

static const struct {
	const char *name;
	enum db_statement statement;
} erasers[] = {
#define E(statement) {#statement, DB_##statement},
	ERASERS(E) E(END_ERASE_REQUEST)
#undef E
};
enum { N_ERASERS = sizeof erasers / sizeof erasers[0] };

static void run_erasers(const struct erase_corpus *c, struct db *db, unsigned off)
{
	char guilds[32];

	snprintf(guilds, sizeof guilds, "[%llu]", (unsigned long long)c->guild);
	for (unsigned i = 0; i < N_ERASERS; i++) {
		struct sqlite3_stmt *s = db_use(db, erasers[i].statement);

		sqlite3_bind_int64(s, 1, (sqlite3_int64)c->ana);
		sqlite3_bind_text(s, 2, guilds, -1, SQLITE_TRANSIENT);
		if (i != off)
			BENCH_OK(db_run(db, s));
	}
	BENCH_OK(db_merge_terms(db));
	BENCH_OK(db_truncate_wal(db));
}

/* Without this eraser the search must find something. */
static bool is_noticed(unsigned off)
{
	struct db *db = NULL;
	unsigned found, texts;
	sqlite3_stmt *s;

	make_corpus();
	erase_corpus_close_store(&corpus);
	erase_corpus_remove(corpus.rooms);
	unlink(corpus.turns);
	unlink(corpus.old);
	BENCH_OK(db_open(&db, corpus.dir, DB_OWN));
	BENCH_OK(db_run(db, db_use(db, DB_DROP_GUILDS)));
	s = db_use(db, DB_ADD_ERASE_REQUEST);
	sqlite3_bind_int64(s, 1, (sqlite3_int64)corpus.ana);
	BENCH_OK(db_run(db, s));
	BENCH_OK(audit_erase_texts(db, corpus.ana, "nobody", erase_corpus_now(&corpus), &texts));
	BENCH_OK(listed_erase(db, corpus.ana, &texts));
	run_erasers(&corpus, db, off);
	db_close(db);
	found = traces_in_folder(corpus.dir) + erase_search_orphans(&corpus);
	erase_corpus_close(&corpus);
	return found > 0;
}

int main(int argc, char **argv)
{
	bool few = argc > 1 && strcmp(argv[1], "--few") == 0;
	unsigned corpora = few						 ? FEW
			   : argc > 1 && strcmp(argv[1], "--short") == 0 ? SHORT
									 : CORPORA;
	bool checks = argc > 1;
	unsigned found = 0, unnoticed = 0;

	log_init("erase", LOG_DEBUG_);
	began_ms = (uint64_t)time(NULL) * 1000;
	srand(1);
	if (is_noticed(N_ERASERS))
		bench_die("the erasers alone leave traces");
	for (unsigned i = 0; !few && i < N_ERASERS; i++)
		if (!is_noticed(i)) {
			fprintf(stderr, "erase: nobody misses %s\n", erasers[i].name);
			unnoticed++;
		}
	for (unsigned i = 0; i < corpora; i++) {
		srand(1000 + i);
		found += erase_and_search(i);
	}
	if (checks) {
		printf("%u passed, %u failed, 0 skipped\n",
		       !found + (few ? 0 : N_ERASERS - unnoticed), !!found + unnoticed);
		return found || unnoticed;
	}
	bench_row_more("erase_left", found, "traces",
		       "\"corpora\": %u, \"erasers\": %u, \"unnoticed\": %u, \"crashes\": %u",
		       corpora, (unsigned)N_ERASERS, unnoticed, crashes);
	return 0;
}
