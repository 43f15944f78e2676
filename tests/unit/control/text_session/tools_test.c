/* The seats of channels among tools, where these go while one of them is at work. */
#include "tests/unit/control/text_session/session_fixture.h"

enum { CHANNEL = 5, TURN = 77 };

static struct text_fixture f;
static size_t offered; /* tools, to the last answer */

static struct text_job *begin_answer(struct text_guild *g, uint64_t channel, uint32_t reply)
{
	static struct engine_tool list[TOOLS_MAX];
	struct text_job *job = text_job_add(g, reply, channel);
	struct engine_ask ask = {.turn = reply};

	if (!job)
		return NULL;
	job->user = ALICE;
	job->state = TEXT_JOB_ASKED;
	text_tools_offer(job, &ask, list);
	offered = ask.n_tools;
	return job;
}

static struct text_seat *seat_of(const struct text_guild *g, uint64_t channel)
{
	struct text_seat *s = g->seats;

	while (s && s->channel != channel)
		s = s->next;
	return s;
}

/* The call goes on after its answer. */
static bool hand_over(struct text_guild *g)
{
	struct text_job *job = begin_answer(g, CHANNEL, TURN);
	struct text_seat *seat = seat_of(g, CHANNEL);

	if (!job || !seat || !seat->delegate)
		return false;
	tool_calls_feed(seat->calls,
			&(struct tool_input){.type = TOOL_IN_CALL,
					     .turn = TURN,
					     .user = ALICE,
					     .call = "c1",
					     .tool = "ask",
					     .text = slice_str("{\"task\":\"look\"}")});
	tool_calls_feed(seat->calls, &(struct tool_input){.type = TOOL_IN_END, .turn = TURN});
	job->state = TEXT_JOB_SENDING;
	text_job_remove(job);
	return tools_run_open(tool_calls_run(seat->calls)) == 1;
}

/* A worker fails, and the channel gets its result, after the settings took the worker from direct
 * messages: its seat must not go while it is at work. */
TEST(a_worker_whose_channel_may_not_reach_it_any_more_ends_its_call_whole)
{
	struct text_guild *g;
	const struct text_seat *seat;

	CHECK_INT(text_fixture_open(
			  &f, "[{\"name\":\"helper\",\"kind\":\"model\",\"effects\":\"none\"}]"),
		  0);
	CHECK_INT(settings_set(f.settings, "text_direct_tools", "true"), 0);
	g = text_session_open(f.ts, 0);
	CHECK(g != NULL);
	text_session_feed(g, &(struct text_event){.type = TEXT_MESSAGE,
						  .channel = CHANNEL,
						  .message = 100,
						  .user = ALICE,
						  .name = "Alice",
						  .text = "hello",
						  .noted = true});
	CHECK(hand_over(g));
	seat = seat_of(g, CHANNEL);
	CHECK_INT(settings_set(f.settings, "text_direct_tools", "false"), 0);
	LOOP_UNTIL(&f.loop,
		   seat_of(g, CHANNEL) == seat && tools_run_open(tool_calls_run(seat->calls)) == 0);
	CHECK_INT(tools_run_open(tool_calls_run(seat->calls)), 0);
	/* It goes with the settings, or with the next answer. */
	CHECK(seat->delegate != NULL);
	text_tools_settings(g);
	CHECK(seat->delegate == NULL);
	text_fixture_close(&f);
}

/* Sixteen of its channels are at work. */
TEST(no_server_takes_the_tools_of_the_others)
{
	struct text_guild *full, *other;

	CHECK_INT(text_fixture_open(&f, "[]"), 0);
	full = text_session_open(f.ts, 7);
	other = text_session_open(f.ts, 8);
	CHECK(full && other);
	for (uint32_t i = 1; i <= TEXT_SEATS / 4; i++)
		CHECK(begin_answer(full, i, i) && seat_of(full, i));
	CHECK(begin_answer(full, 50, 50) && !seat_of(full, 50));
	CHECK(begin_answer(other, 1, 1) && seat_of(other, 1));
	/* What is not used any more gives way. */
	text_job_remove(text_asking_find(full, 3));
	CHECK(begin_answer(full, 51, 51) && seat_of(full, 51) && !seat_of(full, 3));
	text_fixture_close(&f);
}

TEST(a_channel_whose_seat_goes_again_and_again_is_noted_once)
{
	struct text_guild *g;

	CHECK_INT(text_fixture_open(&f, "[]"), 0);
	g = text_session_open(f.ts, 7);
	CHECK(g != NULL);
	for (uint32_t i = 1; i <= 3; i++) {
		CHECK(begin_answer(g, CHANNEL, i) && seat_of(g, CHANNEL));
		tool_calls_feed(seat_of(g, CHANNEL)->calls,
				&(struct tool_input){.type = TOOL_IN_RECALLED});
		text_tools_free(g);
		text_job_remove(text_asking_find(g, i));
	}
	CHECK_INT(f.ts->n_tainted, 1);
	CHECK(text_tools_tainted(g, CHANNEL));
	CHECK(!text_tools_tainted(g, CHANNEL + 1));
	text_fixture_close(&f);
}

static char told[64];

static bool remembers_alice(uint64_t guild, uint64_t user, void *arg)
{
	(void)guild, (void)arg;
	return user == ALICE;
}

static void note_summary(const struct bus_event *ev, void *arg)
{
	(void)arg;
	if (ev->type == EVENT_TOOL_CALLED)
		snprintf(told, sizeof told, "%s", ev->tool.summary);
}

/* Alice asks about what this user has posted. */
static bool is_output_kept(struct text_guild *g, uint32_t reply, uint64_t posted, const char *tool)
{
	const struct text_line line = {
		.user = posted, .name = "x", .text = "my statement", .message = 5, .kept = true};
	const struct text_effect e = {.reply = reply, .history = &line, .n_history = 1};
	const struct tool_output o = {.turn = reply,
				      .user = ALICE,
				      .tool = tool,
				      .code = TOOL_CODE_OK,
				      .text = "4711 zloty"};

	text_keeping_asked(g, &e, 100, ALICE);
	text_tools_publish(seat_of(g, CHANNEL), &o, EVENT_TOOL_CALLED, 1, 0);
	return strstr(told, "4711") != NULL;
}

TEST(the_output_of_a_tool_about_somebody_who_is_not_remembered_is_not_kept)
{
	struct text_guild *g;

	CHECK_INT(text_fixture_open(&f, "[]"), 0);
	f.ts->conf.remembersh = remembers_alice;
	CHECK_INT(bus_subscribe(f.bus, BUS_ALL, note_summary, NULL), 0);
	g = text_session_open(f.ts, 7);
	CHECK(g && begin_answer(g, CHANNEL, 1) && seat_of(g, CHANNEL));
	CHECK(is_output_kept(g, 1, ALICE, "image_lookup"));
	CHECK(!is_output_kept(g, 2, BOB, "image_lookup"));
	text_fixture_close(&f);
}

/* It expires with the lines and facts that it repeats. */
TEST(what_the_memory_returns_is_not_kept_again)
{
	struct text_guild *g;

	CHECK_INT(text_fixture_open(&f, "[]"), 0);
	f.ts->conf.remembersh = remembers_alice;
	CHECK_INT(bus_subscribe(f.bus, BUS_ALL, note_summary, NULL), 0);
	g = text_session_open(f.ts, 7);
	CHECK(g && begin_answer(g, CHANNEL, 1) && seat_of(g, CHANNEL));
	CHECK(!is_output_kept(g, 1, ALICE, "memory_search"));
	CHECK(!is_output_kept(g, 2, ALICE, "conversation_search"));
	text_fixture_close(&f);
}

TEST(without_tools_a_channel_that_had_some_has_none)
{
	struct text_guild *g;

	CHECK_INT(text_fixture_open(&f, "[]"), 0);
	g = text_session_open(f.ts, 7);
	CHECK(g && begin_answer(g, CHANNEL, 1) && offered > 0);
	CHECK_INT(settings_set(f.settings, "tools", "false"), 0);
	CHECK(begin_answer(g, CHANNEL, 2) && offered == 0);
	text_fixture_close(&f);
}

static void take_outcome(const struct text_outcome *o, void *arg)
{
	(void)o, (void)arg;
}

TEST(a_question_of_a_command_is_offered_what_reads_alone)
{
	static struct engine_tool list[TOOLS_MAX];
	struct engine_ask ask = {.turn = 1};
	struct text_job *job;
	struct text_guild *g;

	CHECK_INT(text_fixture_open(&f, "[]"), 0);
	g = text_session_open(f.ts, 7);
	CHECK(g && begin_answer(g, CHANNEL, 2) && offered > 2);
	job = text_job_add(g, TEXT_QUESTION | 1, CHANNEL);
	CHECK(job != NULL);
	job->answerh = take_outcome;
	text_tools_offer(job, &ask, list);
	/* The memory is off. */
	CHECK_INT(ask.n_tools, 2);
	CHECK(!strcmp(list[0].name, "roll") && !strcmp(list[1].name, "time"));
	text_fixture_close(&f);
}
