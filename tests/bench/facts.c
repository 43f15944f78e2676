/* Facts, through the store: dedupe_update and dedupe_same, pairs of statements of tests/memory
 * written one after the other, dedupe_other, two details of one subject, which both have to stay,
 * what a reflection adds by a stand-in model that errs in one of twenty cases (dedupe_same_model,
 * dedupe_update_model), temporal_facts, values that changed, and facts_at_1, whole rooms told as
 * facts.
 *
 *   facts [--tuned]      the tuned half of the pairs */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/events/events.h"
#include "control/store/db.h"
#include "control/memory/reflect.h"
#include "control/memory/time_cue.h"
#include "control/store/embedding.h"
#include "control/store/fact_pairs.h"
#include "control/store/fact_rows.h"
#include "control/store/job.h"
#include "control/store/rows.h"
#include "control/store/said.h"
#include "tests/bench/bench.h"
#include "tests/bench/recall_corpus.h"
#include "tests/bench/turned.h"
#include "tests/random.h"

enum {
	MINUTE_MS = 60000,
	HALVES = 2,
	FOUND_FIRST = 5,
	DAYS = 5, /* on which a reflection is asked about what changed */
	ROOM_SERVER = 950,
	TEMPORAL_SERVER = 800,
	LANGUAGE_SERVER = 700,
};
#define DAY_MS UINT64_C(86400000)

static struct db *db;
static struct embedding *embedding;
static uint64_t now_ms = 1000;

/* ---- duplicates ---- */

/* "inserted", "updated" or "duplicate"; the caller frees it. */
static char *tell_fact(uint64_t guild, uint64_t user, const char *author, const char *text)
{
	json_t *request = json_pack("[{s:s,s:[]}]", "text", text, "tags"), *done;
	struct job j = {.kind = JOB_WRITE_FACTS,
			.guild = guild,
			.user = user,
			.now_ms = now_ms += MINUTE_MS,
			.author = (char *)(uintptr_t)author,
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

static char *write_fact(uint64_t guild, const char *text)
{
	return tell_fact(guild, 1, "Ana", text);
}

/* By writing, and after a reflection. */
struct pairs {
	struct corpus_count kept, closed, merged;
	unsigned asked; /* pairs that the model was asked about */
	unsigned lost_later, closed_later, merged_later;
	/* {"the later statement": it says the same, or the one whose value it changed} */
	json_t *truth;
};

static void score_pairs(const json_t *pairs, uint64_t *guild, struct pairs *p)
{
	const json_t *pair;
	size_t i;

	json_array_foreach(pairs, i, pair)
	{
		char *status;

		free(write_fact(++*guild, json_string_value(json_object_get(pair, "a"))));
		status = write_fact(*guild, json_string_value(json_object_get(pair, "b")));
		json_object_set(p->truth, json_string_value(json_object_get(pair, "b")),
				json_object_get(pair, "same"));
		if (json_is_true(json_object_get(pair, "same"))) {
			corpus_add(&p->merged, strcmp(status, "duplicate") == 0);
		} else {
			corpus_add(&p->kept, strcmp(status, "duplicate") != 0);
			corpus_add(&p->closed, strcmp(status, "updated") == 0);
		}
		free(status);
	}
}

/* Two details of one subject: neither may end or swallow the other. */
static void other_row(uint64_t *guild)
{
	struct corpus_count stand = {0};
	json_t *pairs = corpus_pairs("tests/memory/details.jsonl"), *pair;
	size_t i;

	json_array_foreach(pairs, i, pair)
	{
		char *status;

		free(write_fact(++*guild, json_string_value(json_object_get(pair, "a"))));
		status = write_fact(*guild, json_string_value(json_object_get(pair, "b")));
		if (strcmp(status, "inserted") != 0)
			fprintf(stderr, "facts: %s: %s\n", status,
				json_string_value(json_object_get(pair, "b")));
		corpus_add(&stand, strcmp(status, "inserted") == 0);
		free(status);
	}
	corpus_print("dedupe_other", stand);
	json_decref(pairs);
}

/* Other statements in the same words: none of them is known already. */
static void turned_row(uint64_t *guild)
{
	struct corpus_count kept = {0};
	json_t *pairs = turned_pairs(), *pair;
	size_t i;

	json_array_foreach(pairs, i, pair)
	{
		char *status;

		free(write_fact(++*guild, json_string_value(json_object_get(pair, "a"))));
		status = write_fact(*guild, json_string_value(json_object_get(pair, "b")));
		if (strcmp(status, "duplicate") == 0)
			fprintf(stderr, "facts: %s: %s\n", status,
				json_string_value(json_object_get(pair, "b")));
		corpus_add(&kept, strcmp(status, "duplicate") != 0);
		free(status);
	}
	corpus_print("dedupe_turned", kept);
	json_decref(pairs);
}

/* ---- values that changed ---- */

struct temporal {
	struct corpus_count first, dated;
	struct corpus_count at_1, at_5, changed_at_1; /* among all that was said in a room */
	/* What did not change: told first, with another fact as what it may have replaced. */
	struct corpus_count false_former;
};

/* An utterance as a fact that its speaker tells on its day: a minute apart, as five may be written
 * in a minute. */
static void write_line(const struct corpus *c, uint64_t guild, size_t i)
{
	const json_t *line = json_array_get(c->room, i);
	const char *by = json_string_value(json_object_get(line, "by"));
	uint64_t at_ms = corpus_time(json_object_get(line, "at"));

	now_ms = at_ms - at_ms % DAY_MS + i * MINUTE_MS;
	free(tell_fact(guild, corpus_user(by), by,
		       json_string_value(json_object_get(line, "text"))));
}

static const char *text_of(const struct corpus *c, const json_t *number)
{
	const json_t *line = json_array_get(c->room, (size_t)json_integer_value(number) - 1);

	return json_string_value(json_object_get(line, "text"));
}

/* The facts that a question finds. The caller owns the list. */
static json_t *find_facts(uint64_t guild, const json_t *question)
{
	const char *words = json_string_value(json_object_get(question, "q"));
	const json_t *at = json_object_get(question, "at");
	json_t *request = json_pack("{s:s}", "words", words), *found;
	struct job j;
	char *out = NULL;

	if (at)
		time_cue_note(request, words, corpus_time(at), NULL);
	j = (struct job){.kind = JOB_FIND_FACTS,
			 .guild = guild,
			 .user = 1,
			 .now_ms = now_ms,
			 .any = true,
			 .version = FOUND_FIRST,
			 .text = json_dumps(request, 0)};
	BENCH_OK(fact_rows_find(db, embedding, &j, &out));
	json_decref(request);
	found = json_loads(out, 0, NULL);
	free(out);
	free(j.text);
	return found;
}

static size_t place_of(const json_t *facts, const char *text)
{
	const json_t *fact;
	size_t i;

	json_array_foreach(facts, i, fact)
	{
		if (strcmp(json_string_value(json_object_get(fact, "text")), text) == 0)
			return i;
	}
	return SIZE_MAX;
}

/* The present value is found, and before the former one; dated: that is told as its former value.
 */
static void score_temporal(const struct corpus *c, uint64_t guild, const json_t *q,
			   struct temporal *t)
{
	const char *is = text_of(c, json_array_get(json_object_get(q, "evidence"), 0));
	const char *was = text_of(c, json_array_get(json_object_get(q, "former"), 0));
	json_t *found = find_facts(guild, q);
	size_t now = place_of(found, is);
	const json_t *present = now == SIZE_MAX ? NULL : json_array_get(found, now);

	corpus_add(&t->first, now != SIZE_MAX && now < place_of(found, was));
	corpus_add(&t->dated, place_of(json_object_get(present, "former"), was) != SIZE_MAX);
	json_decref(found);
}

/* True if it is a former or the present value of a question. */
static bool has_changed(const struct corpus *c, size_t i)
{
	const json_t *q;
	size_t k;

	json_array_foreach(c->questions, k, q)
	{
		if (json_object_get(q, "former") &&
		    (corpus_lists(json_object_get(q, "former"), i + 1) ||
		     corpus_lists(json_object_get(q, "evidence"), i + 1)))
			return true;
	}
	return false;
}

/* What changed in a room, told as facts in its order. */
static void write_changed(const struct corpus *c, uint64_t guild)
{
	for (size_t i = 0; i < json_array_size(c->room); i++)
		if (has_changed(c, i))
			write_line(c, guild, i);
}

static void score_changed(const struct corpus *c, uint64_t guild, struct temporal *t)
{
	const json_t *q;
	size_t i;

	json_array_foreach(c->questions, i, q)
	{
		if (json_object_get(q, "former"))
			score_temporal(c, guild, q, t);
	}
}

/* The place of the best line of the evidence; SIZE_MAX: none is found. *former: how many former
 * ones the first fact has. */
static size_t place_of_evidence(const struct corpus *c, uint64_t guild, const json_t *q,
				size_t *former)
{
	json_t *found = find_facts(guild, q), *u;
	size_t i, best = SIZE_MAX;

	json_array_foreach(json_object_get(q, "evidence"), i, u)
	{
		size_t place = place_of(found, text_of(c, u));

		best = place < best ? place : best;
	}
	*former = json_array_size(json_object_get(json_array_get(found, 0), "former"));
	json_decref(found);
	return best;
}

/* All that was said in a room, told as facts. */
static void score_all(const struct corpus *c, uint64_t guild, struct temporal *t)
{
	const json_t *q;
	size_t i, place, former;

	for (i = 0; i < json_array_size(c->room); i++)
		write_line(c, guild, i);
	json_array_foreach(c->questions, i, q)
	{
		if (!json_array_size(json_object_get(q, "evidence")))
			continue;
		place = place_of_evidence(c, guild, q, &former);
		if (json_object_get(q, "former")) {
			corpus_add(&t->changed_at_1, place == 0);
			continue;
		}
		corpus_add(&t->at_1, place == 0);
		corpus_add(&t->at_5, place != SIZE_MAX);
		if (place == 0)
			corpus_add(&t->false_former, former != 0);
	}
}

/* ---- reflection ---- */

#define MODEL_ERROR 0.05
enum { FIRST_DAY = 1, PAIR_SERVER = 1000 };

/* What the stand-in model answers about a pair. Where it errs it takes an update for a duplicate
 * and another fact for an update, and misses a duplicate. */
static const char *judge(const struct pairs *p, const char *was, const char *is, uint64_t *seed)
{
	const json_t *same = json_object_get(p->truth, is);
	bool errs = random_happens(seed, MODEL_ERROR);

	if (json_is_string(same))
		return strcmp(json_string_value(same), was) == 0 ? (errs ? "duplicate" : "update")
								 : (errs ? "update" : "other");
	if (!same)
		return errs ? "duplicate" : "other";
	return json_is_true(same) ? (errs ? "other" : "duplicate")
				  : (errs ? "duplicate" : "update");
}

static json_t *answer_pair(const struct pairs *p, const json_t *pair, size_t i, uint64_t *seed)
{
	const char *was = json_string_value(json_object_get(pair, "was"));
	const char *is = json_string_value(json_object_get(pair, "is"));

	return json_pack("{s:I,s:s,s:s,s:s}", "pair", (json_int_t)i + 1, "relation",
			 judge(p, was, is, seed), "was", was, "is", is);
}

static uint64_t number_of(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static void count_decision(struct pairs *p, const char *is, enum reflect_relation relation)
{
	const json_t *same = json_object_get(p->truth, is);

	p->asked++;
	p->merged_later += json_is_true(same) && relation == REFLECT_DUPLICATE;
	p->lost_later += json_is_false(same) && relation == REFLECT_DUPLICATE;
	p->closed_later += json_is_false(same) && relation == REFLECT_UPDATE;
}

/* Asks the model about these pairs, and gives the store the decisions that code lets pass. */
static void decide_pairs(struct pairs *p, const json_t *found, uint64_t *seed)
{
	const json_t *list = json_object_get(found, "pairs"), *pair;
	json_t *answers = json_array(), *decisions = json_array(), *root;
	struct reflect_pair pairs[REFLECT_PAIRS];
	struct reflect_result result;
	struct job end = {
		.kind = JOB_END_PAIRS, .now_ms = now_ms, .version = number_of(found, "mark")};
	char *text, *out = NULL;
	size_t i, n = 0;

	end.guild = strtoull(json_string_value(json_object_get(found, "guild")), NULL, 10);
	end.owner = strtoull(json_string_value(json_object_get(found, "owner")), NULL, 10);
	end.user = strtoull(json_string_value(json_object_get(found, "user")), NULL, 10);
	json_array_foreach(list, i, pair)
	{
		pairs[n++] = (struct reflect_pair){
			.older = number_of(pair, "older"),
			.newer = number_of(pair, "newer"),
			.was = json_string_value(json_object_get(pair, "was")),
			.is = json_string_value(json_object_get(pair, "is"))};
		json_array_append_new(answers, answer_pair(p, pair, i, seed));
	}
	root = json_pack("{s:o}", "pairs", answers);
	text = json_dumps(root, 0);
	if (!reflect_read(text, pairs, n, &result))
		bench_die("the answer of the model is none");
	free(text);
	json_decref(root);
	for (i = 0; i < n; i++) {
		json_array_append_new(
			decisions, json_pack("{s:I,s:I,s:s}", "older", (json_int_t)pairs[i].older,
					     "newer", (json_int_t)pairs[i].newer, "relation",
					     reflect_relation_name(result.relation[i])));
		if (end.guild > PAIR_SERVER)
			count_decision(p, pairs[i].is, result.relation[i]);
	}
	root = json_pack("{s:o}", "pairs", decisions);
	end.text = json_dumps(root, 0);
	BENCH_OK(fact_pairs_end(db, &end, &out));
	free(end.text);
	free(out);
	json_decref(root);
}

static void reflect_on(struct pairs *p, uint64_t day, uint64_t seed)
{
	struct job next = {.kind = JOB_NEXT_PAIRS,
			   .owner = day,
			   .now_ms = now_ms,
			   .version = REFLECT_PAIRS,
			   .text = (char *)"[]"};
	char *out = NULL;
	int err;

	while ((err = fact_pairs_next(db, embedding, &next, &out)) == 0) {
		json_t *found = json_loads(out, 0, NULL);

		free(out);
		out = NULL;
		decide_pairs(p, found, &seed);
		json_decref(found);
	}
	if (err != ENOENT)
		bench_die("pairs: %s", strerror(err));
}

static void reflect(struct pairs *p)
{
	struct job next = {.kind = JOB_NEXT_PAIRS,
			   .owner = FIRST_DAY,
			   .now_ms = now_ms,
			   .version = REFLECT_PAIRS,
			   .text = (char *)"[]"};
	char *out = NULL;

	/* A database begins with the next day. */
	if (fact_pairs_next(db, embedding, &next, &out) != ENOENT)
		bench_die("a reflection on the first day");
	reflect_on(p, FIRST_DAY + 1, 5);
}

static void print_reflected(const struct pairs *p)
{
	struct corpus_count merged = p->merged, kept = p->kept, closed = p->closed;

	merged.right += p->merged_later;
	kept.right -= p->lost_later;
	closed.right += p->closed_later;
	corpus_print("dedupe_update_model", kept);
	corpus_print("dedupe_update_closed_model", closed);
	corpus_print("dedupe_same_model", merged);
	bench_row("dedupe_pairs_asked", p->asked, "pairs");
}

static void dedupe_rows(bool tuned)
{
	const char *const names[HALVES] = {tuned ? "en1" : "en3", tuned ? "en2" : "en4"};
	struct pairs p = {.truth = json_object()};
	uint64_t guild = PAIR_SERVER;

	for (size_t i = 0; i < HALVES; i++) {
		struct corpus c;

		corpus_open(&c, tuned ? "tuned" : "untouched", names[i], db, 900 + i);
		score_pairs(c.pairs, &guild, &p);
		corpus_free(&c);
	}
	corpus_print("dedupe_update", p.kept);
	corpus_print("dedupe_update_closed", p.closed);
	corpus_print("dedupe_same", p.merged);
	reflect(&p);
	print_reflected(&p);
	other_row(&guild);
	turned_row(&guild);
	json_decref(p.truth);
}

/* ---- values that changed, before and after a reflection ---- */

static void note_changes(const struct corpus *c, json_t *truth)
{
	const json_t *q;
	size_t i;

	json_array_foreach(c->questions, i, q)
	{
		const json_t *former = json_object_get(q, "former");

		if (former)
			json_object_set_new(
				truth,
				text_of(c, json_array_get(json_object_get(q, "evidence"), 0)),
				json_string(text_of(c, json_array_get(former, 0))));
	}
}

/* The reflection of the pairs is done: it would be asked about these facts, too. */
static void temporal_rows(bool tuned)
{
	const char *const names[HALVES] = {tuned ? "en1" : "en3", tuned ? "en2" : "en4"};
	struct pairs p = {.truth = json_object()};
	struct temporal t = {0}, model = {0};
	struct corpus c[HALVES];

	for (size_t i = 0; i < HALVES; i++) {
		corpus_open(&c[i], tuned ? "tuned" : "untouched", names[i], db, ROOM_SERVER + i);
		write_changed(&c[i], TEMPORAL_SERVER + i);
		score_changed(&c[i], TEMPORAL_SERVER + i, &t);
		note_changes(&c[i], p.truth);
	}
	for (uint64_t day = FIRST_DAY + 2; day < FIRST_DAY + 2 + DAYS; day++) {
		reflect_on(&p, day, day);
		now_ms += DAY_MS;
	}
	for (size_t i = 0; i < HALVES; i++) {
		score_changed(&c[i], TEMPORAL_SERVER + i, &model);
		score_all(&c[i], TEMPORAL_SERVER + HALVES + i, &t);
		corpus_free(&c[i]);
	}
	json_decref(p.truth);
	corpus_print("temporal_facts", t.first);
	corpus_print("temporal_facts_dated", t.dated);
	corpus_print("temporal_facts_model", model.first);
	corpus_print("temporal_facts_dated_model", model.dated);
	corpus_print("facts_at_1", t.at_1);
	corpus_print("facts_at_5", t.at_5);
	corpus_print("changed_at_1", t.changed_at_1);
	corpus_print("false_former", t.false_former);
}

/* The same in small rooms of other languages, without a model. */
static void language_rows(bool tuned)
{
	static const char *const names[] = {"de", "es", "fr", "it", "nl", "pl",
					    "pt", "ru", "ja", "ko", "zh"};
	struct temporal t = {0};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct corpus c;

		corpus_open(&c, tuned ? "tuned" : "untouched", names[i], db, LANGUAGE_SERVER + i);
		write_changed(&c, LANGUAGE_SERVER + 20 + i);
		score_changed(&c, LANGUAGE_SERVER + 20 + i, &t);
		score_all(&c, LANGUAGE_SERVER + 40 + i, &t);
		corpus_free(&c);
	}
	corpus_print("temporal_facts_languages", t.first);
	corpus_print("facts_at_1_languages", t.at_1);
	corpus_print("changed_at_1_languages", t.changed_at_1);
}

int main(int argc, char **argv)
{
	bool tuned = argc > 1 && strcmp(argv[1], "--tuned") == 0;
	char dir[] = "/tmp/parley-facts.XXXXXX", rm[64];

	if (!mkdtemp(dir))
		bench_die("no folder");
	BENCH_OK(db_open(&db, dir, DB_OWN));
	if (embedding_open(&embedding, "build/embedder/use-lite.int8"))
		fprintf(stderr, "facts: without an encoder (make embedder)\n");
	else
		BENCH_OK(embedding_pump(embedding, db));
	dedupe_rows(tuned);
	temporal_rows(tuned);
	language_rows(tuned);
	embedding_close(embedding);
	db_close(db);
	snprintf(rm, sizeof rm, "rm -r %s", dir);
	return system(rm) ? 1 : 0;
}
