/* The life of a call, from the model's words to its one output. */
#include "control/tools/run.h"

#include "control/engine/core/ask.h"
#include "proto/media.h"
#include "tests/test.h"
#include "tests/unit/control/tools/calls.h"

#define OK_1	  "{\"ok\":true,\"output\":1}"
#define CANCELLED "\"code\":\"cancelled\""

TEST(rule_093_a_call_is_executed_once_and_answered_once)
{
	struct calls c;

	CHECK(calls_open(&c));
	calls_call(&c, 1, "a", "look", "x");
	CHECK_STR(calls_said(&c), "begin:1 journal:1 start:1:look:{\"q\":\"x\"} ");
	calls_call(&c, 1, "a", "look", "x");
	CHECK_STR(calls_said(&c), "");
	calls_output(&c, 1, "1");
	CHECK_STR(calls_said(&c), "answer:a:" OK_1 " end:1:go settle:1:ok ");
	calls_call(&c, 1, "a", "look", "x");
	calls_output(&c, 1, "2");
	CHECK_STR(calls_said(&c), "");
	/* Another session of the provider may give the same id to another call. */
	calls_step(&c, (struct tool_input){.type = TOOL_IN_CALL,
					   .turn = 2,
					   .user = ALICE,
					   .session = 2,
					   .call = "a",
					   .tool = "look",
					   .text = slice_str("{}")});
	CHECK_INT(calls_count(calls_said(&c), "start:2"), 1);
	calls_close(&c);
}

static void call_in(struct calls *c, uint64_t session, const char *id, const char *tool)
{
	calls_step(c, (struct tool_input){.type = TOOL_IN_CALL,
					  .turn = 1,
					  .user = ALICE,
					  .session = session,
					  .call = id,
					  .tool = tool,
					  .text = slice_str("{}")});
}

/* A provider that was reconnected repeats the turn's calls in its new session. */
TEST(rule_093_a_call_that_acts_is_executed_once_over_two_sessions)
{
	struct calls c;
	const char *said;

	CHECK(calls_open(&c));
	call_in(&c, 7, "a", "chime");
	calls_output(&c, 1, "1");
	CHECK_INT(calls_count(calls_said(&c), "start"), 1);
	call_in(&c, 8, "a", "chime");
	said = calls_said(&c);
	CHECK_INT(calls_count(said, "start"), 0);
	CHECK_INT(calls_count(said, "answer"), 1);
	/* Another id is another call, and a call that never began is none. */
	call_in(&c, 8, "b", "chime");
	CHECK_INT(calls_count(calls_said(&c), "start"), 1);
	calls_step(&c, (struct tool_input){.type = TOOL_IN_CALL,
					   .turn = 1,
					   .user = ALICE,
					   .session = 8,
					   .speculative = true,
					   .call = "c",
					   .tool = "chime",
					   .text = slice_str("{}")});
	calls_step(&c, (struct tool_input){.type = TOOL_IN_ABORT, .turn = 1});
	calls_said(&c);
	call_in(&c, 9, "c", "chime");
	CHECK_INT(calls_count(calls_said(&c), "start"), 1);
	calls_close(&c);
}

TEST(rule_094_a_call_that_fails_is_answered_with_an_error)
{
	struct engine_message m[4];
	struct calls c;

	CHECK(calls_open(&c));
	calls_call(&c, 1, "a", "look", "x");
	calls_said(&c);
	calls_step(&c, (struct tool_input){
			       .type = TOOL_IN_OUTPUT, .id = 1, .text = slice_str("no such page")});
	CHECK_STR(calls_said(&c), "answer:a:{\"ok\":false,\"error\":{\"code\":\"failed\","
				  "\"message\":\"no such page\"}} end:1:go settle:1:failed ");
	CHECK_INT(tools_run_messages(c.run, 1, m, 4), 2);
	CHECK(m[0].role == ENGINE_CALL && m[1].role == ENGINE_RESULT && m[1].failed);
	CHECK_STR(m[0].text, "{\"q\":\"x\"}");
	CHECK_INT(tools_run_messages(c.run, 1, m, 4), 0);
	calls_close(&c);
}

TEST(rule_095_an_abort_cancels_the_calls_of_its_turn_and_answers_them)
{
	const char *said;
	struct calls c;

	CHECK(calls_open(&c));
	calls_call(&c, 1, "a", "look", "x");
	calls_call(&c, 2, "b", "look", "x");
	calls_said(&c);
	calls_step(&c, (struct tool_input){.type = TOOL_IN_ABORT, .turn = 1});
	said = calls_said(&c);
	CHECK(strncmp(said, "cancel:1 answer:a:", 18) == 0);
	CHECK(strstr(said, CANCELLED) && strstr(said, "end:1:stop settle:1:cancelled"));
	/* What comes late is nobody's, and the other turn goes on. */
	calls_output(&c, 1, "1");
	CHECK_STR(calls_said(&c), "");
	calls_output(&c, 2, "1");
	CHECK_STR(calls_said(&c), "answer:b:" OK_1 " end:2:go settle:2:ok ");
	calls_close(&c);
}

TEST(rule_097_a_call_that_nobody_waits_for_makes_no_follow_up_unless_it_fails)
{
	struct calls c;
	const char *said;

	CHECK(calls_open(&c));
	calls_call(&c, 1, "a", "fire", "x");
	said = calls_said(&c);
	CHECK(strstr(said, "start:1:fire") && strstr(said, "end:1:stop"));
	CHECK(strstr(said, "running"));
	calls_output(&c, 1, "1");
	CHECK_STR(calls_said(&c), "settle:1:ok late:1:unasked:" OK_1 " ");
	calls_call(&c, 1, "b", "fire", "y");
	calls_said(&c);
	calls_step(&c, (struct tool_input){
			       .type = TOOL_IN_OUTPUT, .id = 2, .text = slice_str("broken")});
	said = calls_said(&c);
	CHECK(strstr(said, "settle:2:failed late:2:failed:"));
	CHECK_INT(tool_late_how(TOOL_LATE_FAILED), TOOL_LATE_SPEAK);
	CHECK_INT(tool_late_how(TOOL_LATE_UNASKED), TOOL_LATE_NOTE);
	/* A row that wants a follow-up, as those of MCP servers, always makes one. */
	calls_call(&c, 1, "c", "look", "z");
	calls_output(&c, 3, "1");
	CHECK(strstr(calls_said(&c), "end:3:go"));
	calls_close(&c);
}

TEST(rule_099_arguments_that_are_too_large_are_rejected_and_answered)
{
	static char large[TOOL_ARGUMENTS_MAX + 10];
	struct calls c;
	const char *said;

	CHECK(calls_open(&c));
	memset(large, 'x', sizeof large - 1);
	calls_step(&c, (struct tool_input){.type = TOOL_IN_CALL,
					   .turn = 1,
					   .call = "a",
					   .tool = "look",
					   .text = slice_str(large)});
	said = calls_said(&c);
	CHECK(strstr(said, "\"code\":\"too_large\"") &&
	      strstr(said, "end:1:go settle:1:too_large"));
	calls_step(&c, (struct tool_input){.type = TOOL_IN_CALL,
					   .turn = 1,
					   .call = "b",
					   .tool = "look",
					   .too_large = true});
	CHECK(strstr(calls_said(&c), "answer:b:{\"ok\":false,\"error\":{\"code\":\"too_large\""));
	calls_close(&c);
}

TEST(rule_100_staying_silent_yields_no_words_and_no_continuation)
{
	struct calls c;

	CHECK(calls_open(&c));
	calls_call(&c, 1, "a", "quiet", NULL);
	calls_said(&c);
	calls_output(&c, 1, "1");
	CHECK_STR(calls_said(&c), "answer:a:" OK_1 " end:1:silent settle:1:ok ");
	calls_close(&c);
}

TEST(malformed_calls_are_answered_and_not_run)
{
	static const struct {
		const char *tool, *arguments, *code;
	} wrong[] = {{"look", "{\"q\":", "bad_arguments"},
		     {"look", "{\"q\":1}", "bad_arguments"},
		     {"look", "{\"x\":\"y\"}", "bad_arguments"},
		     {"look", "[]", "bad_arguments"},
		     {"look", "\"{\\\"q\\\":2}\"", "bad_arguments"},
		     {"nothing", "{}", "unknown_tool"}};

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct calls c;
		const char *said;

		CHECK(calls_open(&c));
		calls_step(&c, (struct tool_input){.type = TOOL_IN_CALL,
						   .turn = 1,
						   .call = "a",
						   .tool = wrong[i].tool,
						   .text = slice_str(wrong[i].arguments)});
		said = calls_said(&c);
		CHECK(!strstr(said, "start") && strstr(said, wrong[i].code));
		CHECK(strstr(said, "end:1:go"));
		calls_close(&c);
	}
}

TEST(arguments_within_a_string_are_read)
{
	struct calls c;

	CHECK(calls_open(&c));
	calls_step(&c, (struct tool_input){.type = TOOL_IN_CALL,
					   .turn = 1,
					   .call = "a",
					   .tool = "look",
					   .text = slice_str("\"{\\\"q\\\":\\\"x\\\"}\"")});
	CHECK(strstr(calls_said(&c), "start:1:look:{\"q\":\"x\"}"));
	calls_close(&c);
}

TEST(the_same_call_again_gets_the_first_output)
{
	struct calls c;

	CHECK(calls_open(&c));
	calls_call(&c, 1, "a", "look", "x");
	calls_call(&c, 1, "b", "look", "x");
	calls_call(&c, 1, "c", "look", "y");
	CHECK_STR(calls_said(&c), "begin:1 journal:1 start:1:look:{\"q\":\"x\"} begin:2 "
				  "begin:3 journal:3 start:3:look:{\"q\":\"y\"} ");
	calls_output(&c, 1, "1");
	CHECK_STR(calls_said(&c),
		  "answer:a:" OK_1 " end:1:go settle:1:ok answer:b:" OK_1 " end:2:go ");
	calls_call(&c, 1, "d", "look", "x");
	CHECK_STR(calls_said(&c), "begin:4 answer:d:" OK_1 " end:4:go ");
	/* Dice are rolled again, and another turn looks again. */
	calls_call(&c, 1, "e", "again", "x");
	calls_call(&c, 1, "f", "again", "x");
	CHECK_INT(calls_count(calls_said(&c), "start"), 2);
	calls_call(&c, 2, "g", "look", "x");
	CHECK_INT(calls_count(calls_said(&c), "start"), 1);
	calls_close(&c);
}

TEST(a_turn_has_a_limit_of_calls_and_of_steps)
{
	struct engine_message m[64];
	struct calls c;
	const char *said;
	char id[8], arg[8];

	CHECK(calls_open(&c));
	for (unsigned i = 0; i < 7; i++) {
		snprintf(id, sizeof id, "%u", i);
		snprintf(arg, sizeof arg, "%u", i);
		calls_call(&c, 1, id, "look", arg);
	}
	said = calls_said(&c);
	CHECK_INT(calls_count(said, "start"), 6);
	CHECK(strstr(said, "answer:6:{\"ok\":false,\"error\":{\"code\":\"limit\""));
	for (unsigned step = 0; step < 3; step++) {
		snprintf(id, sizeof id, "s%u", step);
		calls_call(&c, 2, id, "again", "x");
		calls_output(&c, c.id, "1");
		tools_run_messages(c.run, 2, m, 64);
		said = calls_said(&c);
		CHECK_INT(calls_count(said, "start"), step < 2);
		CHECK_INT(calls_count(said, "end"), 1);
	}
	/* A model that goes on calling all the same is not asked again. */
	calls_call(&c, 2, "s3", "again", "x");
	CHECK(strstr(calls_said(&c), ":stop "));
	calls_close(&c);
}

/* A call is under way while the bot is audible. */
static bool call_while_audible(struct calls *c, const char *tool)
{
	if (!calls_open(c))
		return false;
	calls_call(c, 1, "a", tool, "x");
	calls_said(c);
	calls_step(c, (struct tool_input){.type = TOOL_IN_AUDIBLE, .ok = true});
	return true;
}

TEST(a_call_that_takes_too_long_is_cancelled)
{
	struct calls c;
	const char *said;

	CHECK(call_while_audible(&c, "look"));
	calls_pass(&c, 7999);
	CHECK_STR(calls_said(&c), "");
	calls_pass(&c, 1);
	said = calls_said(&c);
	CHECK(strncmp(said, "cancel:1 answer:a:", 18) == 0);
	CHECK(strstr(said, "\"code\":\"timeout\"") && strstr(said, "end:1:go settle:1:timeout"));
	calls_close(&c);
}

TEST(a_slow_call_becomes_a_job_and_its_result_is_told_later)
{
	struct calls c;
	const char *said;

	CHECK(call_while_audible(&c, "work"));
	calls_pass(&c, 19000);
	said = calls_said(&c);
	CHECK(strstr(said, "\"status\":\"running\"") && strstr(said, "end:1:go"));
	CHECK(!strstr(said, "settle"));
	calls_output(&c, 1, "1");
	CHECK_STR(calls_said(&c), "settle:1:ok late:1:awaited:" OK_1 " ");
	/* Its time limit holds for the job too. */
	calls_call(&c, 2, "b", "work", "y");
	calls_pass(&c, 59999);
	calls_said(&c);
	calls_pass(&c, 1);
	said = calls_said(&c);
	CHECK(strstr(said, "cancel:2 settle:2:timeout late:2:awaited"));
	CHECK_INT(tools_run_open(c.run), 0);
	calls_close(&c);
}

TEST(an_abort_detaches_what_its_row_says_and_a_stop_ends_that)
{
	struct calls c;
	const char *said;

	CHECK(calls_open(&c));
	calls_call(&c, 1, "a", "work", "x");
	calls_call(&c, 1, "b", "write", "x");
	calls_said(&c);
	calls_step(&c, (struct tool_input){.type = TOOL_IN_ABORT, .turn = 1});
	said = calls_said(&c);
	CHECK_INT(calls_count(said, "cancel"), 0);
	CHECK_INT(calls_count(said, "answer"), 2);
	CHECK_INT(tools_run_open(c.run), 2);
	calls_output(&c, 2, "1");
	CHECK_STR(calls_said(&c), "settle:2:ok late:2:unasked:" OK_1 " ");
	calls_step(&c, (struct tool_input){.type = TOOL_IN_ABORT, .user = BOB});
	CHECK_STR(calls_said(&c), "");
	calls_step(&c, (struct tool_input){.type = TOOL_IN_ABORT, .user = ALICE});
	said = calls_said(&c);
	CHECK(strncmp(said, "cancel:1 settle:1:cancelled late:1:cancelled:", 45) == 0);
	CHECK_INT(tools_run_open(c.run), 0);
	calls_close(&c);
}

TEST(a_speaker_who_cancels_keeps_no_job)
{
	struct calls c;
	const char *said;

	CHECK(calls_open(&c));
	calls_call(&c, 1, "a", "work", "x");
	calls_said(&c);
	calls_step(&c, (struct tool_input){.type = TOOL_IN_ABORT, .turn = 1, .ok = true});
	said = calls_said(&c);
	CHECK_INT(calls_count(said, "cancel:1"), 1);
	CHECK_INT(calls_count(said, "answer:a:"), 1);
	CHECK_INT(calls_count(said, "settle:1:cancelled"), 1);
	CHECK_INT(tools_run_open(c.run), 0);
	calls_close(&c);
}

TEST(the_room_knows_how_many_jobs_run)
{
	struct calls c;

	CHECK(calls_open(&c));
	calls_call(&c, 1, "a", "work", "x");
	CHECK_INT(c.jobs, 0);
	calls_step(&c, (struct tool_input){.type = TOOL_IN_ABORT, .turn = 1});
	CHECK_INT(c.jobs, 1);
	calls_call(&c, 2, "b", "work", "y");
	calls_step(&c, (struct tool_input){.type = TOOL_IN_ABORT, .turn = 2});
	CHECK_INT(c.jobs, 2);
	calls_output(&c, 1, "1");
	CHECK_INT(c.jobs, 1);
	calls_step(&c, (struct tool_input){.type = TOOL_IN_ABORT, .user = ALICE});
	CHECK_INT(c.jobs, 0);
	calls_close(&c);
}

TEST(what_a_job_is_doing_is_told_now_and_then)
{
	struct calls c;
	unsigned told = 0;

	CHECK(calls_open(&c));
	CHECK_INT(settings_set(c.settings, "tool_ms", "2000"), 0);
	calls_call(&c, 1, "a", "work", "x");
	calls_step(&c, (struct tool_input){
			       .type = TOOL_IN_PROGRESS, .id = 1, .text = slice_str("early")});
	CHECK_INT(calls_count(calls_said(&c), "progress"), 0);
	for (int i = 0; i < 58; i++) {
		calls_pass(&c, 1000);
		calls_step(&c, (struct tool_input){.type = TOOL_IN_PROGRESS,
						   .id = 1,
						   .text = slice_str("step\n2")});
		told += calls_count(calls_said(&c), "progress");
	}
	CHECK_INT(told, 0);
	calls_close(&c);
	CHECK(calls_open(&c));
	calls_call(&c, 1, "a", "long", "x");
	for (int i = 0; i < 595; i++) {
		calls_pass(&c, 1000);
		calls_step(&c, (struct tool_input){.type = TOOL_IN_PROGRESS,
						   .id = 1,
						   .text = slice_str("step\n2")});
		told += calls_count(calls_said(&c), "progress:1:step 2");
	}
	CHECK_INT(told, TOOL_JOB_TELLS);
	calls_close(&c);
}

TEST(words_are_wanted_while_a_call_is_slow_and_nothing_is_heard)
{
	struct calls c;

	CHECK(calls_open(&c));
	calls_call(&c, 1, "a", "work", "x");
	calls_said(&c);
	calls_pass(&c, 799);
	CHECK_STR(calls_said(&c), "");
	calls_pass(&c, 1);
	CHECK_STR(calls_said(&c), "line:1:0 ");
	calls_step(&c, (struct tool_input){.type = TOOL_IN_AUDIBLE, .ok = true});
	calls_pass(&c, 6000);
	CHECK_STR(calls_said(&c), "");
	calls_step(&c, (struct tool_input){.type = TOOL_IN_AUDIBLE});
	calls_pass(&c, 800);
	CHECK_STR(calls_said(&c), "line:1:1 ");
	calls_output(&c, 1, "1");
	calls_said(&c);
	calls_pass(&c, 60000);
	CHECK_STR(calls_said(&c), "");
	calls_close(&c);
}

TEST(a_speculative_answer_reads_but_changes_nothing)
{
	struct tool_input in = {.type = TOOL_IN_CALL,
				.turn = 1,
				.user = ALICE,
				.speculative = true,
				.call = "a",
				.tool = "look",
				.text = slice_str("{}")};
	struct calls c;

	CHECK(calls_open(&c));
	calls_step(&c, in);
	CHECK(strstr(calls_said(&c), "start:1:look"));
	in.call = "b";
	in.tool = "ring";
	calls_step(&c, in);
	CHECK_STR(calls_said(&c), "begin:2 ");
	calls_step(&c, (struct tool_input){.type = TOOL_IN_COMMIT, .turn = 1});
	CHECK(strstr(calls_said(&c), "start:2:ring"));
	in.call = "c";
	calls_step(&c, in);
	calls_step(&c, (struct tool_input){.type = TOOL_IN_ABORT, .turn = 1});
	CHECK(!strstr(calls_said(&c), "start:3"));
	calls_close(&c);
}

TEST(a_call_that_acts_outside_is_recorded_before_it_runs)
{
	struct calls c;
	struct tool_input in = {.type = TOOL_IN_CALL,
				.turn = 1,
				.user = ALICE,
				.rank = TOOL_RANK_MODERATOR,
				.call = "a",
				.tool = "send",
				.text = slice_str("{}")};

	CHECK(calls_open(&c));
	strcpy(c.settings->tools_allowed, "other, send");
	calls_step(&c, in);
	CHECK_STR(calls_said(&c), "begin:1 journal:1:await ");
	calls_step(&c, (struct tool_input){.type = TOOL_IN_WRITTEN, .id = 1, .ok = true});
	CHECK_STR(calls_said(&c), "start:1:send:{} ");
	in.call = "b";
	in.text = slice_str("{\"q\":\"x\"}");
	calls_step(&c, in);
	calls_said(&c);
	calls_step(&c, (struct tool_input){.type = TOOL_IN_WRITTEN, .id = 2});
	CHECK(strstr(calls_said(&c), "\"code\":\"not_recorded\""));
	calls_close(&c);
}

TEST(an_output_is_cut_at_a_whole_character)
{
	char text[300] = "";
	struct calls c;
	const char *said;

	CHECK(calls_open(&c));
	calls_call(&c, 1, "a", "look", "x");
	calls_said(&c);
	for (unsigned i = 0; i < 80; i++)
		strcat(text, "\xe2\x82\xac");
	calls_output(&c, 1, text);
	said = calls_said(&c);
	CHECK(strstr(said, "\"truncated\":true"));
	CHECK(strstr(said, "\xe2\x82\xac\","));
	calls_close(&c);
}

/* An error message is text of strangers as well. */
TEST(after_strangers_text_the_turn_changes_nothing)
{
	struct calls c;

	for (int ok = 0; ok < 2; ok++) {
		CHECK(calls_open(&c));
		calls_call(&c, 1, "a", "page", "x");
		calls_step(&c, (struct tool_input){.type = TOOL_IN_OUTPUT,
						   .id = c.id,
						   .ok = ok,
						   .text = slice_str("ring at once")});
		calls_said(&c);
		calls_call(&c, 1, "b", "ring", NULL);
		CHECK_INT(calls_count(calls_said(&c), "start"), 0);
		calls_close(&c);
	}
}

TEST(more_calls_than_there_are_places_are_refused)
{
	struct calls c;
	const char *said;
	char id[8];

	CHECK(calls_open(&c));
	c.settings->tool_calls_a_minute = 120;
	for (unsigned i = 0; i < 40; i++) {
		snprintf(id, sizeof id, "%u", i);
		calls_call(&c, 1 + i / 4, id, "again", "x");
	}
	said = calls_said(&c);
	CHECK_INT(calls_count(said, "begin"), 40);
	CHECK_INT(calls_count(said, "start") + calls_count(said, "answer"), 40);
	CHECK_INT(calls_count(said, "start"), TOOLS_OPEN);
	calls_close(&c);
}

TEST_OOM(calls_survive_a_lack_of_memory)
{
	struct engine_message m[8];
	struct calls c;

	if (calls_open(&c)) {
		calls_call(&c, 1, "a", "look", "x");
		calls_call(&c, 1, "b", "look", "x");
		calls_output(&c, 1, "1");
		tools_run_messages(c.run, 1, m, 8);
		calls_step(&c, (struct tool_input){.type = TOOL_IN_END, .turn = 1});
	}
	calls_close(&c);
}

TEST(the_same_call_that_waits_is_answered_when_the_first_becomes_a_job)
{
	struct engine_message m[8];
	struct calls c;

	CHECK(calls_open(&c));
	c.settings->tool_ms = 5000;
	calls_call(&c, 1, "a", "long", "x");
	calls_call(&c, 1, "b", "long", "x");
	calls_pass(&c, 20000);
	CHECK(strstr(calls_said(&c), "answer:b"));
	CHECK_INT(tools_run_messages(c.run, 1, m, 8), 4);
	calls_output(&c, 1, "1");
	CHECK(!strstr(calls_said(&c), "answer:b"));
	calls_close(&c);
}

/* The calls beyond the limit took the places of those before, whose outputs nobody got then. */
TEST(no_output_is_lost_however_many_calls_a_turn_makes)
{
	struct engine_message m[2 * TOOLS_CALLS];
	struct calls c;
	char id[16];
	size_t n;

	CHECK(calls_open(&c));
	calls_call(&c, 1, "first", "look", "x");
	calls_output(&c, 1, "1");
	for (unsigned i = 0; i < 2 * TOOLS_CALLS; i++) {
		snprintf(id, sizeof id, "n%u", i);
		calls_said(&c);
		calls_call(&c, 1, id, "look", "x");
		CHECK_INT(calls_count(calls_said(&c), "answer:"), 1);
	}
	n = tools_run_messages(c.run, 1, m, 2 * TOOLS_CALLS);
	CHECK_INT(n, 2 * TOOLS_CALLS);
	CHECK_STR(m[0].call, "first");
	/* The next turn has places again. */
	calls_said(&c);
	calls_call(&c, 2, "next", "look", "x");
	CHECK(strstr(calls_said(&c), "start:"));
	calls_close(&c);
}

TEST(a_cancel_names_the_shell_of_a_tool_that_has_gone)
{
	const struct tool_output *cancel = NULL;
	const struct tool *look;
	const struct tool_shell *shell;
	struct calls c;

	CHECK(calls_open(&c));
	look = tools_registry_find(c.registry, "look");
	shell = look->shell;
	calls_call(&c, 1, "a", "look", "x");
	tools_registry_remove(c.registry, shell, look->arg);
	calls_step(&c, (struct tool_input){.type = TOOL_IN_ABORT, .turn = 1});
	for (size_t i = 0; i < c.out->n; i++)
		if (c.out->v[i].type == TOOL_DO_CANCEL)
			cancel = &c.out->v[i];
	CHECK(cancel && cancel->shell == shell);
	calls_close(&c);
}

TEST(a_call_of_several_peoples_turn_waits_for_a_yes)
{
	struct calls c;

	CHECK(calls_open(&c));
	calls_step(&c, (struct tool_input){.type = TOOL_IN_CALL,
					   .turn = 1,
					   .user = ALICE,
					   .shared = true,
					   .call = "a",
					   .tool = "ring"});
	CHECK(strstr(calls_said(&c), "needs_yes"));
	calls_step(&c, (struct tool_input){.type = TOOL_IN_CALL,
					   .turn = 1,
					   .user = ALICE,
					   .shared = true,
					   .call = "b",
					   .tool = "look"});
	CHECK(calls_count(calls_said(&c), "start") == 1 && c.out->v[c.out->n - 1].shared);
	calls_close(&c);
}

TEST(the_arguments_of_a_call_may_make_it_harmless)
{
	struct calls c;

	CHECK(calls_open(&c));
	calls_call(&c, 1, "a", "hand", "read");
	CHECK(strstr(calls_said(&c), "start:1:hand"));
	calls_call(&c, 1, "b", "hand", "write");
	CHECK(strstr(calls_said(&c), "needs_yes"));
	calls_close(&c);
}

TEST(a_call_that_the_provider_takes_back_stops_without_an_answer)
{
	struct engine_message m[2];
	struct calls c;
	const char *said;

	CHECK(calls_open(&c));
	calls_call(&c, 1, "a", "look", "x");
	calls_said(&c);
	calls_step(&c, (struct tool_input){.type = TOOL_IN_REVOKED, .session = 2, .call = "a"});
	CHECK_STR(calls_said(&c), "");
	calls_step(&c, (struct tool_input){.type = TOOL_IN_REVOKED, .session = 1, .call = "a"});
	said = calls_said(&c);
	CHECK(strstr(said, "cancel:1") && strstr(said, "end:1:stop settle:1:cancelled"));
	CHECK_INT(tools_run_messages(c.run, 1, m, 2), 0);
	calls_close(&c);
}
