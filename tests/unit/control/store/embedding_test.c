/* Vectors of lines and facts: kept, searched, and gone with their rows. */
#include "control/store/embedding.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "control/events/events.h"
#include "control/memory/vectors.h"
#include "control/store/db.h"
#include "control/store/fact_known.h"
#include "control/store/fact_newer.h"
#include "control/store/fact_rows.h"
#include "control/store/job.h"
#include "control/store/rows.h"
#include "control/store/said.h"
#include "tests/unit/control/memory/embed/embedder_file.h"
#include "tests/unit/control/store/still_clock.h"
#include "tests/unit/ipc/loop.h"

enum { ANA = 4, BOB = 5, GUILD = 7, CHANNEL = 3 };

static char dir[32], file[64];
static struct db *db;
static struct embedding *embedding;

static bool add_line(uint64_t user, bool consent, const char *text)
{
	struct bus_event ev = {.type = EVENT_UTTERANCE, .guild = GUILD, .user = user};

	ev.utterance = (struct event_utterance){.session = 5,
						.channel = CHANNEL,
						.name = user == ANA ? "Ana" : "Bob",
						.text = text,
						.started_ms = 1000,
						.consent = consent};
	return rows_add(db, &ev, true) == 0;
}

static void open_scene(void)
{
	CHECK(folder_make(dir));
	snprintf(file, sizeof file, "%s/encoder", dir);
	CHECK(embedder_file_write(file));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(embedding_open(&embedding, file), 0);
	CHECK(add_line(ANA, true, "a cab and a bab cab"));
	CHECK(add_line(BOB, false, "a cab and a bab caa"));
	CHECK(add_line(BOB, true, "a cab"));
	CHECK(add_line(BOB, true, "bab and the cab and ab"));
	CHECK_INT(embedding_finish(embedding, db), 0);
}

static void close_scene(void)
{
	embedding = embedding_close(embedding);
	db = db_close(db);
	folder_remove(dir);
}

static size_t find(uint64_t ids[8])
{
	const struct vector_filter all = {.group = {CHANNEL, CHANNEL}, .until_ms = UINT64_MAX};
	struct vector v;
	const struct embedding_query query = {EMBEDDING_UTTERANCES, GUILD, &v, &all};
	size_t n = 99;

	if (embedding_text(embedding, "a cab and a bab cab", &v) == 0)
		embedding_find(embedding, db, &query, ids, 8, &n);
	return n;
}

TEST(lines_of_five_words_with_consent_get_vectors)
{
	uint64_t ids[8];
	struct vector v;

	open_scene();
	CHECK_INT(find(ids), 2);
	CHECK_INT(ids[0], 1);
	CHECK_INT(ids[1], 4);
	CHECK_INT(embedding_get(db, EMBEDDING_UTTERANCES, GUILD, 4, &v), 0);
	CHECK_INT(embedding_get(db, EMBEDDING_UTTERANCES, GUILD, 3, &v), ENOENT);
	CHECK_INT(embedding_get(db, EMBEDDING_UTTERANCES, GUILD + 1, 4, &v), ENOENT);
	close_scene();
}

/* An encoder elsewhere would be sent what its author has had forgotten. */
TEST(lines_of_which_a_fact_was_forgotten_get_no_vectors)
{
	struct sqlite3_stmt *s;
	struct vector v;

	open_scene();
	CHECK(add_line(BOB, true, "a bab cab and the cab"));
	CHECK(add_line(BOB, true, "the cab and a bab cab"));
	s = db_use(db, DB_FORGET_LINE);
	db_bind_uint(s, 1, 5);
	CHECK_INT(db_run(db, s), 0);
	CHECK_INT(embedding_finish(embedding, db), 0);
	CHECK_INT(embedding_get(db, EMBEDDING_UTTERANCES, GUILD, 5, &v), ENOENT);
	CHECK_INT(embedding_get(db, EMBEDDING_UTTERANCES, GUILD, 6, &v), 0);
	close_scene();
}

TEST(a_server_without_vectors_is_known)
{
	open_scene();
	CHECK(embedding_has_rows(embedding, db, EMBEDDING_UTTERANCES, GUILD));
	CHECK(!embedding_has_rows(embedding, db, EMBEDDING_FACTS, GUILD));
	CHECK(!embedding_has_rows(embedding, db, EMBEDDING_UTTERANCES, GUILD + 1));
	CHECK(!embedding_has_rows(NULL, db, EMBEDDING_UTTERANCES, GUILD));
	close_scene();
}

/* Lines 1001 and later, whose vectors are all zeros. */
static bool add_blank_lines(unsigned n)
{
	char sql[640];

	snprintf(sql, sizeof sql,
		 "WITH RECURSIVE n(i) AS (SELECT 1001 UNION ALL SELECT i + 1 FROM n WHERE i < %u)"
		 " INSERT INTO utterances(seq, guild, channel, text, started_ms)"
		 " SELECT i, %d, %d, '', 1000 FROM n;"
		 "INSERT INTO utterance_vectors SELECT guild, seq, 1, 1.0, zeroblob(512)"
		 " FROM utterances WHERE seq > 1000",
		 1000 + n, GUILD, CHANNEL);
	return sqlite3_exec(sqlite3_db_handle(db_use(db, DB_BEGIN)), sql, NULL, NULL, NULL) ==
	       SQLITE_OK;
}

static bool add_vector(uint64_t id, const struct vector *v)
{
	sqlite3_stmt *s = db_use(db, DB_ADD_VECTOR);

	db_bind_uint(s, 1, id);
	db_bind_uint(s, 2, 1);
	db_bind_real(s, 3, (double)v->scale);
	db_bind_blob(s, 4, v->v, v->dim);
	return db_run(db, s) == 0;
}

static bool finds_line(uint64_t id)
{
	uint64_t ids[8];
	bool found = false;

	for (size_t i = find(ids); i-- > 0;)
		found = found || ids[i] == id;
	return found;
}

/* A question after a start does not wait until all vectors are read. */
TEST(a_first_search_reads_some_vectors_and_the_jobs_the_others)
{
	enum { LINES = 20000 };
	struct vector v;

	open_scene();
	CHECK(add_blank_lines(LINES));
	CHECK_INT(embedding_text(embedding, "a cab and a bab cab", &v), 0);
	CHECK(add_vector(1000 + LINES, &v));
	CHECK(!finds_line(1000 + LINES));
	CHECK_INT(embedding_pump(embedding, db), 0);
	CHECK(finds_line(1000 + LINES));
	close_scene();
}

/* Under load the time of each search may be up before its vectors are read: they are read all the
 * same, and servers do not take each other's place meanwhile. */
TEST(what_a_search_could_not_read_in_time_the_jobs_read)
{
	enum { LINES = 20000 };
	struct vector v;
	uint64_t ids[8];

	open_scene();
	CHECK(add_blank_lines(LINES));
	CHECK_INT(embedding_text(embedding, "a cab and a bab cab", &v), 0);
	CHECK(add_vector(1000 + LINES, &v));
	CHECK_INT(db_begin_search(db, 1), 0);
	still_clock_pass(1);
	CHECK(db_is_late(db));
	CHECK_INT(find(ids), 99);
	CHECK(!embedding_has_rows(embedding, db, EMBEDDING_UTTERANCES, GUILD + 1));
	db_lift_limit(db);
	db_rollback(db);
	CHECK_INT(embedding_pump(embedding, db), 0);
	CHECK(finds_line(1000 + LINES));
	close_scene();
}

TEST(vectors_of_an_erased_person_leave_the_memory)
{
	uint64_t ids[8];
	struct db *other = NULL;

	open_scene();
	CHECK_INT(find(ids), 2);
	/* Another process erases her; the next job of this one notices. */
	CHECK_INT(db_open(&other, dir, DB_JOIN), 0);
	CHECK_INT(db_begin_synced(other), 0);
	CHECK_INT(rows_run_erasers(other, ANA, NULL, NULL), 0);
	CHECK_INT(db_commit(other), 0);
	db_close(other);
	CHECK_INT(embedding_pump(embedding, db), 0);
	CHECK_INT(find(ids), 1);
	CHECK_INT(ids[0], 4);
	close_scene();
}

TEST(vectors_expire_with_their_words)
{
	uint64_t ids[8];
	unsigned changed;

	open_scene();
	CHECK_INT(rows_expire(db, 2000, 2000, &changed), 0);
	embedding_drop(embedding);
	CHECK_INT(find(ids), 0);
	close_scene();
}

TEST(another_encoder_embeds_everything_anew)
{
	static const char name[] = "other-1";
	uint64_t ids[8];
	FILE *f;

	open_scene();
	embedding = embedding_close(embedding);
	f = fopen(file, "r+b");
	CHECK(f && fseek(f, 24, SEEK_SET) == 0 && fwrite(name, 1, sizeof name, f) == sizeof name);
	fclose(f);
	CHECK_INT(embedding_open(&embedding, file), 0);
	CHECK_INT(find(ids), 2);
	CHECK_INT(embedding_pump(embedding, db), 0);
	CHECK_INT(find(ids), 0); /* vectors of two encoders are never compared */
	CHECK_INT(embedding_finish(embedding, db), 0);
	CHECK_INT(find(ids), 2);
	close_scene();
}

TEST(a_line_without_a_word_of_the_question_is_found_by_meaning)
{
	struct job j = {.kind = JOB_FIND_SAID,
			.guild = GUILD,
			.channel = CHANNEL,
			.text = (char *)"is it the bb?",
			.author = (char *)"",
			.version = 8};
	char *out = NULL;

	open_scene();
	CHECK_INT(said_find(db, NULL, &j, &out), 0);
	CHECK(strstr(out, "and the cab") == NULL);
	free(out);
	CHECK_INT(said_find(db, embedding, &j, &out), 0);
	CHECK(strstr(out, "and the cab") != NULL);
	free(out);
	close_scene();
}

/* The time of the question has found the lines, whose words do not repeat it. */
TEST(a_number_of_the_questions_time_stands_in_no_line)
{
	struct job j = {.kind = JOB_FIND_SAID,
			.guild = GUILD,
			.channel = CHANNEL,
			.text = (char *)"was it the bb 2 days ago?",
			.author = (char *)"",
			.version = 8};
	char *out = NULL;

	open_scene();
	/* From which the best line stands out. */
	for (unsigned i = 0; i < 12; i++)
		CHECK(add_line(BOB, true, "bb"));
	CHECK_INT(said_find(db, embedding, &j, &out), 0);
	CHECK(strstr(out, "unsure"));
	free(out);
	j.when = (struct time_window){.until_ms = UINT64_C(1) << 60};
	CHECK_INT(said_find(db, embedding, &j, &out), 0);
	CHECK(!strstr(out, "unsure"));
	free(out);
	close_scene();
}

static void write_fact(const char *request)
{
	struct job j = {.kind = JOB_WRITE_FACTS,
			.guild = GUILD,
			.user = ANA,
			.now_ms = 1000,
			.author = (char *)"Ana",
			.text = (char *)request};
	char *out = NULL;

	CHECK_INT(fact_rows_write(db, embedding, &j, &out), 0);
	free(out);
}

static void make_vector(struct vector *out, float x, float y)
{
	float in[VECTOR_DIM] = {x, y};

	vector_pack(out, in, VECTOR_DIM);
}

/* near: the cosines of the facts and the question. */
static void keep_fact_vectors(const float *near, size_t n)
{
	static struct embedding_vectors kept;
	char *texts = NULL;

	CHECK_INT(embedding_list(embedding, db, &texts), 0);
	free(texts);
	kept.n = n;
	for (size_t i = 0; i < n; i++) {
		kept.v[i].kind = EMBEDDING_FACTS;
		kept.v[i].id = i + 1;
		make_vector(&kept.v[i].vector, near[i], sqrtf(1 - near[i] * near[i]));
	}
	CHECK_INT(embedding_keep(embedding, db, &kept), 0);
}

TEST(facts_without_word_or_meaning_of_the_question_are_left_out)
{
	static const float near[] = {1, 0.05f, 0.05f, 0.2f};
	struct vector question;
	struct job j = {.kind = JOB_FIND_FACTS,
			.guild = GUILD,
			.text = (char *)"{\"words\": \"does a zebra eat\"}",
			.meaning = &question,
			.version = 8};
	char *out = NULL, *unsure;

	open_scene();
	make_vector(&question, 1, 0);
	embedding = embedding_set_elsewhere(embedding, "axes");
	write_fact("[{\"text\": \"horses like grass\", \"tags\": []}]");
	write_fact("[{\"text\": \"the zebra is striped\", \"tags\": []}]");
	write_fact("[{\"text\": \"my bike is blue\", \"tags\": []}]");
	write_fact("[{\"text\": \"cows give milk\", \"tags\": []}]");
	keep_fact_vectors(near, 4);
	CHECK_INT(fact_rows_find(db, embedding, &j, &out), 0);
	CHECK(out && strstr(out, "horses") && strstr(out, "zebra") && !strstr(out, "bike"));
	unsure = out ? strstr(out, "\"unsure\":true") : NULL;
	CHECK(unsure && strstr(out, "cows") < unsure && !strstr(unsure + 8, "unsure"));
	free(out);
	close_scene();
}

static void tell_fact_as(uint64_t user, const char *name, uint64_t hour, const char *text)
{
	char request[128], *out = NULL;
	struct job j = {.kind = JOB_WRITE_FACTS,
			.guild = GUILD,
			.user = user,
			.now_ms = hour * 3600000,
			.author = (char *)(uintptr_t)name,
			.text = request};

	snprintf(request, sizeof request, "[{\"text\": \"%s\", \"tags\": []}]", text);
	CHECK_INT(fact_rows_write(db, embedding, &j, &out), 0);
	free(out);
}

static void tell_fact(uint64_t user, uint64_t hour, const char *text)
{
	tell_fact_as(user, "x", hour, text);
}

/* " after 100-200?": the hours of a former one. */
static const char *former_of(const json_t *fact)
{
	static char told[64];
	const json_t *former = json_array_get(json_object_get(fact, "former"), 0);

	if (!former)
		return "";
	snprintf(told, sizeof told, " after %lld-%lld%s",
		 (long long)json_integer_value(json_object_get(former, "from_ms")) / 3600000,
		 (long long)json_integer_value(json_object_get(former, "until_ms")) / 3600000,
		 json_is_true(json_object_get(former, "unsure")) ? "?" : "");
	return told;
}

/* "1 2 after 100-200?": the ids of the facts, and when what each may have replaced was true. until:
 * the hour until which the question asks; 0: it names no time. */
static const char *find_order(const struct vector *question, const char *words, unsigned until)
{
	char request[96];
	struct job j = {.kind = JOB_FIND_FACTS,
			.guild = GUILD,
			.text = request,
			.meaning = (struct vector *)(uintptr_t)question,
			.version = 8};
	static char order[64];
	char *out = NULL;
	json_t *found, *fact;
	size_t i, n = 0;

	snprintf(request, sizeof request,
		 "{\"words\": \"%s\", \"since_ms\": 0, \"until_ms\": %llu}", words,
		 until * 3600000ULL);
	if (fact_rows_find(db, embedding, &j, &out) != 0)
		return "failed";
	found = json_loads(out ? out : "", 0, NULL);
	free(out);
	order[0] = '\0';
	json_array_foreach(found, i, fact)
	{
		n += (size_t)snprintf(order + n, sizeof order - n, "%s%lld%s", i ? " " : "",
				      (long long)json_integer_value(json_object_get(fact, "id")),
				      former_of(fact));
	}
	json_decref(found);
	return order;
}

/* Facts of the store are in their places as they answer the question by meaning. Not one of another
 * author, of the same conversation, or far in meaning. */
TEST(of_facts_of_one_author_about_the_same_the_newer_one_comes_first)
{
	static const float near[] = {0.9f, 0.88f, 0.86f, 0.84f, 0.82f, 0.1f};
	struct vector question;

	open_scene();
	make_vector(&question, 1, 0);
	embedding = embedding_set_elsewhere(embedding, "axes");
	tell_fact(ANA, 100, "the game is called lantern creek");
	tell_fact(ANA, 101, "a lamp stands beside each bridge");
	tell_fact(ANA, 200, "we go with mothlight");
	tell_fact(BOB, 300, "my cat answers to pepper");
	tell_fact(BOB, 306, "my cat answers to nobody");
	tell_fact(ANA, 400, "the game has a lantern");
	keep_fact_vectors(near, 6);
	CHECK_STR(find_order(&question, "which name has it", 0), "3 after 101-200? 1 2 4 5");
	CHECK_STR(find_order(&question, "which name had it", 102), "1 2 3 4 5");
	close_scene();
}

/* The last fact is near the first one and far from the question, and eight others lie between. */
TEST(a_later_fact_that_the_question_does_not_find_comes_before_the_one_that_it_finds)
{
	static const char *const others[] = {"soup",   "a harbour", "chess", "the violin",
					     "a tram", "a lamp",    "bread", "the sea"};
	float near[10] = {0.87f, 0.8f, 0.8f, 0.8f, 0.8f, 0.8f, 0.8f, 0.8f, 0.8f, 0.17f};
	struct vector question;
	char text[64];

	open_scene();
	make_vector(&question, 1, 0);
	embedding = embedding_set_elsewhere(embedding, "axes");
	tell_fact(ANA, 100, "the game is called lantern creek");
	for (unsigned i = 0; i < 8; i++) {
		snprintf(text, sizeof text, "we talked about %s", others[i]);
		tell_fact(BOB, 150 + i / 4, text);
	}
	tell_fact(ANA, 200, "it is mothlight from now on");
	keep_fact_vectors(near, 10);
	CHECK_STR(find_order(&question, "which name has it", 0), "10 after 100-200? 1 9 8 7 6 5 4");
	CHECK_STR(find_order(&question, "which name had it", 102), "1 9 8 7 6 5 4 3");
	close_scene();
}

TEST(without_an_encoder_words_lead_to_a_later_fact_of_the_author)
{
	open_scene();
	embedding = embedding_close(embedding);
	tell_fact(ANA, 100, "our dog is a puppy called biscuit");
	tell_fact(BOB, 300, "the puppy likes a biscuit");
	tell_fact(ANA, 103, "a biscuit for a puppy costs little");
	tell_fact(ANA, 200, "the puppy listens to pepper and not to biscuit");
	CHECK_STR(find_order(NULL, "what is the dog", 0), "4 after 100-200? 1");
	CHECK_STR(find_order(NULL, "what was the dog", 102), "1");
	close_scene();
}

TEST(no_later_fact_of_another_person_is_looked_up)
{
	open_scene();
	embedding = embedding_close(embedding);
	tell_fact_as(ANA, "Ana", 100, "Lena's puppy is called biscuit");
	tell_fact_as(ANA, "Ana", 200, "Jonas's biscuit is for the puppy");
	CHECK_STR(find_order(NULL, "what has Lena", 0), "1");
	tell_fact_as(ANA, "Ana", 201, "the puppy listens to pepper, no biscuit");
	CHECK_STR(find_order(NULL, "what has Lena", 0), "3 after 100-201? 1");
	close_scene();
}

TEST(who_takes_over_what_another_told_names_them)
{
	static const float near[] = {0.9f, 0.8f, 0.85f};
	struct vector question;

	open_scene();
	make_vector(&question, 1, 0);
	embedding = embedding_set_elsewhere(embedding, "axes");
	tell_fact_as(ANA, "Mira", 100, "I cut the trailer with the software from work");
	tell_fact_as(BOB, "Dev", 200, "I take the trailer, Mira's swamped, so I cut it now");
	tell_fact_as(BOB, "Dev", 201, "I cut the first trailer with a knife");
	keep_fact_vectors(near, 3);
	/* Of another author nothing is told as former. */
	CHECK_STR(find_order(&question, "who is on it", 0), "2 1 3");
	close_scene();
}

TEST(what_others_tell_of_somebody_does_not_come_before_their_own_words)
{
	static const float near[] = {0.9f, 0.89f, 0.88f, 0.87f};
	struct vector question;

	open_scene();
	make_vector(&question, 1, 0);
	embedding = embedding_set_elsewhere(embedding, "axes");
	tell_fact_as(ANA, "Mira", 100, "my bike is a red one");
	tell_fact_as(BOB, "Dev", 200, "Mira's bike is a blue one");
	tell_fact_as(BOB, "Dev", 201, "I know that Mira's bike is a green one");
	tell_fact_as(BOB, "Dev", 202, "I heard Mira has a black bike");
	keep_fact_vectors(near, 4);
	CHECK_STR(find_order(&question, "what colour is it", 0), "1 2 3 4");
	close_scene();
}

/* Without names the newer one of two that are so near comes first. */
static void check_two_people(const char *older, const char *newer, const char *asks,
			     const char *order)
{
	static const float near[] = {0.9f, 0.89f};
	struct vector question;

	open_scene();
	make_vector(&question, 1, 0);
	embedding = embedding_set_elsewhere(embedding, "axes");
	tell_fact_as(BOB, "Bob", 100, older);
	tell_fact_as(BOB, "Bob", 200, newer);
	keep_fact_vectors(near, 2);
	CHECK_STR(find_order(&question, asks, 0), order);
	close_scene();
}

TEST(facts_about_two_people_do_not_take_each_other_s_place)
{
	const char *lena = "Lena's dentist appointment is at nine";

	check_two_people(lena, "Jonas's dentist appointment is at four",
			 "when is Lena's dentist appointment", "1 2");
	check_two_people(lena, "my dentist appointment is at four",
			 "when is Lena's dentist appointment", "1 2");
	check_two_people("my dentist appointment is at nine", "Lena has one at four",
			 "when is Bob's dentist appointment", "1 2");
	check_two_people(lena, "Lena has it at four now", "when is Lena's dentist appointment",
			 "2 after 100-200? 1");
	/* Nobody is asked about: the newer one may tell who took the other's place. */
	check_two_people("Lena has the keys", "Jonas has the keys to the hall now",
			 "who has the keys", "2 1");
	check_two_people("Lenas Zahnarzttermin ist um neun", "Jonas' Zahnarzttermin ist um vier",
			 "wann ist Lenas Zahnarzttermin", "1 2");
	check_two_people("приём Лены у зубного в девять", "приём Йонаса у зубного в четыре",
			 "когда приём у Лены", "1 2");
}

/* Their lines, of two days, answer the question about as well as each other. */
static void check_first_line(const uint64_t users[2], const char *name, const char *older,
			     const char *newer, const char *question, uint64_t first)
{
	static struct embedding_vectors kept;
	const char *const texts[] = {older, newer};
	struct vector meaning;
	struct job j = {.kind = JOB_FIND_SAID,
			.guild = GUILD,
			.channel = CHANNEL,
			.text = (char *)(uintptr_t)question,
			.author = (char *)"",
			.meaning = &meaning,
			.version = 8};
	json_t *found;
	char *out = NULL;

	for (size_t i = 0; i < 2; i++) {
		struct bus_event ev = {.type = EVENT_UTTERANCE, .guild = GUILD, .user = users[i]};

		ev.utterance = (struct event_utterance){.session = 5 + i,
							.channel = CHANNEL,
							.name = name,
							.text = texts[i],
							.started_ms = (100 + 100 * i) * 3600000,
							.consent = true};
		CHECK_INT(rows_add(db, &ev, true), 0);
	}
	CHECK_INT(embedding_list(embedding, db, &out), 0);
	free(out);
	kept.n = 2;
	for (size_t i = 0; i < 2; i++) {
		kept.v[i].kind = EMBEDDING_UTTERANCES;
		kept.v[i].id = 5 + i;
		make_vector(&kept.v[i].vector, 0.9f - 0.01f * (float)i, 0.44f);
	}
	CHECK_INT(embedding_keep(embedding, db, &kept), 0);
	make_vector(&meaning, 1, 0);
	out = NULL;
	CHECK_INT(said_find(db, embedding, &j, &out), 0);
	found = json_loads(out ? out : "", 0, NULL);
	free(out);
	CHECK_INT(json_integer_value(json_object_get(json_array_get(found, 0), "id")), first);
	json_decref(found);
}

TEST(lines_about_two_people_do_not_take_each_other_s_place)
{
	const char *lena = "Lena's dentist appointment is at nine",
		   *jonas = "Jonas's dentist appointment is at four";
	const struct {
		const char *older, *newer, *question;
		uint64_t first;
	} cases[] = {
		{lena, jonas, "when is Lena's dentist appointment", 5},
		{lena, "Lena has it at four now", "when is Lena's dentist appointment", 6},
		{lena, jonas, "when is the dentist appointment", 6},
	};

	static const uint64_t one[] = {BOB, BOB};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		open_scene();
		embedding = embedding_set_elsewhere(embedding, "axes");
		check_first_line(one, "Bob", cases[i].older, cases[i].newer, cases[i].question,
				 cases[i].first);
		close_scene();
	}
}

TEST(lines_of_two_people_with_one_name_have_two_authors)
{
	static const uint64_t one[] = {BOB, BOB}, two[] = {ANA, BOB};
	const char *older = "my dentist appointment is at nine",
		   *newer = "Lena has it at four, Alex drives",
		   *question = "when is Alex's dentist appointment";

	open_scene();
	embedding = embedding_set_elsewhere(embedding, "axes");
	check_first_line(one, "Alex", older, newer, question, 6);
	close_scene();
	open_scene();
	embedding = embedding_set_elsewhere(embedding, "axes");
	check_first_line(two, "Alex", older, newer, question, 5);
	close_scene();
}

static size_t count_former(const char *older, const char *newer)
{
	json_t *was = json_loads(older, 0, NULL), *is = json_loads(newer, 0, NULL);
	size_t n;

	fact_newer_note(is, 9, was);
	n = json_array_size(json_object_get(is, "former"));
	json_decref(was);
	json_decref(is);
	return n;
}

TEST(a_former_value_is_of_the_same_author_and_memory)
{
	const char *older = "{\"user\":\"1\",\"private\":true,\"text\":\"a\",\"at_ms\":3}";

	CHECK_INT(count_former(older, "{\"user\":\"1\",\"private\":true,\"at_ms\":8}"), 1);
	CHECK_INT(count_former(older, "{\"user\":\"1\",\"private\":false,\"at_ms\":8}"), 0);
	CHECK_INT(count_former(older, "{\"user\":\"2\",\"private\":true,\"at_ms\":8}"), 0);
}

static bool are_alike(const char *older, const char *newer, const struct vector *was,
		      const struct vector *is)
{
	const struct fact_text a = {older, was}, b = {newer, is};

	return fact_newer_alike(&a, &b, "");
}

TEST(two_facts_are_about_the_same_by_their_words_or_their_meanings)
{
	struct vector axis, near, middle, far;

	make_vector(&axis, 1, 0);
	make_vector(&near, 0.62f, sqrtf(1 - 0.62f * 0.62f));
	make_vector(&middle, 0.5f, sqrtf(1 - 0.25f));
	make_vector(&far, 0.3f, sqrtf(1 - 0.09f));
	CHECK(are_alike("we call it lantern", "it is mothlight", &axis, &near));
	CHECK(!are_alike("we call it lantern", "it is mothlight", &axis, &middle));
	CHECK(are_alike("my bike costs two hundred", "my bike costs one fifty", &axis, &middle));
	CHECK(!are_alike("my bike costs two hundred", "my bike costs one fifty", &axis, &far));
	CHECK(!are_alike("my bike is green", "my bike is heavy", &axis, &middle));
	/* Without an encoder, in any language. */
	CHECK(are_alike("das Konzert ist in der Lukaskirche",
			"die Lukaskirche wird renoviert, das Konzert zieht um", NULL, NULL));
	CHECK(!are_alike("das Konzert ist in der Lukaskirche",
			 "die Lukaskirche ist in der Altstadt", NULL, NULL));
	CHECK(are_alike("集合は朝六時半です", "集合は朝七時です", NULL, NULL));
}

static void add_fact_vector(uint64_t id, float x, float y)
{
	sqlite3_stmt *s = db_use(db, DB_ADD_FACT_VECTOR);
	struct vector v;

	make_vector(&v, x, y);
	db_bind_uint(s, 1, id);
	db_bind_uint(s, 2, 1);
	db_bind_real(s, 3, (double)v.scale);
	db_bind_blob(s, 4, v.v, v.dim);
	CHECK_INT(db_run(db, s), 0);
}

/* Facts 1001 and later, all nearer to the question than fact 1. */
static void add_near_facts(unsigned n, uint64_t author, bool ended)
{
	char sql[512];

	snprintf(sql, sizeof sql,
		 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u)"
		 " INSERT INTO facts(id, guild, owner, said_by, text, written_ms, valid_until_ms)"
		 " SELECT 1000 + i, %d, 0, %llu, 'cows', 1000, %s FROM n",
		 n, GUILD, (unsigned long long)author, ended ? "2000" : "NULL");
	CHECK_INT(sqlite3_exec(sqlite3_db_handle(db_use(db, DB_BEGIN)), sql, NULL, NULL, NULL),
		  SQLITE_OK);
	for (unsigned i = 1; i <= n; i++)
		add_fact_vector(1000 + i, 1, 0);
}

/* Of the facts near a text, those of this author. */
static size_t count_likes(uint64_t author, uint64_t wanted)
{
	static struct fact_likes likes;
	struct vector question;
	const struct fact_new f = {.guild = GUILD, .user = author, .meaning = &question};
	size_t n = 0;

	make_vector(&question, 1, 0);
	if (fact_known_find_likes(db, embedding, &f, 0, &likes))
		return 99;
	for (size_t i = 0; i < likes.n; i++)
		n += likes.fact[i].id == wanted;
	return n;
}

static void open_near_facts(unsigned n, uint64_t author, bool ended)
{
	open_scene();
	embedding = embedding_set_elsewhere(embedding, "axes");
	write_fact("[{\"text\": \"horses like grass\", \"tags\": []}]");
	add_fact_vector(1, 0.5f, -0.86f);
	add_near_facts(n, author, ended);
}

TEST(facts_that_have_ended_hide_none_that_stands)
{
	open_near_facts(1500, ANA, true);
	CHECK_INT(count_likes(ANA, 1), 1);
	CHECK_INT(count_likes(0, 1), 1);
	close_scene();
}

TEST(facts_of_others_hide_none_of_the_author)
{
	open_near_facts(1500, BOB, false);
	CHECK_INT(count_likes(ANA, 1), 1);
	CHECK_INT(count_likes(0, 1), 0);
	close_scene();
}

TEST(a_file_that_is_no_encoder_is_refused)
{
	FILE *f;

	CHECK(folder_make(dir));
	snprintf(file, sizeof file, "%s/encoder", dir);
	CHECK_INT(embedding_open(&embedding, file), ENOENT);
	f = fopen(file, "wb");
	CHECK(f && fwrite("PARLEYEM", 1, 8, f) == 8);
	fclose(f);
	CHECK_INT(embedding_open(&embedding, file), EBADMSG);
	CHECK_INT(embedding_open(&embedding, dir), EFBIG);
	CHECK(embedding == NULL);
	folder_remove(dir);
}
