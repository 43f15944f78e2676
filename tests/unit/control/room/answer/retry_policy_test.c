/* Answers that stay silent, and how the output stands: statements 24, 27, 28, 62 to 68, 92. */
#include "tests/test.h"

#include "proto/media.h"

#include "control/room/inside.h"
#include "proto/base/time.h"
#include "tests/unit/control/room/world.h"

/* Advances the clock to the policy's next step; returns the ms since the last. */
static unsigned next(struct room_retry *l, const struct settings *s, uint64_t *now,
		     enum room_retry_step want)
{
	uint64_t at = room_retry_deadline(l, s, 0), ms = (at - *now) / NS_PER_MS;

	if (at == UINT64_MAX || room_retry_tick(l, s, 0, at - 1) != ROOM_RETRY_WAIT ||
	    room_retry_tick(l, s, 0, at) != want)
		return 0;
	*now = at;
	return (unsigned)ms;
}

TEST(rule_003_024_two_retries_one_recovery_then_it_is_given_up)
{
	struct settings *s = NULL;
	struct room_retry l = {0};
	uint64_t now = 1000 * NS_PER_MS;

	CHECK_INT(settings_alloc(&s), 0);
	room_retry_asked(&l, now);
	CHECK_INT(next(&l, s, &now, ROOM_RETRY_AGAIN), 5200);
	CHECK_INT(next(&l, s, &now, ROOM_RETRY_AGAIN), 5200);
	CHECK_INT(next(&l, s, &now, ROOM_RETRY_RECOVER), 5200);
	CHECK_INT(next(&l, s, &now, ROOM_RETRY_GIVE_UP), 5200);
	/* Over without a sound: the same, sooner. */
	l = (struct room_retry){0};
	room_retry_asked(&l, now);
	CHECK(room_retry_done(&l, now));
	CHECK_INT(next(&l, s, &now, ROOM_RETRY_AGAIN), 1400);
	/* Sound ends it. */
	room_retry_audio(&l);
	CHECK(room_retry_deadline(&l, s, 0) == UINT64_MAX);
	CHECK(!room_retry_done(&l, now));
	settings_free(s);
}

TEST(speech_postpones_the_ladder_for_a_while)
{
	struct settings *s = NULL;
	struct room_retry l = {0};
	uint64_t now = 1000 * NS_PER_MS, silent;

	CHECK_INT(settings_alloc(&s), 0);
	room_retry_asked(&l, now);
	room_retry_word(&l, now);
	silent = now + s->silent_ms * NS_PER_MS;
	CHECK_INT(room_retry_tick(&l, s, silent + 100 * NS_PER_MS, silent), ROOM_RETRY_WAIT);
	CHECK(room_retry_deadline(&l, s, silent + 100 * NS_PER_MS) == silent + 100 * NS_PER_MS);
	CHECK_INT(
		room_retry_tick(&l, s, silent + 60000 * NS_PER_MS, silent + s->hold_ms * NS_PER_MS),
		ROOM_RETRY_AGAIN);
	settings_free(s);
}

TEST(rule_092_no_sign_of_life_ends_it_whoever_speaks)
{
	struct settings *s = NULL;
	struct room_retry l = {0};
	uint64_t now = 1000 * NS_PER_MS;

	CHECK_INT(settings_alloc(&s), 0);
	s->hold_ms = 10000;
	room_retry_asked(&l, now);
	CHECK_INT(room_retry_tick(&l, s, UINT64_MAX, now + 8999 * NS_PER_MS), ROOM_RETRY_WAIT);
	CHECK_INT(room_retry_tick(&l, s, UINT64_MAX, now + 9000 * NS_PER_MS), ROOM_RETRY_WATCHDOG);
	/* A turn of tools has longer, and its silence is no fault. */
	room_retry_tool(&l, true, true, now + 1000 * NS_PER_MS);
	CHECK_INT(room_retry_tick(&l, s, 0, now + 20999 * NS_PER_MS), ROOM_RETRY_WAIT);
	CHECK_INT(room_retry_tick(&l, s, 0, now + 21000 * NS_PER_MS), ROOM_RETRY_WATCHDOG);
	settings_free(s);
}

TEST(rule_027_a_turn_goes_on_while_its_tools_work)
{
	struct world w;
	uint32_t turn;

	for (unsigned spoken = 0; spoken < 2; spoken++) {
		world_begin(&w, "", 1);
		world_says(&w, 1, "parley what is on");
		turn = w.asked;
		if (spoken)
			world_brain_audio(&w, turn, 400);
		world_step(&w, (struct room_event){.type = ROOM_TOOL, .user = 1, .yes = true});
		CHECK_INT(room_output_state_now(&w.room->context).phase,
			  spoken ? ROOM_OUTPUT_SPEAKING_BUFFERED
				 : ROOM_OUTPUT_AWAITING_TOOL_OUTPUTS);
		world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = turn});
		world_until(&w, w.ms + 10000);
		CHECK_INT(w.did[ROOM_DO_RECORD], 0);
		CHECK_INT(w.did[ROOM_DO_ASK_AGAIN], 0);
		world_step(&w, (struct room_event){.type = ROOM_TOOL, .user = 1});
		CHECK_INT(w.did[ROOM_DO_ASK_AGAIN], 1);
		CHECK(room_active(w.room) && room_active(w.room)->id == turn);
		world_brain_audio(&w, turn, 400);
		world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = turn});
		CHECK_INT(w.did[ROOM_DO_SAY_END], 1);
		world_end(&w);
	}
}

/* A tool that was quicker than the end of the answer that called it. */
TEST(rule_027_an_output_that_came_before_the_answers_end_is_asked_about)
{
	struct world w;
	uint32_t turn;

	for (unsigned spoken = 0; spoken < 2; spoken++) {
		world_begin(&w, "", 1);
		world_says(&w, 1, "parley what is on");
		turn = w.asked;
		if (spoken)
			world_brain_audio(&w, turn, 400);
		world_step(&w, (struct room_event){.type = ROOM_TOOL, .user = 1, .yes = true});
		world_step(&w, (struct room_event){.type = ROOM_TOOL, .user = 1});
		CHECK_INT(w.did[ROOM_DO_ASK_AGAIN], 0);
		world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = turn});
		CHECK_INT(w.did[ROOM_DO_ASK_AGAIN], 1);
		CHECK_INT(w.did[ROOM_DO_SAY_END] + w.did[ROOM_DO_RECORD], 0);
		world_brain_audio(&w, turn, 400);
		world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = turn});
		CHECK_INT(w.did[ROOM_DO_ASK_AGAIN], 1);
		CHECK_INT(w.did[ROOM_DO_SAY_END], 1);
		world_end(&w);
	}
}

/* A voice model sends audio faster than it plays: once a backlog of 3 s or more has fallen to 1.5
 * s, the room asks for more, on the paths native and bridge. */
TEST(rule_028_a_voice_model_is_asked_for_more_when_little_of_its_audio_is_left)
{
	static const char *const paths[] = {"reply_path=native", "reply_path=bridge"};

	for (unsigned i = 0; i < 4; i++) {
		bool started_first = i >= 2;
		struct room_event started = {.type = ROOM_SAY_STARTED};
		struct world w;
		uint64_t ms;

		world_begin(&w, paths[i % 2], 1);
		world_step(&w, (struct room_event){.type = ROOM_INSTRUCTED});
		world_says(&w, 1, "parley what is on");
		started.turn = w.asked;
		world_brain_audio(&w, w.asked, 5000);
		ms = w.ms;
		started.at = ms * NS_PER_MS;
		if (started_first)
			world_step(&w, started);
		world_step(&w, (struct room_event){.type = ROOM_TOOL, .user = 1, .yes = true});
		world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = w.asked});
		world_step(&w, (struct room_event){.type = ROOM_TOOL, .user = 1});
		if (!started_first)
			world_step(&w, started);
		world_until(&w, ms + 3499);
		CHECK_INT(w.did[ROOM_DO_ASK_AGAIN], 0);
		world_until(&w, ms + 3502);
		CHECK_INT(w.did[ROOM_DO_ASK_AGAIN], 1);
		CHECK_INT(w.did[ROOM_DO_RECORD], 0);
		world_end(&w);
	}
}

TEST(rule_028_less_than_three_seconds_of_audio_are_no_reason_to_wait)
{
	struct world w;

	world_begin(&w, "reply_path=native", 1);
	world_says(&w, 1, "parley what is on");
	world_brain_audio(&w, w.asked, 2900);
	world_step(&w, (struct room_event){.type = ROOM_TOOL, .user = 1, .yes = true});
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = w.asked});
	world_step(&w, (struct room_event){.type = ROOM_TOOL, .user = 1});
	CHECK_INT(w.did[ROOM_DO_ASK_AGAIN], 1);
	world_end(&w);
}

/* Neither does a playback that never begins keep the turn for ever, nor one that is stopped. */
TEST(a_turn_that_waits_to_ask_for_more_ends)
{
	struct world w;

	for (unsigned stopped = 0; stopped < 2; stopped++) {
		world_begin(&w, "", 1);
		world_says(&w, 1, "parley what is on");
		world_brain_audio(&w, w.asked, 5000);
		world_step(&w, (struct room_event){.type = ROOM_TOOL, .user = 1, .yes = true});
		world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = w.asked});
		world_step(&w, (struct room_event){.type = ROOM_TOOL, .user = 1});
		if (stopped)
			world_step(&w,
				   (struct room_event){.type = ROOM_SAY_STOPPED, .turn = w.asked});
		else
			world_until(&w, w.ms + 30000);
		CHECK_INT(w.did[ROOM_DO_RECORD], 1);
		CHECK_INT(w.did[ROOM_DO_ASK_AGAIN], 0);
		world_until(&w, w.ms + 30000);
		CHECK_INT(w.did[ROOM_DO_ASK_AGAIN], 0);
		world_end(&w);
	}
}

/* What is read out waits as well, whichever model wrote it. */
TEST(rule_028_no_more_is_read_out_while_three_seconds_wait)
{
	static const char *const paths[] = {"reply_path=brain",
					    "reply_path=bridge answer_audio=speech",
					    "reply_path=native answer_audio=speech"};
	static const char words[] = "This is a first sentence. This is a second one. "
				    "This is a third sentence. This is a fourth one. ";

	for (unsigned i = 0; i < 3; i++) {
		static uint8_t pcm[5000 * 2 * ROOM_RATE / 1000];
		struct world w;
		uint64_t ms;

		world_begin(&w, paths[i], 1);
		world_step(&w, (struct room_event){.type = ROOM_INSTRUCTED});
		world_says(&w, 1, "parley what is on");
		world_step(&w, (struct room_event){.type = ROOM_BRAIN_TEXT,
						   .turn = w.asked,
						   .text = slice_str(words)});
		CHECK_INT(w.did[ROOM_DO_SPEAK], 1);
		world_step(&w, (struct room_event){.type = ROOM_SPEECH_AUDIO,
						   .turn = w.asked,
						   .chunk = 1,
						   .pcm = {pcm, sizeof pcm}});
		ms = w.ms;
		world_step(&w, (struct room_event){.type = ROOM_SAY_STARTED,
						   .turn = w.asked,
						   .at = ms * NS_PER_MS});
		world_step(&w, (struct room_event){
				       .type = ROOM_SPEECH_DONE, .turn = w.asked, .chunk = 1});
		world_until(&w, ms + 3499);
		CHECK_INT(w.did[ROOM_DO_SPEAK], 1);
		world_until(&w, ms + 3502);
		CHECK_INT(w.did[ROOM_DO_SPEAK], 2);
		world_end(&w);
	}
}

TEST(rule_066_after_the_tools_an_answer_is_awaited)
{
	struct world w;

	world_begin(&w, "", 1);
	world_says(&w, 1, "parley what is on");
	CHECK_STR(room_output_state_now(&w.room->context).reason, "pending_response");
	world_step(&w, (struct room_event){.type = ROOM_TOOL, .user = 1, .yes = true});
	CHECK_STR(room_output_state_now(&w.room->context).reason, "awaiting_tool_outputs");
	world_step(&w, (struct room_event){.type = ROOM_TOOL, .user = 1});
	CHECK_STR(room_output_state_now(&w.room->context).reason, "pending_response");
	world_end(&w);
}

TEST(rule_028_what_waits_is_taken_up_when_the_answer_drained_or_nothing_was_said)
{
	struct world w;
	uint32_t first, second;

	world_begin(&w, "interruptions=none", 2);
	first = world_answering(&w, 2000);
	world_says(&w, 2, "parley what about me");
	CHECK_INT(w.asked, first);
	world_step(&w,
		   (struct room_event){.type = ROOM_SAY_DRAINED, .turn = first, .samples = 48000});
	world_until(&w, w.ms + 3000);
	second = w.asked;
	CHECK(second != first);
	/* Held by a capture that ends without words. */
	world_brain_audio(&w, second, 200);
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = second});
	world_step(&w, (struct room_event){
			       .type = ROOM_SAY_STARTED, .turn = second, .at = w.ms * NS_PER_MS});
	world_says(&w, 1, "parley tell me too");
	world_sound(&w, 2, 600, 6000);
	world_step(&w,
		   (struct room_event){.type = ROOM_SAY_DRAINED, .turn = second, .samples = 4800});
	CHECK_INT(w.asked, second);
	world_sound_end(&w, 2);
	world_until(&w, w.ms + 150);
	world_words(&w, 2, "");
	world_until(&w, w.ms + 2500);
	CHECK(w.asked != second);
	world_end(&w);
}

TEST(rule_062_063_what_was_and_is_not_any_more_locks_nothing)
{
	struct world w;
	uint32_t turn;

	world_begin(&w, "", 1);
	turn = world_answering(&w, 1000);
	CHECK(room_output_state_now(&w.room->context).locked);
	world_step(&w,
		   (struct room_event){.type = ROOM_SAY_DRAINED, .turn = turn, .samples = 24000});
	CHECK(!room_output_state_now(&w.room->context).locked);
	/* Late facts of it. */
	world_step(&w, (struct room_event){
			       .type = ROOM_SAY_STARTED, .turn = turn, .at = w.ms * NS_PER_MS});
	world_brain_audio(&w, turn, 20);
	CHECK(!room_output_state_now(&w.room->context).locked);
	CHECK_STR(room_output_state_now(&w.room->context).reason, "idle");
	world_end(&w);
}

TEST(rule_064_065_the_answer_is_over_when_it_has_drained)
{
	struct world w;
	uint32_t turn;
	uint64_t since;

	world_begin(&w, "", 1);
	world_says(&w, 1, "parley tell me a story");
	turn = w.asked;
	world_brain_audio(&w, turn, 1000);
	CHECK_INT(room_output_state_now(&w.room->context).phase, ROOM_OUTPUT_SPEAKING_BUFFERED);
	since = w.room->output.at;
	world_until(&w, w.ms + 40);
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = turn});
	CHECK_INT(room_output_state_now(&w.room->context).phase, ROOM_OUTPUT_SPEAKING_BUFFERED);
	CHECK_INT(w.room->output.at, since);
	world_step(&w, (struct room_event){
			       .type = ROOM_SAY_STARTED, .turn = turn, .at = w.ms * NS_PER_MS});
	CHECK_INT(room_output_state_now(&w.room->context).phase, ROOM_OUTPUT_SPEAKING_LIVE);
	CHECK_INT(w.room->output.at, w.ms * NS_PER_MS);
	since = w.room->output.at;
	world_until(&w, w.ms + 900);
	world_step(&w, (struct room_event){.type = ROOM_TIMER});
	CHECK_INT(w.room->output.at, since);
	world_step(&w,
		   (struct room_event){.type = ROOM_SAY_DRAINED, .turn = turn, .samples = 24000});
	CHECK_INT(room_output_state_now(&w.room->context).phase, ROOM_OUTPUT_IDLE);
	world_end(&w);
}

TEST(rule_067_a_cut_makes_it_idle_at_once)
{
	struct world w;

	world_begin(&w, "barge_in_credit_ms=0", 1);
	world_answering(&w, 8000);
	world_until(&w, w.ms + 2000);
	world_sound(&w, 1, 1000, 6000);
	CHECK_INT(room_output_state_now(&w.room->context).phase,
		  ROOM_OUTPUT_SPEAKING_BUFFERED); /* it paused */
	world_sound(&w, 1, 100, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	CHECK_INT(room_output_state_now(&w.room->context).phase, ROOM_OUTPUT_IDLE);
	CHECK(!room_output_state_now(&w.room->context).locked);
	world_end(&w);
}

TEST(rule_068_music_locks_and_its_reason_comes_last)
{
	struct room_output_input f = {.music = true};
	struct room_output_state st = room_output_state(&f);

	CHECK(st.locked);
	CHECK_INT(st.phase, ROOM_OUTPUT_IDLE);
	CHECK_STR(st.reason, "music_playback_active");
	f.answering = true;
	CHECK_STR(room_output_state(&f).reason, "pending_response");
	f = (struct room_output_input){0}; /* paused music is none */
	CHECK(!room_output_state(&f).locked);
	f.inactive = true;
	CHECK_STR(room_output_state(&f).reason, "session_inactive");
}
