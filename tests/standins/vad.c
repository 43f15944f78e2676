#include "tests/standins/vad.h"

#include <math.h>

enum { SPEECH_RMS = 250 };

enum si_vad_edge si_vad_frame(struct si_vad *v, const int16_t *pcm, size_t n, unsigned silence_ms)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)pcm[i] * pcm[i];
	if (n && sqrt(sum / (double)n) > SPEECH_RMS) {
		bool was = v->speaking;

		v->speaking = true;
		v->quiet_ms = 0;
		return was ? SI_VAD_NONE : SI_VAD_STARTED;
	}
	if (!v->speaking || (v->quiet_ms += SI_VAD_FRAME_MS) < silence_ms)
		return SI_VAD_NONE;
	v->speaking = false;
	return SI_VAD_STOPPED;
}
