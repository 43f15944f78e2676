/* The background of a microphone: what is taken for it, and what is heard all the same. */
#include "tests/test.h"

#include "proto/base/time.h"
#include "tests/unit/control/room/world.h"

enum { ROOM = 30, COUGH = 9000, VOICE = 6000 }; /* amplitudes */

/* Sound that swells every 200 ms between two loudnesses. */
static void swell(struct world *w, unsigned ms, int loud, int soft)
{
	for (unsigned i = 0; i < ms / 200; i++) {
		world_sound(w, 1, 100, loud);
		world_sound(w, 1, 100, soft);
	}
}

/* The transcript of what was committed last. */
static void told(struct world *w, const char *text)
{
	uint32_t newest = w->utterance[1];

	w->utterance[1] = w->last[ROOM_DO_ASR_COMMIT].utterance;
	world_words(w, 1, text);
	w->utterance[1] = newest;
}

/* Somebody clears their throat, and then asks. The throat is over, so it is no background. */
TEST(a_question_right_after_a_cough_is_heard)
{
	struct world w;

	world_begin(&w, "speculative=off", 1);
	world_sound(&w, 1, 4000, ROOM);
	world_sound(&w, 1, 500, COUGH);
	world_sound(&w, 1, 900, ROOM);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	told(&w, "");
	world_sound(&w, 1, 200, ROOM);
	world_sound(&w, 1, 1500, VOICE);
	world_sound(&w, 1, 900, ROOM);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 2);
	told(&w, "what time is it");
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	world_end(&w);
}

/* The transcript of the cough comes when the question has begun. */
TEST(a_late_transcript_of_a_cough_does_not_cut_the_question)
{
	struct world w;

	world_begin(&w, "speculative=off", 1);
	world_sound(&w, 1, 4000, ROOM);
	world_sound(&w, 1, 500, COUGH);
	world_sound(&w, 1, 900, ROOM);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	world_sound(&w, 1, 800, VOICE);
	told(&w, "");
	world_sound(&w, 1, 1600, VOICE);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	world_sound(&w, 1, 900, ROOM);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 2);
	world_end(&w);
}

/* A client with a noise gate sends laughter, and nothing between the words of others. */
TEST(a_client_that_stops_sending_has_no_background)
{
	struct world w;

	world_begin(&w, "speculative=off", 1);
	swell(&w, 4000, COUGH, 200);
	world_sound_end(&w, 1);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	world_until(&w, w.ms + 200);
	told(&w, "");
	for (unsigned i = 2; i < 5; i++) {
		world_until(&w, w.ms + 10000);
		world_sound(&w, 1, 1500, VOICE);
		world_sound_end(&w, 1);
		CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], i);
		told(&w, "mhm");
	}
	world_end(&w);
}

/* Music that swells too much to be learned by its loudness, until its client stops it. */
TEST(sound_that_goes_on_without_words_is_background_while_it_lasts)
{
	struct world w;
	unsigned begun;

	world_begin(&w, "speculative=off", 1);
	swell(&w, 8000, 3000, 400);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	told(&w, "");
	swell(&w, 1000, 3000, 400);
	begun = w.did[ROOM_DO_ASR_START];
	swell(&w, 20000, 3000, 400);
	CHECK_INT(w.did[ROOM_DO_ASR_START], begun);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	world_sound_end(&w, 1);
	world_until(&w, w.ms + 2000);
	world_sound(&w, 1, 1500, 3500);
	world_sound_end(&w, 1);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 2);
	world_end(&w);
}

/* A capture is hardly louder than its background as a whole, since its pauses are background. Its
 * words say nothing against it, and the answer is not interrupted by it. */
TEST(words_over_music_do_not_make_the_music_a_voice)
{
	struct world w;
	uint32_t turn;

	world_begin(&w, "speculative=off", 1);
	swell(&w, 8000, 3000, 1000);
	told(&w, "");
	swell(&w, 8000, 3000, 1000);
	world_forget(&w);
	for (unsigned i = 0; i < 2; i++) {
		world_sound(&w, 1, 240, 3900);
		swell(&w, 400, 3000, 1000);
	}
	swell(&w, 600, 3000, 1000);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	told(&w, "what time is it");
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	turn = w.asked;
	world_brain_audio(&w, turn, 6000);
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = turn});
	world_step(&w, (struct room_event){
			       .type = ROOM_SAY_STARTED, .turn = turn, .at = w.ms * NS_PER_MS});
	swell(&w, 5000, 3000, 1000);
	CHECK_INT(w.did[ROOM_DO_SAY_GAIN] + w.did[ROOM_DO_SAY_PAUSE] + w.did[ROOM_DO_SAY_STOP], 0);
	CHECK_INT(w.did[ROOM_DO_ASR_START], 1);
	world_end(&w);
}
