/* The core of text chat: its scenarios, its explorer, and the statements about text. */
#include "tests/test.h"

#include <glob.h>

#include "control/settings/ids.h"
#include "control/settings/settings.h"
#include "control/text/text_chat.h"
#include "proto/base/time.h"
#include "tests/text/explore.h"
#include "tests/text/scenario.h"

enum { CHANNEL = 5, ALICE = 100, BOB = 101, CAROL = 102, GUILD = 7 };

static struct text_effects fx;

static void play(const char *name, struct text_scenario_result *r)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/%s.text", test_data("scenarios/text"), name);
	text_scenario_play(r, path, NULL);
	if (!r->passed)
		test_fail(path, (int)r->line, "%s", r->why);
}

TEST(every_text_scenario_holds)
{
	char pattern[4096];
	glob_t found;

	snprintf(pattern, sizeof pattern, "%s/*.text", test_data("scenarios/text"));
	CHECK_INT(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct text_scenario_result r;

		text_scenario_play(&r, found.gl_pathv[i], NULL);
		if (!r.passed)
			test_fail(found.gl_pathv[i], (int)r.line, "%s", r.why);
	}
	CHECK(found.gl_pathc >= 16);
	globfree(&found);
}

TEST(rule_085_text_attends_to_whom_it_answered)
{
	struct text_scenario_result r;

	play("attention", &r);
	CHECK(r.passed);
}

TEST(rule_086_bursts_are_coalesced)
{
	struct text_scenario_result r;

	play("burst", &r);
	CHECK(r.passed);
	play("burst_most", &r);
	CHECK(r.passed);
}

TEST(a_false_expectation_of_text_fails)
{
	struct text_scenario_result r;
	char path[] = "/tmp/parley-text-XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

	CHECK(f);
	fputs("0 alice writes 1 \"@parley hello\"\n6250 expect asked 2\n", f);
	fclose(f);
	text_scenario_play(&r, path, NULL);
	remove(path);
	CHECK(!r.passed);
	CHECK_INT(r.line, 2);
}

TEST(exploring_text_finds_no_violation)
{
	struct text_explore_result r;

	for (uint64_t seed = 1; seed <= 3; seed++) {
		text_explore(&r, seed, 100000);
		if (!r.passed)
			test_fail(__FILE__, __LINE__, "seed %llu step %llu: %s",
				  (unsigned long long)seed, (unsigned long long)r.steps, r.why);
		CHECK(r.asks > 1000 && r.sends > 500 && r.reactions > 100 && r.ended > 10000);
	}
}

static void write_message(struct text_chat *chat, uint64_t id, uint64_t channel, uint64_t user,
			  uint64_t now)
{
	const struct text_event ev = {.type = TEXT_MESSAGE,
				      .guild = GUILD,
				      .channel = channel,
				      .message = id,
				      .user = user,
				      .name = "somebody",
				      .text = "@parley hello",
				      .to_bot = true};

	text_step(chat, &ev, now, &fx);
}

TEST(a_full_queue_of_text_is_a_reason)
{
	struct settings *s;
	struct text_chat *chat;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_INT(settings_set(s, "text_chat", "all"), 0);
	/* Those who would wait for too long do not wait. */
	CHECK_INT(settings_set(s, "text_per_hour", "500"), 0);
	CHECK_INT(text_chat_alloc(&chat, s, "Parley"), 0);
	for (unsigned i = 0; i < TEXT_QUEUE + 2; i++)
		write_message(chat, 1000 + i, CHANNEL, ALICE + i, NS_PER_S);
	CHECK_INT(text_count(chat, TEXT_REASON_QUEUE_FULL), 2);
	CHECK_INT(text_waiting(chat), TEXT_QUEUE);
	/* All channels together. */
	for (unsigned i = 0; i < TEXT_TRIGGERS; i++)
		write_message(chat, 5000 + i, CHANNEL + 1 + i, 5000 + i % 8, NS_PER_S);
	CHECK_INT(text_count(chat, TEXT_REASON_QUEUE_FULL), 2 + TEXT_QUEUE);
	text_step(chat, &(struct text_event){.type = TEXT_SHUTDOWN}, NS_PER_S, &fx);
	CHECK_INT(text_count(chat, TEXT_REASON_SHUTDOWN), TEXT_TRIGGERS);
	CHECK_INT(text_deadline(chat), UINT64_MAX);
	text_chat_free(chat);
	settings_free(s);
}

/* One author has a quarter of the places; direct messages have few for each. */
TEST(one_author_leaves_places_to_others)
{
	struct settings *s;
	struct text_chat *chat;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_INT(settings_set(s, "text_chat", "all"), 0);
	CHECK_INT(text_chat_alloc(&chat, s, "Parley"), 0);
	for (unsigned i = 0; i < TEXT_QUEUE; i++)
		write_message(chat, 1000 + i, CHANNEL, ALICE, NS_PER_S);
	CHECK_INT(text_waiting(chat), TEXT_QUEUE / TEXT_SHARE);
	for (unsigned i = 0; i < TEXT_TRIGGERS; i++)
		write_message(chat, 2000 + i, CHANNEL + 1 + i % 100, ALICE, NS_PER_S);
	CHECK_INT(text_waiting(chat), TEXT_TRIGGERS / TEXT_SHARE);
	write_message(chat, 3000, CHANNEL, BOB, NS_PER_S);
	CHECK_INT(text_waiting(chat), TEXT_TRIGGERS / TEXT_SHARE + 1);
	text_chat_free(chat);
	CHECK_INT(text_chat_alloc(&chat, s, "Parley"), 0);
	for (unsigned i = 0; i < TEXT_QUEUE; i++)
		text_step(chat,
			  &(struct text_event){.type = TEXT_MESSAGE,
					       .channel = CHANNEL,
					       .message = 1000 + i,
					       .user = ALICE,
					       .text = "hello"},
			  NS_PER_S, &fx);
	CHECK_INT(text_waiting(chat), TEXT_QUEUE_DIRECT);
	text_chat_free(chat);
	settings_free(s);
}

static struct text_chat *open_chat(struct settings **s, const char *const *pairs)
{
	struct text_chat *chat = NULL;

	if (settings_alloc(s) || settings_set(*s, "text_chat", "all"))
		return NULL;
	for (; *pairs; pairs += 2)
		if (settings_set(*s, pairs[0], pairs[1]))
			return NULL;
	return text_chat_alloc(&chat, *s, "Parley") ? NULL : chat;
}

static void say(struct text_chat *chat, uint64_t id, uint64_t channel, uint64_t user,
		const char *text)
{
	const struct text_event ev = {.type = TEXT_MESSAGE,
				      .guild = GUILD,
				      .channel = channel,
				      .message = id,
				      .user = user,
				      .name = "somebody",
				      .text = text,
				      .self = user == GUILD};

	text_step(chat, &ev, NS_PER_S, &fx);
}

/* text rules 66: a quarter of all places is left to what addresses the bot. */
TEST(other_talk_leaves_places_to_what_addresses_the_bot)
{
	static const char *const with[] = {"text_unsolicited", "yes", NULL};
	struct settings *s = NULL;
	struct text_chat *chat = open_chat(&s, with);

	CHECK(chat != NULL);
	for (unsigned i = 0; i < TEXT_TRIGGERS; i++)
		say(chat, 2000 + i, CHANNEL + 1 + i, 5000 + i, "it rains");
	CHECK_INT(text_waiting(chat), TEXT_TRIGGERS - TEXT_TRIGGERS / TEXT_SHARE);
	write_message(chat, 9000, CHANNEL, BOB, NS_PER_S);
	CHECK_INT(text_waiting(chat), TEXT_TRIGGERS - TEXT_TRIGGERS / TEXT_SHARE + 1);
	text_chat_free(chat);
	settings_free(s);
}

TEST(a_channel_has_so_many_lines)
{
	static const char *const with[] = {NULL};
	const struct text_line *lines = NULL;
	struct settings *s = NULL;
	struct text_chat *chat = open_chat(&s, with);

	CHECK(chat != NULL);
	for (unsigned i = 0; i < 40; i++)
		say(chat, 100 + i, CHANNEL, ALICE, "it rains");
	CHECK_INT(text_chat_lines(chat, CHANNEL, NS_PER_S, &lines), 35);
	CHECK_INT(lines[0].message, 105);
	CHECK_INT(lines[34].message, 139);
	text_chat_free(chat);
	settings_free(s);
}

/* Discord's gateway may tell of the bot's message before REST has answered: whom it answers is
 * known by the latter. */
TEST(a_message_that_the_gateway_told_first_answers_its_author)
{
	static const char *const with[] = {"text_coalesce_s", "0", NULL};
	const struct text_line *lines = NULL;
	struct settings *s = NULL;
	struct text_chat *chat = open_chat(&s, with);

	CHECK(chat != NULL);
	write_message(chat, 1000, CHANNEL, ALICE, NS_PER_S);
	say(chat, 1001, CHANNEL, CAROL, "it rains");
	text_step(
		chat,
		&(struct text_event){
			.type = TEXT_ANSWERED, .channel = CHANNEL, .reply = 1, .text = "It does."},
		NS_PER_S, &fx);
	say(chat, 1002, CHANNEL, GUILD, "It does.");
	text_step(chat,
		  &(struct text_event){.type = TEXT_SENT,
				       .channel = CHANNEL,
				       .reply = 1,
				       .message = 1002,
				       .text = "It does."},
		  NS_PER_S, &fx);
	CHECK_INT(text_chat_lines(chat, CHANNEL, NS_PER_S, &lines), 3);
	CHECK(lines[2].bot && lines[2].message == 1002);
	CHECK_INT(lines[2].answers, ALICE);
	text_chat_free(chat);
	settings_free(s);
}

/* text rules 31: the button, or the words, may come in the step in which the time is over. */
TEST(a_yes_that_comes_too_late_agrees_to_nothing)
{
	static const char *const with[] = {"text_coalesce_s", "0", NULL};

	for (unsigned words = 0; words < 2; words++)
		for (uint64_t late = 299; late <= 301; late += 2) {
			const struct text_event by_words = {.type = TEXT_MESSAGE,
							    .guild = GUILD,
							    .channel = CHANNEL,
							    .message = 1002,
							    .user = ALICE,
							    .name = "Alice",
							    .text = "yes",
							    .replies_to = 1001,
							    .to_bot = true};
			const struct text_event by_button = {.type = TEXT_AGREED,
							     .channel = CHANNEL,
							     .message = 1001,
							     .user = ALICE,
							     .yes = true};
			struct settings *s = NULL;
			struct text_chat *chat = open_chat(&s, with);
			bool agreed = false;

			CHECK(chat != NULL);
			write_message(chat, 1000, CHANNEL, ALICE, NS_PER_S);
			text_step(chat,
				  &(struct text_event){.type = TEXT_ANSWERED,
						       .channel = CHANNEL,
						       .reply = 1,
						       .text = "Shall I?"},
				  NS_PER_S, &fx);
			text_step(chat,
				  &(struct text_event){.type = TEXT_SENT,
						       .channel = CHANNEL,
						       .reply = 1,
						       .message = 1001,
						       .asker = ALICE,
						       .asks = 1001},
				  NS_PER_S, &fx);
			text_step(chat, words ? &by_words : &by_button, (1 + late) * NS_PER_S, &fx);
			for (size_t i = 0; i < fx.n; i++)
				agreed |= fx.v[i].type == TEXT_DO_AGREE && fx.v[i].yes;
			CHECK_INT(agreed, late < 300);
			text_chat_free(chat);
			settings_free(s);
		}
}

static size_t place_of(enum text_effect_type type)
{
	size_t i = 0;

	while (i < fx.n && fx.v[i].type != type)
		i++;
	return i;
}

/* text rules 116 */
TEST(the_model_stops_before_the_calls_that_go_on)
{
	static const char *const with[] = {"text_coalesce_s", "0", "text_spacing_s", "0", NULL};
	struct settings *s = NULL;
	struct text_chat *chat = open_chat(&s, with);

	CHECK(chat != NULL);
	write_message(chat, 1000, CHANNEL, ALICE, NS_PER_S);
	text_step(chat,
		  &(struct text_event){
			  .type = TEXT_JOBS_TOLD, .channel = CHANNEL, .user = ALICE, .n = 1},
		  NS_PER_S, &fx);
	text_step(chat,
		  &(struct text_event){
			  .type = TEXT_ANSWERED, .channel = CHANNEL, .reply = 1, .text = "Soon."},
		  NS_PER_S, &fx);
	text_step(chat,
		  &(struct text_event){
			  .type = TEXT_SENT, .channel = CHANNEL, .reply = 1, .message = 1001},
		  NS_PER_S, &fx);
	write_message(chat, 1002, CHANNEL, ALICE, NS_PER_S);
	say(chat, 1003, CHANNEL, ALICE, "stop");
	CHECK(place_of(TEXT_DO_ABANDON) < place_of(TEXT_DO_STOP_JOBS));
	CHECK(place_of(TEXT_DO_STOP_JOBS) < fx.n);
	text_chat_free(chat);
	settings_free(s);
}

/* The lists of an ASK are its channel's: a second one in the same step would overwrite them. */
TEST(a_step_asks_once_in_a_channel)
{
	const struct text_event edit = {.type = TEXT_EDITED,
					.channel = CHANNEL,
					.message = 1000,
					.text = "@parley hello there",
					.to_bot = true};
	struct settings *s;
	struct text_chat *chat;
	uint64_t late = 300 * NS_PER_S;
	unsigned asks = 0;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_INT(settings_set(s, "text_chat", "all"), 0);
	CHECK_INT(settings_set(s, "text_coalesce_s", "0"), 0);
	CHECK_INT(text_chat_alloc(&chat, s, "Parley"), 0);
	write_message(chat, 1000, CHANNEL, ALICE, NS_PER_S);
	write_message(chat, 1001, CHANNEL, BOB, NS_PER_S);
	/* No TIMER came before it: it is given up in this step. */
	text_step(chat, &edit, late, &fx);
	for (size_t i = 0; i < fx.n; i++)
		asks += fx.v[i].type == TEXT_DO_ASK;
	CHECK_INT(asks, 1);
	CHECK_INT(text_count(chat, TEXT_REASON_TIMEOUT), 1);
	CHECK(text_deadline(chat) <= late);
	text_step(chat, &(struct text_event){.type = TEXT_TIMER}, late, &fx);
	CHECK_INT(fx.v[0].type, TEXT_DO_ASK);
	CHECK_INT(fx.v[0].triggers[0]->message, 1001);
	text_chat_free(chat);
	settings_free(s);
}

/* ---- people who are forgotten ---- */

static void write_line(struct text_chat *chat, uint64_t id, uint64_t user, bool self)
{
	const struct text_event ev = {.type = TEXT_MESSAGE,
				      .guild = GUILD,
				      .channel = CHANNEL,
				      .message = id,
				      .user = user,
				      .name = "somebody",
				      .text = "Carol likes tea",
				      .self = self};

	text_step(chat, &ev, id * NS_PER_S, &fx);
}

static const struct text_effect *find_ask(void)
{
	for (size_t i = 0; i < fx.n; i++)
		if (fx.v[i].type == TEXT_DO_ASK)
			return &fx.v[i];
	return NULL;
}

/* A bot's line about Carol, who never wrote here, and Bob's question that is being answered. */
static const struct text_effect *forget_in_talk(struct text_chat *chat, struct text_event forget)
{
	forget.type = TEXT_FORGET;
	write_line(chat, 1, ALICE, false);
	write_line(chat, 2, 999, true);
	write_message(chat, 1000, CHANNEL, BOB, 1000 * NS_PER_S);
	text_step(chat, &(struct text_event){.type = TEXT_TIMER}, 1001 * NS_PER_S, &fx);
	text_step(chat, &forget, 1002 * NS_PER_S, &fx);
	return find_ask();
}

TEST(lines_of_the_bot_go_with_people_whom_the_memory_knew)
{
	static const struct {
		struct text_event forget;
		bool again;
		size_t lines;
	} of[] = {{{.user = CAROL, .refused = true}, false, 0},
		  {{.user = CAROL, .refused = true, .yes = true}, true, 1},
		  {{.user = ALICE, .yes = true}, true, 0}};

	for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
		const struct text_effect *ask;
		struct settings *s;
		struct text_chat *chat;

		CHECK_INT(settings_alloc(&s), 0);
		CHECK_INT(settings_set(s, "text_chat", "all"), 0);
		CHECK_INT(settings_set(s, "text_coalesce_s", "0"), 0);
		CHECK_INT(text_chat_alloc(&chat, s, "Parley"), 0);
		ask = forget_in_talk(chat, of[i].forget);
		CHECK_INT(!!ask, of[i].again);
		CHECK(!ask || ask->n_history == of[i].lines);
		text_chat_free(chat);
		settings_free(s);
	}
}

/* Who is still heard is still answered; who does not want to be read is not. */
TEST(a_refusal_alone_ends_the_question_of_its_author)
{
	for (unsigned refused = 0; refused < 2; refused++) {
		struct settings *s;
		struct text_chat *chat;

		CHECK_INT(settings_alloc(&s), 0);
		CHECK_INT(settings_set(s, "text_chat", "all"), 0);
		CHECK_INT(settings_set(s, "text_coalesce_s", "0"), 0);
		CHECK_INT(text_chat_alloc(&chat, s, "Parley"), 0);
		forget_in_talk(chat, (struct text_event){
					     .user = BOB, .refused = refused == 1, .yes = true});
		CHECK_INT(text_waiting(chat), refused ? 0 : 1);
		CHECK_INT(!!find_ask(), !refused);
		text_chat_free(chat);
		settings_free(s);
	}
}

TEST(an_idle_channel_gives_way)
{
	struct settings *s;
	struct text_chat *chat;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_INT(settings_set(s, "text_chat", "all"), 0);
	CHECK_INT(settings_set(s, "text_coalesce_s", "0"), 0);
	CHECK_INT(settings_set(s, "text_asks_per_hour", "10000"), 0);
	CHECK_INT(text_chat_alloc(&chat, s, "Parley"), 0);
	for (unsigned i = 0; i < TEXT_CHANNELS + 3; i++) {
		uint64_t now = (i + 1) * NS_PER_S;

		write_message(chat, 1000 + i, 10 + i, ALICE, now);
		CHECK_INT(text_waiting(chat), 1);
		for (unsigned k = 1; k <= 2; k++) /* it is asked for once more */
			text_step(chat,
				  &(struct text_event){.type = TEXT_ANSWERED,
						       .channel = 10 + i,
						       .reply = 2 * i + k,
						       .text = ""},
				  now, &fx);
	}
	CHECK_INT(text_count(chat, TEXT_REASON_EMPTY_REPLY), TEXT_CHANNELS + 3);
	text_chat_free(chat);
	settings_free(s);
}

TEST(ids_of_settings_are_found)
{
	CHECK(settings_ids_have("1, 22 ,333", 22));
	CHECK(!settings_ids_have("1, 22 ,333", 3));
	CHECK(!settings_ids_have("", 1));
	CHECK(settings_ids_empty(" , "));
	CHECK(!settings_ids_empty("7"));
}

TEST_OOM(text_survives_without_memory)
{
	struct settings *s = NULL;
	struct text_chat *chat = NULL;

	if (settings_alloc(&s) || settings_set(s, "text_chat", "all") ||
	    text_chat_alloc(&chat, s, "Parley")) {
		settings_free(s);
		CHECK(test_oom_hit());
		return;
	}
	write_message(chat, 1000, CHANNEL, ALICE, NS_PER_S);
	text_step(chat,
		  &(struct text_event){.type = TEXT_EDITED,
				       .channel = CHANNEL,
				       .message = 1000,
				       .text = "@parley hello there",
				       .to_bot = true},
		  2 * NS_PER_S, &fx);
	text_step(chat, &(struct text_event){.type = TEXT_TIMER}, 10 * NS_PER_S, &fx);
	text_step(chat, &(struct text_event){.type = TEXT_SHUTDOWN}, 11 * NS_PER_S, &fx);
	/* The message ended, whatever failed. */
	CHECK_INT(text_waiting(chat), 0);
	CHECK_INT(text_count(chat, TEXT_REASON_SHUTDOWN) + text_count(chat, TEXT_REASON_NO_MEMORY) +
			  text_count(chat, TEXT_REASON_QUEUE_FULL),
		  1);
	text_chat_free(chat);
	settings_free(s);
}

/* A question that a command asked, and its answer. */
static void note(struct text_chat *chat, uint64_t id, bool self, const char *text)
{
	const struct text_event ev = {.type = TEXT_MESSAGE,
				      .guild = GUILD,
				      .channel = CHANNEL,
				      .message = id,
				      .user = self ? 1 : ALICE,
				      .name = self ? "Parley" : "Alice",
				      .text = text,
				      .self = self,
				      .noted = true,
				      .answers = self ? ALICE : 0};

	text_step(chat, &ev, NS_PER_S, &fx);
}

TEST(a_noted_question_is_a_line_and_needs_no_answer)
{
	struct settings *s = NULL;
	struct text_chat *chat = NULL;
	const struct text_line *lines = NULL;

	CHECK(!settings_alloc(&s) && !settings_set(s, "text_chat", "all") &&
	      !text_chat_alloc(&chat, s, "parley"));
	CHECK_INT(text_chat_lines(chat, CHANNEL, NS_PER_S, &lines), 0);
	note(chat, 50, false, "parley what is it");
	CHECK_INT(fx.n, 0);
	note(chat, 51, true, "a test");
	CHECK_INT(fx.n, 0);
	CHECK_INT(text_waiting(chat), 0);
	CHECK_INT(text_chat_lines(chat, CHANNEL, NS_PER_S, &lines), 2);
	CHECK(!lines[0].bot && lines[1].bot && lines[1].answers == ALICE);
	/* They go with their author. */
	text_step(chat, &(struct text_event){.type = TEXT_FORGET, .user = ALICE}, NS_PER_S, &fx);
	CHECK_INT(text_chat_lines(chat, CHANNEL, NS_PER_S, &lines), 0);
	/* And with their time, without a step. */
	note(chat, 52, false, "parley what is it");
	CHECK_INT(text_chat_lines(chat, CHANNEL, 2 * NS_PER_S, &lines), 1);
	CHECK_INT(text_chat_lines(chat, CHANNEL, 25 * 3600 * NS_PER_S, &lines), 0);
	text_chat_free(chat);
	settings_free(s);
}

TEST(reasons_and_rules_are_told_in_words)
{
	for (int r = TEXT_REASON_NONE + 1; r < TEXT_REASON_COUNT; r++)
		CHECK(*text_reason_text((enum text_reason)r));
	CHECK(*text_admission_text(TEXT_ADMISSION_UNSOLICITED_OFF));
	CHECK_STR(text_admission_text(TEXT_ADMISSION_COUNT), "");
}
