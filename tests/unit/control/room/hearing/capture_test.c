/* Sound of one speaker: what becomes an utterance and when it is over (statements 38 to 49). */
#include "tests/test.h"

#include <string.h>

#include "control/room/hearing/capture.h"
#include "proto/base/time.h"
#include "tests/unit/control/room/world.h"

static struct settings *s;
static struct room_capture c;
static uint64_t now;

static void begin(void)
{
	s = NULL;
	settings_alloc(&s);
	c = (struct room_capture){0};
	now = 1000 * NS_PER_MS;
}

/* Frames of 20 ms with one sample in `every` at this amplitude; what came out of them. */
static struct room_capture_out hear(unsigned ms, int amp, unsigned every)
{
	struct room_capture_out out, all = {0};
	uint8_t pcm[960] = {0};

	for (unsigned i = 0; i < 480; i += every) {
		pcm[2 * i] = (uint8_t)(amp & 0xff);
		pcm[2 * i + 1] = (uint8_t)(amp >> 8);
	}
	for (unsigned i = 0; i < ms / 20; i++) {
		out = room_capture_on_audio(&c, s, (struct slice){pcm, sizeof pcm}, now, now);
		all.start |= out.start;
		all.promote |= out.promote;
		if (out.end)
			all.end = out.end;
		now += 20 * NS_PER_MS;
	}
	return all;
}

TEST(rule_038_what_never_was_speech_is_never_transcribed)
{
	struct world w;

	world_begin(&w, "", 1);
	world_sound(&w, 1, 140, 6000);
	world_sound_end(&w, 1);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 0);
	CHECK_INT(w.did[ROOM_DO_ASR_CANCEL], 1);
	CHECK_INT(w.did[ROOM_DO_RECORD], 0);
	world_end(&w);
}

TEST(rule_158_a_word_that_is_over_before_promotion_is_transcribed)
{
	struct world w;

	world_begin(&w, "", 1);
	world_sound(&w, 1, 200, 6000);
	world_sound_end(&w, 1);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	world_end(&w);
	world_begin(&w, "short_speech_ms=0", 1);
	world_sound(&w, 1, 200, 6000);
	world_sound_end(&w, 1);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 0);
	world_end(&w);
}

TEST(rule_039_a_word_of_speech_to_text_promotes_what_is_less_loud)
{
	begin();
	c.utterance = 7;
	CHECK(!hear(600, 540, 40).promote); /* peak and share are too little by themselves */
	c.utterance = 7;
	room_capture_on_vad(&c, 8); /* of another utterance */
	CHECK(!hear(20, 540, 40).promote);
	room_capture_on_vad(&c, 7);
	CHECK(hear(20, 540, 40).promote);
	settings_free(s);
	begin();
	hear(20, 500, 40);
	c.utterance = 7;
	room_capture_on_vad(&c, 7);
	CHECK(!hear(600, 500, 40).promote); /* its peak is below 0.016 */
	settings_free(s);
	begin();
	hear(20, 540, 60);
	c.utterance = 7;
	room_capture_on_vad(&c, 7);
	CHECK(!hear(600, 540, 60).promote); /* and here too few samples are active */
	settings_free(s);
}

TEST(rule_040_loud_sound_is_speech_and_sparse_spikes_are_not)
{
	begin();
	CHECK(hear(420, 6000, 1).promote);
	settings_free(s);
	begin();
	CHECK(!hear(900, 20000, 480).promote); /* a click in each frame */
	settings_free(s);
}

TEST(rule_041_speaking_goes_on_within_the_wait)
{
	struct world w;

	world_begin(&w, "speculative=off", 1);
	world_speaking(&w, 1, true);
	world_speaking(&w, 1, true);
	CHECK_INT(w.did[ROOM_DO_ASR_START], 1);
	world_sound(&w, 1, 600, 6000);
	world_speaking(&w, 1, false);
	world_until(&w, w.ms + 210);
	world_speaking(&w, 1, true);
	world_until(&w, w.ms + 300);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 0);
	world_sound(&w, 1, 400, 6000);
	world_sound_end(&w, 1);
	CHECK_INT(w.did[ROOM_DO_ASR_START], 1);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	world_end(&w);
}

TEST(rule_043_near_silence_is_given_up_after_a_second)
{
	begin();
	CHECK_INT(hear(980, 300, 480).end, ROOM_CAPTURE_CONTINUES);
	CHECK_INT(hear(20, 300, 480).end, ROOM_CAPTURE_DISCARDED);
	settings_free(s);
}

TEST(rule_044_what_was_promoted_and_is_silent_as_a_whole_is_dropped)
{
	begin();
	CHECK(hear(420, 600, 20).promote);
	hear(5000, 0, 1);
	c.signal.peak = 390; /* as if the loud part had been a glitch of the measure */
	CHECK_INT(room_capture_finish(&c, s, now).end, ROOM_CAPTURE_NOISE);
	settings_free(s);
}

TEST(rule_045_when_the_call_is_gone_nothing_is_left_of_captures)
{
	struct world w;

	world_begin(&w, "", 3);
	world_sound(&w, 1, 200, 6000);
	world_sound(&w, 2, 100, 6000);
	world_speaking(&w, 3, true);
	world_step(&w, (struct room_event){.type = ROOM_CALL});
	world_forget(&w);
	world_until(&w, w.ms + 5000);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT] + w.did[ROOM_DO_ASR_CANCEL], 0);
	world_step(&w, (struct room_event){.type = ROOM_SHUTDOWN});
	CHECK(room_deadline(w.room) == UINT64_MAX);
	world_end(&w);
}

TEST(rule_047_the_wait_for_more)
{
	static const struct {
		unsigned heard, load, wait;
	} rows[] = {{240, 1, 420}, {260, 1, 220}, {880, 2, 220}, {900, 1, 800},
		    {900, 3, 560}, {900, 5, 400}, {440, 3, 154}, {440, 5, 110}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		begin();
		s->capture_idle_ms = 5000;
		hear(rows[i].heard, 6000, 1);
		room_capture_on_speaking(&c, s, false, now, rows[i].load, now);
		CHECK_INT((room_capture_deadline(&c, s) - now) / NS_PER_MS, rows[i].wait);
		settings_free(s);
	}
	begin();
	s->end_middle_ms = 120;
	hear(440, 6000, 1);
	room_capture_on_speaking(&c, s, false, now, 5, now);
	CHECK_INT((room_capture_deadline(&c, s) - now) / NS_PER_MS, 100); /* never less */
	settings_free(s);
	/* It counts from when it was due to be told, not from when it was; but is never over
	 * before. */
	begin();
	hear(440, 6000, 1);
	room_capture_on_speaking(&c, s, false, now - 213 * NS_PER_MS, 1, now);
	CHECK_INT((room_capture_deadline(&c, s) - now) / NS_PER_MS, 220 - 13);
	settings_free(s);
	begin();
	hear(440, 6000, 1);
	room_capture_on_speaking(&c, s, false, now - 900 * NS_PER_MS, 1, now);
	CHECK_INT(room_capture_deadline(&c, s) - now, 0);
	settings_free(s);
}

TEST(rule_049_whom_the_room_does_not_know_is_not_heard)
{
	struct world w;

	world_begin(&w, "", 1);
	world_speaking(&w, 900, true); /* the bot itself is no member */
	world_sound(&w, 900, 1000, 6000);
	for (unsigned i = 0; i < ROOM_DO_COUNT; i++)
		CHECK_INT(w.did[i], 0);
	/* Nor are other bots. */
	world_step(&w, (struct room_event){.type = ROOM_MEMBER,
					   .user = 7,
					   .is_bot = true,
					   .yes = true,
					   .text = {(const uint8_t *)"Jukebox", 7}});
	CHECK_INT(w.did[ROOM_DO_LISTEN], 0);
	world_speaking(&w, 7, true);
	world_sound(&w, 7, 1000, 6000);
	CHECK_INT(w.did[ROOM_DO_ASR_START], 0);
	world_end(&w);
}

TEST(what_was_no_speech_raises_the_floor_and_speech_lowers_it)
{
	struct room_noise_floor n = {0};

	begin();
	CHECK_INT(room_noise_floor_threshold(&n, s, now), 0);
	room_noise_floor_update(&n, s, 200, false, now);
	CHECK_INT(room_noise_floor_threshold(&n, s, now), 200);
	room_noise_floor_update(&n, s, 200, false, now);
	CHECK_INT(room_noise_floor_threshold(&n, s, now), 300);
	room_noise_floor_update(&n, s, 20000, false, now);
	CHECK_INT(room_noise_floor_threshold(&n, s, now), 2 * s->noise_floor_max);
	CHECK_INT(room_noise_floor_threshold(&n, s, now + s->noise_floor_half_s * 1000 * NS_PER_MS),
		  s->noise_floor_max);
	room_noise_floor_update(&n, s, 400, true, now);
	CHECK_INT(room_noise_floor_threshold(&n, s, now), 200);
	CHECK_INT(room_noise_floor_threshold(&n, s, now + 10000000 * NS_PER_MS), 0);
	settings_free(s);
}

TEST(a_humming_microphone_has_to_be_spoken_over)
{
	begin();
	for (unsigned i = 0; i < 4; i++) {
		hear(300, 280, 1);
		room_capture_finish(&c, s, now);
		now += 20 * NS_PER_MS;
	}
	CHECK(room_noise_floor_threshold(&c.noise, s, now) > 500);
	s->promote_peak = 100;
	CHECK(!hear(600, 400, 1).promote); /* would be by the absolute limits */
	room_capture_finish(&c, s, now);
	now += 20 * NS_PER_MS;
	CHECK(hear(600, 700, 1).promote);
	settings_free(s);
}

/* With the settings as they are: two clicks in a second of nothing are loud enough to be promoted,
 * and no voice. */
TEST(rule_044_clicks_are_noise)
{
	char why[2048];
	struct world w;

	world_begin(&w, "", 1);
	world_sound(&w, 1, 20, 9000);
	world_sound(&w, 1, 200, 20);
	world_sound(&w, 1, 20, 9000);
	world_sound(&w, 1, 300, 20);
	world_sound_end(&w, 1);
	CHECK_INT(w.ended, ROOM_REASON_NOISE);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 0);
	CHECK_INT(w.did[ROOM_DO_ASR_CANCEL], 1);
	CHECK_INT(room_why(w.room, w.ended_turn, why, sizeof why), 0);
	CHECK(strstr(why, "voiced               no  value=40 limit=60 ms"));
	/* The shortest of words is more. */
	world_sound(&w, 1, 80, 9000);
	world_sound(&w, 1, 400, 20);
	world_sound_end(&w, 1);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	world_end(&w);
}

/* The microphone stays open and sends its hiss: the words before it are answered all the same, as
 * soon as the endpointing delay has passed. */
TEST(an_open_microphone_does_not_keep_its_turn_open)
{
	static const char words[] = "what time is it";
	struct world w;
	uint32_t utterance;

	world_begin(&w, "speculative=off", 1);
	world_sound(&w, 1, 1000, 6000);
	utterance = w.utterance[1];
	world_sound(&w, 1, 780, 100);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 0);
	world_sound(&w, 1, 60, 100);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	world_step(&w, (struct room_event){.type = ROOM_TRANSCRIPT,
					   .user = 1,
					   .utterance = utterance,
					   .text = {(const uint8_t *)words, sizeof words - 1}});
	world_sound(&w, 1, 1000, 100);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1); /* the hiss is nothing */
	world_end(&w);
}

/* Silence that is transmitted for minutes is not streamed, and the next words are complete. */
TEST(an_open_microphone_sends_no_silence_to_speech_to_text)
{
	struct world w;
	unsigned before;

	world_begin(&w, "", 1);
	world_sound(&w, 1, 1200, 100);
	CHECK_INT(w.did[ROOM_DO_ASR_CANCEL], 1);
	before = w.did[ROOM_DO_ASR_APPEND];
	world_sound(&w, 1, 60000, 100);
	CHECK_INT(w.did[ROOM_DO_ASR_APPEND], before);
	CHECK_INT(w.did[ROOM_DO_ASR_START], 1);
	world_sound(&w, 1, 20, 6000);
	world_sound(&w, 1, 20, 100);
	CHECK_INT(w.did[ROOM_DO_ASR_START], 1); /* a single frame is nothing */
	world_sound(&w, 1, 40, 6000);
	CHECK_INT(w.did[ROOM_DO_ASR_START], 2);
	/* The pre-roll, in one or two parts, and the frame. */
	CHECK(w.did[ROOM_DO_ASR_APPEND] >= before + 2);
	world_sound(&w, 1, 600, 6000);
	world_sound(&w, 1, 1000, 100);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	world_end(&w);
}

/* The two frames that begin it are part of the word. */
TEST(a_short_word_into_an_open_microphone_is_transcribed)
{
	struct world w;

	world_begin(&w, "short_speech_ms=160", 1);
	world_sound(&w, 1, 3000, 100);
	world_sound(&w, 1, 160, 6000);
	world_sound(&w, 1, 1500, 100);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	world_end(&w);
	world_begin(&w, "short_speech_ms=160", 1);
	world_sound(&w, 1, 3000, 100);
	world_sound(&w, 1, 140, 6000);
	world_sound(&w, 1, 1500, 100);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 0);
	world_end(&w);
}

/* A fan of -24 dBFS is learned within 3 s; speech above it is promoted, and ends with its voice. */
TEST(a_fan_is_background_after_three_seconds)
{
	struct world w;

	world_begin(&w, "speculative=off", 1);
	world_sound(&w, 1, 2980 + 900, 2000);
	w.utterance[1] = 0;
	world_forget(&w);
	world_sound(&w, 1, 30000, 2000);
	CHECK_INT(w.did[ROOM_DO_ASR_START], 0);
	world_sound(&w, 1, 1000, 6000);
	CHECK_INT(w.did[ROOM_DO_ASR_START], 1);
	world_sound(&w, 1, 780, 2000);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 0);
	world_sound(&w, 1, 60, 2000);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	world_end(&w);
}

/* What is above the background only now and then is given up after 2 s. */
TEST(a_provisional_capture_is_bounded)
{
	begin();
	for (unsigned i = 0; i < 2000 / 400; i++) {
		CHECK(!hear(380, 100, 1).promote);
		CHECK(!hear(20, 700, 40).promote);
		CHECK(room_capture_deadline(&c, s) <= 3000 * NS_PER_MS);
	}
	CHECK_INT(room_capture_tick(&c, s, now).end, ROOM_CAPTURE_DISCARDED);
	settings_free(s);
}

/* A soft speaker's quiet syllables keep the capture open, although they are below the thresholds of
 * promotion. */
TEST(a_soft_speaker_is_not_split_within_a_sentence)
{
	begin();
	CHECK(hear(600, 700, 1).promote);
	for (unsigned i = 0; i < 3; i++) {
		hear(700, 320, 2);
		CHECK_INT(room_capture_tick(&c, s, now).end, ROOM_CAPTURE_CONTINUES);
		hear(100, 100, 1);
	}
	hear(200, 700, 1);
	hear(780, 100, 1);
	CHECK_INT(room_capture_tick(&c, s, now).end, ROOM_CAPTURE_CONTINUES);
	hear(40, 100, 1);
	CHECK_INT(room_capture_tick(&c, s, now).end, ROOM_CAPTURE_SPEECH);
	settings_free(s);
}
