/* Facts, through the store: dedupe_update and dedupe_same, pairs of statements of tests/memory
 * written one after the other; memory_leak_across, results of random questions that belong to
 * another server or to another person's own memory.
 *
 *   facts [--tuned] [questions]      the tuned half of the pairs; how many random questions */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/store/db.h"
#include "control/store/embedding.h"
#include "control/store/fact_rows.h"
#include "control/store/job.h"
#include "tests/bench/bench.h"
#include "tests/bench/recall_corpus.h"
#include "tests/random.h"

enum { SERVERS = 4, PEOPLE = 5, FACTS = 12, QUESTIONS = 10000, MINUTE_MS = 60000, HALVES = 2 };

static struct db *db;
static struct embedding *embedding;
static uint64_t now_ms = 1000;

/* ---- duplicates ---- */

/* "inserted", "updated" or "duplicate"; the caller frees it. */
static char *write_fact(uint64_t guild, uint64_t owner, uint64_t user, const char *text)
{
	json_t *request = json_pack("[{s:s,s:[]}]", "text", text, "tags"), *done;
	struct job j = {.kind = JOB_WRITE_FACTS,
			.guild = guild,
			.owner = owner,
			.user = user,
			.now_ms = now_ms += MINUTE_MS,
			.author = (char *)"Ana",
			.text = json_dumps(request, 0)};
	const char *status;
	char *out = NULL;

	BENCH_OK(fact_rows_write(db, embedding, &j, &out));
	json_decref(request);
	done = json_loads(out, 0, NULL);
	status = json_string_value(
		json_object_get(json_array_get(json_object_get(done, "written"), 0), "status"));
	free(out);
	free(j.text);
	out = strdup(status ? status : "duplicate");
	json_decref(done);
	return out;
}

struct pairs {
	struct corpus_count kept, closed, merged;
};

static void score_pairs(const json_t *pairs, uint64_t *guild, struct pairs *p)
{
	const json_t *pair;
	size_t i;

	json_array_foreach(pairs, i, pair)
	{
		char *status;

		free(write_fact(++*guild, 0, 1, json_string_value(json_object_get(pair, "a"))));
		status = write_fact(*guild, 0, 1, json_string_value(json_object_get(pair, "b")));
		if (json_is_true(json_object_get(pair, "same"))) {
			corpus_add(&p->merged, strcmp(status, "duplicate") == 0);
		} else {
			corpus_add(&p->kept, strcmp(status, "duplicate") != 0);
			corpus_add(&p->closed, strcmp(status, "updated") == 0);
		}
		free(status);
	}
}

static void dedupe_rows(bool tuned)
{
	const char *const names[HALVES] = {tuned ? "en1" : "en3", tuned ? "en2" : "en4"};
	struct pairs p = {0};
	uint64_t guild = 1000;

	for (size_t i = 0; i < HALVES; i++) {
		struct corpus c;

		corpus_open(&c, tuned ? "tuned" : "untouched", names[i], db, 900 + i);
		score_pairs(c.pairs, &guild, &p);
		corpus_free(&c);
	}
	corpus_print("dedupe_update", p.kept);
	corpus_print("dedupe_update_closed", p.closed);
	corpus_print("dedupe_same", p.merged);
}

/* ---- leaks ---- */

static const char *const things[FACTS] = {"bike",   "kitchen", "parrot",  "garden",
					  "guitar", "exam",    "holiday", "recipe",
					  "server", "boat",    "piano",	  "wedding"};
static const char *const colours[] = {"red", "blue", "green", "yellow", "black", "white"};

static uint64_t person(unsigned server, unsigned p)
{
	return 100 * (server + 1) + p + 1;
}

/* Each fact tells whose it is: "the bike of 2 301 is blue". */
static void fill_servers(uint64_t *seed)
{
	char text[96];

	for (unsigned s = 0; s < SERVERS; s++)
		for (unsigned p = 0; p <= PEOPLE; p++)
			for (unsigned f = 0; f < FACTS; f++) {
				uint64_t owner = p < PEOPLE ? person(s, p) : 0;

				snprintf(text, sizeof text, "the %s of %u %llu is %s", things[f],
					 s + 1, (unsigned long long)owner,
					 colours[random_below(seed, 6)]);
				free(write_fact(s + 1, owner, owner ? owner : person(s, 0), text));
			}
}

/* Results of another server, or of a person's own memory who did not ask. */
static unsigned count_leaks(const char *document, uint64_t server, uint64_t user)
{
	json_t *facts = json_loads(document, 0, NULL), *fact;
	unsigned leaks = 0;
	size_t i;

	json_array_foreach(facts, i, fact)
	{
		unsigned long long s = 0, owner = 0;
		char thing[32];

		sscanf(json_string_value(json_object_get(fact, "text")), "the %31s of %llu %llu",
		       thing, &s, &owner);
		leaks += s != server || (owner && owner != user);
	}
	json_decref(facts);
	return leaks;
}

static void leak_row(unsigned questions, uint64_t *seed)
{
	unsigned leaks = 0, found = 0;

	fill_servers(seed);
	for (unsigned i = 0; i < questions; i++) {
		unsigned s = random_below(seed, SERVERS), p = random_below(seed, PEOPLE);
		json_t *request = json_pack(
			"{s:o}", "words",
			json_sprintf("what is the %s of %u %u?", things[random_below(seed, FACTS)],
				     1 + random_below(seed, SERVERS),
				     (unsigned)person(random_below(seed, SERVERS),
						      random_below(seed, PEOPLE))));
		struct job j = {.kind = JOB_FIND_FACTS,
				.guild = s + 1,
				.owner = person(s, p),
				.user = person(s, p),
				.any = true,
				.version = 8,
				.text = json_dumps(request, 0)};
		char *out = NULL;

		BENCH_OK(fact_rows_find(db, embedding, &j, &out));
		leaks += count_leaks(out, s + 1, person(s, p));
		found += strlen(out) > 2;
		free(out);
		free(j.text);
		json_decref(request);
	}
	bench_row_more("memory_leak_across", leaks, "results",
		       "\"questions\": %u, \"answered\": %u", questions, found);
}

int main(int argc, char **argv)
{
	bool tuned = argc > 1 && strcmp(argv[1], "--tuned") == 0;
	int questions = argc > 1 + tuned ? atoi(argv[1 + tuned]) : QUESTIONS;
	char dir[] = "/tmp/parley-facts.XXXXXX", rm[64];
	uint64_t seed = 3;

	if (!mkdtemp(dir))
		bench_die("no folder");
	BENCH_OK(db_open(&db, dir, DB_OWN));
	if (embedding_open(&embedding, "build/embedder/use-lite.int8"))
		fprintf(stderr, "facts: without an encoder (make embedder)\n");
	else
		BENCH_OK(embedding_pump(embedding, db));
	leak_row((unsigned)questions, &seed);
	dedupe_rows(tuned);
	embedding_close(embedding);
	db_close(db);
	snprintf(rm, sizeof rm, "rm -r %s", dir);
	return system(rm) ? 1 : 0;
}
