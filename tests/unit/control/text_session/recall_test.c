/* How much of the memory models are told for an answer in writing, and of what age: with a store
 * that has more of everything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/discord/rest.h"
#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/store/db.h"
#include "control/store/fact_rows.h"
#include "control/store/job.h"
#include "control/store/rows.h"
#include "control/store/store.h"
#include "ipc/env.h"
#include "tests/test.h"
#include "tests/unit/control/text_session/text_stage.h"
#include "tests/unit/ipc/loop.h"

enum { MINUTE = 60000, HOUR = 60 * MINUTE };
enum { VOICE = 2000, ELSEWHERE = 2001 };
enum { MANY = 45, WORDS = 3 /* of a text, beside those that all have */ };
/* Each of which has texts of its own. */
enum kind { ABOUT, FACT, LINE, EARLIER, SPOKEN, LOOKUP, KINDS };

static struct text_stage s;
static struct db *db;
static struct store *store;
static char dir[32];
static uint64_t now;

/* A word that no other text has. */
static const char *word_of(enum kind kind, unsigned i, unsigned k)
{
	static const char *const of[] = {"ba", "de", "fi", "go", "ku",
					 "la", "me", "ni", "po", "ru"};
	static char word[WORDS][32];
	unsigned n = (kind * MANY + i) * WORDS + k;

	snprintf(word[k], sizeof word[k], "%s%s%s%snok", of[n % 10], of[n / 10 % 10],
		 of[n / 100 % 10], of[n / 1000 % 10]);
	return word[k];
}

/* Texts that share nothing but these first words: what is alike is told once. */
static const char *text_of(enum kind kind, unsigned i)
{
	static const char *const first[KINDS] = {[FACT] = "lantern ", [LINE] = "lantern "};
	static char text[160];

	snprintf(text, sizeof text, "%s%s %s %s", first[kind] ? first[kind] : "",
		 word_of(kind, i, 0), word_of(kind, i, 1), word_of(kind, i, 2));
	return text;
}

/* So many ms ago. */
static void say(uint64_t channel, uint64_t user, const char *text, uint64_t ago)
{
	const struct bus_event ev = {.type = EVENT_UTTERANCE,
				     .at_ms = now - ago,
				     .guild = STAGE_GUILD,
				     .user = user,
				     .utterance = {.session = 900,
						   .channel = channel,
						   .name = user == STAGE_ANA ? "ana" : "bob",
						   .text = text,
						   .started_ms = now - ago}};

	CHECK_INT(rows_add(db, &ev, true), 0);
}

static void tell(uint64_t user, const char *text, uint64_t ago)
{
	char request[256], *out = NULL;
	struct job j = {.guild = STAGE_GUILD,
			.user = user,
			.author = (char *)(uintptr_t)(user == STAGE_ANA ? "ana" : "bob"),
			.text = request,
			.now_ms = now - ago};

	snprintf(request, sizeof request, "[{\"text\":\"%s\",\"tags\":[]}]", text);
	CHECK_INT(fact_rows_write(db, NULL, &j, &out), 0);
	CHECK(out && strstr(out, "inserted"));
	free(out);
}

static void look_up(const char *text, uint64_t ago)
{
	static uint64_t call;
	const struct bus_event ev = {.type = EVENT_TOOL_CALLED,
				     .at_ms = now - ago,
				     .guild = STAGE_GUILD,
				     .user = STAGE_BOB,
				     .tool = {.channel = STAGE_CHANNEL,
					      .call = ++call,
					      .name = "web_search",
					      .code = "ok",
					      .summary = text}};

	CHECK_INT(rows_add(db, &ev, true), 0);
}

static uint64_t voice_of(uint64_t guild, uint64_t read, void *arg)
{
	(void)guild, (void)read, (void)arg;
	return VOICE;
}

/* The database is written as the store writes it, at the times that are given. */
static void open_scene(void)
{
	db = NULL;
	store = NULL;
	CHECK(folder_make(dir));
	CHECK(text_stage_open(&s));
	CHECK(!settings_set(s.settings, "store_words_hours", "168"));
	now = env_wall_ms(s.fake.env);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	/* What facts were told by. */
	say(ELSEWHERE, STAGE_ANA, "so much for that", 100 * HOUR);
	say(ELSEWHERE, STAGE_BOB, "and so on", 100 * HOUR);
}

/* What the model is told when Ana asks. */
static void ask(const char *question)
{
	db_close(db);
	CHECK_INT(store_alloc(&store, s.fake.env, s.bus, s.settings, dir), 0);
	s.conf.store = store;
	s.conf.voiceh = voice_of;
	CHECK(text_stage_begin(&s));
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 0), STAGE_ANA,
			  question);
	text_stage_run(&s);
	CHECK_INT(s.asked, 1);
}

static void close_scene(void)
{
	s.rest = rest_free(s.rest);
	s.ts = text_session_free(s.ts);
	store_free(store);
	text_stage_close(&s);
	folder_remove(dir);
}

static unsigned count_told(enum kind kind)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MANY; i++)
		n += strstr(s.prompt, word_of(kind, i, 0)) != NULL;
	return n;
}

TEST(recall_tells_so_much_and_no_more)
{
	open_scene();
	for (unsigned i = 0; i < MANY; i++)
		tell(STAGE_ANA, text_of(ABOUT, i), 90 * HOUR - i * 2ULL * MINUTE);
	for (unsigned i = 0; i < MANY; i++)
		tell(STAGE_BOB, text_of(FACT, i), 80 * HOUR - i * 2ULL * MINUTE);
	for (unsigned i = 0; i < MANY; i++)
		say(STAGE_CHANNEL, STAGE_BOB, text_of(LINE, i), 70 * HOUR - i * 1ULL * MINUTE);
	/* They would be found as what was said last in the channel, too. */
	for (unsigned i = 0; i < MANY; i++)
		say(STAGE_CHANNEL, STAGE_BOB, text_of(EARLIER, i), 60 * HOUR - i * 1ULL * MINUTE);
	for (unsigned i = 0; i < MANY; i++) {
		say(VOICE, STAGE_BOB, text_of(SPOKEN, i), 20 * MINUTE - i * 1000ULL);
		look_up(text_of(LOOKUP, i), HOUR - i * 1000ULL);
	}
	ask("<@9> where is the lantern");
	CHECK_INT(count_told(ABOUT), 10);
	CHECK_INT(count_told(ABOUT) + count_told(FACT), 20);
	CHECK_INT(count_told(LINE), 8);
	/* The question is one of them. */
	CHECK_INT(count_told(EARLIER), TEXT_HISTORY - 1);
	CHECK_INT(count_told(SPOKEN), 12);
	CHECK_INT(count_told(LOOKUP), 6);
	close_scene();
}

TEST(recall_tells_of_the_last_half_hour_of_speech_and_six_hours_of_lookups)
{
	static const unsigned spoken[] = {5, 20, 29, 31, 45, 59}, looked[] = {1, 4, 5, 7, 10, 11};
	const size_t n = sizeof spoken / sizeof spoken[0];

	open_scene();
	for (size_t i = n; i > 0; i--) {
		say(VOICE, STAGE_BOB, text_of(SPOKEN, (unsigned)i - 1),
		    (uint64_t)spoken[i - 1] * MINUTE);
		look_up(text_of(LOOKUP, (unsigned)i - 1), (uint64_t)looked[i - 1] * HOUR);
	}
	ask("<@9> where is the lantern");
	CHECK_INT(count_told(SPOKEN), 3);
	CHECK_INT(count_told(LOOKUP), 3);
	for (unsigned i = 0; i < 3; i++)
		CHECK(strstr(s.prompt, word_of(SPOKEN, i, 0)) &&
		      strstr(s.prompt, word_of(LOOKUP, i, 0)));
	close_scene();
}

/* The newer one comes first, unless the question names the time of the older one.
 * 1: the newer one; 0: the older one; -1: one of both is missing. */
static int tells_newer_first(const char *question)
{
	const char *older, *newer;
	int first;

	open_scene();
	tell(STAGE_BOB, "our lantern fell off the boat", 48 * HOUR);
	tell(STAGE_BOB, "we keep a lantern on the boat", 20 * HOUR);
	ask(question);
	older = strstr(s.prompt, "fell off");
	newer = strstr(s.prompt, "we keep");
	first = older && newer ? newer < older : -1;
	close_scene();
	return first;
}

TEST(recall_tells_the_fact_of_the_time_that_is_named_first)
{
	CHECK_INT(tells_newer_first("<@9> which lantern fell"), 1);
	CHECK_INT(tells_newer_first("<@9> two days ago which lantern fell"), 0);
}
