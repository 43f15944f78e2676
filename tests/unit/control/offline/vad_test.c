#include "control/offline/vad.h"
#include "tests/test.h"

static uint32_t noise = 1;

/* Runs ms of noise of this amplitude; the first edge, and when it came. */
static enum vad_edge run(struct vad *v, unsigned ms, int amplitude, unsigned *at)
{
	enum vad_edge first = VAD_NONE;

	for (unsigned t = 0; t < ms; t += 20) {
		int16_t pcm[VAD_FRAME];
		enum vad_edge e;

		for (unsigned i = 0; i < VAD_FRAME; i++) {
			noise = noise * 1664525 + 1013904223;
			pcm[i] = (int16_t)((int)(noise >> 16) % (2 * amplitude + 1) - amplitude);
		}
		e = vad_frame(v, pcm, VAD_FRAME);
		if (e != VAD_NONE && first == VAD_NONE) {
			first = e;
			*at = t + 20;
		}
	}
	return first;
}

TEST(vad_finds_speech_between_silence)
{
	struct vad v;
	unsigned at = 0;

	vad_init(&v, 0.5, 500);
	CHECK_INT(run(&v, 1000, 20, &at), VAD_NONE);
	CHECK_INT(run(&v, 1000, 5000, &at), VAD_BEGAN);
	CHECK_INT(at, 60);
	CHECK_INT(run(&v, 1000, 20, &at), VAD_ENDED);
	CHECK_INT(at, 500);
	CHECK(!v.speaking);
}

TEST(vad_gets_used_to_a_steady_noise)
{
	struct vad v;
	unsigned at;

	vad_init(&v, 0.5, 500);
	run(&v, 20000, 250, &at);
	CHECK_INT(run(&v, 1000, 300, &at), VAD_NONE);
	CHECK_INT(run(&v, 500, 8000, &at), VAD_BEGAN);
}

TEST(vad_ignores_a_click)
{
	struct vad v;
	unsigned at;

	vad_init(&v, 0.5, 500);
	run(&v, 500, 20, &at);
	CHECK_INT(run(&v, 40, 20000, &at), VAD_NONE);
	CHECK_INT(run(&v, 500, 20, &at), VAD_NONE);
}

TEST(vad_takes_frames_of_any_length)
{
	struct vad v;
	int16_t pcm[VAD_FRAME];
	enum vad_edge e = VAD_NONE;

	for (unsigned i = 0; i < VAD_FRAME; i++)
		pcm[i] = i & 16 ? 9000 : -9000;
	vad_init(&v, 0.5, 500);
	for (unsigned n = 0; n < 60 * VAD_MS && e == VAD_NONE; n += 100)
		e = vad_frame(&v, pcm, 100);
	CHECK_INT(e, VAD_BEGAN);
}
