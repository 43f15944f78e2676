#include "tests/bench/erase_store.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "control/settings/settings.h"
#include "control/store/db.h"
#include "control/store/db_merge.h"
#include "control/store/rows.h"
#include "control/store/store.h"
#include "tests/bench/bench.h"
#include "tests/bench/erase_corpus.h"

#define DAY_MS UINT64_C(86400000)

static void write_fact(struct erase_corpus *c, bool ana, bool own, uint64_t guild)
{
	char text[400], request[600];
	struct store_facts f = {.guild = guild,
				.owner = own ? c->ana : 0,
				.user = ana ? c->ana : c->bob,
				.name = ana ? c->word[0] : "bob",
				.request = request,
				.since_ms = 1};

	erase_corpus_sentence(c, text, sizeof text, ana);
	snprintf(request, sizeof request,
		 "[{\"text\":\"%s\",\"type\":\"decision\",\"tags\":[\"%s\"]}]", text,
		 ana ? c->word[1] : "plain");
	erase_corpus_wait(c, store_write_facts(c->store, &f, erase_corpus_on_document, c));
}

/* Bob tells something about Ana, whom he writes with a capital or without. */
static void write_fact_about_ana(struct erase_corpus *c, bool small)
{
	char request[200], name[ERASE_WORD + 1];
	const struct store_facts f = {.guild = c->guild,
				      .user = c->bob,
				      .name = "bob",
				      .request = request,
				      .since_ms = INT64_MAX};

	snprintf(name, sizeof name, "%s", c->word[0]);
	if (small)
		name[0] = (char)(name[0] - 'A' + 'a');
	snprintf(request, sizeof request,
		 "[{\"text\":\"%s has the %s %s\",\"type\":\"decision\",\"tags\":[]}]", name,
		 small ? "room" : "number", c->number);
	erase_corpus_wait(c, store_write_facts(c->store, &f, erase_corpus_on_document, c));
}

/* Of both people, in words of Ana's. */
static void sum_up(const struct erase_corpus *c)
{
	char text[400], summary[600];
	const struct store_episode e = {.guild = c->guild,
					.session = ERASE_SESSION,
					.channel = 3,
					.line = c->utterances,
					.summary = summary};

	erase_corpus_sentence(c, text, sizeof text, true);
	snprintf(summary, sizeof summary,
		 "{\"text\":\"%s\",\"people\":[\"%llu\",\"%llu\"],\"lines\":[1]}", text,
		 (unsigned long long)c->ana, (unsigned long long)c->bob);
	BENCH_OK(store_end_episode(c->store, &e));
}

static void put_consent(struct erase_corpus *c, uint64_t user, const char *state)
{
	const struct store_consent consent = {.guild = c->guild,
					      .user = user,
					      .before = "default",
					      .after = state,
					      .via = "/consent"};

	erase_corpus_wait(c, store_put_consent(c->store, &consent, erase_corpus_on_done, c));
}

static void save_guild(const struct erase_corpus *c)
{
	char document[600];

	snprintf(document, sizeof document,
		 "{\"name\":\"x\",\"roles\":{},\"channels\":{},\"members\":{\"%llu\":{\"name\":\"%"
		 "s\"},"
		 "\"%llu\":{\"name\":\"bob\"}},\"voice\":{\"%llu\":{\"channel\":\"3\"}}}",
		 (unsigned long long)c->ana, c->word[0], (unsigned long long)c->bob,
		 (unsigned long long)c->ana);
	BENCH_OK(store_save_guild(c->store, c->guild, document));
}

/* As control/music/queue_document.h writes it. */
static void save_queue(const struct erase_corpus *c)
{
	char document[300];

	snprintf(document, sizeof document,
		 "{\"tracks\":[{\"id\":1,\"requester\":\"%llu\"},{\"id\":2,\"requester\":\"%llu\"}]"
		 "}",
		 (unsigned long long)c->ana, (unsigned long long)c->bob);
	BENCH_OK(store_save_queue(c->store, c->guild, document));
}

static void put_settings(struct erase_corpus *c, const char *author, const char *blocked)
{
	char document[300];
	const struct store_put put = {
		.scope = STORE_SETTINGS_GLOBAL, .document = document, .author = author};

	snprintf(document, sizeof document,
		 "{\"version\":1,\"author\":\"%s\",\"intent\":{\"blocked_users\":\"%s\"}}", author,
		 blocked);
	erase_corpus_wait(c, store_settings_put(c->store, &put, erase_corpus_on_document, c));
}

/* Ana changed settings with /settings, and an operator blocked her and let her be heard again. */
static void save_settings(struct erase_corpus *c)
{
	char author[32], both[64], bob[32];

	snprintf(author, sizeof author, "discord:%llu", (unsigned long long)c->ana);
	snprintf(bob, sizeof bob, "%llu", (unsigned long long)c->bob);
	snprintf(both, sizeof both, "%llu, %s", (unsigned long long)c->ana, bob);
	put_settings(c, author, "");
	put_settings(c, "token", both);
	put_settings(c, "token", bob);
}

/* What Ana said, as sound. */
static void keep_recording(const struct erase_corpus *c)
{
	const struct store_recording r = {.guild = c->guild,
					  .session = ERASE_SESSION,
					  .user = c->ana,
					  .utterance = c->utterances,
					  .at_ms = erase_corpus_now(c),
					  .ms = 2,
					  .sound = c->vector,
					  .n = sizeof c->vector};

	BENCH_OK(store_keep_recording(c->store, &r));
}

/* A journal of a room holds ids of 8 bytes, and voices. */
static void write_journal(const struct erase_corpus *c)
{
	char path[96];
	FILE *f;

	BENCH_OK(mkdir(c->rooms, 0700));
	snprintf(path, sizeof path, "%s/one", c->rooms);
	f = fopen(path, "w");
	if (!f)
		bench_die("%s", path);
	for (unsigned i = 8; i-- > 0;)
		putc((int)(c->ana >> 8 * i & 0xff), f);
	fprintf(f, " %s pcm", c->word[2]);
	fclose(f);
}

/* Vectors as if an encoder had computed them, and that a message of Ana's was taken up. */
static void add_rows(const struct erase_corpus *c)
{
	static const char *const rows[] = {
		"INSERT OR REPLACE INTO utterance_vectors SELECT guild, seq, 1, 0.5, ?2"
		" FROM utterances WHERE user = ?1",
		"INSERT OR REPLACE INTO fact_vectors SELECT guild, id, 1, 0.5, ?2 FROM facts"
		" WHERE said_by = ?1",
		"INSERT INTO text_taken SELECT 1001, guild, 4, ?1, 'ended', 0, max(started_ms)"
		" FROM utterances WHERE ?2 IS NOT NULL"};
	char path[96];
	sqlite3 *sql = NULL;

	snprintf(path, sizeof path, "%s/parley.db", c->dir);
	/* The store may expire words just now, a second after it has opened. */
	if (sqlite3_open(path, &sql) || sqlite3_busy_timeout(sql, ERASE_BUSY_MS))
		bench_die("%s", path);
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		sqlite3_stmt *s = NULL;

		if (sqlite3_prepare_v2(sql, rows[i], -1, &s, NULL))
			bench_die("%s", sqlite3_errmsg(sql));
		sqlite3_bind_int64(s, 1, (sqlite3_int64)c->ana);
		sqlite3_bind_blob(s, 2, c->vector, sizeof c->vector, SQLITE_STATIC);
		if (sqlite3_step(s) != SQLITE_DONE)
			bench_die("%s", sqlite3_errmsg(sql));
		sqlite3_finalize(s);
	}
	sqlite3_close(sql);
}

void erase_store_fill(struct erase_corpus *c)
{
	write_fact(c, true, false, c->guild);
	write_fact(c, true, true, c->guild);
	write_fact(c, false, false, c->guild);
	write_fact_about_ana(c, false);
	write_fact_about_ana(c, true);
	write_fact(c, true, false, erase_corpus_id());
	put_consent(c, c->ana, rand() % 2 ? "remembered" : "neither");
	put_consent(c, c->bob, "remembered");
	save_guild(c);
	save_queue(c);
	save_settings(c);
	write_journal(c);
	keep_recording(c);
	erase_corpus_wait(c, store_sync(c->store, erase_corpus_on_done, c));
	sum_up(c);
	erase_corpus_wait(c, store_sync(c->store, erase_corpus_on_done, c));
	add_rows(c);
}

/* What another erasure was writing when it was killed. */
void erase_store_leave_copies(const struct erase_corpus *c)
{
	char text[96];

	snprintf(text, sizeof text, "{\"user\":\"%llu\",\"heard\":\"%s\"}\n",
		 (unsigned long long)c->ana, c->word[4]);
	erase_corpus_write(c->turns, ".erasing", text);
	erase_corpus_write(c->old, ".erasing", text);
}

/* As if 40 days had gone by with the words kept for 60: rows of other kinds go after 30. */
void erase_store_grow_old(struct erase_corpus *c)
{
	static const char by[] = "UPDATE utterances SET started_ms = started_ms - 3456000000,"
				 " ended_ms = ended_ms - 3456000000;"
				 "UPDATE turns SET at_ms = at_ms - 3456000000;"
				 "UPDATE segments SET at_ms = at_ms - 3456000000;"
				 "UPDATE tool_calls SET at_ms = at_ms - 3456000000;"
				 "UPDATE speech SET started_ms = started_ms - 3456000000;"
				 "UPDATE events SET at_ms = at_ms - 3456000000";
	struct db *db = NULL;
	unsigned changed;
	char path[96];

	snprintf(path, sizeof path, "%s/parley.db", c->dir);
	erase_corpus_close_store(c);
	erase_corpus_run_sql(path, by);
	BENCH_OK(db_open(&db, c->dir, DB_OWN));
	BENCH_OK(rows_expire(db, erase_corpus_now(c), erase_corpus_now(c) - 60 * DAY_MS, &changed));
	BENCH_OK(db_merge(db, DB_INDEX_LINES));
	db_close(db);
	BENCH_OK(settings_set(c->settings, "store_words_hours", "1440"));
	BENCH_OK(store_alloc(&c->store, c->env, c->bus, c->settings, c->dir));
}

/* A model had got the lines before, and answers now. */
void erase_store_extract(struct erase_corpus *c)
{
	char text[400], request[800];
	const struct store_facts f = {.guild = c->guild,
				      .owner = c->ana,
				      .user = c->ana,
				      .name = "x",
				      .request = request};

	erase_corpus_sentence(c, text, sizeof text, true);
	snprintf(request, sizeof request,
		 "[{\"text\":\"%s\",\"type\":\"plan\",\"tags\":[],\"evidence\":[1,2,3,4]}]", text);
	erase_corpus_wait(c, store_write_facts(c->store, &f, erase_corpus_on_document, c));
}
