/* The cancellation contract of a turn, through room_step alone: statements 116 to 139, 147, 150 and
 * 151. */
#include "tests/test.h"

#include "proto/base/time.h"
#include "tests/unit/control/room/world.h"

/* The brain says `text` and sends ms of audio for the newest question; playback has started. The
 * brain may still have more to say. */
static uint32_t speak_answer(struct world *w, unsigned ms)
{
	uint32_t turn = w->asked;

	world_brain_audio(w, turn, ms);
	world_step(w, (struct room_event){
			      .type = ROOM_SAY_STARTED, .turn = turn, .at = w->ms * NS_PER_MS});
	return turn;
}

/* Alice asks by name, and two seconds of the answer have been played. */
static uint32_t begin_answer(struct world *w, const char *settings)
{
	uint32_t turn;

	world_begin(w, settings, 2);
	world_says(w, 1, "parley tell me a story");
	turn = speak_answer(w, 8000);
	world_until(w, w->ms + 2000);
	world_forget(w);
	return turn;
}

static unsigned count_cancellations(const struct world *w)
{
	return w->did[ROOM_DO_ASR_CANCEL] + w->did[ROOM_DO_BRAIN_CANCEL] +
	       w->did[ROOM_DO_SPEAK_CANCEL] + w->did[ROOM_DO_SAY_STOP];
}

static void stop_playback(struct world *w, uint32_t turn)
{
	world_step(w,
		   (struct room_event){.type = ROOM_SAY_STOPPED, .turn = turn, .samples = 24000});
}

static void speech_event(struct world *w, enum room_event_type type, uint32_t turn, uint32_t chunk)
{
	static const uint8_t pcm[9600];

	world_step(w,
		   (struct room_event){
			   .type = type, .turn = turn, .chunk = chunk, .pcm = {pcm, sizeof pcm}});
}

TEST(rule_116_a_new_turn_is_live_and_has_an_id_of_its_own)
{
	struct world w;
	uint32_t first;

	first = begin_answer(&w, "");
	CHECK_INT(room_active(w.room)->id, first);
	CHECK_INT(room_active(w.room)->abort, ROOM_ABORT_NONE);
	world_says(&w, 1, "stop");
	stop_playback(&w, first);
	world_says(&w, 1, "parley tell me another story");
	CHECK(w.asked != first);
	CHECK_INT(room_active(w.room)->abort, ROOM_ABORT_NONE);
	CHECK_INT(w.did[ROOM_DO_BRAIN_CANCEL], 1); /* of the first turn */
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	world_end(&w);
}

TEST(rule_117_118_the_first_reason_of_an_abort_stays)
{
	struct world w;
	uint32_t turn = begin_answer(&w, "");

	world_sound(&w, 1, 1100, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	CHECK_INT(room_active(w.room)->abort, ROOM_ABORT_BARGE_IN);
	/* Nobody else hears the answer: the leave of the asker is a second abort, while the sound
	 * fades. */
	world_step(&w, (struct room_event){.type = ROOM_MEMBER, .user = 2});
	world_step(&w, (struct room_event){.type = ROOM_MEMBER, .user = 1});
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	stop_playback(&w, turn);
	CHECK_INT(w.ended_turn, turn);
	CHECK_INT(w.ended_as.abort, ROOM_ABORT_BARGE_IN);
	CHECK_INT(w.ended, ROOM_REASON_INTERRUPTED);
	world_end(&w);
}

/* The brain, the line that is being made into speech, and the playback are all at work: each is
 * stopped once, in this order, and the turn is recorded after that. */
TEST(rule_119_120_131_work_ends_in_its_order_and_each_part_once)
{
	static const enum room_effect_type order[] = {ROOM_DO_BRAIN_CANCEL, ROOM_DO_SPEAK_CANCEL,
						      ROOM_DO_SAY_STOP, ROOM_DO_RECORD};
	static const char text[] = "Once upon a time there was a very small dog. It ran away. "
				   "Then it came back to the house. It was cold. ";
	struct world w;
	uint32_t turn;

	world_begin(&w, "reply_path=brain interruptions=anyone", 1);
	world_says(&w, 1, "parley tell me a story");
	turn = w.asked;
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_TEXT,
					   .turn = turn,
					   .text = {(const uint8_t *)text, sizeof text - 1}});
	CHECK_INT(w.did[ROOM_DO_SPEAK], 1);
	speech_event(&w, ROOM_SPEECH_AUDIO, turn, w.last[ROOM_DO_SPEAK].chunk);
	world_forget(&w);
	world_step(&w, (struct room_event){.type = ROOM_MEMBER, .user = 1});
	for (size_t i = 0; i < 3; i++)
		CHECK_INT(w.did[order[i]], 1);
	CHECK(world_order(&w, ROOM_DO_BRAIN_CANCEL, ROOM_DO_SPEAK_CANCEL));
	CHECK(world_order(&w, ROOM_DO_SPEAK_CANCEL, ROOM_DO_SAY_STOP));
	stop_playback(&w, turn);
	CHECK(world_order(&w, ROOM_DO_SAY_STOP, ROOM_DO_RECORD));
	CHECK_INT(count_cancellations(&w), 3);
	world_end(&w);
}

TEST(rule_121_122_what_comes_late_is_dropped_and_what_is_done_is_not_cancelled)
{
	struct world w;
	uint32_t turn;

	turn = begin_answer(&w, "");
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = turn});
	world_sound(&w, 1, 1100, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	CHECK_INT(w.did[ROOM_DO_BRAIN_CANCEL], 0); /* the brain had said all */
	world_end(&w);

	turn = begin_answer(&w, "");
	world_sound(&w, 1, 1100, 6000);
	CHECK_INT(w.did[ROOM_DO_BRAIN_CANCEL], 1);
	world_brain_audio(&w, turn, 400);
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = turn});
	CHECK_INT(w.did[ROOM_DO_SAY_PCM], 0);
	CHECK_INT(w.did[ROOM_DO_SAY_END], 0);
	stop_playback(&w, turn);
	world_brain_audio(&w, turn, 400);
	CHECK_INT(w.did[ROOM_DO_SAY_PCM], 0);
	world_end(&w);
}

TEST(rule_123_136_139_the_end_of_the_room_aborts_every_turn_and_nothing_follows)
{
	struct world w;
	uint32_t turn = begin_answer(&w, "interruptions=none");

	world_says(&w, 2, "parley what time is it"); /* waits until the bot has finished */
	CHECK_INT(w.did[ROOM_DO_DEFER], 1);
	world_sound(&w, 2, 500, 6000); /* and more is being said */
	world_forget(&w);
	world_step(&w, (struct room_event){.type = ROOM_SHUTDOWN});
	CHECK_INT(w.did[ROOM_DO_RECORD], 3);
	CHECK_INT(w.ended_as.abort, ROOM_ABORT_EXTERNAL);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	CHECK_INT(w.last[ROOM_DO_SAY_STOP].turn, turn);
	world_forget(&w);
	world_step(&w, (struct room_event){.type = ROOM_SHUTDOWN});
	world_step(&w, (struct room_event){.type = ROOM_CALL, .yes = true});
	world_step(&w, (struct room_event){.type = ROOM_MEMBER, .user = 1, .yes = true});
	world_says(&w, 1, "parley are you there");
	world_until(&w, w.ms + 60000);
	CHECK_INT(count_cancellations(&w), 0);
	CHECK_INT(w.did[ROOM_DO_ASK] + w.did[ROOM_DO_RECORD], 0);
	CHECK(room_deadline(w.room) == UINT64_MAX);
	world_end(&w);
}

/* The five reasons, each by what brings it about in a room. */
TEST(rule_124_132_133_134_each_way_to_stop_has_its_reason_and_works_once)
{
	struct world w;
	uint32_t turn;

	CHECK_INT(ROOM_ABORT_COUNT, 6); /* with NONE */

	world_begin(&w, "", 1);
	world_sound(&w, 1, 1100, 6000); /* there is nothing to stop */
	CHECK_INT(count_cancellations(&w), 0);
	world_end(&w);

	turn = begin_answer(&w, "");
	world_sound(&w, 1, 3000, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	CHECK_INT(room_active(w.room)->abort, ROOM_ABORT_BARGE_IN);
	world_end(&w);

	turn = begin_answer(&w, "interruptions=none");
	world_says(&w, 1, "stop");
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	stop_playback(&w, turn);
	CHECK_INT(w.ended_as.abort, ROOM_ABORT_USER_CANCEL);
	world_end(&w);

	world_begin(&w, "", 1);
	world_sound(&w, 1, 1000, 6000);
	world_step(&w, (struct room_event){.type = ROOM_EOT,
					   .user = 1,
					   .utterance = w.utterance[1],
					   .probability = 900,
					   .text = {(const uint8_t *)"what time is it", 15}});
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	world_partial(&w, 1, "what time is it in Rome");
	CHECK_INT(w.ended_as.abort, ROOM_ABORT_EOT_REVOKED);
	CHECK_INT(w.did[ROOM_DO_BRAIN_CANCEL], 1);
	world_end(&w);

	begin_answer(&w, "");
	world_step(&w, (struct room_event){.type = ROOM_SHUTDOWN});
	CHECK_INT(w.ended_as.abort, ROOM_ABORT_EXTERNAL);
	world_end(&w);
}

TEST(rule_125_126_127_137_one_turn_has_the_floor_and_the_newer_one_survives)
{
	struct world w;
	uint32_t older, newer;

	world_begin(&w, "", 1);
	CHECK(!room_active(w.room));
	world_says(&w, 1, "parley tell me a story");
	older = w.asked;
	CHECK_INT(room_active(w.room)->id, older);
	/* More of the same speaker before the answer is heard takes its place. */
	world_says(&w, 1, "about a dog");
	newer = w.asked;
	CHECK(newer != older);
	CHECK_INT(w.ended_turn, older);
	CHECK_INT(w.ended, ROOM_REASON_SUPERSEDED);
	CHECK_INT(w.ended_as.abort, ROOM_ABORT_EXTERNAL);
	CHECK_INT(w.did[ROOM_DO_BRAIN_CANCEL], 1);
	CHECK_INT(w.last[ROOM_DO_BRAIN_CANCEL].turn, older);
	CHECK_INT(room_active(w.room)->id, newer);
	CHECK_INT(room_active(w.room)->abort, ROOM_ABORT_NONE);
	world_end(&w);
}

TEST(rule_128_129_all_turns_end_at_once_and_freeing_a_room_ends_none)
{
	struct world w;

	begin_answer(&w, "");
	world_says(&w, 2, "parley what time is it");
	world_step(&w, (struct room_event){.type = ROOM_SHUTDOWN});
	CHECK_INT(w.did[ROOM_DO_RECORD], 2);
	CHECK(!room_active(w.room));
	world_end(&w);

	begin_answer(&w, "");
	world_end(&w); /* with a turn alive: no effect goes out, nothing is lost (ASan) */
}

TEST(rule_130_an_aborted_turn_has_left_the_floor_and_its_late_events_touch_nobody)
{
	struct world w;
	uint32_t older, newer;

	world_begin(&w, "", 1);
	world_says(&w, 1, "parley tell me a story");
	older = w.asked;
	world_says(&w, 1, "stop");
	CHECK(!room_active(w.room));
	world_says(&w, 1, "parley what time is it");
	newer = w.asked;
	CHECK_INT(room_active(w.room)->id, newer);
	world_forget(&w);
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = older});
	stop_playback(&w, older);
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_FAILED, .turn = older});
	CHECK_INT(room_active(w.room)->id, newer);
	CHECK_INT(count_cancellations(&w) + w.did[ROOM_DO_RECORD], 0);
	world_end(&w);
}

TEST(rule_135_what_ended_by_itself_is_not_cancelled)
{
	struct world w;
	uint32_t turn;

	world_begin(&w, "", 2);
	world_says(&w, 1, "parley tell me a story");
	turn = w.asked;
	world_sound(&w, 2, 500, 6000);
	world_forget(&w);
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_FAILED, .turn = turn});
	CHECK_INT(w.ended_turn, turn);
	CHECK_INT(w.ended, ROOM_REASON_BRAIN_FAILED);
	CHECK_INT(count_cancellations(&w), 0);
	CHECK_INT(w.did[ROOM_DO_RECORD], 1); /* Bob's turn goes on */
	world_end(&w);
}

TEST(rule_138_a_voice_stops_nothing_where_nobody_may)
{
	struct world w;

	begin_answer(&w, "interruptions=none");
	world_sound(&w, 1, 3000, 6000);
	CHECK_INT(count_cancellations(&w), 0);
	CHECK_INT(room_active(w.room)->abort, ROOM_ABORT_NONE);
	world_end(&w);

	begin_answer(&w, "interruptions=anyone");
	world_sound(&w, 2, 3000, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	world_end(&w);
}

TEST(rule_147_a_voice_over_the_bot_ends_all_of_the_turn_at_once)
{
	struct world w;
	uint32_t first;

	world_begin(&w, "barge_in_credit_ms=0", 1);
	world_says(&w, 1, "parley tell me a story");
	first = w.asked;
	world_brain_audio(&w, first, 8000);
	world_step(&w, (struct room_event){
			       .type = ROOM_SAY_STARTED, .turn = first, .at = w.ms * NS_PER_MS});
	world_until(&w, w.ms + 2000);
	world_forget(&w);
	world_sound(&w, 1, 1080, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 0);
	world_sound(&w, 1, 20, 6000);
	/* In the step that confirms it, and within the fade. */
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	CHECK(w.last[ROOM_DO_SAY_STOP].ms <= 100);
	CHECK_INT(w.last[ROOM_DO_SAY_STOP].turn, first);
	CHECK_INT(w.did[ROOM_DO_BRAIN_CANCEL], 1);
	CHECK_INT(w.last[ROOM_DO_BRAIN_CANCEL].turn, first);
	world_until(&w, w.ms + 60);
	world_step(&w,
		   (struct room_event){.type = ROOM_SAY_STOPPED, .turn = first, .samples = 24000});
	CHECK_INT(w.ended_as.abort, ROOM_ABORT_BARGE_IN);
	world_sound(&w, 1, 400, 6000);
	world_sound_end(&w, 1);
	world_until(&w, w.ms + 150);
	world_words(&w, 1, "no the other story");
	CHECK(w.asked > first);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1); /* the newer turn lives */
	CHECK_INT(w.did[ROOM_DO_BRAIN_CANCEL], 1);
	world_end(&w);
}

TEST(rule_150_two_rooms_know_nothing_of_one_another)
{
	struct world a, b;
	uint32_t turn;

	world_begin(&a, "", 1);
	world_begin(&b, "", 1);
	world_answering(&a, 8000);
	turn = world_answering(&b, 8000);
	world_until(&a, a.ms + 2000);
	world_sound(&a, 1, 1120, 6000);
	CHECK_INT(a.did[ROOM_DO_SAY_STOP], 1);
	CHECK_INT(b.did[ROOM_DO_SAY_STOP], 0);
	CHECK(room_active(b.room) && room_active(b.room)->id == turn);
	CHECK_INT(room_active(b.room)->abort, ROOM_ABORT_NONE);
	world_end(&a);
	world_end(&b);
}

TEST(rule_151_what_takes_too_long_is_aborted_by_timeout)
{
	struct world w;

	world_begin(&w, "", 1);
	world_says(&w, 1, "parley tell me a story");
	world_brain_audio(&w, w.asked, 400);
	world_step(&w, (struct room_event){
			       .type = ROOM_SAY_STARTED, .turn = w.asked, .at = w.ms * NS_PER_MS});
	world_until(&w, w.ms + w.settings->stall_ms);
	CHECK_INT(w.did[ROOM_DO_BRAIN_CANCEL], 1);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	CHECK_INT(room_active(w.room)->abort, ROOM_ABORT_TIMEOUT);
	world_end(&w);
}

/* Alice asks, and so does Bob before her turn is taken up: one turn with the words of both. */
static void ask_together(struct world *w, unsigned first_audio)
{
	world_begin(w, "transcript_batch_ms=4000", 3);
	world_says(w, 1, "parley what time is it");
	world_says(w, 2, "parley how is the weather");
	if (first_audio)
		world_until(w, w->ms + 4000);
	CHECK_INT(w->did[ROOM_DO_ASK], first_audio ? 1 : 0);
	world_forget(w);
}

TEST(a_speaker_cancels_no_words_of_others_that_wait)
{
	struct world w;

	ask_together(&w, 0);
	world_says(&w, 1, "never mind");
	CHECK_INT(w.ended, ROOM_REASON_CANCELLED);
	world_until(&w, w.ms + 6000);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK(strstr(w.ask, "weather") && !strstr(w.ask, "time"));
	world_end(&w);
}

TEST(the_second_speaker_of_a_turn_cancels_their_words_alone)
{
	struct world w;

	ask_together(&w, 0);
	world_says(&w, 2, "never mind");
	world_until(&w, w.ms + 6000);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK(strstr(w.ask, "time") && !strstr(w.ask, "weather"));
	world_end(&w);
}

TEST(a_speaker_cancels_no_words_of_others_that_were_asked)
{
	struct world w;
	uint32_t both;

	ask_together(&w, 1);
	both = w.asked;
	world_says(&w, 1, "never mind");
	CHECK_INT(w.ended, ROOM_REASON_CANCELLED);
	world_until(&w, w.ms + 6000);
	CHECK(w.asked != both);
	CHECK(strstr(w.ask, "weather") && !strstr(w.ask, "time"));
	world_end(&w);
}

TEST(a_speaker_who_calls_the_bot_cancels_the_question_of_both)
{
	struct world w;

	ask_together(&w, 1);
	world_says(&w, 1, "parley stop");
	world_until(&w, w.ms + 6000);
	CHECK_INT(w.did[ROOM_DO_ASK], 0);
	world_end(&w);
}
