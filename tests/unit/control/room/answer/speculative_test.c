/* Speculative answers: statements 140 to 146, 149; and when the room counts as alive: 48.
 */
#include "tests/test.h"

#include <math.h>

#include "control/room/inside.h"
#include "proto/base/time.h"
#include "tests/unit/control/room/world.h"

enum {
	AUTO = SETTINGS_SPECULATIVE_AUTO,
	ON = SETTINGS_SPECULATIVE_ON,
	OFF = SETTINGS_SPECULATIVE_OFF
};

TEST(rule_140_141_143_144_the_power_decides_unless_somebody_did)
{
	CHECK(room_speculative_allowed(AUTO, ROOM_POWER_MAINS));
	CHECK(room_speculative_allowed(AUTO, ROOM_POWER_UNKNOWN));
	CHECK(!room_speculative_allowed(AUTO, ROOM_POWER_BATTERY));
	CHECK(room_speculative_allowed(ON, ROOM_POWER_BATTERY));
	CHECK(!room_speculative_allowed(OFF, ROOM_POWER_MAINS)); /* pinned */
	CHECK(!room_speculative_allowed(OFF, ROOM_POWER_UNKNOWN));
}

TEST(rule_142_the_chance_must_reach_the_threshold)
{
	CHECK(room_speculative_starts(AUTO, ROOM_POWER_MAINS, 600, 0.6));
	CHECK(!room_speculative_starts(AUTO, ROOM_POWER_MAINS, 600, 0.599));
	CHECK(room_speculative_starts(AUTO, ROOM_POWER_MAINS, 300, 0.3));
	CHECK(!room_speculative_starts(AUTO, ROOM_POWER_MAINS, 0, NAN));
}

static void eot(struct world *w, uint32_t share, const char *text)
{
	world_step(w, (struct room_event){.type = ROOM_EOT,
					  .user = 1,
					  .utterance = w->utterance[1],
					  .probability = share,
					  .text = {(const uint8_t *)text, strlen(text)}});
}

static void power(struct world *w, const char *what)
{
	world_step(w, (struct room_event){.type = ROOM_POWER,
					  .text = {(const uint8_t *)what, strlen(what)}});
}

TEST(rule_144_145_what_is_denied_asks_nobody)
{
	struct world w;

	world_begin(&w, "", 1);
	power(&w, "battery");
	world_sound(&w, 1, 600, 6000);
	eot(&w, 900, "what time is it");
	CHECK_INT(w.did[ROOM_DO_ASK], 0);
	power(&w, "mains"); /* it was plugged in */
	eot(&w, 599, "what time is it");
	eot(&w, 1001, "what time is it"); /* no number */
	CHECK_INT(w.did[ROOM_DO_ASK], 0);
	eot(&w, 600, "what time is it");
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	world_end(&w);
}

TEST(rule_146_the_brain_is_asked_in_the_step_that_hears_the_end)
{
	struct world w;
	uint32_t turn;
	uint64_t at;

	world_begin(&w, "", 1);
	world_sound(&w, 1, 1000, 6000);
	eot(&w, 900, "what time is it");
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK_STR(w.ask, "[Alice]: what time is it");
	turn = w.asked;
	world_brain_audio(&w, turn, 500);
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = turn});
	CHECK_INT(w.did[ROOM_DO_SAY_OPEN], 0); /* held back */
	world_sound_end(&w, 1);
	world_until(&w, w.ms + 150);
	at = w.ms;
	world_words(&w, 1, "What time is it?");
	CHECK_INT(w.did[ROOM_DO_ASK], 1); /* not again */
	CHECK_INT(w.did[ROOM_DO_SAY_OPEN], 1);
	CHECK_INT(w.last[ROOM_DO_SAY_OPEN].turn, turn);
	CHECK_INT(w.did[ROOM_DO_SAY_END], 1);
	CHECK_INT(w.ended, ROOM_REASON_MERGED);
	CHECK_INT(w.ms, at);
	world_step(&w, (struct room_event){
			       .type = ROOM_SAY_STARTED, .turn = turn, .at = w.ms * NS_PER_MS});
	world_step(&w,
		   (struct room_event){.type = ROOM_SAY_DRAINED, .turn = turn, .samples = 12000});
	CHECK_INT(w.ended, ROOM_REASON_ANSWERED);
	world_end(&w);
}

/* What takes it back, and that nobody hears of it. */
static void taken_back(unsigned how)
{
	struct world w;
	uint32_t turn;

	world_begin(&w, "", 1);
	world_sound(&w, 1, 1000, 6000);
	eot(&w, 900, "what time is it");
	turn = w.asked;
	world_brain_audio(&w, turn, 500);
	if (how == 0) {
		world_sound(&w, 1, 200, 6000);
		CHECK_INT(w.did[ROOM_DO_RECORD], 0);
		world_sound(&w, 1, 20, 6000); /* the speaker goes on */
	} else if (how == 1) {
		world_partial(&w, 1, "what time is it in");
	} else if (how == 2) {
		eot(&w, 300, "what time is it");
	} else if (how == 3) {
		world_sound_end(&w, 1);
		world_words(&w, 1, "what time is it in Tokyo");
	} else {
		world_sound_end(&w, 1);
		world_step(&w, (struct room_event){.type = ROOM_TRANSCRIPT_FAILED,
						   .user = 1,
						   .utterance = w.utterance[1]});
	}
	CHECK_INT(w.did[ROOM_DO_BRAIN_CANCEL], 1);
	CHECK_INT(w.last[ROOM_DO_BRAIN_CANCEL].turn, turn);
	CHECK_INT(room_count(w.room,
			     how < 4 ? ROOM_REASON_EOT_REVOKED : ROOM_REASON_SPECULATION_UNUSED),
		  1);
	CHECK_INT(w.did[ROOM_DO_SAY_OPEN], 0);
	if (how == 3) {
		CHECK_INT(w.did[ROOM_DO_ASK], 2);
		CHECK_STR(w.ask, "[Alice]: what time is it in Tokyo");
		CHECK(w.asked != turn);
	}
	world_end(&w);
}

TEST(rule_149_what_was_begun_too_early_is_taken_back_unheard)
{
	for (unsigned how = 0; how < 5; how++)
		taken_back(how);
}

/* A brain that fails early takes nothing with it: the question is asked again. */
TEST(rule_149_a_brain_that_failed_early_is_asked_anew)
{
	struct world w;
	uint32_t turn;

	world_begin(&w, "", 1);
	world_sound(&w, 1, 1000, 6000);
	eot(&w, 900, "what time is it");
	turn = w.asked;
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_FAILED, .turn = turn});
	CHECK_INT(room_count(w.room, ROOM_REASON_SPECULATION_FAILED), 1);
	world_sound_end(&w, 1);
	world_words(&w, 1, "what time is it");
	CHECK_INT(w.did[ROOM_DO_ASK], 2);
	CHECK(w.asked != turn);
	CHECK_INT(w.did[ROOM_DO_SAY_OPEN], 0);
	world_end(&w);
}

static void speech(struct world *w, enum room_event_type type, uint32_t turn, const char *text)
{
	static const uint8_t pcm[960];

	world_step(w, (struct room_event){.type = type,
					  .turn = turn,
					  .chunk = 1,
					  .text = {(const uint8_t *)text, strlen(text)},
					  .pcm = {pcm, sizeof pcm}});
}

/* An answer that is written is made into speech early, and heard no sooner than any other; nor are
 * its sounds. */
TEST(rule_149_nothing_of_a_written_answer_is_heard_before_the_words_are_sure)
{
	static const char *const answers[] = {"Ten past four.", "[[SOUNDBOARD: gong]]"};

	for (unsigned i = 0; i < 4; i++) {
		bool sound = i % 2, revoked = i / 2;
		struct world w;
		uint32_t turn;

		world_begin(&w, "reply_path=brain", 1);
		world_sound(&w, 1, 1000, 6000);
		eot(&w, 900, "what time is it");
		turn = w.asked;
		speech(&w, ROOM_BRAIN_TEXT, turn, answers[sound]);
		speech(&w, ROOM_BRAIN_DONE, turn, "");
		CHECK_INT(w.did[ROOM_DO_SPEAK], !sound);
		if (!sound) {
			speech(&w, ROOM_SPEECH_AUDIO, turn, "");
			speech(&w, ROOM_SPEECH_DONE, turn, "");
		}
		world_sound_end(&w, 1);
		world_until(&w, w.ms + 150);
		CHECK_INT(w.did[ROOM_DO_SAY_OPEN] + w.did[ROOM_DO_SOUNDBOARD], 0);
		CHECK_INT(w.did[ROOM_DO_RECORD], 0);
		world_words(&w, 1, revoked ? "what time is it in Tokyo" : "what time is it");
		CHECK_INT(w.did[ROOM_DO_ASK], 1 + revoked);
		CHECK_INT(w.did[ROOM_DO_SAY_OPEN], !revoked && !sound);
		CHECK_INT(w.did[ROOM_DO_SAY_END], !revoked && !sound);
		CHECK_INT(w.did[ROOM_DO_SOUNDBOARD], !revoked && sound);
		world_end(&w);
	}
}

TEST(rule_149_a_sound_of_a_voice_model_waits_as_well)
{
	for (unsigned revoked = 0; revoked < 2; revoked++) {
		struct world w;

		world_begin(&w, "", 1);
		world_sound(&w, 1, 1000, 6000);
		eot(&w, 900, "what time is it");
		speech(&w, ROOM_BRAIN_TEXT, w.asked, "[[SOUNDBOARD: gong]] well");
		CHECK_INT(w.did[ROOM_DO_SOUNDBOARD], 0);
		world_sound_end(&w, 1);
		world_until(&w, w.ms + 150);
		world_words(&w, 1, revoked ? "what time is it in Tokyo" : "what time is it");
		CHECK_INT(w.did[ROOM_DO_SOUNDBOARD], !revoked);
		world_end(&w);
	}
}

/* It was whole and had no sound before the words were sure: nobody asks again behind its back. */
TEST(rule_024_149_an_early_answer_without_sound_is_not_asked_for_again)
{
	struct world w;
	uint32_t turn;

	world_begin(&w, "silent_ms=500", 1);
	world_sound(&w, 1, 1000, 6000);
	eot(&w, 900, "what time is it");
	turn = w.asked;
	speech(&w, ROOM_BRAIN_TEXT, turn, "ten past four");
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = turn});
	world_sound_end(&w, 1);
	world_until(&w, w.ms + 1000);
	CHECK_INT(w.did[ROOM_DO_ASK_AGAIN], 0);
	world_words(&w, 1, "what time is it");
	CHECK_INT(w.ended, ROOM_REASON_NO_ANSWER);
	CHECK_INT(w.ended_turn, turn);
	world_end(&w);
}

TEST(rule_149_its_token_says_why)
{
	struct world w;

	world_begin(&w, "", 1);
	world_sound(&w, 1, 1000, 6000);
	eot(&w, 900, "what time is it");
	world_partial(&w, 1, "what time is it in");
	CHECK_INT(w.ended, ROOM_REASON_EOT_REVOKED);
	CHECK_INT(w.ended_as.abort, ROOM_ABORT_EOT_REVOKED);
	world_end(&w);
}

TEST(rule_048_only_speech_beyond_doubt_is_activity)
{
	struct world w;
	uint64_t was;

	world_begin(&w, "", 2);
	was = w.room->session.active_at;
	world_until(&w, w.ms + 5000);
	world_speaking(&w, 1, true);
	world_sound(&w, 1, 400, 6000);
	CHECK(w.room->session.active_at == was);
	world_sound(&w, 1, 20, 6000);
	CHECK(w.room->session.active_at == w.ms * NS_PER_MS);
	was = w.room->session.active_at;
	world_sound(&w, 1, 1980, 6000);
	CHECK(w.room->session.active_at == was); /* at most every two seconds */
	world_sound(&w, 1, 20, 6000);
	CHECK(w.room->session.active_at == w.ms * NS_PER_MS);
	world_end(&w);
}

/* The transcript of the speaker's utterance before is late: both make one question, in order. */
TEST(rule_149_nothing_begins_while_earlier_words_of_the_speaker_are_awaited)
{
	static const char earlier[] = "hello there my friend";
	struct world w;
	uint32_t first;

	world_begin(&w, "", 1);
	world_sound(&w, 1, 800, 6000);
	world_sound_end(&w, 1);
	first = w.utterance[1];
	world_until(&w, w.ms + 300);
	world_sound(&w, 1, 800, 6000);
	eot(&w, 900, "what time is it");
	CHECK_INT(w.did[ROOM_DO_ASK], 0);
	world_step(&w, (struct room_event){.type = ROOM_TRANSCRIPT,
					   .user = 1,
					   .utterance = first,
					   .text = {(const uint8_t *)earlier, sizeof earlier - 1}});
	world_until(&w, w.ms + 300);
	world_sound_end(&w, 1);
	world_words(&w, 1, "what time is it");
	world_until(&w, w.ms + 3000);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK_STR(w.ask, "[Alice]: hello there my friend what time is it");
	world_end(&w);
}

TEST(rule_037_on_the_bridge_an_early_answer_waits_for_the_instructions_too)
{
	struct world w;

	world_begin(&w, "reply_path=bridge", 1);
	world_until(&w, w.ms + 100);
	world_step(&w, (struct room_event){.type = ROOM_INSTRUCTED});
	world_step(&w, (struct room_event){.type = ROOM_MEMBER,
					   .user = 2,
					   .yes = true,
					   .text = {(const uint8_t *)"Bob", 3}});
	world_sound(&w, 1, 600, 6000);
	eot(&w, 900, "parley, what time is it");
	CHECK_INT(w.did[ROOM_DO_ASK], 0); /* it does not know Bob yet */
	world_until(&w, w.ms + 700);
	world_step(&w, (struct room_event){.type = ROOM_INSTRUCTED});
	world_sound(&w, 1, 600, 6000);
	eot(&w, 900, "parley, what time is it");
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	world_end(&w);
}

/* An early [SKIP] counts once the words are final, and nobody is asked again. */
TEST(rule_091_an_early_answer_of_silence_stays_one)
{
	static const char skip[] = "[SKIP]";
	struct world w;

	world_begin(&w, "", 1);
	world_sound(&w, 1, 600, 6000);
	eot(&w, 900, "what time is it");
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_TEXT,
					   .turn = w.asked,
					   .text = {(const uint8_t *)skip, sizeof skip - 1}});
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = w.asked});
	CHECK_INT(room_count(w.room, ROOM_REASON_NO_ANSWER), 0);
	world_sound_end(&w, 1);
	world_words(&w, 1, "what time is it");
	world_until(&w, w.ms + 1000);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK_INT(room_count(w.room, ROOM_REASON_NO_ANSWER), 1);
	CHECK(!room_active(w.room));
	world_end(&w);
}

/* The call was lost before the words were final: the question waits for its return. */
TEST(rule_149_an_early_answer_is_not_committed_to_a_lost_call)
{
	struct world w;

	world_begin(&w, "", 1);
	world_sound(&w, 1, 800, 6000);
	eot(&w, 900, "what time is it");
	world_brain_audio(&w, w.asked, 500);
	world_step(&w, (struct room_event){.type = ROOM_CALL});
	world_words(&w, 1, "what time is it");
	CHECK_INT(w.did[ROOM_DO_SAY_OPEN], 0);
	CHECK_INT(room_count(w.room, ROOM_REASON_SPECULATION_UNUSED), 1);
	world_until(&w, w.ms + 1000);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	world_step(&w, (struct room_event){.type = ROOM_CALL, .yes = true});
	world_until(&w, w.ms + 1000);
	CHECK_INT(w.did[ROOM_DO_ASK], 2);
	CHECK_STR(w.ask, "[Alice]: what time is it");
	world_end(&w);
}

/* What somebody else says while it is begun is admitted as if it had not begun. */
TEST(rule_034_149_an_early_answer_does_not_have_the_floor)
{
	struct world w;

	world_begin(&w, "", 2);
	world_sound(&w, 1, 1000, 6000);
	eot(&w, 900, "parley what time is it");
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK(!room_turn_on_floor(&w.room->context) && room_active(w.room));
	world_says(&w, 2, "parley what day is it");
	world_until(&w, w.ms + 50);
	CHECK_INT(w.did[ROOM_DO_DEFER], 0);
	CHECK_INT(w.did[ROOM_DO_ASK], 2);
	CHECK_STR(w.ask, "[Bob]: parley what day is it");
	CHECK_INT(room_count(w.room, ROOM_REASON_SPECULATION_UNUSED), 1);
	CHECK_INT(room_turn_on_floor(&w.room->context)->id, w.asked);
	world_end(&w);
}

/* Its words are merged into a turn that waits: one question is made of both. */
TEST(rule_030_149_an_early_answer_gives_way_to_a_turn_that_waits)
{
	struct world w;

	world_begin(&w, "admission=native", 2);
	world_sound(&w, 1, 1000, 6000);
	eot(&w, 900, "parley what time is it");
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	world_says(&w, 2, "and what day is it");
	CHECK_INT(w.did[ROOM_DO_ASK], 1); /* until Alice has finished */
	world_sound_end(&w, 1);
	world_words(&w, 1, "parley what time is it");
	world_until(&w, w.ms + 1000);
	CHECK_INT(w.did[ROOM_DO_ASK], 2);
	CHECK(strstr(w.ask, "parley what time is it") && strstr(w.ask, "and what day is it"));
	CHECK_INT(room_count(w.room, ROOM_REASON_SPECULATION_UNUSED), 1);
	CHECK_INT(w.did[ROOM_DO_DEFER], 0);
	world_end(&w);
}
