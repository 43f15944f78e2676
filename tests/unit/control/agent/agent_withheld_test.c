/* Words that may not be told any more leave the history and the provider's session. */
#include "control/room/inside.h"
#include "tests/unit/control/agent/memory_scene.h"

TEST(a_setting_that_allows_less_takes_words_out_of_the_history)
{
	static struct scene s;
	const struct room_history *h;

	CHECK(scene_begin(&s, "off", NULL));
	s.words = "parley what time is it";
	CHECK(scene_run(&s, scene_answered));
	h = &s.agent->room->history;
	agent_settings(s.agent, true);
	CHECK(room_history_count(h) && !room_history_at(h, 0)->withheld);
	media_call_consent(s.call, ALICE, false);
	agent_settings(s.agent, true);
	for (unsigned i = 0; i < room_history_count(h); i++)
		CHECK(room_history_at(h, i)->withheld);
	scene_end(&s);
}

static unsigned conns;

static bool has_connected_anew(const struct scene *s)
{
	return s->fake.conns > conns;
}

TEST(a_session_that_holds_private_facts_is_replaced_when_somebody_joins)
{
	static struct scene s;

	CHECK(scene_begin(&s, "off", NULL));
	s.words = "parley what time is it";
	CHECK(scene_run(&s, scene_answered));
	conns = s.fake.conns;
	s.agent->memory_told = strdup("- Alice: \"my locker is number nine\"");
	agent_hold_private(s.agent, ALICE);
	come(&s, ALICE, "Alicia"); /* she is still alone */
	CHECK_INT(s.agent->private_told, ALICE);
	come(&s, BOB, "Bob");
	CHECK_INT(s.agent->private_told, 0);
	CHECK(!s.agent->memory_told);
	tmr_start(scene_watch, 0);
	CHECK(scene_run(&s, has_connected_anew));
	scene_end(&s);
}

/* The provider's session holds the words, too. */
TEST(a_withdrawn_consent_takes_words_out_of_the_history_and_the_session)
{
	static struct scene s;
	const struct room_history *h;

	CHECK(scene_begin(&s, "off", NULL));
	s.words = "parley what time is it";
	CHECK(scene_run(&s, scene_answered));
	conns = s.fake.conns;
	h = &s.agent->room->history;
	s.agent->memory_told = strdup("- Alice: \"my locker is number nine\"");
	agent_consent(s.agent, ALICE, false);
	CHECK(room_history_count(h) && !room_history_at(h, 0)->withheld);
	CHECK(s.agent->memory_told);
	agent_consent(s.agent, ALICE, true);
	for (unsigned i = 0; i < room_history_count(h); i++)
		CHECK(room_history_at(h, i)->withheld);
	CHECK(!s.agent->memory_told);
	tmr_start(scene_watch, 0);
	CHECK(scene_run(&s, has_connected_anew));
	scene_end(&s);
}
