/* The agent between a toy mediad and a fake provider, all on one loop: from a speaker's sound to
 * the bot's. */
#include "tests/unit/control/agent/agent_scene.h"

TEST(a_spoken_question_gets_a_spoken_answer)
{
	static struct scene s;
	struct status status = {0};

	CHECK(scene_begin(&s, "on", scene_waits_for_the_end));
	s.words = "parley what time is it";
	CHECK(scene_run(&s, scene_answered));
	CHECK_INT(s.rate, 24000);
	/* The voice hears her, and nobody else. */
	CHECK_STR(s.asked, "[Alice]:");
	CHECK_INT(s.voice_heard, s.rate);
	CHECK_INT(s.voice_heard_wrong, 0);
	CHECK_INT(s.said, ANSWER);
	CHECK(s.drained);
	CHECK_STR(s.truncate, "");
	CHECK(strstr(s.told, "No provider is set up"));
	CHECK(strstr(s.instructions, "people in the room: Alice"));
	scene_status_of(&s, &status);
	CHECK(status.has_brain && status.brain_up && status.guest);
	CHECK_STR(status.brain, s.fake.url);
	CHECK_INT(status.turns, 1);
	CHECK_INT(status.delays.n, 1);
	CHECK_STR(status.last_turn, room_reason_text(ROOM_REASON_ANSWERED));
	for (int f = 0; f < FAULT_COUNT; f++)
		CHECK_INT(s.faults.v[f].count, 0);
	scene_end(&s);
}

static bool bridged(struct scene *s)
{
	return settings_set(s->settings, "reply_path", "bridge") == 0;
}

TEST(a_bridge_tells_the_voice_what_was_said)
{
	static struct scene s;

	CHECK(scene_begin(&s, "off", bridged));
	s.words = "parley what time is it";
	CHECK(scene_run(&s, scene_answered));
	CHECK_STR(s.asked, "[Alice]: parley what time is it");
	CHECK_INT(s.voice_heard, 0);
	CHECK_INT(s.said, ANSWER);
	scene_end(&s);
}

static bool truncated(const struct scene *s)
{
	return *s->truncate;
}

TEST(rule_007_voice_over_the_answer_stops_it_and_the_brain_learns_where)
{
	static struct scene s;

	CHECK(scene_begin(&s, "off", NULL));
	/* All of the voice comes in the answer's first moment, before any words of it could. */
	CHECK_INT(settings_set(s.settings, "echo_guard_ms", "0"), 0);
	CHECK_INT(settings_set(s.settings, "interim_ms", "0"), 0);
	CHECK_INT(settings_set(s.settings, "stop_fade_ms", "60"), 0);
	s.words = "what time is it";
	s.barge_in = true;
	CHECK(scene_run(&s, truncated));
	CHECK_INT(s.softer, 1);
	CHECK_INT(s.paused, 1);
	CHECK(s.stopped);
	CHECK_INT(s.stopped_fade, 60);
	CHECK(strstr(s.truncate, "\"audio_end_ms\":500"));
	CHECK(strstr(s.fake.types, "response.cancel"));
	CHECK_STR(s.told, "");
	scene_end(&s);
}

static bool inherits(struct scene *s)
{
	return s->inherits = true;
}

/* The room knows of no answer that could be scene_stopped, and yet one is heard. */
TEST(a_stop_ends_the_answer_of_the_control_before)
{
	static struct scene s;

	CHECK(scene_begin(&s, "off", inherits));
	s.words = "parley stop";
	CHECK(scene_run(&s, scene_stopped));
	CHECK_INT(s.playback, 9);
	CHECK_STR(s.told, "");
	scene_end(&s);
}

/* 310 s of sound come while it plays the first second; only then has mediad place for more. */
static bool told_at_length(const struct scene *s)
{
	static unsigned looks;
	struct scene *scene = (struct scene *)s;

	for (unsigned i = 0; s->started && s->long_s > 1 && i < 10; i++, scene->long_s--)
		fake_audio(&scene->fake, s->voice, "r1", "i1", 100, ANSWER);
	if (s->long_s == 1 && ++looks == 40)
		scene_from_mediad(scene,
				  (struct media_msg){.type = MEDIA_SAY_CREDIT,
						     .say_credit = {.playback = s->playback,
								    .samples = 400 * ANSWER}});
	return scene_turned(s);
}

TEST(an_answer_longer_than_its_backlog_is_heard_as_far_as_it_goes)
{
	static struct scene s;

	CHECK(scene_begin(&s, "off", NULL));
	s.words = "what time is it";
	s.long_s = 310;
	CHECK(scene_run(&s, told_at_length));
	CHECK(!s.stopped && s.drained);
	CHECK(s.said >= 300 * ANSWER);
	/* The provider makes no more of what nobody can hear. */
	CHECK(strstr(s.fake.types, "response.cancel"));
	scene_end(&s);
}
