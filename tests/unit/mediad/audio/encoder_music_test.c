/* The encoder of music: two channels, its bitrate, and the change between speech and music. */
#include <math.h>
#include <opus/opus.h>

#include "mediad/audio/encoder.h"
#include "tests/test.h"

enum { FRAMES = 60, SWITCH = 30, LOOKAHEAD = 312 };

static struct encoder *mono, *stereo;
static OpusDecoder *dec;
static uint8_t packet[ENCODER_OPUS_MAX];
static int16_t heard[2 * ENCODER_FRAME * FRAMES];

static void setup(void)
{
	int err = 0;

	mono = stereo = NULL;
	dec = opus_decoder_create(48000, 2, &err);
	if (!dec || encoder_alloc(&mono, 64000) || encoder_alloc_stereo(&stereo, 128000))
		abort();
	for (int i = 0; i < 60; i++) /* no loss: CELT alone, whose SNR shows a blemish */
		encoder_report_loss(mono, 0);
	encoder_copy_settings(stereo, mono);
}

static void teardown(void)
{
	encoder_free(mono);
	encoder_free(stereo);
	opus_decoder_destroy(dec);
}

static double sample_at(int i)
{
	return 6000 * sin(i * 0.041) + 2500 * sin(i * 0.153 + 1) + 1200 * sin(i * 0.38);
}

static void fill_frame(int frame, int16_t one[ENCODER_FRAME], int16_t two[2 * ENCODER_FRAME])
{
	for (int i = 0; i < ENCODER_FRAME; i++)
		one[i] = two[2 * i] = two[2 * i + 1] =
			(int16_t)lrint(sample_at(frame * ENCODER_FRAME + i));
}

static size_t encode_frame(struct encoder *e, int frame)
{
	int16_t one[ENCODER_FRAME], two[2 * ENCODER_FRAME];
	size_t n;

	fill_frame(frame, one, two);
	n = encoder_run(e, e == mono ? one : two, packet);
	if (opus_decode(dec, packet, (opus_int32)n, heard + (size_t)frame * 2 * ENCODER_FRAME,
			ENCODER_FRAME, 0) != ENCODER_FRAME)
		abort();
	return n;
}

static double snr_of(int frame)
{
	double signal = 0, noise = 0;

	for (int i = frame * ENCODER_FRAME; i < (frame + 1) * ENCODER_FRAME; i++) {
		double want = sample_at(i - LOOKAHEAD), is = heard[(size_t)i * 2];

		signal += want * want;
		noise += (is - want) * (is - want);
	}
	return 10 * log10(signal / (noise + 1));
}

static void check_snr(int from, int to, double at_least)
{
	for (int f = from; f < to; f++)
		if (snr_of(f) < at_least)
			test_fail(__FILE__, __LINE__, "frame %d: %.1f dB", f, snr_of(f));
}

/* The largest step between samples, compared with that of the signal. */
static double step_ratio(int from, int to)
{
	double is = 0, want = 0;

	for (int i = from * ENCODER_FRAME; i < to * ENCODER_FRAME; i++) {
		is = fmax(is, fabs((double)heard[(size_t)i * 2] - heard[(size_t)i * 2 - 2]));
		want = fmax(want, fabs(sample_at(i - LOOKAHEAD) - sample_at(i - 1 - LOOKAHEAD)));
	}
	return is / want;
}

TEST(encoder_music_is_stereo)
{
	size_t speech = 0, music = 0;

	setup();
	for (int f = 0; f < SWITCH; f++)
		speech += encode_frame(stereo, f);
	CHECK_INT(opus_packet_get_nb_channels(packet), 1);
	encoder_set_music(stereo, true);
	for (int f = SWITCH; f < FRAMES; f++)
		music += encode_frame(stereo, f);
	CHECK_INT(opus_packet_get_nb_channels(packet), 2);
	CHECK(packet[0] >> 3 >= 16); /* CELT alone (RFC 6716 3.1) */
	CHECK(music > speech * 3 / 2);
	teardown();
}

/* Within the stereo encoder neither direction can be heard. */
TEST(encoder_changes_mode_without_a_click)
{
	for (int to_music = 0; to_music < 2; to_music++) {
		setup();
		encoder_set_music(stereo, !to_music);
		for (int f = 0; f < FRAMES; f++) {
			if (f == SWITCH)
				encoder_set_music(stereo, to_music);
			encode_frame(stereo, f);
		}
		check_snr(SWITCH - 5, SWITCH + 10, 25);
		CHECK(step_ratio(SWITCH - 1, SWITCH + 3) < 1.1);
		teardown();
	}
}

/* From one encoder to the other the first frame is a little worse, and no more than that. */
TEST(encoder_takes_over_without_a_click)
{
	int16_t one[ENCODER_FRAME], two[2 * ENCODER_FRAME];

	setup();
	for (int f = 0; f < FRAMES; f++) {
		if (f == SWITCH) {
			fill_frame(f - 1, one, two);
			encoder_set_music(stereo, true);
			encoder_take_over(stereo, two);
		}
		encode_frame(f < SWITCH ? mono : stereo, f);
	}
	check_snr(SWITCH - 5, SWITCH, 25);
	check_snr(SWITCH, SWITCH + 1, 12);
	check_snr(SWITCH + 1, SWITCH + 10, 25);
	CHECK(step_ratio(SWITCH - 1, SWITCH + 3) < 1.5);
	teardown();
}

/* Loss calls for FEC in speech, never in music. */
TEST(encoder_music_has_no_fec)
{
	setup();
	for (int i = 0; i < 5; i++) {
		encoder_report_loss(mono, 51);
		encoder_report_loss(stereo, 51);
	}
	CHECK(encoder_fec(mono) && encoder_fec(stereo));
	encoder_set_music(stereo, true);
	CHECK(!encoder_fec(stereo));
	encode_frame(stereo, 0);
	CHECK(packet[0] >> 3 >= 16);
	encoder_set_music(stereo, false);
	CHECK(encoder_fec(stereo));
	encoder_forbid_fec(mono, true);
	encoder_set_complexity(mono, 3);
	encoder_copy_settings(stereo, mono);
	CHECK(!encoder_fec(stereo) && encoder_loss(stereo) == encoder_loss(mono));
	CHECK_INT(encoder_complexity(stereo), 3);
	teardown();
}

TEST_OOM(encoder_stereo_without_memory)
{
	stereo = NULL;
	CHECK_OOM(encoder_alloc_stereo(&stereo, 128000), (void)0);
	encoder_free(stereo);
}
