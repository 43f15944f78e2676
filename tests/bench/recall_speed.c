/* How long the memory's search takes: recall_p99_ms, a question put to a channel with a million
 * utterances of a year and to 100,000 facts, all with vectors. Texts and vectors are generated;
 * the question is embedded as in the bot,
 * and its words are none of the hundred most frequent ones, which a question of real words drops.
 * recall_person_p99_ms puts the same questions to the lines of one speaker of eight.
 * recall_load_ms is the time after a start until all vectors of the server are in memory, with the
 * first search.
 *
 *   recall_speed [utterances] [facts] */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/memory/terms.h"
#include "control/store/db.h"
#include "control/store/embedding.h"
#include "control/store/fact_rows.h"
#include "control/store/job.h"
#include "control/store/said.h"
#include "tests/bench/bench.h"
#include "tests/bench/random_vectors.h"
#include "tests/random.h"

enum {
	GUILD = 1,
	CHANNEL = 3,
	FIRST_SPEAKER = 100,
	ASKER = 100,
	WORDS = 20000,
	QUESTIONS = 300,
	SPEAKERS = 8,
	STOP_WORDS = 100
};
#define YEAR_MS INT64_C(31536000000)
#define NOW_MS	(INT64_C(1790000000000))

static struct db *db;
static uint64_t seed = 11;

/* Words from the `first` one on, as often as in speech: the n-th has a share of 1/n. */
static unsigned pick_word(unsigned first)
{
	return (unsigned)exp(random_uniform(&seed, log(first), log(WORDS)));
}

static void make_text(char text[256], unsigned words, unsigned first)
{
	size_t n = 0;

	for (unsigned i = 0; i < words; i++)
		n += (size_t)snprintf(text + n, 256 - n, "%sw%u", i ? " " : "", pick_word(first));
}

static void add_utterance(unsigned i, unsigned of)
{
	char text[256], name[16];
	sqlite3_stmt *s = db_use(db, DB_ADD_UTTERANCE);
	unsigned speaker = random_below(&seed, SPEAKERS);
	uint64_t at = (uint64_t)(NOW_MS - YEAR_MS + YEAR_MS / of * i);

	make_text(text, 5 + random_below(&seed, 15), 1);
	snprintf(name, sizeof name, "Speaker%u", speaker);
	db_bind_uint(s, 1, GUILD);
	db_bind_uint(s, 2, 1);
	db_bind_uint(s, 3, i);
	db_bind_uint(s, 4, FIRST_SPEAKER + speaker);
	db_bind_text(s, 5, name);
	db_bind_text(s, 6, text);
	db_bind_uint(s, 7, at);
	db_bind_uint(s, 8, at);
	db_bind_text(s, 9, "transcription");
	db_bind_uint(s, 10, CHANNEL);
	db_bind_uint(s, 15, 1);
	BENCH_OK(db_run(db, s));
	s = db_use(db, DB_ADD_TERMS);
	db_bind_uint(s, 1, db_last_row(db));
	BENCH_OK(db_run(db, s));
	random_vectors_add(db, DB_ADD_VECTOR, i + 1, &seed);
}

/* On days of a year, so that newer ones may come before older ones. */
static void add_fact(unsigned i, unsigned of)
{
	char text[256];
	sqlite3_stmt *s = db_use(db, DB_ADD_FACT);

	make_text(text, 5 + random_below(&seed, 7), 1);
	db_bind_uint(s, 1, GUILD);
	db_bind_uint(s, 2, 0);
	db_bind_uint(s, 3, 100);
	db_bind_text(s, 4, "Speaker0");
	db_bind_text(s, 5, "fact");
	db_bind_text(s, 6, "[]");
	db_bind_text(s, 7, text);
	db_bind_uint(s, 8, NOW_MS);
	db_bind_uint(s, 9, (uint64_t)(NOW_MS - YEAR_MS + YEAR_MS / of * i));
	BENCH_OK(db_run(db, s));
	s = db_use(db, DB_ADD_FACT_TERMS);
	db_bind_uint(s, 1, i + 1);
	BENCH_OK(db_run(db, s));
	random_vectors_add(db, DB_ADD_FACT_VECTOR, i + 1, &seed);
}

/* All rows have their vectors. */
static void mark_embedded(const char *model, unsigned utterances, unsigned facts)
{
	sqlite3_stmt *s = db_use(db, DB_ADD_EMBEDDING_MODEL);

	db_bind_text(s, 1, model);
	BENCH_OK(db_run(db, s));
	s = db_use(db, DB_NOTE_EMBEDDED);
	db_bind_uint(s, 1, 1);
	db_bind_uint(s, 2, utterances);
	db_bind_uint(s, 3, facts);
	BENCH_OK(db_run(db, s));
}

static void fill(const char *model, unsigned utterances, unsigned facts)
{
	BENCH_OK(db_begin(db));
	for (unsigned i = 0; i < utterances; i++)
		add_utterance(i, utterances);
	for (unsigned i = 0; i < facts; i++)
		add_fact(i, facts);
	mark_embedded(model, utterances, facts);
	BENCH_OK(db_commit(db));
	/* All in one transaction: a bot's WAL is never so large, and SQLite looks through all of it
	 * for each page. */
	BENCH_OK(db_truncate_wal(db));
}

/* ms of both searches. speaker: whose lines, by id, 0: anybody's, as a prompt asks. */
static void ask(struct embedding *e, uint64_t speaker, double *said, double *facts)
{
	char words[256], question[300], request[400];
	struct job j = {.guild = GUILD,
			.channel = CHANNEL,
			.user = speaker,
			.any = true,
			.version = 5,
			.author = (char *)""};
	uint64_t began = bench_clock();
	char *out = NULL;

	make_text(words, 4, STOP_WORDS);
	snprintf(question, sizeof question, "what did Speaker3 say about %s?", words);
	snprintf(request, sizeof request, "{\"words\": \"%s\"}", question);
	j.text = question;
	BENCH_OK(said_find(db, e, &j, &out));
	if (strcmp(out, "[]") == 0)
		bench_die("a question finds no lines: it asks for what the bot is not asked");
	free(out);
	*said = (double)(bench_clock() - began) / 1e6;
	began = bench_clock();
	j.user = ASKER;
	j.text = request;
	BENCH_OK(fact_rows_find(db, e, &j, &out));
	free(out);
	*facts = (double)(bench_clock() - began) / 1e6;
}

/* The floor: FTS5 alone ranks the rows that hold the question's words. ms of processor time. */
static double rank_alone(sqlite3_stmt *s)
{
	char words[256], query[TERMS_QUERY_MAX];
	uint64_t began = bench_cpu();

	make_text(words, 4, STOP_WORDS);
	terms_query(query, words);
	sqlite3_reset(s);
	db_bind_text(s, 1, query);
	while (db_step(db, s) == 0)
		;
	return (double)(bench_cpu() - began) / 1e6;
}

/* The same questions; the seed is the one with which they began. */
static void rank_all_alone(uint64_t first)
{
	static double cpu[QUESTIONS];
	sqlite3_stmt *s = NULL;

	if (sqlite3_prepare_v2(sqlite3_db_handle(db_use(db, DB_FIND_LINE)),
			       "SELECT rowid, rank FROM terms WHERE terms MATCH ?1 ORDER BY rank"
			       " LIMIT 24",
			       -1, &s, NULL) != SQLITE_OK)
		bench_die("the ranking of FTS5 cannot be used");
	seed = first;
	for (unsigned i = 0; i < QUESTIONS; i++)
		cpu[i] = rank_alone(s);
	sqlite3_finalize(s);
	bench_row_more("recall_fts5_ms", bench_quantile(cpu, QUESTIONS, 0.99), "ms",
		       "\"p50\": %.2f, \"n\": %d", bench_median(cpu, QUESTIONS), QUESTIONS);
}

static void ask_row(struct embedding *e, const char *row, uint64_t speaker)
{
	static double all[QUESTIONS], said[QUESTIONS], known[QUESTIONS], cpu[QUESTIONS];

	for (unsigned i = 0; i < QUESTIONS; i++) {
		uint64_t began = bench_cpu();

		ask(e, speaker, &said[i], &known[i]);
		cpu[i] = (double)(bench_cpu() - began) / 1e6;
		all[i] = said[i] + known[i];
	}
	bench_raw(row, all, QUESTIONS);
	bench_row_more(row, bench_quantile(all, QUESTIONS, 0.99), "ms",
		       "\"p50\": %.2f, \"cpu_p50\": %.2f, \"cpu_p99\": %.2f, \"utterances_p50\": "
		       "%.2f, \"utterances_p99\": %.2f, "
		       "\"facts_p50\": %.2f, \"facts_p99\": %.2f, \"n\": %d",
		       bench_median(all, QUESTIONS), bench_median(cpu, QUESTIONS),
		       bench_quantile(cpu, QUESTIONS, 0.99), bench_median(said, QUESTIONS),
		       bench_quantile(said, QUESTIONS, 0.99), bench_median(known, QUESTIONS),
		       bench_quantile(known, QUESTIONS, 0.99), QUESTIONS);
}

static void load(struct embedding *e, unsigned utterances, unsigned facts)
{
	uint64_t began = bench_clock();
	double first, first_facts;

	BENCH_OK(embedding_pump(e, db));
	ask(e, 0, &first, &first_facts);
	BENCH_OK(embedding_finish(e, db));
	bench_row_more("recall_load_ms", (double)(bench_clock() - began) / 1e6, "ms",
		       "\"first_search\": %.2f, \"utterances\": %u, \"facts\": %u",
		       first + first_facts, utterances, facts);
}

/* All rows are of the same questions. */
static void ask_all(struct embedding *e, unsigned utterances, unsigned facts)
{
	uint64_t questions;

	load(e, utterances, facts);
	questions = seed;
	ask_row(e, "recall_p99_ms", 0);
	seed = questions;
	ask_row(e, "recall_person_p99_ms", FIRST_SPEAKER);
	rank_all_alone(questions);
}

int main(int argc, char **argv)
{
	unsigned utterances = argc > 1 ? (unsigned)atoi(argv[1]) : 1000000;
	unsigned facts = argc > 2 ? (unsigned)atoi(argv[2]) : 100000;
	char dir[] = "/tmp/parley-recall.XXXXXX", rm[64];
	struct embedding *e = NULL;

	if (!mkdtemp(dir))
		bench_die("no folder");
	BENCH_OK(db_open(&db, dir, DB_OWN));
	if (embedding_open(&e, "build/embedder/use-lite.int8"))
		bench_die("there is no encoder: make embedder");
	random_vectors_make(&seed);
	fill(embedding_model(e), utterances, facts);
	ask_all(e, utterances, facts);
	embedding_close(e);
	db_close(db);
	snprintf(rm, sizeof rm, "rm -r %s", dir);
	return system(rm) ? 1 : 0;
}
