#include "control/offline/speech.h"

#include "control/offline/rate_convert.h"

#include <errno.h>
#include <flite/flite.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SENTENCE = 400, PART = 16000 / 4 };

/* The voice libraries have no headers. */
cst_voice *register_cmu_us_slt(const char *voxdir);
cst_voice *register_cmu_us_rms(const char *voxdir);
cst_voice *register_cmu_us_awb(const char *voxdir);

static const struct {
	const char *name;
	cst_voice *(*make)(const char *voxdir);
} makers[] = {
	{"slt", register_cmu_us_slt}, {"rms", register_cmu_us_rms}, {"awb", register_cmu_us_awb}};
enum { N_VOICES = sizeof makers / sizeof *makers };

struct speech {
	cst_voice *voices[N_VOICES];
	struct rate_convert *resample[N_VOICES];
};

int speech_alloc(struct speech **out)
{
	struct speech *s = calloc(1, sizeof *s);

	if (!s)
		return ENOMEM;
	flite_init();
	for (unsigned i = 0; i < N_VOICES; i++) {
		const cst_val *rate;

		s->voices[i] = makers[i].make(NULL);
		rate = s->voices[i] ? feat_val(s->voices[i]->features, "sample_rate") : NULL;
		if (!s->voices[i] ||
		    rate_convert_alloc(&s->resample[i], rate ? (unsigned)val_int(rate) : 16000,
				       SPEECH_RATE, true)) {
			speech_free(s);
			return ENOMEM;
		}
	}
	*out = s;
	return 0;
}

/* A voice is registered once in a process and stays: flite hands the same one out again. */
struct speech *speech_free(struct speech *s)
{
	if (!s)
		return NULL;
	for (unsigned i = 0; i < N_VOICES; i++)
		rate_convert_free(s->resample[i]);
	free(s);
	return NULL;
}

size_t speech_sentence(const char *text)
{
	size_t lead = strspn(text, " \t\r\n"), n = lead;

	if (!text[lead])
		return 0;
	for (; text[n]; n++) {
		if (n - lead >= MAX_SENTENCE && text[n] == ' ')
			return n;
		if (strchr(".?!", text[n]) &&
		    (!text[n + 1] || text[n + 1] == ' ' || text[n + 1] == '\n'))
			return n + 1;
	}
	return n;
}

static int send(struct rate_convert *r, const cst_wave *w, const char *piece, bool last, bool *go,
		speech_h *h, void *arg)
{
	int at = 0, err = 0;

	do {
		int n = w->num_samples - at < PART ? w->num_samples - at : PART;
		bool end = last && at + n == w->num_samples;
		const int16_t *out;
		size_t out_n;

		err = rate_convert_run(r, w->samples + at, (size_t)n, end, &out, &out_n);
		if (!err)
			*go = h(out, out_n, piece, arg);
		piece = "";
		at += n;
	} while (!err && *go && at < w->num_samples);
	return err;
}

/* The first n bytes of text, which are a sentence. */
static int say_sentence(struct speech *s, unsigned v, const char *text, size_t n, bool *go,
			speech_h *h, void *arg)
{
	bool last = !speech_sentence(text + n);
	char *piece = strndup(text, n);
	cst_wave *w;
	int err;

	if (!piece)
		return ENOMEM;
	w = flite_text_to_wave(piece, s->voices[v]);
	err = w ? send(s->resample[v], w, piece, last, go, h, arg) : EIO;
	if (w)
		delete_wave(w);
	free(piece);
	return err;
}

int speech_say(struct speech *s, const char *text, const char *voice, double speed, speech_h *h,
	       void *arg)
{
	unsigned v = 0;
	bool go = true;
	int err = 0;

	while (v < N_VOICES && strcmp(makers[v].name, voice) != 0)
		v++;
	if (v == N_VOICES || !(speed >= 0.25 && speed <= 1.5))
		return EINVAL;
	feat_set_float(s->voices[v]->features, "duration_stretch", (float)(1 / speed));
	rate_convert_reset(s->resample[v]);
	while (go && !err) {
		size_t n = speech_sentence(text);

		if (!n)
			break;
		err = say_sentence(s, v, text, n, &go, h, arg);
		text += n;
	}
	return err;
}
