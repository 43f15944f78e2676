/* The seats of channels among tools, where these go while one of them is at work. */
#include "tests/unit/control/text_session/session_fixture.h"

enum { CHANNEL = 5, TURN = 77 };

static struct text_fixture f;

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
