#include "control/offline/vad.h"

#include <math.h>
#include <string.h>

enum { BEGIN_MS = 60 };

void vad_init(struct vad *v, double threshold, unsigned silence_ms)
{
	*v = (struct vad){.threshold = threshold, .silence_ms = silence_ms, .floor = 100};
}

static double power(const int16_t *pcm, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)pcm[i] * pcm[i];
	return sum / (double)n;
}

enum vad_edge vad_frame(struct vad *v, const int16_t *pcm, size_t n)
{
	double p = power(pcm, n);
	/* 0.5 asks for ten times the background's power and some 150 rms; 0 and 1 are a factor of
	 * ten away. */
	double over = pow(10, 2 * v->threshold), least = 22500 * pow(10, 2 * (v->threshold - 0.5));

	v->sound = p > least && p > v->floor * over;
	/* Down at once, up slowly: half a minute of speech does not become background. */
	if (p < v->floor)
		v->floor = p > 1 ? p : 1;
	else
		v->floor += (p - v->floor) * (v->sound ? 0.0002 : 0.02);
	v->loud = v->sound ? v->loud + (unsigned)n : 0;
	v->quiet = v->sound ? 0 : v->quiet + (unsigned)n;
	if (!v->speaking && v->loud >= BEGIN_MS * VAD_MS) {
		v->speaking = true;
		return VAD_BEGAN;
	}
	if (v->speaking && v->quiet >= v->silence_ms * VAD_MS) {
		v->speaking = false;
		return VAD_ENDED;
	}
	return VAD_NONE;
}
