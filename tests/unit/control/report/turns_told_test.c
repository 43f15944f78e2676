/* Of whom tools told: answers may repeat their words. */
#include "tests/unit/control/report/turns_scene.h"

/* The people of the last event, as their ids without quotes. */
static const char *told_people(struct scene *s, const struct room_turn *t)
{
	static char ids[2048];
	const json_t *id;
	size_t i;

	turns_scene_forget(s);
	turns_tell(s->turns, t, TURNS_ENDED);
	ids[0] = '\0';
	json_array_foreach(json_object_get(s->told[0], "told"), i, id)
	{
		size_t n = strlen(ids);

		snprintf(ids + n, sizeof ids - n, "%s ", json_string_value(id));
	}
	return ids;
}

/* Also the later answers of the session: its models go on from what was said, and a new session
 * from the bot's lines. */
TEST(an_answer_names_the_people_of_whom_tools_told)
{
	struct room_turn next = turns_scene_turn;
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	next.id = 4;
	CHECK_STR(told_people(&s, &turns_scene_turn), "");
	turns_told(s.turns, 77);
	turns_told(s.turns, 78);
	turns_told(s.turns, 0);
	turns_told(s.turns, 77);
	CHECK_STR(told_people(&s, &turns_scene_turn), "77 78 ");
	turns_renewed(s.turns);
	CHECK_STR(told_people(&s, &next), "77 78 ");
	turns_scene_close(&s);
}

TEST(answers_after_somebody_withdrew_name_nobody_of_whom_tools_told_before)
{
	struct room_turn next = turns_scene_turn;
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	turns_told(s.turns, 502);
	turns_withheld(s.turns);
	CHECK_STR(told_people(&s, &turns_scene_turn), "");
	/* The answer under way may still repeat them. */
	turns_told(s.turns, 502);
	turns_told(s.turns, 503);
	turns_effect(s.turns, &(struct room_effect){.type = ROOM_DO_ASK, .turn = 3});
	turns_withheld(s.turns);
	turns_told(s.turns, 503);
	turns_told(s.turns, 504);
	CHECK_STR(told_people(&s, &turns_scene_turn), "502 503 504 ");
	next.id = 4;
	CHECK_STR(told_people(&s, &next), "503 504 ");
	turns_scene_close(&s);
}

/* The setting for those who have not answered changes, and nobody of whom a tool told is here. */
TEST(whoever_a_tool_told_of_withdraws_when_the_setting_changes)
{
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	turns_told(s.turns, 502);
	CHECK_INT(turns_withdrawn(s.turns), 0);
	s.forgets = 502;
	CHECK_INT(turns_withdrawn(s.turns), 502);
	turns_effect(s.turns, &(struct room_effect){.type = ROOM_DO_ASK, .turn = 3});
	turns_withheld(s.turns);
	CHECK_INT(turns_withdrawn(s.turns), 0);
	turns_scene_close(&s);
}

static void tell_of_many(struct scene *s, uint64_t people)
{
	for (uint64_t i = 0; i < people; i++)
		turns_told(s->turns, 1000 + i);
}

/* Nobody knows whom it may quote. */
TEST(an_answer_is_not_kept_if_tools_told_of_too_many_people)
{
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	tell_of_many(&s, 256);
	CHECK(strncmp(told_people(&s, &turns_scene_turn), "1000 1001 ", 10) == 0);
	CHECK_INT(json_array_size(json_object_get(s.told[0], "told")), 256);
	turns_told(s.turns, 1000);
	CHECK(turns_may_keep(s.turns, &turns_scene_turn));
	turns_told(s.turns, 78);
	CHECK(!turns_may_keep(s.turns, &turns_scene_turn));
	turns_effect(s.turns, &(struct room_effect){.type = ROOM_DO_ASK, .turn = 3});
	turns_withheld(s.turns);
	CHECK(*told_people(&s, &turns_scene_turn));
	CHECK(json_is_true(json_object_get(s.told[0], "transient")));
	CHECK_STR(told_people(&s, &turns_scene_turn), "");
	CHECK(json_is_false(json_object_get(s.told[0], "transient")));
	turns_scene_close(&s);
}

/* 256 names, for which JSON wants kilobytes at once, as it does for nothing else here. */
static json_malloc_t allocate;
static json_free_t release;

static void *find_no_kilobyte(size_t n)
{
	return n < 1024 ? allocate(n) : NULL;
}

TEST(an_answer_is_not_kept_without_memory_for_whom_tools_told_of)
{
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	tell_of_many(&s, 256);
	json_get_alloc_funcs(&allocate, &release);
	json_set_alloc_funcs(find_no_kilobyte, release);
	CHECK_STR(told_people(&s, &turns_scene_turn), "");
	json_set_alloc_funcs(allocate, release);
	CHECK(json_is_true(json_object_get(s.told[0], "transient")));
	CHECK(*told_people(&s, &turns_scene_turn));
	CHECK(json_is_false(json_object_get(s.told[0], "transient")));
	turns_scene_close(&s);
}
