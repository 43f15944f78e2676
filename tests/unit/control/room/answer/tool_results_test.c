/* Outputs of tools in the room: what follows them, the words while they are slow, and results that
 * come later. */
#include "tests/test.h"
#include "tests/unit/control/room/world.h"

#include "proto/media.h"

static void tool(struct world *w, bool on, uint32_t follow)
{
	world_step(w, (struct room_event){.type = ROOM_TOOL,
					  .user = 1,
					  .turn = w->asked,
					  .yes = on,
					  .follow = follow,
					  .text = slice_str(on ? "" : "look: seven")});
}

static void brain_done(struct world *w)
{
	world_step(w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = w->asked});
}

/* Alice has asked, and the brain calls a tool in place of an answer. */
static void begin_called(struct world *w, const char *settings)
{
	world_begin(w, settings, 1);
	world_says(w, 1, "parley what is it");
	world_until(w, w->ms + 1500);
	tool(w, true, 0);
	brain_done(w);
	world_forget(w);
}

TEST(outputs_that_want_no_words_end_the_turn)
{
	static struct world w;

	begin_called(&w, "guest=off");
	tool(&w, false, ROOM_TOOL_QUIET);
	CHECK_INT(w.did[ROOM_DO_ASK_AGAIN], 0);
	CHECK_INT(w.did[ROOM_DO_RECORD], 1);
	CHECK_INT(w.ended, ROOM_REASON_NO_ANSWER);
	world_end(&w);
}

TEST(rule_100_a_tool_that_stays_silent_ends_the_turn_without_words)
{
	static struct world w;

	begin_called(&w, "guest=off");
	tool(&w, false, ROOM_TOOL_SILENCE);
	CHECK_INT(w.did[ROOM_DO_ASK_AGAIN], 0);
	CHECK_INT(w.did[ROOM_DO_SAY_OPEN], 0);
	CHECK_INT(w.ended, ROOM_REASON_NO_ANSWER);
	world_end(&w);
}

TEST(outputs_together_make_one_request_to_go_on)
{
	static struct world w;

	begin_called(&w, "guest=off");
	tool(&w, true, 0);
	tool(&w, false, ROOM_TOOL_QUIET);
	CHECK_INT(w.did[ROOM_DO_ASK_AGAIN], 0);
	tool(&w, false, ROOM_TOOL_GOES_ON);
	CHECK_INT(w.did[ROOM_DO_ASK_AGAIN], 1);
	world_end(&w);
}

TEST(rule_095_an_aborted_turn_cancels_its_tools)
{
	static struct world w;

	begin_called(&w, "guest=off");
	world_step(&w, (struct room_event){.type = ROOM_MEMBER, .user = 1});
	CHECK_INT(w.did[ROOM_DO_TOOL_CANCEL], 1);
	CHECK_INT(w.last[ROOM_DO_TOOL_CANCEL].turn, w.asked);
	world_end(&w);
	/* A turn whose tools are done has none to cancel. */
	begin_called(&w, "guest=off");
	tool(&w, false, ROOM_TOOL_GOES_ON);
	world_step(&w, (struct room_event){.type = ROOM_MEMBER, .user = 1});
	CHECK_INT(w.did[ROOM_DO_TOOL_CANCEL], 0);
	world_end(&w);
}

TEST(words_bridge_a_slow_tool_where_the_answer_is_read_out)
{
	static struct world w;

	begin_called(&w, "guest=off reply_path=brain");
	world_step(&w, (struct room_event){.type = ROOM_TOOL_WAIT, .turn = w.asked});
	CHECK_INT(w.did[ROOM_DO_SPEAK], 1);
	world_end(&w);
}

static void line_audio(struct world *w)
{
	static const uint8_t pcm[4800];

	world_step(w, (struct room_event){.type = ROOM_SPEECH_AUDIO,
					  .turn = w->asked,
					  .chunk = ROOM_LINE_CHUNK,
					  .pcm = {pcm, sizeof pcm}});
}

static void line_done(struct world *w)
{
	world_step(w, (struct room_event){.type = ROOM_SPEECH_DONE,
					  .turn = w->asked,
					  .chunk = ROOM_LINE_CHUNK});
}

/* The answer is complete before its tools are known: it ends, and nothing is said behind it. */
TEST(no_words_follow_a_complete_answer)
{
	static const uint8_t pcm[4800];
	static struct world w;

	world_begin(&w, "guest=off", 1);
	world_says(&w, 1, "parley what is it");
	world_until(&w, w.ms + 1500);
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_AUDIO,
					   .turn = w.asked,
					   .pcm = {pcm, sizeof pcm}});
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = w.asked});
	tool(&w, true, 0);
	world_step(&w, (struct room_event){.type = ROOM_TOOL_WAIT, .turn = w.asked});
	line_audio(&w);
	CHECK_INT(w.did[ROOM_DO_SAY_END], 1);
	CHECK_INT(w.did[ROOM_DO_SPEAK], 0);
	CHECK_INT(w.did[ROOM_DO_SAY_PCM], 1);
	world_end(&w);
}

TEST(words_bridge_a_slow_tool_of_a_voice_model)
{
	static struct world w;

	begin_called(&w, "guest=off");
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = w.asked});
	world_step(&w, (struct room_event){.type = ROOM_TOOL_WAIT, .turn = w.asked});
	CHECK_INT(w.did[ROOM_DO_SPEAK], 1);
	CHECK_INT(w.last[ROOM_DO_SPEAK].chunk, ROOM_LINE_CHUNK);
	line_audio(&w);
	line_audio(&w);
	line_done(&w);
	CHECK_INT(w.did[ROOM_DO_SAY_PCM], 2);
	CHECK_INT(w.did[ROOM_DO_SAY_OPEN], 1);
	CHECK_INT(w.did[ROOM_DO_SAY_END], 0);
	/* The tool takes longer than an answer may stall: the turn goes on. */
	world_until(&w, w.ms + 12000);
	CHECK_INT(w.did[ROOM_DO_RECORD], 0);
	tool(&w, false, ROOM_TOOL_GOES_ON);
	world_until(&w, w.ms + 500);
	CHECK_INT(w.did[ROOM_DO_ASK_AGAIN], 1);
	/* The answer follows in the same playback. */
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_AUDIO,
					   .turn = w.asked,
					   .pcm = {(const uint8_t *)"abcd", 4}});
	CHECK_INT(w.did[ROOM_DO_SAY_OPEN], 1);
	CHECK_INT(w.did[ROOM_DO_SPEAK_CANCEL], 0);
	world_end(&w);
}

TEST(words_that_come_too_late_are_dropped)
{
	static struct world w;

	/* The tool was faster. */
	begin_called(&w, "guest=off");
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = w.asked});
	world_step(&w, (struct room_event){.type = ROOM_TOOL_WAIT, .turn = w.asked});
	tool(&w, false, ROOM_TOOL_GOES_ON);
	line_audio(&w);
	CHECK_INT(w.did[ROOM_DO_SAY_PCM], 0);
	CHECK_INT(w.did[ROOM_DO_SPEAK_CANCEL], 1);
	world_end(&w);
	/* The model speaks after all. */
	begin_called(&w, "guest=off");
	world_step(&w, (struct room_event){.type = ROOM_TOOL_WAIT, .turn = w.asked});
	line_audio(&w);
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_AUDIO,
					   .turn = w.asked,
					   .pcm = {(const uint8_t *)"abcd", 4}});
	CHECK_INT(w.did[ROOM_DO_SPEAK_CANCEL], 1);
	line_audio(&w);
	CHECK_INT(w.did[ROOM_DO_SAY_PCM], 2);
	world_end(&w);
}

TEST(an_interruption_ends_the_words_of_a_slow_tool)
{
	static struct world w;

	begin_called(&w, "guest=off");
	world_step(&w, (struct room_event){.type = ROOM_TOOL_WAIT, .turn = w.asked});
	line_audio(&w);
	world_step(&w, (struct room_event){.type = ROOM_MEMBER, .user = 1});
	CHECK_INT(w.did[ROOM_DO_SPEAK_CANCEL], 1);
	CHECK_INT(w.did[ROOM_DO_TOOL_CANCEL], 1);
	world_end(&w);
}

static void late(struct world *w, bool told)
{
	world_step(w, (struct room_event){.type = ROOM_TOOL_RESULT,
					  .user = 1,
					  .yes = told,
					  .text = slice_str("look: it is ready")});
}

TEST(a_late_result_is_told_when_the_floor_is_free)
{
	static struct world w;

	world_begin(&w, "guest=off greet=no", 1);
	world_answering(&w, 1000);
	world_forget(&w);
	late(&w, true);
	world_until(&w, w.ms + 300);
	CHECK_INT(w.did[ROOM_DO_ASK], 0);
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = w.asked});
	world_step(&w, (struct room_event){
			       .type = ROOM_SAY_DRAINED, .turn = w.asked, .samples = 24000});
	world_until(&w, w.ms + 3000);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK(strstr(w.ask, "it is ready"));
	world_end(&w);
}

/* Somebody asked for it, so it is no thought of the bot's own. */
TEST(a_late_result_is_told_where_thoughts_are_not)
{
	static const char *const settings[] = {"guest=off command_only=on", "guest=on",
					       "guest=off volition=off"};
	static struct world w;

	for (unsigned i = 0; i < sizeof settings / sizeof settings[0]; i++) {
		world_begin(&w, settings[i], 1);
		world_forget(&w);
		late(&w, true);
		world_until(&w, w.ms + 3000);
		CHECK_INT(w.did[ROOM_DO_ASK], 1);
		CHECK(strstr(w.ask, "it is ready"));
		world_end(&w);
	}
}

TEST(a_result_that_somebody_spoke_before_is_told_again)
{
	static struct world w;

	world_begin(&w, "guest=off greet=no", 1);
	late(&w, true);
	world_until(&w, w.ms + 1000);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	world_says(&w, 1, "parley hold on please what about this");
	CHECK_INT(w.ended, ROOM_REASON_THOUGHT_WITHDRAWN);
	world_until(&w, w.ms + 1500);
	CHECK(strstr(w.ask, "what about this"));
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_FAILED, .turn = w.asked});
	world_until(&w, w.ms + 3000);
	CHECK(strstr(w.ask, "it is ready"));
	world_end(&w);
}

TEST(a_result_that_nobody_waits_for_is_only_noted)
{
	static struct world w;

	world_begin(&w, "guest=off greet=no reply_path=brain", 1);
	late(&w, false);
	world_until(&w, w.ms + 5000);
	CHECK_INT(w.did[ROOM_DO_ASK], 0);
	world_says(&w, 1, "parley what is it");
	world_until(&w, w.ms + 1500);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK(strstr(w.instructions, "look: it is ready"));
	world_end(&w);
}

/* It may quote what the memory knew of the person. */
TEST(a_withdrawn_consent_ends_the_notes)
{
	static struct world w;

	world_begin(&w, "guest=off greet=no reply_path=brain", 1);
	late(&w, false);
	world_step(&w, (struct room_event){.type = ROOM_WITHDRAWN, .user = 2});
	world_says(&w, 1, "parley what is it");
	world_until(&w, w.ms + 1500);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK(!strstr(w.instructions, "look: it is ready"));
	world_end(&w);
}

/* Notes stand in the instructions. */
TEST(a_note_holds_none_of_a_strangers_words)
{
	static struct world w;

	world_begin(&w, "guest=off greet=no reply_path=brain", 1);
	world_step(&w, (struct room_event){.type = ROOM_TOOL_RESULT,
					   .user = 1,
					   .tainted = true,
					   .text = slice_str("look: ring the bell")});
	world_says(&w, 1, "parley what is it");
	world_until(&w, w.ms + 1500);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK(!strstr(w.instructions, "ring the bell"));
	CHECK(strstr(w.instructions, "look: its result was not told"));
	world_end(&w);
}

/* The agent judges a yes by the words that the model is asked about. */
TEST(a_revised_yes_is_asked_about_anew)
{
	static struct world w;
	const struct room_turn *t;

	world_begin(&w, "guest=off", 1);
	world_says(&w, 1, "parley go ahead");
	world_until(&w, w.ms + 600);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	world_words(&w, 1, "parley don't go ahead");
	world_until(&w, w.ms + 3000);
	CHECK_INT(w.did[ROOM_DO_ASK], 2);
	CHECK_INT(w.ended, ROOM_REASON_SUPERSEDED);
	t = room_active(w.room);
	CHECK(t && strcmp(t->transcript, "parley don't go ahead") == 0);
	world_end(&w);
}

static void order(struct world *w, const char *say)
{
	world_step(w, (struct room_event){.type = ROOM_ORDER,
					  .yes = say != NULL,
					  .message = say ? 7 : 0,
					  .text = slice_str(say ? say : "")});
}

TEST(an_operators_words_are_said_when_the_floor_is_free)
{
	static struct world w;

	world_begin(&w, "guest=off greet=no", 1);
	world_answering(&w, 1000);
	world_forget(&w);
	order(&w, "dinner is ready");
	world_until(&w, w.ms + 300);
	CHECK_INT(w.did[ROOM_DO_ASK], 0);
	CHECK(room_holds_order(w.room, 7));
	CHECK(!room_holds_order(w.room, 0));
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = w.asked});
	world_step(&w, (struct room_event){
			       .type = ROOM_SAY_DRAINED, .turn = w.asked, .samples = 24000});
	world_until(&w, w.ms + 3000);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK(strstr(w.ask, "these words and no others: dinner is ready"));
	CHECK(room_holds_order(w.room, 7));
	world_end(&w);
}

TEST(an_operator_stops_the_answer_and_the_words_that_wait)
{
	static struct world w;

	world_begin(&w, "guest=off greet=no", 1);
	world_answering(&w, 1000);
	world_forget(&w);
	order(&w, "dinner is ready");
	order(&w, NULL);
	CHECK(!room_holds_order(w.room, 7));
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	world_step(&w,
		   (struct room_event){.type = ROOM_SAY_STOPPED, .turn = w.asked, .samples = 2400});
	CHECK_INT(w.ended, ROOM_REASON_CANCELLED);
	world_until(&w, w.ms + 5000);
	CHECK_INT(w.did[ROOM_DO_ASK], 0);
	/* The room goes on. */
	world_says(&w, 1, "parley what is it");
	world_until(&w, w.ms + 1500);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	world_end(&w);
}

static void ask_in_writing(struct world *w, uint64_t user, const char *text)
{
	world_step(w, (struct room_event){
			      .type = ROOM_WRITTEN, .user = user, .text = slice_str(text)});
}

TEST(a_question_in_writing_is_answered_by_voice_when_the_floor_is_free)
{
	static struct world w;
	const struct room_turn *t;

	world_begin(&w, "guest=off greet=no", 1);
	world_answering(&w, 1000);
	world_forget(&w);
	ask_in_writing(&w, 1, "what is\nthe capital of France");
	world_until(&w, w.ms + 300);
	CHECK_INT(w.did[ROOM_DO_ASK], 0);
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = w.asked});
	world_step(&w, (struct room_event){
			       .type = ROOM_SAY_DRAINED, .turn = w.asked, .samples = 24000});
	world_until(&w, w.ms + 3000);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK(strstr(w.ask, "wants the answer by voice: what is the capital of France"));
	t = room_active(w.room);
	/* Nobody spoke, so tools with side effects are not for this turn. */
	CHECK(t && !t->user);
	CHECK(t && t->quoted_user == 1);
	/* When it was written, not when its turn began. */
	CHECK(t && t->quoted_since && t->quoted_since < t->born_at);
	world_end(&w);
}

TEST(a_question_in_writing_goes_with_its_writers_consent)
{
	static struct world w;

	world_begin(&w, "guest=off greet=no", 1);
	world_answering(&w, 1000);
	world_forget(&w);
	ask_in_writing(&w, 1, "what is the capital of France");
	world_step(&w, (struct room_event){.type = ROOM_WITHDRAWN, .user = 1});
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = w.asked});
	world_step(&w, (struct room_event){
			       .type = ROOM_SAY_DRAINED, .turn = w.asked, .samples = 24000});
	world_until(&w, w.ms + 5000);
	CHECK_INT(w.did[ROOM_DO_ASK], 0);
	world_end(&w);
}
