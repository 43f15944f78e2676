#include "tests/bench/erase_corpus.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/store/db.h"
#include "control/store/store.h"
#include "ipc/env.h"
#include "tests/bench/bench.h"
#include "tests/bench/stderr_file.h"
#include "tests/bench/traces.h"

uint64_t erase_corpus_id(void)
{
	return UINT64_C(300000000000000000) +
	       ((uint64_t)rand() << 31 | (uint64_t)rand()) % 700000000000000000;
}

static void random_word(char out[ERASE_WORD + 1])
{
	for (unsigned i = 0; i < ERASE_WORD; i++)
		out[i] = (char)('a' + rand() % 26);
	out[ERASE_WORD] = '\0';
}

/* The last seven letters: an index keeps terms without the beginning that they share with others.
 */
void erase_corpus_trace_words(const struct erase_corpus *c)
{
	traces_clear();
	for (unsigned i = 0; i < ERASE_WORDS; i++)
		traces_add_text(c->word[i] + ERASE_WORD - 7);
	traces_add_text(c->number);
	traces_add(c->vector, sizeof c->vector);
}

void erase_corpus_trace(const struct erase_corpus *c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char big[9] = "", little[8], text[32], base64[12] = "";

	erase_corpus_trace_words(c);
	snprintf(text, sizeof text, "%llu", (unsigned long long)c->ana);
	traces_add_text(text);
	snprintf(text, sizeof text, "%llx", (unsigned long long)c->ana);
	traces_add_text(text);
	for (unsigned i = 0; i < 8; i++)
		little[i] = big[7 - i] = (char)(c->ana >> 8 * i);
	traces_add(big, 8);
	traces_add(little, 8);
	for (unsigned bit = 0; bit < 60; bit += 6) {
		unsigned v = 0;

		for (unsigned k = 0; k < 6; k++)
			v = v << 1 | (c->ana >> (63 - bit - k) & 1);
		base64[bit / 6] = digits[v];
	}
	traces_add_text(base64);
}

void erase_corpus_sentence(const struct erase_corpus *c, char *buf, size_t size, bool ana)
{
	static const char *const common[] = {"the",	"release", "is",   "on",
					     "tuesday", "and",	   "we",   "need",
					     "three",	"tests",   "more", "before"};
	size_t n = 0;

	*buf = '\0';
	for (unsigned i = 0, words = 4 + (unsigned)rand() % 12; i < words && n + 32 < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s ", common[rand() % 12]);
	if (ana)
		snprintf(buf + n, size - n, "%s %s", c->word[rand() % ERASE_WORDS], c->number);
}

uint64_t erase_corpus_now(const struct erase_corpus *c)
{
	return c->began_ms + 1000 * (uint64_t)c->utterances;
}

void erase_corpus_on_document(int err, const struct store_document *d, void *arg)
{
	struct erase_corpus *c = arg;

	c->err = err;
	free(c->document);
	c->document = strdup(d->document);
	env_stop(c->env);
}

void erase_corpus_on_list(int err, const struct store_document *list, size_t n, void *arg)
{
	struct erase_corpus *c = arg;

	c->err = err;
	c->n_listed = n < ERASE_REQUESTS ? n : ERASE_REQUESTS;
	for (size_t i = 0; i < c->n_listed; i++)
		c->listed[i] = list[i].version;
	env_stop(c->env);
}

void erase_corpus_on_done(int err, void *arg)
{
	struct erase_corpus *c = arg;

	c->err = err;
	env_stop(c->env);
}

void erase_corpus_wait(struct erase_corpus *c, int err)
{
	BENCH_OK(err);
	env_run(c->env);
	BENCH_OK(c->err);
}

void erase_corpus_open(struct erase_corpus *c, uint64_t began_ms)
{
	const struct env_conf ec = {.loop = true};

	memset(c, 0, sizeof *c);
	c->began_ms = began_ms;
	snprintf(c->dir, sizeof c->dir, "/tmp/parley-erase-XXXXXX");
	if (!mkdtemp(c->dir))
		bench_die("no folder");
	snprintf(c->rooms, sizeof c->rooms, "%s/rooms", c->dir);
	snprintf(c->turns, sizeof c->turns, "%s/turns", c->dir);
	snprintf(c->old, sizeof c->old, "%s.old", c->turns);
	snprintf(c->log, sizeof c->log, "%s-log", c->dir);
	snprintf(c->incident, sizeof c->incident, "%s-incident", c->dir);
	stderr_file_begin(c->log);
	c->ana = erase_corpus_id();
	c->bob = erase_corpus_id();
	c->guild = erase_corpus_id();
	for (unsigned i = 0; i < ERASE_WORDS; i++)
		random_word(c->word[i]);
	/* The first one is Ana's name, written as names are (control/memory/name.h). */
	c->word[0][0] = (char)(c->word[0][0] - 'a' + 'A');
	for (size_t i = 0; i < sizeof c->vector; i++)
		c->vector[i] = (unsigned char)rand();
	snprintf(c->number, sizeof c->number, "%09d", rand() % 1000000000);
	BENCH_OK(settings_alloc(&c->settings));
	BENCH_OK(settings_set(c->settings, "turns_file", c->turns));
	BENCH_OK(settings_set(c->settings, "room_journals", c->rooms));
	BENCH_OK(settings_set(c->settings, "keep_audio_hours", "24"));
	BENCH_OK(env_alloc(&c->env, &ec));
	BENCH_OK(bus_alloc(&c->bus));
	BENCH_OK(store_alloc(&c->store, c->env, c->bus, c->settings, c->dir));
}

void erase_corpus_close_store(struct erase_corpus *c)
{
	c->store = store_free(c->store);
}

void erase_corpus_close(struct erase_corpus *c)
{
	erase_corpus_close_store(c);
	bus_free(c->bus);
	env_free(c->env);
	settings_free(c->settings);
	free(c->document);
	stderr_file_end();
	unlink(c->log);
	erase_corpus_remove(c->dir);
}

void erase_corpus_remove(const char *dir)
{
	char command[96];

	snprintf(command, sizeof command, "rm -rf %s", dir);
	if (system(command))
		bench_die("%s", command);
}

void erase_corpus_write(const char *file, const char *ending, const char *text)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof path, "%s%s", file, ending);
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		bench_die("%s", path);
}

void erase_corpus_copy(const struct erase_corpus *c, const char *name)
{
	char path[96];
	struct db *db = NULL;

	snprintf(path, sizeof path, "%s/%s", c->dir, name);
	BENCH_OK(db_open(&db, c->dir, DB_CHECK));
	BENCH_OK(db_backup(db, path));
	db_close(db);
}

/* As the store writes: nothing of what was there before stays in the pages. */
void erase_corpus_run_sql(const char *path, const char *text)
{
	sqlite3 *sql = NULL;

	if (sqlite3_open(path, &sql) || sqlite3_busy_timeout(sql, ERASE_BUSY_MS) ||
	    sqlite3_exec(sql, "PRAGMA secure_delete=ON", NULL, NULL, NULL) ||
	    sqlite3_exec(sql, text, NULL, NULL, NULL))
		bench_die("%s: %s", text, sqlite3_errmsg(sql));
	sqlite3_close(sql);
}
