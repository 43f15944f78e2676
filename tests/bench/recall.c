/* The memory's retrieval on the corpora of tests/memory, through the store's search: how often the
 * right line is among the first five, in English and in ten other languages; whether the present
 * value comes before the former one; who said it; beside words alone and vectors alone.
 * docs/memory-score.md explains the rows.
 *
 *   recall [--tuned]     the tuned half instead of the untouched one */
#include <ctype.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/memory/rank.h"
#include "control/memory/slice.h"
#include "control/memory/terms.h"
#include "control/memory/vectors.h"
#include "control/store/db.h"
#include "control/store/embedding.h"
#include "tests/bench/bench.h"
#include "tests/bench/recall_corpus.h"
#include "tests/random.h"

enum { FIRST = 5, ROOM_MAX = 512 };
static const char *const languages[] = {"de", "es", "fr", "it", "nl", "pl",
					"pt", "ru", "ja", "ko", "zh"};

static bool is_kind(const json_t *q, const char *kind)
{
	return strcmp(json_string_value(json_object_get(q, "kind")), kind) == 0;
}

static bool finds(const json_t *q, const uint64_t *u, size_t n)
{
	for (size_t i = 0; i < n && i < FIRST; i++)
		if (corpus_lists(json_object_get(q, "evidence"), u[i]))
			return true;
	return false;
}

static size_t place_of(const json_t *lines, const uint64_t *u, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (corpus_lists(lines, u[i]))
			return i;
	return n;
}

/* ---- baselines ---- */

/* The best lines by FTS5's own ranking, with their scores in the second column. The caller
 * finalizes the statement. */
static sqlite3_stmt *use_ranking(const struct corpus *c, struct db *db, const char *query,
				 const struct corpus_window *w, unsigned most)
{
	static const char sql[] =
		"SELECT seq, -bm25(terms) FROM terms JOIN utterances ON seq = terms.rowid"
		" WHERE terms MATCH ?1 AND guild = ?2 AND channel = ?3 AND started_ms >= ?4"
		" AND started_ms < ?5 ORDER BY bm25(terms) LIMIT ?6";
	sqlite3_stmt *s = NULL;

	if (sqlite3_prepare_v2(sqlite3_db_handle(db_use(db, DB_FIND_LINE)), sql, -1, &s, NULL) !=
	    SQLITE_OK)
		bench_die("the ranking of FTS5 cannot be used");
	db_bind_text(s, 1, query);
	db_bind_uint(s, 2, c->guild);
	db_bind_uint(s, 3, CORPUS_CHANNEL);
	db_bind_uint(s, 4, w->since_ms);
	db_bind_uint(s, 5, w->until_ms);
	db_bind_uint(s, 6, most);
	return s;
}

static size_t search_words(const struct corpus *c, struct db *db, const json_t *q,
			   uint64_t u[CORPUS_FOUND])
{
	struct corpus_window w = corpus_window(q);
	char query[TERMS_QUERY_MAX];
	sqlite3_stmt *s;
	size_t n = 0;

	if (!terms_query(query, json_string_value(json_object_get(q, "q"))))
		return 0;
	s = use_ranking(c, db, query, &w, CORPUS_FOUND);
	while (db_step(db, s) == 0)
		u[n++] = db_uint(s, 0) - c->first;
	sqlite3_finalize(s);
	return n;
}

/* Any of the question's words, function words as well, in any order. */
static void any_word(char *query, size_t size, const char *question)
{
	size_t n = 0;

	*query = '\0';
	for (const char *at = question; *at && n + 80 < size;) {
		size_t word = 0;

		while (word < 64 && (isalnum((unsigned char)at[word]) || (at[word] & 0x80)))
			word++;
		if (word)
			n += (size_t)snprintf(query + n, size - n, "%s\"%.*s\"", n ? " OR " : "",
					      (int)word, at);
		at += word ? word : 1;
	}
}

/* FTS5 as it comes: no choice of terms, and no time that is read out of the question. */
static size_t search_fts5(const struct corpus *c, struct db *db, const json_t *q,
			  uint64_t u[CORPUS_FOUND])
{
	static const struct corpus_window always = {0, INT64_MAX};
	char query[TERMS_QUERY_MAX];
	sqlite3_stmt *s;
	size_t n = 0;

	any_word(query, sizeof query, json_string_value(json_object_get(q, "q")));
	if (!*query)
		return 0;
	s = use_ranking(c, db, query, &always, CORPUS_FOUND);
	while (db_step(db, s) == 0)
		u[n++] = db_uint(s, 0) - c->first;
	sqlite3_finalize(s);
	return n;
}

static int by_score(const void *a, const void *b)
{
	const struct rank_line *x = a, *y = b;

	return (x->likeness < y->likeness) - (x->likeness > y->likeness);
}

/* The window's lines with their vectors' cosine. */
static size_t list_lines(const struct corpus *c, struct db *db, const json_t *q,
			 const struct vector *meaning, struct rank_line lines[ROOM_MAX])
{
	struct corpus_window w = corpus_window(q);
	struct vector v;
	json_t *line;
	size_t i, n = 0;

	json_array_foreach(c->room, i, line)
	{
		uint64_t at = corpus_time(json_object_get(line, "at"));

		if (at < w.since_ms || at >= w.until_ms || n == ROOM_MAX)
			continue;
		lines[n] = (struct rank_line){.id = i + 1, .at_ms = at, .likeness = -1};
		if (meaning &&
		    embedding_get(db, EMBEDDING_UTTERANCES, c->guild, c->first + i + 1, &v) == 0) {
			lines[n].likeness = vector_cosine(&v, meaning);
			lines[n].has_likeness = true;
		}
		n++;
	}
	return n;
}

static size_t search_vectors(const struct corpus *c, struct db *db, struct embedding *e,
			     const json_t *q, uint64_t u[CORPUS_FOUND])
{
	static struct rank_line lines[ROOM_MAX];
	struct vector v;
	size_t n;

	if (embedding_text(e, json_string_value(json_object_get(q, "q")), &v))
		return 0;
	n = list_lines(c, db, q, &v, lines);
	qsort(lines, n, sizeof lines[0], by_score);
	n = n < CORPUS_FOUND ? n : CORPUS_FOUND;
	for (size_t i = 0; i < n; i++)
		u[i] = lines[i].id;
	return n;
}

/* ---- a stand-in encoder of known quality ---- */

/* The evidence has the higher likeness in 98 of 100 pairs with another line. */
#define STAND_IN_MARGIN 2.9

static size_t search_stand_in(const struct corpus *c, struct db *db, const json_t *q,
			      uint64_t u[CORPUS_FOUND], uint64_t *seed)
{
	static struct rank_line lines[ROOM_MAX];
	const char *text = json_string_value(json_object_get(q, "q"));
	size_t n = list_lines(c, db, q, NULL, lines);
	char query[TERMS_QUERY_MAX];
	sqlite3_stmt *s;

	for (size_t i = 0; i < n; i++) {
		bool right = corpus_lists(json_object_get(q, "evidence"), lines[i].id);
		const json_t *line = json_array_get(c->room, lines[i].id - 1);

		lines[i].has_likeness = true;
		lines[i].likeness = random_normal(seed, right ? STAND_IN_MARGIN : 0, 1);
		lines[i].named = rank_names(text, json_string_value(json_object_get(line, "by")));
	}
	if (terms_query(query, text)) {
		s = use_ranking(c, db, query, &(struct corpus_window){.until_ms = INT64_MAX}, 32);
		while (db_step(db, s) == 0)
			for (size_t i = 0; i < n; i++)
				if (lines[i].id == db_uint(s, 0) - c->first)
					lines[i].match = db_real(s, 1);
		sqlite3_finalize(s);
	}
	rank_lines(lines, n);
	n = n < CORPUS_FOUND ? n : CORPUS_FOUND;
	for (size_t i = 0; i < n; i++)
		u[i] = lines[i].id;
	return n;
}

/* ---- the rows ---- */

/* Which of the lines that a search found stand in the prompt. */
enum prompt_rule { PROMPT_WORDS, PROMPT_ALL, PROMPT_RULES };

struct scores {
	struct corpus_count prompt[PROMPT_RULES];
	unsigned told[PROMPT_RULES]; /* lines that prompts quote */
	struct corpus_count
		quiet[PROMPT_RULES]; /* of questions without an answer: none is quoted */
	struct corpus_count recall, shares, apart, words, fts5, vectors, stand_in;
	struct corpus_count kind[4]; /* person, time, topic, paraphrase */
	struct corpus_count temporal, temporal_words, attribution, unnamed, first_speaker, stored;
	struct corpus_count answered, abstained, judge_answered, judge_abstained;
};
/* Of the stand-in judge: it sees the five lines, and errs in one of twenty cases. */
#define JUDGE_ERROR 0.05
static const char *const kinds[] = {"person", "time", "topic", "paraphrase"};

static void score_changed(const json_t *q, const uint64_t *u, size_t n, struct corpus_count *c)
{
	size_t now = place_of(json_object_get(q, "evidence"), u, n);
	size_t former = place_of(json_object_get(q, "former"), u, n);

	corpus_add(c, now < FIRST && now < n && now < former);
}

/* True if the question names the speaker of its evidence. */
static bool names_speaker(const json_t *q)
{
	const char *who = json_string_value(json_object_get(q, "who"));

	return who && rank_names(json_string_value(json_object_get(q, "q")), who);
}

/* An answer is the first line's: whether that is by the speaker of the evidence. Also whether lines
 * of the evidence have their speaker in the store. */
static void score_speaker(const struct corpus *c, const json_t *q, const json_t *found,
			  const uint64_t *u, size_t n, struct scores *s)
{
	bool right = n && json_equal(json_object_get(json_array_get(found, 0), "name"),
				     json_object_get(q, "who"));

	for (size_t i = 0; i < n && i < FIRST; i++) {
		const json_t *line = json_array_get(c->room, u[i] - 1);

		if (corpus_lists(json_object_get(q, "evidence"), u[i]))
			corpus_add(&s->stored,
				   json_equal(json_object_get(json_array_get(found, i), "name"),
					      json_object_get(line, "by")));
	}
	if (is_kind(q, "absent"))
		return;
	corpus_add(&s->first_speaker, right);
	corpus_add(names_speaker(q) ? &s->attribution : &s->unnamed, right);
}

/* An answer where there is one, none where there is none: by the checks of the search, and by a
 * judge who reads what was found. */
static void score_abstaining(const json_t *q, const json_t *found, const uint64_t *u, size_t n,
			     struct scores *s, uint64_t *seed)
{
	bool answers = n && !json_is_true(json_object_get(json_array_get(found, 0), "unsure"));
	bool judged = finds(q, u, n) != random_happens(seed, JUDGE_ERROR);

	corpus_add(is_kind(q, "absent") ? &s->abstained : &s->answered,
		   is_kind(q, "absent") != answers);
	corpus_add(is_kind(q, "absent") ? &s->judge_abstained : &s->judge_answered,
		   is_kind(q, "absent") != judged);
}

static void print_balanced(const char *name, struct corpus_count a, struct corpus_count b)
{
	double x = a.n ? (double)a.right / a.n : 0, y = b.n ? (double)b.right / b.n : 0;

	bench_row_more(name, (x + y) / 2, "share",
		       "\"answered\": %.3f, \"of\": %u, \"abstained\": %.3f, \"of_absent\": %u", x,
		       a.n, y, b.n);
}

/* As control/agent/retrieval.c takes them, or without asking for words of the question. */
static void fill_prompt(struct memory_slice *p, enum prompt_rule rule, const json_t *q,
			const json_t *found)
{
	const char *question = json_string_value(json_object_get(q, "q"));
	const json_t *line;
	size_t i;

	json_array_foreach(found, i, line)
	{
		const struct slice_quote quote = {
			.id = (uint32_t)json_integer_value(json_object_get(line, "id")),
			.author = json_string_value(json_object_get(line, "name")),
			.text = json_string_value(json_object_get(line, "text"))};

		if (i == 2 * SLICE_LINES)
			break;
		if (json_is_true(json_object_get(line, "unsure")))
			continue;
		if (rule == PROMPT_WORDS)
			slice_add_line(p, &quote, question);
		else
			slice_add_recent(p, &quote, 0);
	}
}

static void score_prompt(const struct corpus *c, const json_t *q, const json_t *found,
			 struct scores *s)
{
	for (enum prompt_rule rule = 0; rule < PROMPT_RULES; rule++) {
		struct memory_slice p = {0};
		bool right = false;

		fill_prompt(&p, rule, q, found);
		for (unsigned i = 0; i < slice_count(&p); i++)
			right = right || corpus_lists(json_object_get(q, "evidence"),
						      p.quoted[i].id - c->first);
		s->told[rule] += slice_count(&p);
		if (is_kind(q, "absent"))
			corpus_add(&s->quiet[rule], !slice_count(&p));
		else if (!is_kind(q, "changed"))
			corpus_add(&s->prompt[rule], right);
	}
}

static void score_corpus(const struct corpus *c, struct db *db, struct embedding *e,
			 struct scores *s, uint64_t *seed)
{
	uint64_t u[CORPUS_FOUND];
	json_t *q, *found;
	size_t i, n;

	json_array_foreach(c->questions, i, q)
	{
		n = corpus_search(c, db, e, q, u, &found);
		score_abstaining(q, found, u, n, s, seed);
		score_speaker(c, q, found, u, n, s);
		score_prompt(c, q, found, s);
		json_decref(found);
		if (is_kind(q, "absent"))
			continue;
		if (is_kind(q, "changed")) {
			score_changed(q, u, n, &s->temporal);
			n = search_words(c, db, q, u);
			score_changed(q, u, n, &s->temporal_words);
			continue;
		}
		corpus_add(&s->recall, finds(q, u, n));
		corpus_add(json_is_true(json_object_get(q, "shares")) ? &s->shares : &s->apart,
			   finds(q, u, n));
		for (size_t k = 0; k < 4; k++)
			if (is_kind(q, kinds[k]))
				corpus_add(&s->kind[k], finds(q, u, n));
		n = search_words(c, db, q, u);
		corpus_add(&s->words, finds(q, u, n));
		n = search_fts5(c, db, q, u);
		corpus_add(&s->fts5, finds(q, u, n));
		n = search_vectors(c, db, e, q, u);
		corpus_add(&s->vectors, finds(q, u, n));
		n = search_stand_in(c, db, q, u, seed);
		corpus_add(&s->stand_in, finds(q, u, n));
	}
}

static void print_english(const struct scores *s, bool embedded)
{
	char name[48];

	corpus_print(embedded ? "recall_at_5" : "recall_at_5_without_encoder", s->recall);
	corpus_print("recall_at_5_stand_in", s->stand_in);
	for (enum prompt_rule rule = 0; rule < PROMPT_RULES; rule++) {
		static const char *const rules[] = {"recall_in_prompt", "recall_in_prompt_all"};
		struct corpus_count right = s->prompt[rule], quiet = s->quiet[rule];

		bench_row_more(rules[rule], right.n ? (double)right.right / right.n : 0, "share",
			       "\"n\": %u, \"lines\": %u, \"quiet\": %u, \"of_absent\": %u",
			       right.n, s->told[rule], quiet.right, quiet.n);
	}
	corpus_print("recall_at_5_words", s->words);
	corpus_print("recall_at_5_fts5", s->fts5);
	corpus_print("recall_at_5_vectors", s->vectors);
	corpus_print("recall_at_5_sharing_words", s->shares);
	corpus_print("recall_at_5_sharing_none", s->apart);
	for (size_t k = 0; k < 4; k++) {
		snprintf(name, sizeof name, "recall_at_5_%s", kinds[k]);
		corpus_print(name, s->kind[k]);
	}
	corpus_print("temporal_right", s->temporal);
	corpus_print("temporal_right_words", s->temporal_words);
	corpus_print("attribution_right", s->attribution);
	corpus_print("attribution_unnamed", s->unnamed);
	corpus_print("attribution_first", s->first_speaker);
	corpus_print("attribution_stored", s->stored);
	print_balanced("abstain_balanced", s->answered, s->abstained);
	print_balanced("abstain_balanced_judge", s->judge_answered, s->judge_abstained);
}

static void print_prompt(const char *language, const struct scores *s)
{
	char name[64];

	snprintf(name, sizeof name, "recall_in_prompt_%s", language);
	corpus_print(name, s->prompt[PROMPT_WORDS]);
}

/* Russian as transcribers write it: a sentence begins with a capital, which is no ASCII letter. */
static void score_capitals(const char *half, struct db *db, struct embedding *e, uint64_t *seed)
{
	struct scores s = {0};
	struct corpus c;

	corpus_open_capitals(&c, half, "ru", db, 200);
	score_corpus(&c, db, e, &s, seed);
	corpus_print("recall_at_5_ru_capitals", s.recall);
	print_prompt("ru_capitals", &s);
	corpus_free(&c);
}

static void score_languages(const char *half, struct db *db, struct embedding *e, uint64_t *seed)
{
	char name[48];

	for (size_t l = 0; l < sizeof languages / sizeof languages[0]; l++) {
		struct scores s = {0};
		struct corpus c;

		corpus_open(&c, half, languages[l], db, 100 + l);
		score_corpus(&c, db, e, &s, seed);
		snprintf(name, sizeof name, "recall_at_5_%s", languages[l]);
		corpus_print(name, s.recall);
		snprintf(name, sizeof name, "recall_at_5_%s_words", languages[l]);
		corpus_print(name, s.words);
		print_prompt(languages[l], &s);
		corpus_free(&c);
	}
	score_capitals(half, db, e, seed);
}

int main(int argc, char **argv)
{
	bool tuned = argc > 1 && strcmp(argv[1], "--tuned") == 0;
	const char *half = tuned ? "tuned" : "untouched";
	const char *const english[2] = {tuned ? "en1" : "en3", tuned ? "en2" : "en4"};
	char dir[] = "/tmp/parley-recall.XXXXXX", rm[64];
	struct embedding *e = NULL;
	struct scores s = {0};
	struct corpus c[2];
	struct db *db;
	uint64_t seed = 17;

	if (!mkdtemp(dir))
		bench_die("no folder");
	BENCH_OK(db_open(&db, dir, DB_OWN));
	if (embedding_open(&e, "build/embedder/use-lite.int8"))
		fprintf(stderr, "recall: without an encoder (make embedder)\n");
	for (size_t i = 0; i < 2; i++)
		corpus_open(&c[i], half, english[i], db, i + 1);
	if (e)
		BENCH_OK(embedding_finish(e, db));
	for (size_t i = 0; i < 2; i++)
		score_corpus(&c[i], db, e, &s, &seed);
	print_english(&s, e != NULL);
	score_languages(half, db, e, &seed);
	for (size_t i = 0; i < 2; i++)
		corpus_free(&c[i]);
	embedding_close(e);
	db_close(db);
	snprintf(rm, sizeof rm, "rm -r %s", dir);
	return system(rm) ? 1 : 0;
}
