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
#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "control/events/events.h"
#include "control/report/turns.h"
#include "control/settings/settings.h"
#include "control/store/audit.h"
#include "control/store/db.h"
#include "control/store/deletions.h"
#include "control/store/erase.h"
#include "control/store/incident.h"
#include "control/store/listed.h"
#include "control/store/memory_file.h"
#include "control/store/rows.h"
#include "control/store/session_file.h"
#include "control/store/store.h"
#include "control/store_commands.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "tests/bench/bench.h"
#include "tests/bench/canaries.h"
#include "tests/bench/stderr_file.h"
#include "tests/bench/traces.h"

enum { CRASH_STEPS = 22, CRASHED = 9, REQUESTS = 4 };
enum { CORPORA = 1000, SHORT = 20, FEW = 4, CANARIES = 6, SESSION = 5, WORD = 12 };
enum { BUSY_MS = 10000 };
#define DAY_MS UINT64_C(86400000)

static struct corpus {
	char dir[40], rooms[64], turns[64], old[72], log[64], incident[64];
	struct env *env;
	struct bus *bus;
	struct settings *settings;
	struct store *store;
	uint64_t ana, bob, guild;
	unsigned char vector[48];      /* of texts that Ana said */
	char word[CANARIES][WORD + 1]; /* only Ana says them */
	char number[12];
	char *document; /* answer of the last request */
	uint64_t listed[REQUESTS];
	size_t n_listed;
	int err;
	unsigned utterances;
} c;

static unsigned crashes;
/* Now: the store deletes words that are too old a second after it has opened. */
static uint64_t began_ms;

/* ---- a random corpus ---- */

static uint64_t random_id(void)
{
	return UINT64_C(300000000000000000) +
	       ((uint64_t)rand() << 31 | (uint64_t)rand()) % 700000000000000000;
}

static void random_word(char out[WORD + 1])
{
	for (unsigned i = 0; i < WORD; i++)
		out[i] = (char)('a' + rand() % 26);
	out[WORD] = '\0';
}

/* The last seven letters: an index keeps terms without the beginning that they share with others.
 */
static void add_words(void)
{
	traces_clear();
	for (unsigned i = 0; i < CANARIES; i++)
		traces_add_text(c.word[i] + WORD - 7);
	traces_add_text(c.number);
	traces_add(c.vector, sizeof c.vector);
}

static void add_traces(void)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char big[9] = "", little[8], text[32], base64[12] = "";

	add_words();
	snprintf(text, sizeof text, "%llu", (unsigned long long)c.ana);
	traces_add_text(text);
	snprintf(text, sizeof text, "%llx", (unsigned long long)c.ana);
	traces_add_text(text);
	for (unsigned i = 0; i < 8; i++)
		little[i] = big[7 - i] = (char)(c.ana >> 8 * i);
	traces_add(big, 8);
	traces_add(little, 8);
	for (unsigned bit = 0; bit < 60; bit += 6) {
		unsigned v = 0;

		for (unsigned k = 0; k < 6; k++)
			v = v << 1 | (c.ana >> (63 - bit - k) & 1);
		base64[bit / 6] = digits[v];
	}
	traces_add_text(base64);
}

static void print_sentence(char *buf, size_t size, bool ana)
{
	static const char *const common[] = {"the",	"release", "is",   "on",
					     "tuesday", "and",	   "we",   "need",
					     "three",	"tests",   "more", "before"};
	size_t n = 0;

	*buf = '\0';
	for (unsigned i = 0, words = 4 + (unsigned)rand() % 12; i < words && n + 32 < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s ", common[rand() % 12]);
	if (ana)
		snprintf(buf + n, size - n, "%s %s", c.word[rand() % CANARIES], c.number);
}

static uint64_t now(void)
{
	return began_ms + 1000 * (uint64_t)c.utterances;
}

static void publish(struct bus_event *ev)
{
	ev->at_ms = now();
	ev->guild = c.guild;
	bus_publish(c.bus, ev);
	if (ev->type == EVENT_TURN)
		turns_append(c.turns, ev, true);
}

static void say(bool ana)
{
	struct bus_event ev = {.type = EVENT_UTTERANCE, .user = ana ? c.ana : c.bob};
	char text[400];

	print_sentence(text, sizeof text, ana);
	ev.utterance = (struct event_utterance){.session = SESSION,
						.channel = 3,
						.utterance = ++c.utterances,
						.name = ana ? c.word[0] : "bob",
						.text = text,
						.started_ms = now(),
						.ended_ms = now() + 900,
						.source = "realtime-transcription",
						.consent = true};
	publish(&ev);
}

/* Somebody wrote it, or the bot answered it in writing with Ana's words. */
static void write_message(bool ana, bool bot)
{
	struct bus_event ev = {.type = EVENT_MESSAGE, .user = ana ? c.ana : c.bob};
	char text[400];

	print_sentence(text, sizeof text, ana || bot);
	ev.message = (struct event_message){.channel = 4,
					    .message = 1000 + ++c.utterances,
					    .change = "written",
					    .name = ana ? c.word[0] : "bob",
					    .text = text,
					    .bot = bot,
					    .written_ms = now()};
	publish(&ev);
	/* It wrote another text first. */
	ev.message.change = "edited";
	print_sentence(text, sizeof text, ana || bot);
	if (rand() % 3 == 0)
		publish(&ev);
}

/* Lines of the first who spoke stood in the prompt. */
#define TOLD_FIRST_LINES                                                                           \
	"[{\"rule\":\"memory_line\",\"yes\":true,\"value\":1,\"limit\":0},"                        \
	"{\"rule\":\"memory_line\",\"yes\":true,\"value\":2,\"limit\":0},"                         \
	"{\"rule\":\"memory_line\",\"yes\":true,\"value\":3,\"limit\":0}]"

/* In a session without Ana the bot tells Bob what she had said. */
static void answer_elsewhere(void)
{
	struct bus_event ev = {.type = EVENT_TURN, .user = c.bob};
	char text[400];

	print_sentence(text, sizeof text, true);
	ev.turn = (struct event_turn){.session = SESSION + 1,
				      .channel = 3,
				      .turn = ++c.utterances,
				      .stage = "ended",
				      .name = "bob",
				      .reason = "answered",
				      .said = text,
				      .segments = "[]",
				      .why = TOLD_FIRST_LINES};
	publish(&ev);
}

/* The bot's answer to Ana or about her, which called a tool that reads the memory, or another. */
static void answer(bool ana, bool searches)
{
	struct bus_event ev = {.type = EVENT_TURN, .user = ana ? c.ana : c.bob};
	struct bus_event call = {.type = EVENT_TOOL_CALLED, .user = ev.user};
	char text[400], heard[400], *segments;
	json_t *list;

	print_sentence(text, sizeof text, true);
	print_sentence(heard, sizeof heard, ana);
	list = json_pack("[{s:o,s:s,s:I,s:s}]", "user",
			 json_sprintf("%llu", (unsigned long long)ev.user), "name",
			 ana ? c.word[0] : "bob", "utterance", (json_int_t)c.utterances, "text",
			 heard);
	segments = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	ev.turn = (struct event_turn){.session = SESSION,
				      .channel = 3,
				      .turn = c.utterances,
				      .stage = "ended",
				      .name = ana ? c.word[0] : "bob",
				      .heard = heard,
				      .reason = "answered",
				      .said = text,
				      .segments = segments,
				      .why = "[]"};
	call.tool = (struct event_tool){.session = SESSION,
					.channel = 3,
					.turn = c.utterances,
					.call = c.utterances,
					.name = searches ? "conversation_search" : "roll",
					.code = "ok",
					.arguments = "0",
					.summary = text};
	publish(&call);
	/* Bob's turns quote Ana, from the memory or from the conversation. */
	if (!ana) {
		ev.turn.segments = "[]";
		ev.turn.why = TOLD_FIRST_LINES;
	}
	publish(&ev);
	free(segments);
}

static void add_others(void)
{
	struct bus_event command = {.type = EVENT_COMMAND, .user = c.ana};
	struct bus_event context = {.type = EVENT_CONTEXT};
	struct bus_event dropped = {.type = EVENT_SPEECH_DROPPED, .user = c.ana};
	struct bus_event setting = {.type = EVENT_SETTING_CHANGED};
	char text[400], author[32];

	print_sentence(text, sizeof text, true);
	command.command.kind = "privacy";
	context.context =
		(struct event_context){.session = SESSION, .channel = 3, .turn = 1, .told = text};
	dropped.speech = (struct event_speech){.session = SESSION,
					       .channel = 3,
					       .name = c.word[0],
					       .started_ms = now(),
					       .reason = "not_promoted"};
	publish(&command);
	publish(&context);
	publish(&dropped);
	snprintf(author, sizeof author, "discord:%llu", (unsigned long long)c.ana);
	setting.setting = (struct event_setting){.name = "hold_ms",
						 .effect = "now",
						 .author = author,
						 .source = "settings document"};
	publish(&setting);
}

/* ---- the store ---- */

static void on_document(int err, const struct store_document *d, void *arg)
{
	(void)arg;
	c.err = err;
	free(c.document);
	c.document = strdup(d->document);
	env_stop(c.env);
}

static void on_list(int err, const struct store_document *list, size_t n, void *arg)
{
	(void)arg;
	c.err = err;
	c.n_listed = n < REQUESTS ? n : REQUESTS;
	for (size_t i = 0; i < c.n_listed; i++)
		c.listed[i] = list[i].version;
	env_stop(c.env);
}

static void on_done(int err, void *arg)
{
	(void)arg;
	c.err = err;
	env_stop(c.env);
}

static void wait_for(int err)
{
	BENCH_OK(err);
	env_run(c.env);
	BENCH_OK(c.err);
}

static void write_fact(bool ana, bool own, uint64_t guild)
{
	char text[400], request[600];
	struct store_facts f = {.guild = guild,
				.owner = own ? c.ana : 0,
				.user = ana ? c.ana : c.bob,
				.name = ana ? c.word[0] : "bob",
				.request = request,
				.since_ms = 1};

	print_sentence(text, sizeof text, ana);
	snprintf(request, sizeof request,
		 "[{\"text\":\"%s\",\"type\":\"decision\",\"tags\":[\"%s\"]}]", text,
		 ana ? c.word[1] : "plain");
	wait_for(store_write_facts(c.store, &f, on_document, NULL));
}

/* Bob tells something about Ana, whom he writes with a capital or without. */
static void write_fact_about_ana(bool small)
{
	char request[200], name[WORD + 1];
	const struct store_facts f = {.guild = c.guild,
				      .user = c.bob,
				      .name = "bob",
				      .request = request,
				      .since_ms = INT64_MAX};

	snprintf(name, sizeof name, "%s", c.word[0]);
	if (small)
		name[0] = (char)(name[0] - 'A' + 'a');
	snprintf(request, sizeof request,
		 "[{\"text\":\"%s has the %s %s\",\"type\":\"decision\",\"tags\":[]}]", name,
		 small ? "room" : "number", c.number);
	wait_for(store_write_facts(c.store, &f, on_document, NULL));
}

/* Of both people, in words of Ana's. */
static void sum_up(void)
{
	char text[400], summary[600];
	const struct store_episode e = {.guild = c.guild,
					.session = SESSION,
					.channel = 3,
					.line = c.utterances,
					.summary = summary};

	print_sentence(text, sizeof text, true);
	snprintf(summary, sizeof summary,
		 "{\"text\":\"%s\",\"people\":[\"%llu\",\"%llu\"],\"lines\":[1]}", text,
		 (unsigned long long)c.ana, (unsigned long long)c.bob);
	BENCH_OK(store_end_episode(c.store, &e));
}

static void put_consent(uint64_t user, const char *state)
{
	const struct store_consent consent = {.guild = c.guild,
					      .user = user,
					      .before = "default",
					      .after = state,
					      .via = "/consent"};

	wait_for(store_put_consent(c.store, &consent, on_done, NULL));
}

static void save_guild(void)
{
	char document[600];

	snprintf(document, sizeof document,
		 "{\"name\":\"x\",\"roles\":{},\"channels\":{},\"members\":{\"%llu\":{\"name\":\"%"
		 "s\"},"
		 "\"%llu\":{\"name\":\"bob\"}},\"voice\":{\"%llu\":{\"channel\":\"3\"}}}",
		 (unsigned long long)c.ana, c.word[0], (unsigned long long)c.bob,
		 (unsigned long long)c.ana);
	BENCH_OK(store_save_guild(c.store, c.guild, document));
}

/* As control/music/queue_document.h writes it. */
static void save_queue(void)
{
	char document[300];

	snprintf(document, sizeof document,
		 "{\"tracks\":[{\"id\":1,\"requester\":\"%llu\"},{\"id\":2,\"requester\":\"%llu\"}]"
		 "}",
		 (unsigned long long)c.ana, (unsigned long long)c.bob);
	BENCH_OK(store_save_queue(c.store, c.guild, document));
}

static void put_settings(const char *author, const char *blocked)
{
	char document[300];
	const struct store_put put = {
		.scope = STORE_SETTINGS_GLOBAL, .document = document, .author = author};

	snprintf(document, sizeof document,
		 "{\"version\":1,\"author\":\"%s\",\"intent\":{\"blocked_users\":\"%s\"}}", author,
		 blocked);
	wait_for(store_settings_put(c.store, &put, on_document, NULL));
}

/* Ana changed settings with /settings, and an operator blocked her and let her be heard again. */
static void save_settings(void)
{
	char author[32], both[64], bob[32];

	snprintf(author, sizeof author, "discord:%llu", (unsigned long long)c.ana);
	snprintf(bob, sizeof bob, "%llu", (unsigned long long)c.bob);
	snprintf(both, sizeof both, "%llu, %s", (unsigned long long)c.ana, bob);
	put_settings(author, "");
	put_settings("token", both);
	put_settings("token", bob);
}

/* She signed in at home, and gave an order; an operator made a link for her to share a screen. */
static void act(void)
{
	struct bus_event ev = {.type = EVENT_OPERATOR_ACTION};
	char user[24], target[64], via[64];

	snprintf(user, sizeof user, "%llu", (unsigned long long)c.ana);
	snprintf(via, sizeof via, "http from %s", c.word[5]);
	snprintf(target, sizeof target, "server 5 person %s", user);
	ev.action = (struct event_action){
		.actor = user, .via = via, .kind = "sign_in", .target = "session 1"};
	publish(&ev);
	ev.action.actor = "session 1 (viewer)";
	ev.action.kind = "say";
	publish(&ev);
	ev.action = (struct event_action){
		.actor = "token", .via = "http from x", .kind = "share_link", .target = target};
	publish(&ev);
}

/* What Ana said, as sound. */
static void keep_recording(void)
{
	const struct store_recording r = {.guild = c.guild,
					  .session = SESSION,
					  .user = c.ana,
					  .utterance = c.utterances,
					  .at_ms = now(),
					  .ms = 2,
					  .sound = c.vector,
					  .n = sizeof c.vector};

	BENCH_OK(store_keep_recording(c.store, &r));
}

static void write_beside(const char *file, const char *ending, const char *text)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof path, "%s%s", file, ending);
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		bench_die("%s", path);
}

/* What another erasure was writing when it was killed. */
static void leave_copies(void)
{
	char text[96];

	snprintf(text, sizeof text, "{\"user\":\"%llu\",\"heard\":\"%s\"}\n",
		 (unsigned long long)c.ana, c.word[4]);
	write_beside(c.turns, ".erasing", text);
	write_beside(c.old, ".erasing", text);
}

/* A journal of a room holds ids of 8 bytes, and voices. */
static void write_journal(void)
{
	char path[96];
	FILE *f;

	BENCH_OK(mkdir(c.rooms, 0700));
	snprintf(path, sizeof path, "%s/one", c.rooms);
	f = fopen(path, "w");
	if (!f)
		bench_die("%s", path);
	for (unsigned i = 8; i-- > 0;)
		putc((int)(c.ana >> 8 * i & 0xff), f);
	fprintf(f, " %s pcm", c.word[2]);
	fclose(f);
}

/* ---- the log ---- */

/* Words alone: it may name people by their ids. */
static unsigned search_log(void)
{
	unsigned found;

	add_words();
	found = traces_in_file(c.log);
	add_traces();
	return found;
}

static void open_corpus(void)
{
	const struct env_conf ec = {.loop = true};

	memset(&c, 0, sizeof c);
	snprintf(c.dir, sizeof c.dir, "/tmp/parley-erase-XXXXXX");
	if (!mkdtemp(c.dir))
		bench_die("no folder");
	snprintf(c.rooms, sizeof c.rooms, "%s/rooms", c.dir);
	snprintf(c.turns, sizeof c.turns, "%s/turns", c.dir);
	snprintf(c.old, sizeof c.old, "%s.old", c.turns);
	snprintf(c.log, sizeof c.log, "%s-log", c.dir);
	snprintf(c.incident, sizeof c.incident, "%s-incident", c.dir);
	stderr_file_begin(c.log);
	c.ana = random_id();
	c.bob = random_id();
	c.guild = random_id();
	for (unsigned i = 0; i < CANARIES; i++)
		random_word(c.word[i]);
	/* The first one is Ana's name, written as names are (control/memory/name.h). */
	c.word[0][0] = (char)(c.word[0][0] - 'a' + 'A');
	for (size_t i = 0; i < sizeof c.vector; i++)
		c.vector[i] = (unsigned char)rand();
	snprintf(c.number, sizeof c.number, "%09d", rand() % 1000000000);
	BENCH_OK(settings_alloc(&c.settings));
	BENCH_OK(settings_set(c.settings, "turns_file", c.turns));
	BENCH_OK(settings_set(c.settings, "room_journals", c.rooms));
	BENCH_OK(settings_set(c.settings, "keep_audio_hours", "24"));
	BENCH_OK(env_alloc(&c.env, &ec));
	BENCH_OK(bus_alloc(&c.bus));
	BENCH_OK(store_alloc(&c.store, c.env, c.bus, c.settings, c.dir));
}

static void close_store(void)
{
	c.store = store_free(c.store);
}

static void remove_folder(const char *dir)
{
	char command[96];

	snprintf(command, sizeof command, "rm -rf %s", dir);
	if (system(command))
		bench_die("%s", command);
}

static void close_corpus(void)
{
	close_store();
	bus_free(c.bus);
	env_free(c.env);
	settings_free(c.settings);
	free(c.document);
	stderr_file_end();
	unlink(c.log);
	remove_folder(c.dir);
}

static void add_rows(void);

static void fill_corpus(void)
{
	for (unsigned i = 0, n = 6 + (unsigned)rand() % 20; i < n; i++) {
		say(i < 2 || rand() % 2);
		say(false);
		if (i < 2 || rand() % 3 == 0)
			answer(i == 0 || (i != 1 && rand() % 2), rand() % 2);
	}
	/* As if the turn file had grown too large. */
	if (rename(c.turns, c.old))
		bench_die("%s", c.turns);
	say(true);
	answer(true, false);
	answer(false, false);
	for (unsigned i = 0, n = 4 + (unsigned)rand() % 8; i < n; i++) {
		write_message(i == 0 || rand() % 2, false);
		write_message(rand() % 2, i == 1 || rand() % 3 == 0);
	}
	add_others();
	answer_elsewhere();
	act();
	write_fact(true, false, c.guild);
	write_fact(true, true, c.guild);
	write_fact(false, false, c.guild);
	write_fact_about_ana(false);
	write_fact_about_ana(true);
	write_fact(true, false, random_id());
	put_consent(c.ana, rand() % 2 ? "remembered" : "neither");
	put_consent(c.bob, "remembered");
	save_guild();
	save_queue();
	save_settings();
	write_journal();
	keep_recording();
	wait_for(store_sync(c.store, on_done, NULL));
	sum_up();
	wait_for(store_sync(c.store, on_done, NULL));
	add_rows();
}

/* As the store writes: nothing of what was there before stays in the pages. */
static void run_sql(const char *path, const char *text)
{
	sqlite3 *sql = NULL;

	if (sqlite3_open(path, &sql) || sqlite3_busy_timeout(sql, BUSY_MS) ||
	    sqlite3_exec(sql, "PRAGMA secure_delete=ON", NULL, NULL, NULL) ||
	    sqlite3_exec(sql, text, NULL, NULL, NULL))
		bench_die("%s: %s", text, sqlite3_errmsg(sql));
	sqlite3_close(sql);
}

/* As if 40 days had gone by with the words kept for 60: rows of other kinds go after 30. */
static void grow_old(void)
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

	snprintf(path, sizeof path, "%s/parley.db", c.dir);
	close_store();
	run_sql(path, by);
	BENCH_OK(db_open(&db, c.dir, DB_OWN));
	BENCH_OK(rows_expire(db, now(), now() - 60 * DAY_MS, &changed));
	db_close(db);
	BENCH_OK(settings_set(c.settings, "store_words_hours", "1440"));
	BENCH_OK(store_alloc(&c.store, c.env, c.bus, c.settings, c.dir));
}

/* Vectors as if an encoder had computed them, and that a message of Ana's was taken up. */
static void add_rows(void)
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

	snprintf(path, sizeof path, "%s/parley.db", c.dir);
	/* The store may expire words just now, a second after it has opened. */
	if (sqlite3_open(path, &sql) || sqlite3_busy_timeout(sql, BUSY_MS))
		bench_die("%s", path);
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		sqlite3_stmt *s = NULL;

		if (sqlite3_prepare_v2(sql, rows[i], -1, &s, NULL))
			bench_die("%s", sqlite3_errmsg(sql));
		sqlite3_bind_int64(s, 1, (sqlite3_int64)c.ana);
		sqlite3_bind_blob(s, 2, c.vector, sizeof c.vector, SQLITE_STATIC);
		if (sqlite3_step(s) != SQLITE_DONE)
			bench_die("%s", sqlite3_errmsg(sql));
		sqlite3_finalize(s);
	}
	sqlite3_close(sql);
}

/* ---- erasing ---- */

static void make_copy(const char *name)
{
	char path[96];
	struct db *db = NULL;

	snprintf(path, sizeof path, "%s/%s", c.dir, name);
	BENCH_OK(db_open(&db, c.dir, DB_CHECK));
	BENCH_OK(db_backup(db, path));
	db_close(db);
}

/* ---- a crash inside an erasure ---- */

/* In the process that is to be killed: system calls that are left; below 0: it is not. */
static int steps_left = -1;

static void step(void)
{
	if (steps_left >= 0 && steps_left-- == 0)
		_exit(CRASHED);
}

/* In place of the library's: control and SQLite come to these. */
int fsync(int fd)
{
	step();
	return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	step();
	return (int)syscall(SYS_fdatasync, fd);
}

int rename(const char *from, const char *to)
{
	step();
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path)
{
	step();
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

static void erase_until_crash(void)
{
	const struct erase e = {.dir = c.dir,
				.turns_file = c.turns,
				.room_journals = c.rooms,
				.user = c.ana,
				.now_ms = now(),
				.via = "bench"};
	struct db *db = NULL;
	char *receipt = NULL;
	int err = db_open(&db, c.dir, DB_OWN);

	steps_left = rand() % CRASH_STEPS;
	if (!err)
		err = erase_person(db, &e, &receipt);
	_exit(err ? 1 : 0);
}

/* ---- with no control ---- */

/* As the last control left it: a command of hers was under way. */
static void leave_session(void)
{
	char text[200];

	snprintf(text, sizeof text, "{\"commands\":[{\"user\":\"%llu\",\"question\":\"%s\"}]}",
		 (unsigned long long)c.ana, c.word[3]);
	BENCH_OK(session_file_save(c.dir, text));
	write_beside(c.dir, "/session.json.new", text);
}

static void run_command(void)
{
	char user[24];

	snprintf(user, sizeof user, "%llu", (unsigned long long)c.ana);
	if (setenv("PARLEY_TURNS", c.turns, 1) || setenv("PARLEY_ROOM_JOURNALS", c.rooms, 1) ||
	    !freopen("/dev/null", "w", stdout))
		_exit(1);
	_exit(store_command_erase(c.dir, user, NULL));
}

static void erase_by_command(void)
{
	int status = 0;
	pid_t child;

	close_store();
	leave_session();
	child = fork();
	if (child == 0)
		run_command();
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		bench_die("control --erase failed");
	BENCH_OK(store_alloc(&c.store, c.env, c.bus, c.settings, c.dir));
}

/* As control does when it starts. */
static void start_again(void)
{
	unsigned people;

	BENCH_OK(deletions_replay(c.dir, &people));
	BENCH_OK(store_alloc(&c.store, c.env, c.bus, c.settings, c.dir));
	wait_for(store_list_erase_requests(c.store, on_list, NULL));
	for (size_t i = 0; i < c.n_listed; i++)
		wait_for(store_erase_person(c.store, c.listed[i], "bench", false, on_document,
					    NULL));
}

/* True if the erasure was killed before it was done. */
static bool erase_with_crash(void)
{
	int status = 0;
	pid_t child;

	close_store();
	child = fork();
	if (child == 0)
		erase_until_crash();
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
	    (WEXITSTATUS(status) && WEXITSTATUS(status) != CRASHED))
		bench_die("the erasure that was to be killed ended otherwise");
	start_again();
	return WEXITSTATUS(status) == CRASHED;
}

/* ---- the whole ---- */

/* A model had got the lines before, and answers now. */
static void end_extraction(void)
{
	char text[400], request[800];
	const struct store_facts f = {
		.guild = c.guild, .owner = c.ana, .user = c.ana, .name = "x", .request = request};

	print_sentence(text, sizeof text, true);
	snprintf(request, sizeof request,
		 "[{\"text\":\"%s\",\"type\":\"plan\",\"tags\":[],\"evidence\":[1,2,3,4]}]", text);
	wait_for(store_write_facts(c.store, &f, on_document, NULL));
}

static void check_corpus(void)
{
	const char *const files[] = {c.turns, c.old};
	char path[96];

	if (traces_in_folder(c.dir) < 20 || !traces_in_folder(c.rooms))
		bench_die("the corpus has too few traces");
	for (unsigned i = 0; i < sizeof files / sizeof files[0]; i++)
		if (!traces_in_file(files[i]))
			bench_die("no trace in %s", files[i]);
	snprintf(path, sizeof path, "%s/parley.db", c.dir);
	if (canaries_missing(path))
		bench_die("a place of the database has no canary");
}

/* ---- a restored backup ---- */

static void name_older(char path[96])
{
	snprintf(path, 96, "%s-older", c.dir);
}

/* An operator keeps a copy elsewhere. */
static void keep_older(void)
{
	char path[96];
	struct db *db = NULL;

	name_older(path);
	BENCH_OK(db_open(&db, c.dir, DB_CHECK));
	BENCH_OK(db_backup(db, path));
	db_close(db);
}

/* A copy of a version before lines had people, the audit a second seal, facts a second time, and
 * sessions their speech. */
#define TO_SCHEMA_24                                                                               \
	"DROP TABLE utterance_people; ALTER TABLE audit DROP COLUMN said_salt;"                    \
	"ALTER TABLE audit DROP COLUMN said_sealed; ALTER TABLE facts DROP COLUMN said_ms;"        \
	"DROP TABLE music_positions;"                                                              \
	"DROP INDEX costs_session; ALTER TABLE sessions DROP COLUMN spoken_ms;"                    \
	"PRAGMA user_version = 24"

static unsigned restore_older(bool schema)
{
	static const char *const beside[] = {"-wal", "-shm"};
	char path[96], file[96], other[112];

	name_older(path);
	if (schema)
		run_sql(path, TO_SCHEMA_24);
	close_store();
	snprintf(file, sizeof file, "%s/parley.db", c.dir);
	for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
		snprintf(other, sizeof other, "%s%s", file, beside[i]);
		unlink(other);
	}
	if (rename(path, file))
		bench_die("%s", path);
	start_again();
	close_store();
	return traces_in_folder(c.dir);
}

static unsigned begin_erasure(void)
{
	wait_for(store_begin_erasure(c.store, c.ana, false, on_list, NULL));
	for (size_t i = 0; i < c.n_listed; i++)
		if (c.listed[i] == c.guild)
			return 0;
	return 1; /* its conversations would not begin anew */
}

/* May be shown to others, so nothing of her is in it before an erasure either. */
static unsigned search_incident(void)
{
	const struct incident what = {.dir = c.dir, .to = c.incident};
	struct incident_rows rows = {0};
	unsigned found;

	BENCH_OK(incident_export(&what, &rows));
	if (!rows.turns || !rows.events)
		bench_die("an incident of no rows");
	found = traces_in_folder(c.incident);
	remove_folder(c.incident);
	return found;
}

static unsigned search_facts(void)
{
	struct db *db = NULL;
	char *text = NULL;
	unsigned found;

	BENCH_OK(db_open(&db, c.dir, DB_CHECK));
	BENCH_OK(memory_file_write(db, &text));
	db_close(db);
	found = traces_in(text, strlen(text));
	free(text);
	return found;
}

static unsigned search_exports(void)
{
	unsigned found = 0;

	wait_for(store_export_person(c.store, c.ana, on_document, NULL));
	/* It names whom it is about. */
	if (strstr(c.document, c.word[0]) || strstr(c.document, c.number))
		found++;
	make_copy("backup");
	found += traces_in_folder(c.dir) + search_facts();
	wait_for(store_export_person(c.store, c.bob, on_document, NULL));
	if (!strstr(c.document, "release") && !strstr(c.document, "tests"))
		bench_die("Bob's words are gone, too");
	return found;
}

static unsigned erase_live(void)
{
	wait_for(store_erase_person(c.store, c.ana, "bench", false, on_document, NULL));
	if (!strstr(c.document, "\"traces\":0"))
		bench_die("the receipt tells of traces: %s", c.document);
	return traces_in(c.document, strlen(c.document));
}

/* How the i-th one is erased. */
static unsigned erase_and_search(unsigned i)
{
	bool crash = i % 2, restore = i % 4 == 2, command = i % 8 == 0, old = i % 3 == 1;
	unsigned found;

	open_corpus();
	fill_corpus();
	add_traces();
	make_copy("parley.db.before-6");     /* of a migration */
	make_copy("parley.db.before-7.new"); /* of one that was killed */
	leave_copies();
	check_corpus();
	found = search_incident();
	if (old)
		grow_old();
	if (restore)
		keep_older();
	found += begin_erasure();
	if (crash && erase_with_crash())
		crashes++;
	if (command)
		erase_by_command();
	else if (!crash)
		found += erase_live();
	end_extraction();
	found += search_exports() + search_log();
	if (restore)
		found += restore_older(i % 8 == 6);
	close_corpus();
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

static void run_erasers(struct db *db, unsigned off)
{
	char guilds[32];

	snprintf(guilds, sizeof guilds, "[%llu]", (unsigned long long)c.guild);
	for (unsigned i = 0; i < N_ERASERS; i++) {
		struct sqlite3_stmt *s = db_use(db, erasers[i].statement);

		sqlite3_bind_int64(s, 1, (sqlite3_int64)c.ana);
		sqlite3_bind_text(s, 2, guilds, -1, SQLITE_TRANSIENT);
		if (i != off)
			BENCH_OK(db_run(db, s));
	}
	BENCH_OK(db_merge_terms(db));
	BENCH_OK(db_truncate_wal(db));
}

/* Rows that name nobody, and are of no use without what was erased. */
static unsigned count_orphans(void)
{
	sqlite3 *sql = NULL;
	sqlite3_stmt *s = NULL;
	char path[96];
	unsigned n = 0;

	snprintf(path, sizeof path, "%s/parley.db", c.dir);
	if (sqlite3_open(path, &sql) == SQLITE_OK &&
	    sqlite3_busy_timeout(sql, BUSY_MS) == SQLITE_OK &&
	    sqlite3_prepare_v2(
		    sql,
		    "SELECT (SELECT count(*) FROM fact_sources WHERE fact NOT IN"
		    " (SELECT id FROM facts)) + (SELECT count(*) FROM fact_people WHERE fact NOT IN"
		    " (SELECT id FROM facts)) + (SELECT count(*) FROM summary_sources o"
		    " WHERE NOT EXISTS (SELECT 1 FROM summaries s WHERE s.guild = o.guild"
		    " AND s.session = o.session AND s.line = o.line))",
		    -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		n = (unsigned)sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(sql);
	return n;
}

/* Without this eraser the search must find something. */
static bool is_noticed(unsigned off)
{
	struct db *db = NULL;
	unsigned found, texts;
	sqlite3_stmt *s;

	open_corpus();
	fill_corpus();
	add_traces();
	close_store();
	remove_folder(c.rooms);
	unlink(c.turns);
	unlink(c.old);
	BENCH_OK(db_open(&db, c.dir, DB_OWN));
	BENCH_OK(db_run(db, db_use(db, DB_DROP_GUILDS)));
	s = db_use(db, DB_ADD_ERASE_REQUEST);
	sqlite3_bind_int64(s, 1, (sqlite3_int64)c.ana);
	BENCH_OK(db_run(db, s));
	BENCH_OK(audit_erase_texts(db, c.ana, "nobody", now(), &texts));
	BENCH_OK(listed_erase(db, c.ana, &texts));
	run_erasers(db, off);
	db_close(db);
	found = traces_in_folder(c.dir) + count_orphans();
	close_corpus();
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
