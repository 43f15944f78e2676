/* Words over an answer that neither lists nor the voice decide on, and the interrupt classifier.
 * The numbers are those of the statements. */
#include "tests/test.h"

#include "proto/media.h"
#include "tests/unit/control/room/scene.h"

enum { ALICE = 1, BOB };

/* The bot answers Alice; Bob is there. */
static struct scene *over_a_story(const char *sets)
{
	struct scene *s = scene_open(sets);

	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	scene_say(s, ALICE, "parley tell me a story");
	scene_answer(s, "once upon a time there was a king", 12000);
	scene_wait(s, 2000);
	scene_mark(s);
	return s;
}

static void answered(struct scene *s, uint32_t question, const char *text)
{
	scene_event(s, (struct room_event){.type = ROOM_CLASSIFIED,
					   .chunk = question,
					   .yes = text != NULL,
					   .text = slice_str(text ? text : "")});
}

static uint32_t question(const struct scene *s)
{
	return scene_last(s, ROOM_DO_CLASSIFY_OVERLAP)->chunk;
}

TEST(rule_159_undecided_words_go_to_the_classifier_with_what_the_bot_says)
{
	struct scene *s = over_a_story("classify_interruptions yes");
	const char *text;

	scene_say(s, ALICE, "a golden castle");
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY_OVERLAP), 1);
	text = scene_find(s, ROOM_DO_CLASSIFY_OVERLAP)->text;
	CHECK(strstr(text, "You are speaking to Alice: \"once upon a time there was a king\""));
	CHECK(strstr(text, "Alice says over it: \"a golden castle\""));
	CHECK(strstr(text, "INTERRUPT"));
	/* Until then nothing is decided. */
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP) + scene_count(s, ROOM_DO_RECORD), 0);
	answered(s, question(s), "INTERRUPT");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 1);
	CHECK_INT(scene_count(s, ROOM_DO_DEFER), 1); /* until the answer has stopped */
	scene_close(s);
	/* The question can be the operator's. */
	s = over_a_story("classify_interruptions yes classify_interruption_prompt Stop?");
	scene_say(s, ALICE, "a golden castle");
	text = scene_find(s, ROOM_DO_CLASSIFY_OVERLAP)->text;
	CHECK(strstr(text, "\nStop?") && !strstr(text, "INTERRUPT"));
	scene_close(s);
}

TEST(rule_159_ignored_words_neither_stop_the_answer_nor_get_one)
{
	struct scene *s = over_a_story("classify_interruptions yes");

	scene_say(s, ALICE, "a golden castle");
	answered(s, question(s), "IGNORE");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 1);
	scene_drained(s);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_close(s);
}

TEST(rule_159_words_of_others_stop_the_answer_by_the_verdict_alone)
{
	struct scene *s = over_a_story("classify_interruptions yes");

	scene_say(s, BOB, "a golden castle");
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY_OVERLAP), 1);
	CHECK_INT(scene_count(s, ROOM_DO_SAY_GAIN), 0);
	answered(s, question(s), "INTERRUPT");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 1);
	scene_close(s);
	/* Who may not interrupt by name may not by a verdict. */
	s = over_a_story("classify_interruptions yes interruptions none");
	scene_say(s, BOB, "a golden castle");
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY_OVERLAP), 0);
	scene_close(s);
}

TEST(rule_159_what_lists_or_names_decide_is_not_asked)
{
	static const char *const said[] = {"mhm",
					   "stop",
					   "no the other one",
					   "what about the queen",
					   "parley a golden castle",
					   "Bob pass me the salt"};

	for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
		struct scene *s = over_a_story("classify_interruptions yes");

		scene_say(s, ALICE, said[i]);
		CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY_OVERLAP), 0);
		scene_close(s);
	}
}

/* A longer utterance is asked about by its interim transcript; the final one has the verdict. */
TEST(rule_159_an_utterance_is_asked_about_once)
{
	struct scene *s = over_a_story("classify_interruptions yes");
	static const char words[] = "it was a nice golden castle with blue horses";

	scene_speak(s, ALICE, 480);
	scene_event(s, (struct room_event){.type = ROOM_PARTIAL,
					   .user = ALICE,
					   .utterance = s->utterance[ALICE] + 1,
					   .text = slice_str(words)});
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY_OVERLAP), 1);
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
	answered(s, question(s), "ignore");
	scene_stop(s, ALICE);
	scene_wait(s, 60);
	scene_words(s, ALICE, words);
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY_OVERLAP), 1);
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 1);
	scene_close(s);
}

TEST(rule_160_without_a_verdict_the_words_of_the_asker_count_and_others_do_not)
{
	for (unsigned how = 0; how < 3; how++) {
		struct scene *s = over_a_story("classify_interruptions yes");

		scene_say(s, ALICE, "a golden castle");
		if (how == 0)
			answered(s, question(s), NULL);
		else if (how == 1)
			answered(s, question(s), "perhaps");
		else
			scene_wait(s, 251);
		CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 1);
		CHECK_INT(scene_count(s, ROOM_DO_DEFER), 1);
		scene_close(s);
		s = over_a_story("classify_interruptions yes");
		scene_say(s, BOB, "a golden castle");
		if (how == 0)
			answered(s, question(s), NULL);
		else if (how == 1)
			answered(s, question(s), "perhaps");
		else
			scene_wait(s, 251);
		CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
		CHECK_INT(scene_count(s, ROOM_DO_DEFER), 1);
		scene_close(s);
	}
}

TEST(rule_160_only_the_answer_to_the_open_question_counts)
{
	struct scene *s = over_a_story("classify_interruptions yes");
	uint32_t late;

	scene_say(s, BOB, "a golden castle");
	late = question(s);
	answered(s, late + 1, "INTERRUPT");
	answered(s, late - 1, "INTERRUPT");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
	scene_wait(s, 249);
	CHECK_INT(scene_count(s, ROOM_DO_DEFER), 0);
	scene_wait(s, 2);
	CHECK_INT(scene_count(s, ROOM_DO_DEFER), 1);
	answered(s, late, "INTERRUPT");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
	/* Nor does the second one. */
	scene_wait(s, 1000);
	scene_say(s, BOB, "a green castle");
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY_OVERLAP), 2);
	answered(s, question(s), "IGNORE");
	answered(s, question(s), "INTERRUPT");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
	scene_close(s);
}

/* The time for words after the voice was lowered passes while the question is open. */
TEST(rule_160_an_open_question_wants_no_timer_but_its_own)
{
	struct scene *s = over_a_story("classify_interruptions yes");

	scene_speak(s, ALICE, 500);
	scene_stop(s, ALICE);
	scene_wait(s, 300);
	CHECK(scene_last(s, ROOM_DO_SAY_GAIN)->gain < 1000);
	scene_words(s, ALICE, "a golden castle");
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY_OVERLAP), 1);
	for (unsigned ms = 0; ms < 240; ms += 20) {
		CHECK(room_deadline(s->room) > s->ms * 1000000);
		scene_wait(s, 20);
	}
	answered(s, question(s), "INTERRUPT");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 1);
	scene_close(s);
}

/* Somebody who leaves takes the question along; an answer that ended leaves the words. */
TEST(rule_160_a_question_does_not_outlive_its_speaker)
{
	struct scene *s = over_a_story("classify_interruptions yes");

	scene_say(s, BOB, "a golden castle");
	scene_leave(s, BOB);
	CHECK_INT(scene_ended(s, ROOM_REASON_LEFT), 1);
	answered(s, question(s), "INTERRUPT");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
	scene_close(s);
	s = over_a_story("classify_interruptions yes");
	scene_say(s, ALICE, "a golden castle");
	scene_event(s, (struct room_event){.type = ROOM_BRAIN_FAILED, .turn = scene_asked(s)});
	scene_drained(s);
	answered(s, question(s), "INTERRUPT");
	CHECK_INT(scene_count(s, ROOM_DO_ADMIT), 1);
	scene_close(s);
}

TEST(rule_161_failures_in_a_row_open_the_breaker_for_a_while)
{
	struct scene *s = over_a_story("classify_interruptions yes classify_failures 2 "
				       "classify_rest_s 5 defer_expire_ms 0");

	for (unsigned i = 0; i < 2; i++) {
		scene_say(s, BOB, i ? "a green castle" : "a golden castle");
		answered(s, question(s), NULL);
		scene_wait(s, 600);
	}
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY_OVERLAP), 2);
	scene_say(s, BOB, "the third castle");
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY_OVERLAP), 2);
	scene_wait(s, 4000);
	scene_say(s, BOB, "the last castle");
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY_OVERLAP), 3);
	/* A verdict closes it. */
	answered(s, question(s), "IGNORE");
	scene_wait(s, 600);
	scene_say(s, BOB, "one more castle");
	answered(s, question(s), NULL);
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY_OVERLAP), 4);
	scene_close(s);
}

TEST(rule_159_without_the_setting_nobody_is_asked)
{
	struct scene *s = over_a_story("");

	scene_say(s, BOB, "a golden castle");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
	scene_wait(s, 1000);
	scene_say(s, ALICE, "a golden castle");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 1);
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY_OVERLAP), 0);
	scene_close(s);
}
