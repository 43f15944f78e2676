/* The delay that the memory adds to a question: memory_turn_ms and memory_turn_final_ms.
 *
 * guildd, the bot's mediad and control run unmodified in quiet rooms (rooms.h), with a scripted
 * voice and a transcriber (brain.h). The database holds UTTERANCES lines and FACTS facts of these
 * rooms' servers. Turns count that begin when all lines and facts have their vectors.
 *
 *   memory_turn        from the turn's entry into the queue to the question, as the turn's record
 *                      has it: whole milliseconds, counted one up. The words come as an interim
 *                      transcript 300 ms before the commit, and the retrieval begins with them. One
 *                      fact of each server answers the question: a turn that was asked without it
 *                      counts as LATE_MS, whatever the reason, and so does one that waited for as
 *                      long as memory_wait_ms allows by default: the rooms wait longer, so that
 *                      "late" and "missed" are told apart
 *   memory_turn_final  the same in the same rooms without interim transcripts: each retrieval
 * begins with the final one, the latest moment there is, as it does where the last words change
 *
 *   BENCH_ASKS=n       questions of each kind (300)      BENCH_ROOMS=n      rooms at a time (4) */
#include <inttypes.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control/events/events.h"
#include "control/store/db.h"
#include "control/store/rows.h"
#include "tests/bench/bench.h"
#include "tests/bench/brain.h"
#include "tests/bench/random_vectors.h"
#include "tests/bench/rooms.h"

enum {
	UTTERANCES = 100000,
	FACTS = 1000,
	BATCH = 1000,
	WORDS = 12,
	ROOMS = 8,
	ANSWER_MS = 4000,
	WAIT_MS = 40, /* the default of memory_wait_ms */
	LATE_MS = 1000,
	SETTLE_S = 180,
	HOURS_MS = 20 * 3600 * 1000,
};

static const char *const common[] = {"release", "meeting", "number", "server", "friday", "garden",
				     "window",	"music",   "dinner", "ticket", "bridge", "paper"};

/* ---- what is remembered ---- */

static uint64_t seed = 3;

/* The first number that SQL gives; 0: none. */
static uint64_t read_number(const char *state, const char *text)
{
	char path[160];
	sqlite3 *sql = NULL;
	sqlite3_stmt *s = NULL;
	uint64_t n = 0;

	snprintf(path, sizeof path, "%s/parley.db", state);
	if (sqlite3_open_v2(path, &sql, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(sql, text, -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		n = (uint64_t)sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(sql);
	return n;
}

static uint64_t channel_of(const char *state, uint64_t guild)
{
	char text[96];
	uint64_t channel;

	snprintf(text, sizeof text, "SELECT channel FROM sessions WHERE guild = %" PRIu64, guild);
	channel = read_number(state, text);
	if (!channel)
		bench_die("room of guild %" PRIu64 " has no session", guild);
	return channel;
}

/* Each word that questions use is in one line of 120; the others are of a large vocabulary. */
static void write_words(char *text, size_t size, unsigned line)
{
	size_t n = 0;

	for (unsigned i = 0; i < WORDS && n < size; i++) {
		unsigned v = (line * 2654435761u + i * 40503u) >> 7;

		if (line % 10 == 0 && i == line / 10 % WORDS)
			n += (size_t)snprintf(text + n, size - n, "%s ", common[line / 10 % 12]);
		else
			n += (size_t)snprintf(text + n, size - n, "w%u ", v % 20000);
	}
}

static void add_utterances(struct db *db, const uint64_t *channel)
{
	uint64_t now = (uint64_t)time(NULL) * 1000;
	char text[256];

	for (unsigned i = 0; i < UTTERANCES; i++) {
		unsigned room = i % rooms_count();
		struct bus_event ev = {.type = EVENT_UTTERANCE,
				       .at_ms = now,
				       .guild = rooms_guild(room),
				       .user = 700 + i % 9};

		write_words(text, sizeof text, i);
		ev.utterance = (struct event_utterance){
			.session = 1,
			.channel = channel[room],
			.utterance = i,
			.name = "dana",
			.text = text,
			.started_ms = now - HOURS_MS + (uint64_t)i * (HOURS_MS / 2 / UTTERANCES),
			.source = "realtime-transcription"};
		if (i % BATCH == 0)
			BENCH_OK(db_begin(db));
		BENCH_OK(rows_add(db, &ev, true));
		random_vectors_add(db, DB_ADD_VECTOR, db_last_row(db), &seed);
		if (i % BATCH == BATCH - 1)
			BENCH_OK(db_commit(db));
	}
}

static void add_facts(const char *state)
{
	char path[160], sql[1024], text[256];
	uint64_t now = (uint64_t)time(NULL) * 1000;
	sqlite3 *db = NULL;
	bool ok;

	snprintf(path, sizeof path, "%s/parley.db", state);
	ok = sqlite3_open(path, &db) == SQLITE_OK && sqlite3_busy_timeout(db, 5000) == SQLITE_OK &&
	     sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK;
	for (unsigned i = 0; ok && i < FACTS; i++) {
		if (i < rooms_count())
			snprintf(text, sizeof text, "the release meeting on friday is at noon");
		else
			write_words(text, sizeof text, UTTERANCES + i);
		snprintf(sql, sizeof sql,
			 "INSERT INTO facts(guild, owner, said_by, name, type, tags, text,"
			 " written_ms, valid_from_ms) VALUES(%" PRIu64 ", 0, 1, 'dana', 'other',"
			 " '[]', '%s', %" PRIu64 ", %" PRIu64
			 "); INSERT INTO fact_terms(rowid, text)"
			 " VALUES(last_insert_rowid(), '%s')",
			 rooms_guild(i % rooms_count()), text, now, now, text);
		ok = sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
	}
	ok = ok && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
	if (!ok)
		bench_die("facts: %s", sqlite3_errmsg(db));
	sqlite3_close(db);
}

static void fill_memory(void)
{
	char state[128];
	uint64_t channel[ROOMS];
	struct db *db;

	snprintf(state, sizeof state, "%s/state", rooms_folder());
	for (unsigned i = 0; i < rooms_count(); i++)
		channel[i] = channel_of(state, rooms_guild(i));
	BENCH_OK(db_open(&db, state, DB_JOIN));
	random_vectors_make(&seed);
	add_utterances(db, channel);
	db_close(db);
	add_facts(state);
}

/* Until the encoder, if there is one, has embedded the facts. */
static void await_vectors(void)
{
	char state[128], text[96];

	snprintf(state, sizeof state, "%s/state", rooms_folder());
	snprintf(text, sizeof text, "SELECT count(*) FROM embedding_models WHERE fact < %d", FACTS);
	for (unsigned s = 0; read_number(state, text); s++) {
		if (s > SETTLE_S)
			bench_die("facts get no vectors (logs in %s)", rooms_folder());
		rooms_run(1000);
	}
}

/* ---- what the records say ---- */

struct waits {
	double *ms;
	size_t n, late, missed; /* missed: in time, and without the fact */
};

/* ms since 1970 */
struct period {
	json_int_t from, until;
};

static bool is_within(const json_t *turn, const struct period *p)
{
	json_int_t ended = json_integer_value(json_object_get(turn, "at"));

	return ended - json_integer_value(json_object_get(turn, "lasted_ms")) >= p->from &&
	       ended < p->until;
}

static void read_turn(const char *line, const struct period *p, struct waits *w)
{
	json_t *turn = json_loads(line, 0, NULL), *d;
	bool counts = is_within(turn, p);
	bool asked = false, fact = false, in_time = false;
	json_int_t ms = 0;
	size_t i;

	json_array_foreach(json_object_get(turn, "why"), i, d)
	{
		const char *rule = json_string_value(json_object_get(d, "rule"));

		asked = asked || (rule && strcmp(rule, "asked") == 0);
		if (rule && strcmp(rule, "memory") == 0) {
			in_time = json_is_true(json_object_get(d, "yes"));
			ms = json_integer_value(json_object_get(d, "value"));
		}
		fact = fact || (rule && strcmp(rule, "memory_fact") == 0);
	}
	json_decref(turn);
	if (!asked || !counts)
		return;
	w->ms = realloc(w->ms, (w->n + 1) * sizeof *w->ms);
	if (!w->ms)
		bench_die("out of memory");
	in_time = in_time && ms < WAIT_MS;
	w->ms[w->n++] = in_time && fact ? (double)ms + 1 : LATE_MS;
	w->late += !in_time;
	w->missed += in_time && !fact;
}

static void read_turns(const char *path, const struct period *p, struct waits *w)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;

	if (!f)
		return;
	while (getline(&line, &size, f) > 0)
		if (strstr(line, "\"ended\""))
			read_turn(line, p, w);
	free(line);
	fclose(f);
}

static json_int_t now_ms(void)
{
	return (json_int_t)time(NULL) * 1000;
}

static struct period ask(struct brain *brain, bool interims, unsigned asks)
{
	struct period p;
	size_t before, n;

	brain_sends_interims(brain, interims);
	rooms_run(5000); /* turns that began before are over */
	p.from = now_ms();
	brain_asked(brain, &before);
	n = before;
	for (unsigned s = 0; n < before + asks; s++) {
		if (s > 60 + 3 * asks)
			bench_die("only %zu questions (logs in %s)", n - before, rooms_folder());
		rooms_run(1000);
		brain_asked(brain, &n);
	}
	p.until = now_ms();
	return p;
}

/* control begins another file when one is full and keeps the one before it. */
static void write_row(const char *name, const char *turns, const struct period *p, unsigned asks)
{
	struct waits w = {0};
	char before[168];

	snprintf(before, sizeof before, "%s.old", turns);
	read_turns(before, p, &w);
	read_turns(turns, p, &w);
	if (w.n < asks / 2)
		bench_die("only %zu turns were looked up (logs in %s)", w.n, rooms_folder());
	bench_raw(name, w.ms, w.n);
	bench_row_more(name, bench_quantile(w.ms, w.n, 0.99), "ms",
		       "\"p50\": %.0f, \"max\": %.0f, \"n\": %zu, \"late\": %zu, \"missed\": %zu,"
		       " \"utterances\": %d, \"facts\": %d",
		       bench_quantile(w.ms, w.n, 0.5), bench_quantile(w.ms, w.n, 1), w.n, w.late,
		       w.missed, UTTERANCES, FACTS);
	free(w.ms);
}

int main(void)
{
	unsigned asks = rooms_number("BENCH_ASKS", 300, 100000);
	struct env *env = rooms_open(rooms_number("BENCH_ROOMS", 4, ROOMS));
	static char config[512], turns[160], turns_file[192];
	const char *settings[] = {turns_file, "PARLEY_MEMORY_WAIT_MS=500",
				  "PARLEY_CONSENT=remembered", NULL};
	struct rooms_conf conf = {.config = config, .settings = settings};
	struct period with, without;
	struct brain *brain;

	brain_alloc(&brain, env, "parley when is the release meeting on friday", ANSWER_MS, true);
	snprintf(config, sizeof config,
		 "{\"providers\": [{\"name\": \"voice\", \"url\": \"%s\"}, {\"name\": \"words\","
		 " \"dialect\": \"elevenlabs\", \"url\": \"http://127.0.0.1:%u/v1\"}],"
		 "\"roles\": {\"voice\": [\"voice\"], \"transcribe\": [\"words\"]}}",
		 brain_url(brain), brain_port(brain));
	snprintf(turns, sizeof turns, "%s/turns", rooms_folder());
	snprintf(turns_file, sizeof turns_file, "PARLEY_TURNS=%s", turns);
	rooms_begin(&conf);
	rooms_run(2000);
	fill_memory();
	await_vectors();
	with = ask(brain, true, asks);
	without = ask(brain, false, asks);
	rooms_end();
	write_row("memory_turn_ms", turns, &with, asks);
	write_row("memory_turn_final_ms", turns, &without, asks);
	brain_free(brain);
	rooms_close();
	return 0;
}
