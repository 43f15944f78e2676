/* Stop requests and short answers within a conversation. */
#include "tests/test.h"

#include "tests/unit/control/room/scene.h"

enum { ALICE = 1, BOB = 2, CAROL = 3 };

/* The bot answers Alice in a room of three; `sets` as of scene_open(). */
static struct scene *answering(const char *sets, const char *answer, unsigned ms)
{
	struct scene *s = scene_open(sets);

	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	scene_join(s, CAROL, "Carol");
	scene_say(s, ALICE, "parley, one two three");
	scene_answer(s, answer, ms);
	return s;
}

TEST(rule_152_whoever_names_the_bot_stops_it_without_a_comma)
{
	static const struct {
		const char *sets, *words, *answer;
	} rows[] = {
		{"language en", "Parley stop talking", "Once upon a time there was a king."},
		{"language de", "sei still Parley", "Es war einmal ein mächtiger König."},
		{"language es", "cállate Parley", "Había una vez un rey muy poderoso."},
		{"language fr", "Parley tais-toi", "Il était une fois un roi très puissant."},
		{"language ru", "Парли хватит", "Жил-был король у самого моря."},
		{"language ja", "パーリー止めて", "むかしむかし、王様がいました。"},
		{"language zh", "Parley别说了", "从前有一个国王，住在森林旁边。"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scene *s = answering(rows[i].sets, rows[i].answer, 9000);

		scene_mark(s);
		scene_say(s, BOB, rows[i].words);
		if (scene_count(s, ROOM_DO_SAY_STOP) != 1)
			test_fail(__FILE__, __LINE__, "\"%s\" stops nothing", rows[i].words);
		CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
		scene_close(s);
	}
}

TEST(rule_152_a_repeated_stop_word_is_no_hallucination)
{
	struct scene *s = answering("", "once upon a time there was a king", 9000);

	scene_mark(s);
	scene_say(s, ALICE, "stop stop stop stop stop stop");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 1);
	CHECK_INT(scene_ended(s, ROOM_REASON_STOP_REQUEST), 1);
	scene_close(s);
}

TEST(rule_152_words_that_decline_an_offer_reach_a_question)
{
	struct scene *s = answering("language fr", "Vous voulez autre chose ?", 600);

	scene_drained(s);
	scene_mark(s);
	scene_say(s, ALICE, "c'est bon");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
	s = answering("language fr", "Il était une fois un roi.", 600);
	scene_drained(s);
	scene_mark(s);
	scene_say(s, ALICE, "c'est bon");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_close(s);
}

TEST(rule_153_short_words_after_a_question_reach_the_next)
{
	static const struct {
		const char *answer, *words;
		unsigned asks;
	} rows[] = {
		{"Which animal pulls the plough?", "ox", 1},
		{"It was an animal, which pulled the plough.", "ox", 0},
		{"Shall I go on?", "yeah", 1},
		{"There was a mighty king, who lived in a castle.", "yeah", 0},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scene *s = answering("", rows[i].answer, 600);

		scene_drained(s);
		scene_mark(s);
		scene_say(s, ALICE, rows[i].words);
		if (scene_count(s, ROOM_DO_ASK) != rows[i].asks)
			test_fail(__FILE__, __LINE__, "\"%s\" after \"%s\"", rows[i].words,
				  rows[i].answer);
		scene_close(s);
	}
}
