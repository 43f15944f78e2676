/* The rows of admission, one by one in their order, and the classifier. The numbers are those of
 * the regression statements. */
#include "tests/test.h"

#include "control/room/turn/classifier.h"
#include "proto/media.h"
#include "tests/unit/control/room/scene.h"

enum { ALICE = 1, BOB };

static struct scene *two(const char *sets)
{
	struct scene *s = scene_open(sets);

	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	scene_mark(s);
	return s;
}

/* The place of a rule in a turn's record, or -1. */
static long place(struct scene *s, uint32_t turn, const char *rule, bool yes)
{
	static char why[32768];
	char line[128], *at;

	if (room_why(s->room, turn, why, sizeof why))
		return -1;
	snprintf(line, sizeof line, "  %-20s %-3s ", rule, yes ? "yes" : "no");
	at = strstr(why, line);
	return at ? at - why : -1;
}

static uint32_t last_ended(const struct scene *s)
{
	const struct scene_did *d = scene_last(s, ROOM_DO_RECORD);

	return d ? d->turn : 0;
}

TEST(rule_081_what_is_looked_at_comes_in_this_order)
{
	static const char *const order[] = {
		"missing_transcript", "backchannel",	    "bot_turn_open",	"direct_address",
		"guest_named_only",   "alone_with_speaker", "to_somebody_else", "not_addressed"};
	struct scene *s = two("");
	long before = -1;

	scene_say(s, ALICE, "did you see the match yesterday");
	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		long at = place(s, last_ended(s), order[i], i == 7);

		if (at <= before)
			test_fail(__FILE__, __LINE__, "%s is not in its place", order[i]);
		before = at;
	}
	scene_close(s);
}

TEST(rule_081_missing_transcript)
{
	struct scene *s = two("");

	scene_say(s, ALICE, "...");
	CHECK_INT(scene_ended(s, ROOM_REASON_EMPTY_TRANSCRIPT), 1);
	scene_close(s);
}

TEST(rule_081_a_pending_command_goes_before_the_lock)
{
	static const char text[] = "play\nblue\ngreen";
	struct scene *s = two("interruptions none");

	scene_say(s, ALICE, "parley play some music");
	scene_answer(s, "which one the blue one or the green one", 4000);
	scene_event(s, (struct room_event){.type = ROOM_CHOICE,
					   .user = ALICE,
					   .yes = true,
					   .text = {(const uint8_t *)text, sizeof text - 1}});
	scene_mark(s);
	scene_say(s, BOB, "the blue one");
	CHECK_INT(scene_count(s, ROOM_DO_DEFER), 1);
	CHECK_STR(scene_find(s, ROOM_DO_DEFER)->text, "bot_turn_open");
	scene_say(s, ALICE, "the blue one");
	CHECK_INT(scene_count(s, ROOM_DO_CHOOSE), 1);
	scene_close(s);
}

TEST(rule_081_bot_turn_open)
{
	struct scene *s = two("interruptions none");
	uint64_t at;

	scene_say(s, ALICE, "parley tell me a story");
	scene_answer(s, "once upon a time", 4000);
	scene_mark(s);
	scene_say(s, BOB, "parley me too please");
	CHECK_STR(scene_find(s, ROOM_DO_DEFER)->text, "bot_turn_open");
	at = place(s, scene_find(s, ROOM_DO_DEFER)->turn, "bot_turn_open", true) > 0;
	CHECK(at);
	scene_close(s);
}

static void tool(struct scene *s, uint64_t user, bool on)
{
	scene_event(s, (struct room_event){.type = ROOM_TOOL, .user = user, .yes = on});
}

TEST(rule_081_an_owned_tool)
{
	struct scene *s = two("");

	tool(s, ALICE, true);
	scene_say(s, BOB, "parley what time is it");
	CHECK_STR(scene_find(s, ROOM_DO_DEFER)->text, "owned_tool_followup_other_speaker_blocked");
	scene_say(s, ALICE, "and make it quick");
	CHECK_STR(scene_admitted(s), "owned_tool_followup");
	scene_close(s);
	/* Its owner may stop it; so may who names the bot. */
	s = two("");
	tool(s, ALICE, true);
	scene_say(s, ALICE, "never mind");
	CHECK_INT(scene_ended(s, ROOM_REASON_CANCELLED), 1);
	scene_close(s);
	s = two("");
	tool(s, ALICE, true);
	tool(s, ALICE, false);
	scene_wait(s, 10100);
	scene_say(s, ALICE, "and make it quick");
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 1);
	scene_close(s);
}

static void run_jobs(struct scene *s, uint64_t user, uint32_t n)
{
	scene_event(s, (struct room_event){.type = ROOM_TOOL_JOBS, .user = user, .chunk = n});
	scene_mark(s);
}

/* A job outlived its turn: the words that end it are a stop, or name it beside a stop. */
TEST(a_job_is_cancelled_by_voice)
{
	static const struct {
		uint64_t user;
		const char *text;
		bool ends;
	} rows[] = {{ALICE, "stop the search", true},
		    {ALICE, "never mind", true},
		    {ALICE, "please cancel that task", true},
		    {ALICE, "okay, forget it", true},
		    {BOB, "parley, stop the search", true},
		    {BOB, "stop the search", false},
		    {BOB, "never mind", false},
		    {ALICE, "parley, why did you stop the search?", false},
		    {ALICE, "do not stop the search", false},
		    {ALICE, "stop by at my place tomorrow if you want to", false}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scene *s = two("");

		run_jobs(s, ALICE, 1);
		scene_say(s, rows[i].user, rows[i].text);
		if (scene_count(s, ROOM_DO_TOOL_CANCEL) != rows[i].ends)
			test_fail(__FILE__, __LINE__, "\"%s\"", rows[i].text);
		if (rows[i].ends) {
			CHECK_INT(scene_find(s, ROOM_DO_TOOL_CANCEL)->turn, 0);
			CHECK_INT(scene_ended(s, ROOM_REASON_CANCELLED), 1);
		}
		scene_close(s);
	}
}

TEST(a_stop_request_ends_jobs_of_its_speaker_first)
{
	struct scene *s = two("");

	run_jobs(s, ALICE, 1);
	run_jobs(s, BOB, 2);
	scene_say(s, BOB, "parley stop");
	CHECK_INT(scene_find(s, ROOM_DO_TOOL_CANCEL)->user, BOB);
	run_jobs(s, BOB, 0);
	scene_say(s, BOB, "parley stop");
	CHECK_INT(scene_find(s, ROOM_DO_TOOL_CANCEL)->user, 0);
	run_jobs(s, ALICE, 0);
	scene_say(s, ALICE, "stop the search");
	CHECK_INT(scene_count(s, ROOM_DO_TOOL_CANCEL), 0);
	scene_close(s);
}

/* The answer is what is meant; the job goes on unless the words name it. */
TEST(a_stop_over_an_answer_keeps_the_job)
{
	struct scene *s = two("interruptions none");

	run_jobs(s, ALICE, 1);
	scene_say(s, ALICE, "parley tell me a story");
	scene_answer(s, "once upon a time", 4000);
	scene_mark(s);
	scene_say(s, ALICE, "never mind");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 1);
	CHECK_INT(scene_count(s, ROOM_DO_TOOL_CANCEL), 0);
	scene_say(s, ALICE, "stop the search");
	CHECK_INT(scene_count(s, ROOM_DO_TOOL_CANCEL), 1);
	scene_close(s);
}

TEST(rule_081_command_only)
{
	struct scene *s = two("command_only yes");

	scene_say(s, ALICE, "did you see the match yesterday");
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 1);
	CHECK(place(s, last_ended(s), "command_only_not_addressed", true) > 0);
	scene_say(s, ALICE, "parley what time is it");
	CHECK_STR(scene_admitted(s), "command_only_direct_address");
	scene_answer(s, "ten", 600);
	scene_drained(s);
	/* No conversation follows from it. */
	scene_mark(s);
	scene_say(s, ALICE, "and what day is it");
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 1);
	scene_close(s);
}

/* The like of the name counts where it may be a call, and the name itself anywhere. */
TEST(rule_083_a_cue_lets_a_command_in)
{
	static const struct {
		const char *text;
		bool in;
	} rows[] = {{"i told parley to skip this one", true},
		    {"barley a bit louder now", true},
		    {"skip the barley song please", false}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scene *s = two("command_only yes");

		scene_say(s, ALICE, rows[i].text);
		CHECK_INT(scene_count(s, ROOM_DO_ASK), rows[i].in);
		if (rows[i].in)
			CHECK_STR(scene_admitted(s), "command_only_name_cue");
		scene_close(s);
	}
}

TEST(rule_081_native_and_generation)
{
	struct scene *s = two("admission native");

	scene_say(s, ALICE, "did you see the match yesterday");
	CHECK_STR(scene_admitted(s), "native_realtime");
	scene_close(s);
	s = two("admission generation");
	scene_say(s, ALICE, "did you see the match yesterday");
	CHECK_STR(scene_admitted(s), "generation_decides");
	scene_close(s);
}

TEST(never_mind_takes_back_only_ones_own)
{
	struct scene *s = two("interruptions none");

	scene_say(s, ALICE, "parley tell me a story");
	scene_answer(s, "once upon a time", 4000);
	scene_mark(s);
	scene_say(s, BOB, "never mind");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
	scene_say(s, ALICE, "never mind");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 1);
	CHECK_INT(scene_ended(s, ROOM_REASON_CANCELLED), 1);
	scene_close(s);
}

/* ---- the classifier ---- */

static void judged(struct scene *s, bool did, const char *wrote)
{
	scene_event(s, (struct room_event){.type = ROOM_CLASSIFIED,
					   .turn = scene_last(s, ROOM_DO_CLASSIFY)->turn,
					   .chunk = scene_last(s, ROOM_DO_CLASSIFY)->chunk,
					   .yes = did,
					   .text = {(const uint8_t *)wrote, strlen(wrote)}});
}

TEST(rule_081_082_the_classifier_is_asked_last)
{
	struct scene *s = two("admission classifier");
	char why[4096];

	scene_say(s, ALICE, "what is the capital of peru again");
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY), 1);
	CHECK(strstr(scene_find(s, ROOM_DO_CLASSIFY)->text,
		     "[Alice]: what is the capital of peru again"));
	CHECK(strstr(scene_find(s, ROOM_DO_CLASSIFY)->text, "room: AMBIENT"));
	/* What happened is told as a moment of the room, not as somebody's words. */
	CHECK(strstr(scene_find(s, ROOM_DO_CLASSIFY)->text, "room moment: Bob came in"));
	/* What it says is no decision before it has said it. */
	CHECK_INT(room_why(s->room, scene_find(s, ROOM_DO_CLASSIFY)->turn, why, sizeof why), 0);
	CHECK(strstr(why, "direct_address") && !strstr(why, "classifier_allow"));
	judged(s, true, "YES");
	CHECK_STR(scene_admitted(s), "classifier_allow");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_answer(s, "lima", 600);
	scene_drained(s);
	scene_mark(s);
	/* What is clear without it is not asked. */
	scene_say(s, ALICE, "and of chile");
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY), 0);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

/* Each question stands for itself, whatever else the step that asks it says. */
TEST(rule_082_questions_of_one_step_are_each_of_their_own_words)
{
	struct scene *s = two("admission classifier classify_turns 0 interruptions none "
			      "context_refresh_ms 200");
	const struct scene_did *first, *second;

	scene_join(s, 3, "Carol");
	scene_say(s, ALICE, "parley tell me a story");
	scene_answer(s, "once upon a time", 4000);
	scene_mark(s);
	scene_say(s, BOB, "what is the capital of peru again");
	scene_say(s, 3, "what is the capital of chile again");
	CHECK_INT(scene_count(s, ROOM_DO_DEFER), 2);
	scene_drained(s);
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY), 2);
	first = scene_find(s, ROOM_DO_CLASSIFY);
	second = scene_last(s, ROOM_DO_CLASSIFY);
	CHECK(strstr(first->text, "chile") && !strstr(first->text, "peru"));
	CHECK(strstr(second->text, "peru") && !strstr(second->text, "chile"));
	scene_close(s);
	/* The brain's instructions are due in the same step. */
	s = two("admission classifier");
	scene_wait(s, 11000); /* the brain has said nothing to those it was told */
	scene_speak(s, ALICE, 600);
	scene_stop(s, ALICE);
	scene_wait(s, 60);
	scene_join(s, 3, "Carol");
	s->ms += 300;
	scene_mark(s);
	scene_words(s, ALICE, "what is the capital of peru again");
	CHECK_INT(scene_count(s, ROOM_DO_INSTRUCT), 1);
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY), 1);
	CHECK(strstr(scene_find(s, ROOM_DO_CLASSIFY)->text, "peru"));
	scene_close(s);
}

/* A turn that the classifier let in while the bot was busy again waits as long as any other. */
TEST(rule_025_082_what_was_judged_while_it_waited_waits_on)
{
	struct scene *s = two("admission classifier interruptions none stall_ms 60000");

	scene_say(s, ALICE, "parley tell me a story");
	scene_answer(s, "once upon a time", 2000);
	scene_mark(s);
	scene_say(s, BOB, "what is the capital of peru again");
	scene_drained(s);
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY), 1);
	scene_speak(s, ALICE, 440);
	scene_stop(s, ALICE);
	scene_words(s, ALICE, "parley another story");
	scene_answer(s, "there was a king", 8000);
	scene_event(s, (struct room_event){.type = ROOM_CLASSIFIED,
					   .turn = scene_find(s, ROOM_DO_CLASSIFY)->turn,
					   .chunk = scene_find(s, ROOM_DO_CLASSIFY)->chunk,
					   .yes = true,
					   .text = {(const uint8_t *)"YES", 3}});
	scene_wait(s, 7000);
	CHECK_INT(scene_ended(s, ROOM_REASON_EXPIRED), 0);
	scene_drained(s);
	scene_wait(s, 1500);
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY), 2); /* it is judged again */
	scene_close(s);
}

TEST(rule_082_what_cannot_be_told_is_denied)
{
	static const char *const answers[] = {"NO", "deny it", "maybe", ""};
	struct scene *s;

	for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
		s = two("admission classifier");
		scene_say(s, ALICE, "what is the capital of peru again");
		judged(s, true, answers[i]);
		CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 1);
		scene_close(s);
	}
	s = two("admission classifier");
	scene_say(s, ALICE, "what is the capital of peru again");
	judged(s, false, "YES");
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 1);
	/* Too late is nobody's. */
	scene_mark(s);
	scene_say(s, ALICE, "what is the capital of peru again");
	scene_wait(s, 899);
	CHECK_INT(scene_count(s, ROOM_DO_RECORD), 0);
	scene_wait(s, 2);
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 1);
	CHECK(place(s, last_ended(s), "classifier_failed", true) > 0);
	judged(s, true, "YES");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_close(s);
}

TEST(rule_082_a_classifier_that_fails_is_left_alone_for_a_while)
{
	struct scene *s = two("admission classifier classify_failures 2 classify_rest_s 60");

	for (unsigned i = 0; i < 2; i++) {
		scene_say(s, ALICE, "what is the capital of peru again");
		judged(s, false, "");
	}
	scene_mark(s);
	scene_say(s, ALICE, "what is the capital of peru again");
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY), 0);
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 1);
	scene_wait(s, 60000);
	scene_say(s, ALICE, "what is the capital of peru again");
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY), 1);
	scene_close(s);
}

TEST(rule_082_answers_and_token_floors)
{
	static const struct {
		const char *text;
		int means;
	} rows[] = {
		{"YES", 1},  {"yes.", 1},	{" Allow", 1},	 {"NO", 0}, {"no, it was not", 0},
		{"DENY", 0}, {"yesterday", -1}, {"nothing", -1}, {"", -1},  {"  ", -1}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		CHECK_INT(room_classifier_parse(rows[i].text, strlen(rows[i].text)), rows[i].means);
}

TEST(the_bot_may_have_begun_to_speak_while_the_classifier_thought)
{
	struct scene *s = two("admission classifier interruptions none");

	scene_say(s, ALICE, "what is the capital of peru again");
	scene_say(s, BOB, "parley what time is it");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	judged(s, true, "YES");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_answer(s, "ten", 600);
	scene_drained(s);
	CHECK_INT(scene_count(s, ROOM_DO_RECORD), 1);
	scene_close(s);
}

TEST(rule_082_the_classifier_is_told_what_was_said_before)
{
	struct scene *s = two("admission classifier classify_turns 1 classify_chars 40 "
			      "classify_people 1");
	const char *text;

	scene_say(s, ALICE, "parley tell me a story");
	scene_answer(s, "once upon a time there was a king who had three sons and a castle", 600);
	scene_drained(s);
	scene_mark(s);
	scene_say(s, BOB, "what is the capital of peru again");
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY), 1);
	text = scene_find(s, ROOM_DO_CLASSIFY)->text;
	/* One line, its last 40 characters, and one of the two people. */
	CHECK(strstr(text, "s a king who had three sons and a castle\n"));
	CHECK(!strstr(text, "tell me a story"));
	CHECK(strstr(text, "2 people: Alice. "));
	scene_close(s);
}

TEST(rule_082_an_answer_that_cannot_be_read_is_asked_again)
{
	struct scene *s = two("admission classifier classify_attempts 2");

	scene_say(s, ALICE, "what is the capital of peru again");
	judged(s, true, "perhaps");
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY), 2);
	judged(s, true, "YES");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

/* An answer to the attempt before is not one to this. */
TEST(rule_082_an_answer_belongs_to_its_question)
{
	struct scene *s = two("admission classifier classify_attempts 2");
	uint32_t turn, first;

	scene_say(s, ALICE, "what is the capital of peru again");
	turn = scene_last(s, ROOM_DO_CLASSIFY)->turn;
	first = scene_last(s, ROOM_DO_CLASSIFY)->chunk;
	judged(s, true, "perhaps");
	scene_event(s, (struct room_event){.type = ROOM_CLASSIFIED,
					   .turn = turn,
					   .chunk = first,
					   .yes = true,
					   .text = slice_str("YES")});
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	judged(s, true, "NO");
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 1);
	scene_close(s);
}

TEST(the_question_to_the_classifier_is_a_setting)
{
	struct scene *s = two("admission classifier classify_prompt Meant?");
	const char *text;

	scene_say(s, ALICE, "what is the capital of peru again");
	text = scene_find(s, ROOM_DO_CLASSIFY)->text;
	CHECK(strstr(text, ". Meant?\n") && !strstr(text, "YES"));
	scene_close(s);
}

/* ---- the older chain ---- */

TEST(rule_081_fragments_are_dropped_where_admission_is_focus)
{
	static const struct {
		const char *said;
		bool dropped;
	} rows[] = {{"of it", true},	 {"purple", true},	     {"hey", false},
		    {"why", false},	 {"so we go", false},	     {"later on maybe", false},
		    {"big house", true}, {"tomorrow morning", false}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scene *s = two("admission focus");

		scene_say(s, ALICE, rows[i].said);
		CHECK_INT(place(s, last_ended(s), "low_signal_fragment", true) >= 0,
			  rows[i].dropped);
		scene_close(s);
	}
}

TEST(rule_081_the_focused_speaker_goes_on_for_a_while)
{
	struct scene *s = two("admission focus");

	scene_say(s, ALICE, "parley what time is it");
	scene_answer(s, "ten", 600);
	scene_drained(s);
	scene_mark(s);
	/* Others who speak do not end it, and do not share it. */
	scene_say(s, BOB, "we should leave for the station");
	CHECK(place(s, last_ended(s), "eagerness_disabled_without_direct_address", true) >= 0);
	scene_say(s, ALICE, "and the weather for tomorrow");
	CHECK_STR(scene_admitted(s), "focused_speaker_followup");
	scene_answer(s, "fine", 600);
	scene_drained(s);
	scene_wait(s, 20000);
	scene_mark(s);
	scene_say(s, ALICE, "and the weather for monday");
	CHECK_INT(scene_count(s, ROOM_DO_ADMIT), 0);
	scene_say(s, BOB, "parley what time is it");
	CHECK_STR(scene_admitted(s), "direct_address");
	scene_close(s);
}

TEST(rule_081_an_eager_bot_asks_the_classifier_where_admission_is_focus)
{
	struct scene *s = two("admission focus volition balanced");

	scene_say(s, ALICE, "we should leave for the station");
	CHECK_INT(scene_count(s, ROOM_DO_CLASSIFY), 1);
	judged(s, true, "YES");
	CHECK_STR(scene_admitted(s), "classifier_allow");
	scene_close(s);
}

TEST(over_an_answer_only_the_name_counts_in_the_simple_floor_mode)
{
	struct scene *s = two("interruptions name");

	scene_say(s, ALICE, "parley tell me a story");
	scene_answer(s, "once upon a time", 6000);
	scene_mark(s);
	scene_say(s, ALICE, "that was the other king");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 1);
	scene_say(s, BOB, "parley which king was it");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 1);
	scene_close(s);
}
