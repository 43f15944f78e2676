/* memory_leak_across: what people are shown of the memory that they may not be shown.
 *
 * Two of the people told things, and are not to be remembered any more: one withdrew, one is
 * blocked. Nothing of theirs is to be shown, nor answers of the bot that were told it, nor what
 * they had it look up on the web.
 *
 * Servers with the same channels and people have facts, lines and summaries whose texts tell where
 * they belong. The same random questions are asked of the store, and by people in voice sessions
 * and in text chat. What the model is told then is read: the slices of the memory in its prompt,
 * and the outputs of memory_search and conversation_search. Each text is judged by itself, former
 * and contradicting facts and the lines beside a line, too.
 *
 *   leaks [questions]      of each kind (10,000) */
#include "tests/bench/leaks.h"

#include <event2/event.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control/engine/engine.h"
#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/store/db.h"
#include "control/store/embedding.h"
#include "control/store/fact_rows.h"
#include "control/store/job.h"
#include "control/store/rows.h"
#include "control/store/said.h"
#include "control/store/store.h"
#include "control/tools/run.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "tests/bench/bench.h"

enum {
	THINGS = 8,
	QUESTIONS = 10000,
	MINUTE_MS = 60000,
	HOUR_MS = 3600000,
	WAIT_S = 60,
	FIRST_PERSON = 301,
	SUMMARY_SESSION_H = 3, /* hours ago */
};
#define ENCODER "build/embedder/use-lite.int8"

static struct db *db;
static struct embedding *embedding;
/* Of the next fact and the next line: of today, because the store drops what is older. */
static uint64_t fact_ms, line_ms;

/* ---- texts that tell where they belong ---- */

static const char *const things[THINGS] = {"bike",   "kitchen", "parrot",  "garden",
					   "guitar", "exam",	"holiday", "recipe"};
static const char *const colours[] = {"red", "blue", "green", "yellow", "black", "white"};

uint64_t leak_person(unsigned p)
{
	return FIRST_PERSON + p;
}

bool leak_may_quote(uint64_t user)
{
	return user != leak_person(LEAK_WITHDRAWN) && user != leak_person(LEAK_BLOCKED);
}

bool leak_is_open(uint64_t channel)
{
	return channel >= LEAK_OPEN && channel < LEAK_CLOSED;
}

static uint64_t random_place(uint64_t *seed)
{
	return LEAK_OPEN + random_below(seed, LEAK_PLACES);
}

/* "the bike of server2 owner0 told33 by304 is blue": a fact of the memory of server 2 (or of its
 * member 301), told in channel 33 (or, 0, for all) by member 304. */
static void write_fact_text(char text[LEAK_WORDS], const char *thing, uint64_t guild,
			    uint64_t owner, uint64_t channel, uint64_t author, uint64_t *seed)
{
	snprintf(text, LEAK_WORDS, "the %s of server%u owner%u told%u by%u is %s", thing,
		 (unsigned)guild, (unsigned)owner, (unsigned)channel, (unsigned)author,
		 colours[random_below(seed, 6)]);
}

/* A line of the conversation in this channel, or what sums one up. */
static void write_line_text(char text[LEAK_WORDS], const char *thing, uint64_t guild,
			    uint64_t channel, uint64_t author, uint64_t *seed)
{
	snprintf(text, LEAK_WORDS, "the %s of server%u line%u by%u is %s", thing, (unsigned)guild,
		 (unsigned)channel, (unsigned)author, colours[random_below(seed, 6)]);
}

void leak_question(char words[LEAK_WORDS], uint64_t *seed)
{
	const char *thing = things[random_below(seed, THINGS)];
	unsigned guild = random_between(seed, 1, LEAK_SERVERS);
	unsigned author = (unsigned)leak_person(random_below(seed, LEAK_PEOPLE));
	unsigned place = (unsigned)random_place(seed);

	switch (random_below(seed, 3)) {
	case 0:
		snprintf(words, LEAK_WORDS, "what is the %s of server%u owner%u?", thing, guild,
			 author);
		break;
	case 1:
		snprintf(words, LEAK_WORDS, "what is the %s of told%u by%u?", thing, place, author);
		break;
	default:
		snprintf(words, LEAK_WORDS, "what is the %s of server%u line%u?", thing, guild,
			 place);
	}
}

/* Also of others and of other servers, which the tools are to refuse. */
static void write_namespace(char space[32], uint64_t *seed)
{
	switch (random_below(seed, 5)) {
	case 0:
		snprintf(space, 32, "guild");
		break;
	case 1:
		snprintf(space, 32, "me");
		break;
	case 2:
		snprintf(space, 32, "user:%u",
			 (unsigned)leak_person(random_below(seed, LEAK_PEOPLE)));
		break;
	case 3:
		snprintf(space, 32, "guild:%u", random_between(seed, 1, LEAK_SERVERS));
		break;
	default:
		*space = '\0';
	}
}

char *leak_arguments(bool lines, uint64_t *seed)
{
	char words[LEAK_WORDS], space[32], *text;
	json_t *root;

	leak_question(words, seed);
	root = json_pack("{s:s,s:i}", "query", words, "top_k", 5);
	write_namespace(space, seed);
	if (lines)
		json_object_set_new(root, "scope",
				    json_string(random_below(seed, 2) ? "guild" : "channel"));
	else if (*space)
		json_object_set_new(root, "namespace", json_string(space));
	text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return text;
}

/* ---- the judge ---- */

/* In text chat a thread is part of its channel. */
static bool is_here(uint64_t channel, const struct leak_asker *by)
{
	return channel == by->channel ||
	       (by->written && by->channel == LEAK_THREAD && channel == LEAK_CLOSED);
}

static void judge_fact(struct leak_count *c, const unsigned v[4], const struct leak_asker *by)
{
	uint64_t owner = v[1], channel = v[2], author = v[3];
	bool apart = by->alone && !by->written;
	bool own = owner && owner == by->user && apart;
	bool may = own || (!owner && (!channel || is_here(channel, by) || leak_is_open(channel) ||
				      (author == by->user && (apart || by->raw))));

	c->private += own;
	c->leaks += v[0] != by->guild || !may || !leak_may_quote(author);
}

/* Text chat may be told of the voice channel that everybody may enter. */
static void judge_line(struct leak_count *c, const unsigned v[3], const struct leak_asker *by)
{
	bool may = v[1] == by->channel || (by->written && v[1] == LEAK_OPEN);

	c->leaks += v[0] != by->guild || !may || !(by->raw || leak_may_quote(v[2]));
}

void leak_judge(struct leak_count *c, const char *shown, const struct leak_asker *by)
{
	while ((shown = strstr(shown, "the "))) {
		unsigned v[4];
		int end = 0;

		if (sscanf(shown, "the %*31s of server%u owner%u told%u by%u is %n", &v[0], &v[1],
			   &v[2], &v[3], &end) == 4 &&
		    end) {
			judge_fact(c, v, by);
			c->shown++;
		} else if (sscanf(shown, "the %*31s of server%u line%u by%u is %n", &v[0], &v[1],
				  &v[2], &end) == 3 &&
			   end) {
			judge_line(c, v, by);
			c->shown++;
		}
		shown += 4;
	}
}

/* ---- the memory ---- */

static void write_fact(uint64_t guild, uint64_t owner, uint64_t channel, uint64_t user,
		       const char *text)
{
	json_t *request = json_pack("[{s:s,s:[]}]", "text", text, "tags");
	struct job j = {.kind = JOB_WRITE_FACTS,
			.guild = guild,
			.owner = owner,
			.channel = channel,
			.user = user,
			.now_ms = fact_ms += MINUTE_MS,
			.author = (char *)"Ana",
			.text = json_dumps(request, 0)};
	char *out = NULL;

	/* Comparing meanings takes long, and the vectors come later. */
	BENCH_OK(fact_rows_write(db, NULL, &j, &out));
	json_decref(request);
	free(out);
	free(j.text);
}

/* One of their own and two of the server's, of which the second takes the place of the first. */
static void write_facts(uint64_t guild, uint64_t user, const char *thing, uint64_t *seed)
{
	char text[LEAK_WORDS];

	write_fact_text(text, thing, guild, user, 0, user, seed);
	write_fact(guild, user, 0, user, text);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t channel = random_below(seed, 6) ? random_place(seed) : 0;

		write_fact_text(text, thing, guild, 0, channel, user, seed);
		write_fact(guild, 0, channel, user, text);
	}
}

/* The bot repeats a line to the first person, in a session in which nobody else is. */
static void add_answer(uint64_t guild, uint64_t channel, uint64_t line, const char *text)
{
	struct bus_event ev = {.type = EVENT_TURN, .guild = guild, .user = leak_person(0)};
	char why[96];

	snprintf(why, sizeof why,
		 "[{\"rule\":\"memory_line\",\"yes\":true,\"value\":%llu,\"limit\":0}]",
		 (unsigned long long)line);
	ev.at_ms = line_ms += 1000;
	ev.turn = (struct event_turn){.session = line_ms,
				      .channel = channel,
				      .turn = (uint32_t)line,
				      .stage = "ended",
				      .name = "Ana",
				      .reason = "answered",
				      .said = text,
				      .segments = "[]",
				      .why = why};
	BENCH_OK(rows_add(db, &ev, true));
}

/* What this person had the bot look up. */
static void add_lookup(uint64_t guild, uint64_t user, const char *thing, uint64_t *seed)
{
	struct bus_event ev = {.type = EVENT_TOOL_CALLED, .guild = guild, .user = user};
	uint64_t channel = random_place(seed);
	static uint32_t call;
	char text[LEAK_WORDS];

	write_line_text(text, thing, guild, channel, user, seed);
	ev.at_ms = line_ms += 1000;
	ev.tool = (struct event_tool){.session = 1,
				      .channel = channel,
				      .turn = 1,
				      .call = ++call,
				      .name = "web_search",
				      .code = "ok",
				      .arguments = "0",
				      .summary = text};
	BENCH_OK(rows_add(db, &ev, true));
}

static void add_line(uint64_t guild, uint64_t user, const char *thing, uint64_t *seed)
{
	struct bus_event ev = {.type = EVENT_UTTERANCE, .guild = guild, .user = user};
	uint64_t channel = random_place(seed);
	char text[LEAK_WORDS];

	write_line_text(text, thing, guild, channel, user, seed);
	ev.utterance = (struct event_utterance){.session = 1,
						.channel = channel,
						.name = "Ana",
						.text = text,
						.started_ms = line_ms += 1000,
						.source = "realtime-transcription",
						.language = "en",
						.consent = true};
	BENCH_OK(rows_add(db, &ev, true));
	if (random_below(seed, 3) == 0)
		add_answer(guild, channel, db_last_row(db), text);
}

static void fill_servers(uint64_t *seed)
{
	for (uint64_t guild = 1; guild <= LEAK_SERVERS; guild++)
		for (unsigned p = 0; p < LEAK_PEOPLE; p++)
			for (unsigned i = 0; i < THINGS; i++) {
				write_facts(guild, leak_person(p), things[i], seed);
				add_line(guild, leak_person(p), things[i], seed);
				add_line(guild, leak_person(p), things[i], seed);
				add_lookup(guild, leak_person(p), things[i], seed);
			}
	if (embedding)
		BENCH_OK(embedding_finish(embedding, db));
}

static void run_sql(sqlite3 *sql, const char *text)
{
	char *why = NULL;

	if (sqlite3_exec(sql, text, NULL, NULL, &why) != SQLITE_OK)
		bench_die("%s: %s", text, why);
}

static void add_summary(sqlite3 *sql, uint64_t guild, uint64_t channel, uint64_t *seed)
{
	uint64_t user = leak_person(random_below(seed, LEAK_PEOPLE));
	unsigned long long session = line_ms - SUMMARY_SESSION_H * HOUR_MS;
	char text[LEAK_WORDS], insert[512];

	write_line_text(text, things[random_below(seed, THINGS)], guild, channel, user, seed);
	snprintf(insert, sizeof insert,
		 "INSERT INTO summaries VALUES(%u, %llu, %u, %u, '%s');"
		 "INSERT INTO summary_people VALUES(%u, %llu, %u, %u)",
		 (unsigned)guild, session, (unsigned)channel, (unsigned)channel, text,
		 (unsigned)guild, session, (unsigned)channel, (unsigned)user);
	run_sql(sql, insert);
}

/* Facts that others took the place of, and what models and reflections add: summaries, and that two
 * facts of an author contradict. */
static void add_found(const char *dir, uint64_t *seed)
{
	sqlite3 *sql = NULL;
	char path[96];

	snprintf(path, sizeof path, "%s/parley.db", dir);
	if (sqlite3_open(path, &sql) != SQLITE_OK)
		bench_die("%s", path);
	run_sql(sql, "UPDATE facts SET valid_until_ms = valid_from_ms + 1, superseded_by = id + 1"
		     " WHERE owner = 0 AND id % 2 AND EXISTS (SELECT 1 FROM facts n"
		     " WHERE n.id = facts.id + 1 AND n.guild = facts.guild AND n.owner = 0"
		     " AND n.said_by = facts.said_by)");
	run_sql(sql, "INSERT INTO fact_pairs SELECT a.id, b.id, 'conflict', 1 FROM facts a"
		     " JOIN facts b ON b.guild = a.guild AND b.owner = a.owner"
		     " AND b.said_by = a.said_by AND b.id > a.id WHERE a.owner = 0"
		     " AND a.valid_until_ms IS NULL AND b.valid_until_ms IS NULL"
		     " AND (a.id * 7 + b.id) % 5 = 0");
	for (uint64_t guild = 1; guild <= LEAK_SERVERS; guild++)
		for (uint64_t channel = LEAK_OPEN; channel < LEAK_VOICE_END; channel++)
			add_summary(sql, guild, channel, seed);
	sqlite3_close(sql);
}

/* ---- what the store finds ---- */

static void judge_found(struct leak_count *c, char *document, const struct leak_asker *by)
{
	leak_judge(c, document, by);
	free(document);
}

/* As a shell asks that knows whom and what it may not tell (control/memory/untold.h). */
static json_t *request_facts(const struct leak_asker *by, const char *words)
{
	json_t *authors = json_array(), *channels = json_array();

	for (unsigned p = 0; p < LEAK_PEOPLE; p++)
		if (!leak_may_quote(leak_person(p)))
			json_array_append_new(authors,
					      json_sprintf("%u", (unsigned)leak_person(p)));
	for (unsigned i = LEAK_CLOSED; i < LEAK_OPEN + LEAK_PLACES; i++)
		if (i != by->channel)
			json_array_append_new(channels, json_sprintf("%u", i));
	return json_pack("{s:s,s:o,s:o}", "words", words, "without_authors", authors,
			 "without_channels", channels);
}

/* Former and contradicting ones are the shell's to leave out. */
static void judge_facts(struct leak_count *c, const char *document, const struct leak_asker *by)
{
	json_t *list = json_loads(document, 0, NULL), *fact;
	size_t i;

	json_array_foreach(list, i, fact)
	{
		leak_judge(c, json_string_value(json_object_get(fact, "text")), by);
	}
	json_decref(list);
}

static void ask_facts(struct leak_count *c, const struct leak_asker *by, const char *words)
{
	json_t *request = request_facts(by, words);
	struct job j = {.kind = JOB_FIND_FACTS,
			.guild = by->guild,
			.owner = by->alone ? by->user : 0,
			.user = by->user,
			.any = true,
			.version = 8,
			.text = json_dumps(request, 0)};
	char *out = NULL;

	BENCH_OK(fact_rows_find(db, embedding, &j, &out));
	free(j.text);
	json_decref(request);
	judge_facts(c, out, by);
	free(out);
}

static void ask_lines(struct leak_count *c, const struct leak_asker *by, const char *words)
{
	struct job j = {.kind = JOB_FIND_SAID,
			.guild = by->guild,
			.channel = by->channel,
			.version = 8,
			.author = (char *)"",
			.text = strdup(words)};
	char *out = NULL;

	BENCH_OK(said_find(db, embedding, &j, &out));
	free(j.text);
	judge_found(c, out, by);
}

static void leaks_of_store(unsigned questions, uint64_t *seed, struct leak_count *facts,
			   struct leak_count *lines)
{
	for (unsigned i = 0; i < questions; i++) {
		struct leak_asker by = {.guild = random_between(seed, 1, LEAK_SERVERS),
					.channel = random_place(seed),
					.user = leak_person(random_below(seed, LEAK_ASKERS)),
					.alone = i % 2,
					.raw = true};
		char words[LEAK_WORDS];

		leak_question(words, seed);
		ask_facts(facts, &by, words);
		ask_lines(lines, &by, words);
	}
}

/* ---- the loop ---- */

void leak_wait(struct env *env, bool (*done)(void *arg), void *arg)
{
	time_t until = time(NULL) + WAIT_S;

	while (!done(arg)) {
		event_base_loop(env_base(env), EVLOOP_ONCE);
		if (time(NULL) > until)
			bench_die("an answer did not come");
	}
}

struct awaited_output {
	struct tools_run *run;
	uint32_t turn;
	char *text;
};

static bool has_output(void *arg)
{
	struct awaited_output *o = arg;
	struct engine_message m[2 * TOOLS_CALLS];
	size_t n = tools_run_messages(o->run, o->turn, m, 2 * TOOLS_CALLS);

	for (size_t i = 0; i < n && !o->text; i++)
		if (m[i].role == ENGINE_RESULT)
			o->text = strdup(m[i].text);
	return o->text;
}

char *leak_output(struct env *env, struct tools_run *run, uint32_t turn)
{
	struct awaited_output o = {.run = run, .turn = turn};

	leak_wait(env, has_output, &o);
	return o.text;
}

/* ---- the whole ---- */

static void print_row(const struct leak_count c[6], unsigned questions)
{
	static const char *const names[] = {"facts",	   "lines",	   "voice_prompts",
					    "voice_tools", "text_prompts", "text_tools"};
	unsigned leaks = 0;
	char more[512];
	size_t n = 0;

	for (unsigned i = 0; i < 6; i++) {
		leaks += c[i].leaks;
		n += (size_t)snprintf(more + n, sizeof more - n,
				      ", \"%s\": {\"shown\": %u, \"own\": %u, \"leaks\": %u}",
				      names[i], c[i].shown, c[i].private, c[i].leaks);
		/* A row of nothing would be no row. */
		if (questions >= 100 && !c[i].shown)
			bench_die("%s showed nothing", names[i]);
	}
	bench_row_more("memory_leak_across", leaks, "texts", "\"questions\": %u%s", questions,
		       more);
}

static void run_shells(const char *dir, unsigned questions, uint64_t *seed, struct leak_count c[4])
{
	struct leak_shell sh = {.seed = seed};
	const struct env_conf ec = {.loop = true};
	struct bus *bus;

	BENCH_OK(env_alloc(&sh.env, &ec));
	BENCH_OK(settings_alloc(&sh.settings));
	BENCH_OK(settings_set(sh.settings, "memory_embedder", embedding ? ENCODER : "none"));
	/* On a busy machine prompts would go without. */
	BENCH_OK(settings_set(sh.settings, "memory_wait_ms", "1000"));
	BENCH_OK(bus_alloc(&bus));
	BENCH_OK(store_alloc(&sh.store, sh.env, bus, sh.settings, dir));
	leaks_of_voice(&sh, questions, &c[0], &c[1]);
	leaks_of_text(&sh, questions, &c[2], &c[3]);
	store_free(sh.store);
	bus_free(bus);
	settings_free(sh.settings);
	env_free(sh.env);
}

int main(int argc, char **argv)
{
	unsigned questions = argc > 1 ? (unsigned)atoi(argv[1]) : QUESTIONS;
	uint64_t seed = 3, now = (uint64_t)time(NULL) * 1000;
	char dir[] = "/tmp/parley-leaks.XXXXXX", rm[64];
	struct leak_count c[6] = {0};

	log_init("leaks", LOG_FATAL_);
	fact_ms = now - (uint64_t)20 * HOUR_MS;
	line_ms = now - (uint64_t)4 * HOUR_MS;
	if (!mkdtemp(dir))
		bench_die("no folder");
	BENCH_OK(db_open(&db, dir, DB_OWN));
	if (embedding_open(&embedding, ENCODER))
		fprintf(stderr, "leaks: without an encoder (make embedder)\n");
	else
		BENCH_OK(embedding_pump(embedding, db));
	fill_servers(&seed);
	leaks_of_store(questions, &seed, &c[0], &c[1]);
	db_close(db);
	add_found(dir, &seed);
	run_shells(dir, questions, &seed, c + 2);
	embedding_close(embedding);
	print_row(c, questions);
	snprintf(rm, sizeof rm, "rm -r %s", dir);
	return system(rm) ? 1 : 0;
}
