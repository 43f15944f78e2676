/* Providers that refuse, fail, break off or stay silent: the agent between a toy mediad and a fake
 * provider. */
#include "tests/unit/control/agent/agent_scene.h"

static bool impatient(struct scene *s)
{
	return settings_set(s->settings, "not_answering_ms", "50") == 0;
}

static bool refuse_settings(struct scene *s)
{
	s->refuses = true;
	return true;
}

/* The answer comes, without those settings: that is told once, and an event. */
TEST(refused_settings_of_a_session_are_told)
{
	static struct scene s;
	struct words words = {0};

	CHECK(scene_begin(&s, "on", refuse_settings));
	s.words = "parley what time is it";
	CHECK(scene_run(&s, scene_answered));
	CHECK_STR(s.refusal, "guild=1 role=voice provider=brain why=\"invalid_value: No such "
			     "voice.\"");
	CHECK(s.faults.v[FAULT_REFUSED].count > 0);
	CHECK(faults_say(&s.faults, env_now(s.fake.env), &words));
	CHECK(strstr(words.text, "does not accept my settings"));
	CHECK(!faults_say(&s.faults, env_now(s.fake.env), &words));
	scene_end(&s);
}

static void spend_budget(struct scene *s, const char *at_limit)
{
	CHECK_INT(settings_set(s->settings, "cost_guild_cents", "1"), 0);
	CHECK_INT(settings_set(s->settings, "cost_at_limit", at_limit), 0);
	ledger_add(s->ledger, 1, UINT64_C(10000000), env_wall_ms(s->fake.env));
}

TEST(a_spent_budget_stops_answers_and_says_so)
{
	static struct scene s;
	struct status status = {0};

	CHECK(scene_begin(&s, "off", NULL));
	spend_budget(&s, "stop");
	s.words = "parley what time is it";
	CHECK(scene_run(&s, scene_turned));
	CHECK_STR(s.asked, "");
	CHECK_INT(s.said, 0);
	CHECK(s.faults.v[FAULT_BUDGET].there);
	CHECK_INT(s.faults.v[FAULT_ANSWER].count, 0);
	scene_status_of(&s, &status);
	CHECK_STR(status.last_turn, room_reason_text(ROOM_REASON_BRAIN_FAILED));
	scene_end(&s);
}

TEST(a_spent_budget_makes_answers_cheaper_and_says_so)
{
	static struct scene s;

	CHECK(scene_begin(&s, "off", NULL));
	spend_budget(&s, "degrade");
	s.words = "parley what time is it";
	CHECK(scene_run(&s, scene_answered));
	CHECK_INT(s.said, ANSWER);
	CHECK(s.faults.v[FAULT_THRIFT].there && !s.faults.v[FAULT_BUDGET].there);
	scene_end(&s);
}

TEST(a_voice_that_refuses_is_a_fault_that_is_told)
{
	static struct scene s;
	struct status status = {0};

	scene_mute = true;
	CHECK(scene_begin(&s, "off", scene_written));
	s.words = "parley what time is it";
	CHECK(scene_run(&s, scene_turned));
	scene_status_of(&s, &status);
	CHECK_STR(status.last_turn, room_reason_text(ROOM_REASON_SPEECH_FAILED));
	CHECK(s.faults.v[FAULT_KEY].count > 0);
	evhttp_free(scene_writer);
	scene_end(&s);
}

TEST(an_answer_for_which_there_is_no_key_ends_for_that_reason)
{
	static struct scene s;
	struct status status = {0};

	CHECK(scene_begin(&s, "off", NULL));
	s.keyless = true;
	s.words = "parley what time is it";
	CHECK(scene_run(&s, scene_turned));
	scene_status_of(&s, &status);
	CHECK_STR(status.last_turn, room_reason_text(ROOM_REASON_NO_KEY));
	scene_end(&s);
}

static bool faulty(const struct scene *s)
{
	for (int f = 0; f < FAULT_COUNT; f++)
		if (s->faults.v[f].count)
			return true;
	return false;
}

static const struct {
	const char *code;
	enum fault fault;
} failures[] = {{"insufficient_quota", FAULT_CREDIT},

		{"rate_limit_exceeded", FAULT_BUSY},
		{"server_error", FAULT_ANSWER}};

TEST(what_the_provider_refuses_is_told_by_what_it_is)
{
	static struct scene s;
	struct words words;

	for (unsigned i = 0; i < sizeof failures / sizeof failures[0]; i++) {
		CHECK(scene_begin(&s, "off", NULL));
		s.words = "what time is it";
		s.fails = failures[i].code;
		CHECK(scene_run(&s, faulty));
		for (int f = 0; f < FAULT_COUNT; f++)
			CHECK_INT(s.faults.v[f].count, f == (int)failures[i].fault);
		words = (struct words){0};
		CHECK(faults_say(&s.faults, env_now(s.fake.env), &words));
		CHECK(strstr(words.text, "The service that thinks for me") ||
		      strstr(words.text, "could not answer"));
		scene_end(&s);
	}
}

/* What Alice said is likely whole, which is judged again and again; when that answer has failed,
 * she is silent. */
static bool answered_again(const struct scene *s)
{
	static unsigned looks;

	if (s->goes_on && s->listen && s->breaks && ++looks % 10 == 0)
		agent_feed(s->agent, &(struct room_event){.type = ROOM_EOT,
							  .user = ALICE,
							  .utterance = 1,
							  .text = slice_str(s->words),
							  .probability = 990});
	if (s->goes_on && !s->breaks) {
		((struct scene *)s)->goes_on = false;
		scene_alice((struct scene *)s, 1, 0, env_now(s->fake.env), 0);
	}
	return scene_answered(s);
}

/* The question is asked again once it is certain: nobody missed anything. */
TEST(a_speculative_answer_that_fails_is_no_fault)
{
	static struct scene s;

	CHECK(scene_begin(&s, "off", NULL));
	CHECK_INT(settings_set(s.settings, "speculative", "on"), 0);
	s.words = "parley what time is it";
	s.breaks = 1;
	s.goes_on = true;
	CHECK(scene_run(&s, answered_again));
	CHECK_INT(s.breaks, 0);
	CHECK_INT(s.said, ANSWER);
	for (int f = 0; f < FAULT_COUNT; f++)
		CHECK_INT(s.faults.v[f].count, 0);
	scene_end(&s);
}

/* Three turns of the scene_watch later the agent knows that the playback has started. */
static bool broken_off(const struct scene *s)
{
	static unsigned since_start;

	since_start = s->started ? since_start + 1 : 0;
	if (since_start == 3)
		ws_close(s->fake.ws[s->voice], 1011, "");
	return scene_turned(s);
}

TEST(an_answer_that_breaks_off_is_told_at_once)
{
	static struct scene s;

	CHECK(scene_begin(&s, "off", NULL));
	s.words = "what time is it";
	s.drops = true;
	CHECK(scene_run(&s, broken_off));
	CHECK(s.said > 0);
	CHECK_INT(s.faults.v[FAULT_ANSWER].count, 1);
	scene_end(&s);
}

/* ---- a provider that accepts and does not answer ---- */

static bool answered_late(const struct scene *s)
{
	struct status status = {0};

	scene_status_of(s, &status);
	scene_not_answering = scene_not_answering || status.brain_silent;
	return status.answered == 1;
}

TEST(a_provider_that_does_not_answer_is_told_of_once_and_still_heard)
{
	static struct scene s;
	struct status status = {0};
	struct words words = {0};

	scene_not_answering = false;
	CHECK(scene_begin(&s, "off", impatient));
	s.words = "what time is it";
	s.deaf = 1;
	CHECK(scene_run(&s, answered_late));
	/* It was told, shown, and its session replaced; the answer of the next one was heard. */
	CHECK_INT(s.faults.v[FAULT_SILENT].count, 0); /* it did not last */
	CHECK(s.faults.v[FAULT_SILENT].changed);
	CHECK(scene_not_answering);
	CHECK_INT(s.said, ANSWER);
	scene_status_of(&s, &status);
	CHECK(status.brain_up && !status.brain_silent);
	CHECK(!s.faults.v[FAULT_SILENT].there);
	/* At once when it lasts, and not again for five minutes. */
	faults_set(&s.faults, FAULT_SILENT, FAULT_IS_THERE, env_now(s.fake.env));
	CHECK(faults_say(&s.faults, env_now(s.fake.env), &words));
	CHECK(strstr(words.text, "does not answer"));
	CHECK(!faults_say(&s.faults, env_now(s.fake.env), &words));
	scene_end(&s);
}

/* ---- a voice that says nothing of a line, and fails it later ---- */

static struct evhttp_request *held;

static void hold_speech(struct evhttp_request *req, void *arg)
{
	static const char words[] =
		"data: {\"choices\":[{\"delta\":{\"content\":\"Ten past four.\"},"
		"\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

	(void)arg;
	if (strstr(evhttp_request_get_uri(req), "speech"))
		held = req;
	else
		fake_http_answer(req, 200, "text/event-stream", words, sizeof words - 1);
}

static bool speech_is_held(struct scene *s)
{
	held = NULL;
	if (!scene_written(s))
		return false;
	evhttp_set_gencb(scene_writer, hold_speech, NULL);
	return impatient(s);
}

/* The refusal follows the silence that was told. */
static bool refused_late(const struct scene *s)
{
	if (held && s->faults.v[FAULT_SILENT].there) {
		fake_http_answer(held, 400, "application/json", "{}", 2);
		held = NULL;
	}
	return scene_turned(s);
}

TEST(a_turn_whose_silence_was_told_is_not_told_of_twice)
{
	static struct scene s;
	struct status status = {0};

	CHECK(scene_begin(&s, "off", speech_is_held));
	s.words = "parley what time is it";
	CHECK(scene_run(&s, refused_late));
	scene_status_of(&s, &status);
	CHECK_STR(status.last_turn, room_reason_text(ROOM_REASON_SPEECH_FAILED));
	CHECK(s.faults.v[FAULT_SILENT].there);
	CHECK_INT(s.faults.v[FAULT_ANSWER].count, 0);
	evhttp_free(scene_writer);
	scene_end(&s);
}
