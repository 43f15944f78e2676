#include "control/store/term_search.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>

#include "control/memory/terms.h"
#include "control/store/db.h"
#include "control/store/scope_rows.h"
#include "tests/random.h"
#include "tests/unit/control/store/still_clock.h"
#include "tests/unit/ipc/loop.h"

enum { TEXTS = TERM_SEARCH_LENGTHS, WORDS = 60, QUESTIONS = 40 };

static struct db *db;
static char dir[32];

static void open_index(void)
{
	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
}

static void close_index(void)
{
	db = db_close(db);
	folder_remove(dir);
}

static sqlite3_stmt *prepare(const char *sql)
{
	sqlite3_stmt *s = NULL;

	sqlite3_prepare_v2(sqlite3_db_handle(db_use(db, DB_BEGIN)), sql, -1, &s, NULL);
	return s;
}

static int run(const char *sql)
{
	return sqlite3_exec(sqlite3_db_handle(db_use(db, DB_BEGIN)), sql, NULL, NULL, NULL);
}

/* Words in the proportions of speech: a few are in most texts. */
static void write_words(char *to, size_t size, unsigned words, uint64_t *seed)
{
	size_t n = 0;

	for (unsigned i = 0; i < words; i++)
		n += (size_t)snprintf(to + n, size - n, "%sw%d", i ? " " : "",
				      (int)exp(random_uniform(seed, 0, log(WORDS))));
}

static void add_texts(uint64_t *seed)
{
	sqlite3_stmt *s = prepare("INSERT INTO terms(rowid, text) VALUES(?1, ?2)");
	char text[512];

	CHECK_INT(db_begin(db), 0);
	for (unsigned i = 0; i < TEXTS; i++) {
		write_words(text, sizeof text, random_between(seed, 1, 40), seed);
		db_bind_uint(s, 1, 3 * i + 1);
		db_bind_text(s, 2, text);
		CHECK_INT(db_run(db, s), 0);
	}
	CHECK_INT(db_commit(db), 0);
	sqlite3_finalize(s);
}

/* Compares every row that the search gives with FTS5's own ranking. */
static void check_ranking(const char *query)
{
	sqlite3_stmt *s = prepare("SELECT rowid, -bm25(terms) FROM terms WHERE terms MATCH ?1"
				  " ORDER BY bm25(terms)");
	struct term_search *t = NULL;
	double match = 0;
	uint64_t id = 0;
	bool same = true;

	CHECK_INT(term_search_alloc(&t, db, NULL, query), 0);
	db_bind_text(s, 1, query);
	while (db_step(db, s) == 0)
		same = same && term_search_next(t, &id, &match) == 0 &&
		       fabs(match - db_real(s, 1)) < 1e-9;
	sqlite3_finalize(s);
	CHECK(same);
	CHECK_INT(term_search_next(t, &id, &match), ENOENT);
	term_search_free(t);
}

TEST(scores_and_order_are_those_of_fts5)
{
	uint64_t seed = 5;
	char words[128], query[TERMS_QUERY_MAX];

	open_index();
	add_texts(&seed);
	for (unsigned i = 0; i < QUESTIONS; i++) {
		write_words(words, sizeof words, random_between(&seed, 1, 6), &seed);
		CHECK(terms_query(query, words));
		check_ranking(query);
	}
	check_ranking("\"w5\"*");
	check_ranking("\"elsewhere\"");
	close_index();
}

/* Fills the index with texts of one word; every third has no other word. */
static void repeat_word(unsigned rows)
{
	char sql[256];

	snprintf(sql, sizeof sql,
		 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u)"
		 " INSERT INTO terms(rowid, text) SELECT i, 'rain' || iif(i %% 3, ' so', '')"
		 " FROM n",
		 rows);
	CHECK_INT(run(sql), SQLITE_OK);
}

TEST(after_many_lengths_each_row_still_comes_once)
{
	enum { ROWS = TERM_SEARCH_LENGTHS + 1000 };
	static bool seen[ROWS + 1];
	struct term_search *t = NULL;
	double match;
	uint64_t id;
	unsigned n = 0;

	open_index();
	repeat_word(ROWS);
	CHECK_INT(term_search_alloc(&t, db, NULL, "\"rain\" OR \"rain\""), 0);
	/* The newest of the shortest. */
	CHECK_INT(term_search_next(t, &id, &match), 0);
	CHECK_INT(id, ROWS / 3 * 3);
	do {
		CHECK(id <= ROWS && !seen[id]);
		seen[id] = true;
		n++;
	} while (term_search_next(t, &id, &match) == 0);
	CHECK_INT(n, ROWS);
	term_search_free(t);
	close_index();
}

TEST(of_a_frequent_word_the_newest_rows_count)
{
	enum { ROWS = TERM_SEARCH_ROWS + 100 };
	struct term_search *t = NULL;
	double match;
	uint64_t id, least = UINT64_MAX;
	unsigned n = 0;

	open_index();
	repeat_word(ROWS);
	CHECK_INT(term_search_alloc(&t, db, NULL, "\"rain\""), 0);
	for (; term_search_next(t, &id, &match) == 0; n++)
		least = id < least ? id : least;
	CHECK_INT(n, TERM_SEARCH_ROWS / 2 + 100);
	CHECK_INT(least, ROWS - n + 1);
	term_search_free(t);
	close_index();
}

/* Lines of two servers with the same word: each n-th one up to `until` is of server 7. */
static void add_lines(unsigned rows, unsigned n, unsigned until)
{
	char sql[512];

	snprintf(sql, sizeof sql,
		 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u)"
		 " INSERT INTO utterances(seq, guild, channel, text, started_ms)"
		 " SELECT i, iif(i %% %u = 0 AND i <= %u, 7, 8), 70, 'rain', i FROM n",
		 rows, n, until);
	CHECK_INT(run(sql), SQLITE_OK);
	repeat_word(rows);
}

struct count {
	unsigned rows, own; /* own: each n-th row up to `until` */
};

static struct count count_rows(const struct search_scope *scope, unsigned n, unsigned until)
{
	struct term_search *t = NULL;
	struct count count = {0};
	double match;
	uint64_t id;

	if (term_search_alloc(&t, db, scope, "\"rain\" OR \"so\""))
		return count;
	for (; term_search_next(t, &id, &match) == 0; count.rows++)
		count.own += id % n == 0 && id <= until;
	term_search_free(t);
	return count;
}

/* Beyond the cap, and far below it, where each foreign row would cost a look-up. */
TEST(lines_of_other_servers_crowd_out_none)
{
	static const struct search_scope all = {7, 70, 0, INT64_MAX}, some = {7, 70, 701, 1000};
	static const unsigned rows[] = {TERM_SEARCH_ROWS + 100, 2 * TERM_SEARCH_ROWS + 100, 6000};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		open_index();
		add_lines(rows[i], 10, 1000);
		CHECK_INT(count_rows(&all, 10, 1000).own, 100);
		CHECK_INT(count_rows(&all, 10, 1000).rows, 100);
		CHECK_INT(count_rows(&some, 10, 1000).rows, 29);
		close_index();
	}
}

/* Where one's own lines are the most, the newest of them count. */
TEST(a_server_with_many_lines_keeps_its_newest)
{
	enum { OWN = TERM_SEARCH_ROWS + 1000 };
	static const struct search_scope all = {7, 70, 0, INT64_MAX};
	struct count count;

	open_index();
	add_lines(2 * TERM_SEARCH_ROWS, 1, OWN);
	count = count_rows(&all, 1, OWN);
	CHECK_INT(count.rows, count.own);
	CHECK(count.own >= TERM_SEARCH_ROWS / 4);
	close_index();
}

TEST(a_search_whose_time_is_up_gives_no_more_rows)
{
	struct term_search *t = NULL;
	uint64_t id;
	double match;

	open_index();
	CHECK_INT(run("INSERT INTO terms(rowid, text) VALUES(1, 'rain')"), SQLITE_OK);
	CHECK_INT(db_begin_search(db, 1), 0);
	still_clock_pass(1);
	CHECK(db_is_late(db));
	CHECK_INT(term_search_alloc(&t, db, NULL, "\"rain\""), 0);
	CHECK_INT(term_search_next(t, &id, &match), ETIMEDOUT);
	t = term_search_free(t);
	db_lift_limit(db);
	CHECK(!db_is_late(db));
	CHECK_INT(term_search_alloc(&t, db, NULL, "\"rain\""), 0);
	CHECK_INT(term_search_next(t, &id, &match), 0);
	term_search_free(t);
	db_rollback(db);
	close_index();
}

TEST_OOM(a_search_survives_a_lack_of_memory)
{
	struct term_search *t = NULL;

	CHECK(folder_make(dir));
	CHECK_OOM(db_open(&db, dir, DB_OWN), folder_remove(dir));
	CHECK_OOM(run("INSERT INTO terms(rowid, text) VALUES(1, 'rain')") ? ENOMEM : 0,
		  close_index());
	CHECK_OOM(term_search_alloc(&t, db, NULL, "\"rain\""), close_index());
	term_search_free(t);
	close_index();
}

TEST_OOM(a_crowded_search_survives_a_lack_of_memory)
{
	static const struct search_scope scope = {7, 70, 0, INT64_MAX};
	struct term_search *t = NULL;
	double match;
	uint64_t id;

	CHECK(folder_make(dir));
	CHECK_OOM(db_open(&db, dir, DB_OWN), folder_remove(dir));
	CHECK_OOM(run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
		      " WHERE i < 3000) INSERT INTO terms(rowid, text) SELECT i, 'rain' FROM n")
			  ? ENOMEM
			  : 0,
		  close_index());
	CHECK_OOM(term_search_alloc(&t, db, &scope, "\"rain\""), close_index());
	CHECK_INT(term_search_next(t, &id, &match), ENOENT);
	term_search_free(t);
	close_index();
}
