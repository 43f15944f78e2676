/* The end-of-turn model, the prosody that it gets, and the logarithms of both. */
#include "tests/test.h"

#include <math.h>

#include "control/room/base/scale.h"
#include "control/room/hearing/prosody.h"
#include "control/room/turn/eot_model.h"
#include "tests/unit/control/room/world.h"

TEST(logarithms_in_whole_numbers)
{
	CHECK_INT(room_log2(1), 0);
	CHECK_INT(room_log2(0), 0);
	CHECK_INT(room_log2(1024), 10000);
	for (int64_t v = 1; v < 1000000; v += 1 + v / 7) {
		int want = (int)(1000 * log2((double)v));

		CHECK(room_log2(v) >= want - 2 && room_log2(v) <= want + 1);
		CHECK(room_exp2(room_log2(v)) <= (uint64_t)v);
	}
	CHECK_INT(room_exp2(-1), 0);
	CHECK_INT(room_exp2(10000), 1024);
}

/* A sawtooth of syllables whose last one goes to another pitch and loudness. */
static struct room_prosody_end measure(double to_hz, double loud)
{
	static struct room_prosody p;
	static uint8_t pcm[2 * ROOM_RATE / 5];
	struct room_prosody_end out;
	double phase = 0;

	room_prosody_clear(&p);
	for (unsigned s = 0; s < 5; s++) {
		for (unsigned i = 0; i < sizeof pcm / 2; i++) {
			double t = (double)i / (sizeof pcm / 2), amp = s == 4 ? 6000 * loud : 6000;
			double hz = s == 4 ? 160 + (to_hz - 160) * t : 160;
			int16_t v;

			phase += hz / ROOM_RATE;
			phase -= floor(phase);
			v = (int16_t)((2 * phase - 1) * amp * (0.2 + 0.8 * sin(M_PI * t)));
			pcm[2 * i] = (uint8_t)(v & 0xff);
			pcm[2 * i + 1] = (uint8_t)((uint16_t)v >> 8);
		}
		room_prosody_add(&p, (struct slice){pcm, sizeof pcm});
	}
	room_prosody_measure(&p, &out);
	return out;
}

TEST(the_pitch_and_loudness_of_an_ending)
{
	struct room_prosody p = {0};
	struct room_prosody_end none;

	CHECK(measure(110, 1).pitch < -15);
	CHECK(measure(230, 1).pitch > 15);
	CHECK(measure(160, 1).pitch > -8 && measure(160, 1).pitch < 8);
	CHECK(measure(160, 0.4).energy < measure(160, 1).energy - 40);
	room_prosody_measure(&p, &none);
	CHECK_INT(none.pitch, 0);
	CHECK_INT(none.energy, 0);
	CHECK_INT(none.length, 0);
}

/* Each of these speaks for an end, and makes it come sooner. */
TEST(what_speaks_for_an_end_shortens_the_silence)
{
	struct room_eot_input in = {.words = ROOM_EOT_MAYBE}, other = in;
	uint64_t plain = room_eot_model_delay(&in, 900);

	CHECK(plain > 200);
	CHECK(room_eot_model_delay(&in, 950) > plain);
	other.words = ROOM_EOT_WHOLE;
	CHECK(room_eot_model_delay(&other, 900) < plain);
	other.words = ROOM_EOT_OPEN;
	CHECK(room_eot_model_delay(&other, 900) > plain);
	other = in;
	other.pitch = -40;
	CHECK(room_eot_model_delay(&other, 900) < plain);
	other = in;
	other.energy = -60;
	CHECK(room_eot_model_delay(&other, 900) < plain);
	other = in;
	other.answers = true;
	CHECK(room_eot_model_delay(&other, 900) < plain);
	other = in;
	other.usual_pause_ms = 900;
	CHECK(room_eot_model_delay(&other, 900) > plain);
	CHECK_INT(room_eot_usual_pause(0, 950), 550);
	CHECK_INT(room_eot_usual_pause(550, 1050), 650);
}

static uint64_t time_to_ask(const char *settings, const char *words)
{
	struct world w;
	uint64_t voice, ms;

	world_begin(&w, settings, 1);
	world_sound(&w, 1, 1000, 6000);
	voice = w.ms;
	world_partial(&w, 1, words);
	while (!w.did[ROOM_DO_ASR_COMMIT] && w.ms < voice + 2000)
		world_until(&w, w.ms + 10);
	ms = w.ms - voice;
	world_end(&w);
	return ms;
}

/* In the room: the turn ends before the endpointing delay when the model is sure enough. */
TEST(rule_047_a_likely_end_is_not_waited_for)
{
	uint64_t by_delay = time_to_ask("speculative=off", "parley what time is it?");

	CHECK(time_to_ask("speculative=off eot_end_share=600", "parley what time is it?") + 200 <
	      by_delay);
	CHECK(time_to_ask("speculative=off eot_end_share=600", "parley what is the") >=
	      by_delay - 20);
}
