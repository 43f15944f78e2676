#include "tests/standins/prompts.h"

#include "tests/standins/standin.h"

#include <complex.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096, FFT = 256, TAPS = 48, THIN = SI_PROMPT_RATE / SI_PROMPT_LOW, QUIET_DB = 30 };

/* ---- signals ---- */

/* A windowed sinc that passes what 8 kHz can hold. */
static const float *thinning_taps(void)
{
	static float taps[TAPS];
	double sum = 0;

	if (taps[TAPS / 2] > 0)
		return taps;
	for (int i = 0; i < TAPS; i++) {
		double x = (i - (TAPS - 1) / 2.0) * 2 * 3600 / SI_PROMPT_RATE;
		double w = 0.54 - 0.46 * cos(2 * M_PI * i / (TAPS - 1));

		taps[i] = (float)(w * sin(M_PI * x) / (M_PI * x));
		sum += taps[i];
	}
	for (int i = 0; i < TAPS; i++)
		taps[i] = (float)(taps[i] / sum);
	return taps;
}

size_t si_thin(struct si_thinner *t, float *out, const int16_t *pcm, size_t n)
{
	const float *taps = thinning_taps();
	size_t made = 0;

	for (size_t i = 0; i < n; i++) {
		float sum = 0;

		memmove(t->tail, t->tail + 1, (TAPS - 1) * sizeof *t->tail);
		t->tail[TAPS - 1] = pcm[i];
		t->phase = (t->phase + 1) % THIN;
		if (t->phase)
			continue;
		for (int k = 0; k < TAPS; k++)
			sum += taps[k] * t->tail[k];
		out[made++] = sum;
	}
	return made;
}

float si_prompt_dot(const float *x, const float *y, size_t n)
{
	typedef float lanes __attribute__((vector_size(32)));
	lanes sum[2] = {{0}, {0}}, a, b;
	float all = 0;

	for (size_t i = 0; i + 8 <= n; i += 8) {
		memcpy(&a, x + i, sizeof a);
		memcpy(&b, y + i, sizeof b);
		sum[i / 8 % 2] += a * b;
	}
	for (unsigned i = 0; i < 8; i++)
		all += sum[0][i] + sum[1][i];
	return all;
}

static void fft(float complex *x, unsigned n)
{
	for (unsigned i = 1, j = 0; i < n; i++) {
		unsigned bit = n >> 1;

		for (; j & bit; bit >>= 1)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			float complex swap = x[i];

			x[i] = x[j];
			x[j] = swap;
		}
	}
	for (unsigned len = 2; len <= n; len *= 2) {
		float complex step = cexpf(-2.0f * (float)M_PI * I / (float)len);

		for (unsigned i = 0; i < n; i += len) {
			float complex w = 1;

			for (unsigned k = 0; k < len / 2; k++, w *= step) {
				float complex a = x[i + k], b = x[i + k + len / 2] * w;

				x[i + k] = a + b;
				x[i + k + len / 2] = a - b;
			}
		}
	}
}

void si_prompt_rows(float *rows, const float *low, size_t n_rows)
{
	/* The first bin of each band, 31 Hz each: 125 Hz to 3 kHz. */
	static const unsigned edge[SI_PROMPT_BANDS + 1] = {4, 7, 11, 16, 23, 33, 47, 68, 97};

	for (size_t r = 0; r < n_rows; r++) {
		float complex x[FFT] = {0};

		for (unsigned i = 0; i < SI_PROMPT_ROW; i++)
			x[i] = low[r * SI_PROMPT_ROW + i] *
			       (0.5f -
				0.5f * cosf(2 * (float)M_PI * (float)i / (SI_PROMPT_ROW - 1)));
		fft(x, FFT);
		for (unsigned b = 0; b < SI_PROMPT_BANDS; b++) {
			float sum = 0;

			for (unsigned k = edge[b]; k < edge[b + 1]; k++)
				sum += crealf(x[k]) * crealf(x[k]) + cimagf(x[k]) * cimagf(x[k]);
			rows[r * SI_PROMPT_BANDS + b] = powf(sum, 0.25f);
		}
	}
}

/* ---- a prompt ---- */

static int16_t *read_pcm(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	int16_t *pcm = NULL;
	long size = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;

	if (size > 1 && fseek(f, 0, SEEK_SET) == 0) {
		pcm = si_alloc((size_t)size);
		*n = fread(pcm, 2, (size_t)size / 2, f);
	}
	if (f)
		fclose(f);
	return pcm;
}

/* Where the voice begins and ends: rows no more than QUIET_DB below the loudest. */
static void voice_find(struct si_prompt *p)
{
	double most = 0;

	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t r = 0; r < p->n_low / SI_PROMPT_ROW; r++) {
			double sum = 0;

			for (size_t i = 0; i < SI_PROMPT_ROW; i++) {
				double x = p->low[r * SI_PROMPT_ROW + i];

				sum += x * x;
			}
			if (pass == 0) {
				most = fmax(most, sum);
			} else if (sum * pow(10, QUIET_DB / 10.0) > most) {
				if (!p->to)
					p->from = r * SI_PROMPT_ROW;
				p->to = (r + 1) * SI_PROMPT_ROW;
			}
		}
}

/* A word takes as long as its share of letters. */
static void words_place(struct si_prompt *p)
{
	size_t letters = 0, all = 0;

	for (const char *t = p->text; *t; t++)
		all += *t != ' ';
	for (const char *t = p->text; *t && p->words < SI_PROMPT_WORDS;) {
		size_t n = strcspn(t, " ");

		letters += n;
		p->word_end[p->words++] = p->from + (p->to - p->from) * letters / all;
		t += n + strspn(t + n, " ");
	}
}

static void low_make(struct si_prompt *p)
{
	size_t space = SI_PROMPT_SPACE * SI_PROMPT_ROW;
	size_t n = (p->n / THIN + 2 * space) / SI_PROMPT_ROW * SI_PROMPT_ROW;
	struct si_thinner thin = {{0}, 0};

	p->low = si_alloc((n + p->n / THIN + 1) * sizeof *p->low);
	si_thin(&thin, p->low + space, p->pcm, p->n);
	p->n_low = n;
	p->half = si_alloc((n / 2 + 1) * sizeof *p->half);
	p->power = si_alloc((n + 1) * sizeof *p->power);
	for (size_t i = 0; i < n; i++)
		p->power[i + 1] = p->power[i] + (double)p->low[i] * p->low[i];
	for (size_t i = 0; i < n / 2; i++)
		p->half[i] = p->low[2 * i] + p->low[2 * i + 1];
	voice_find(p);
	words_place(p);
}

static int prompt_read(struct si_prompt *p, const char *folder, char *line)
{
	char *text = strchr(line, '\t'), path[LINE * 2];

	if (!text || !text[1])
		return EBADMSG;
	*text++ = '\0';
	text[strcspn(text, "\n")] = '\0';
	snprintf(path, sizeof path, "%s%s%s", *line == '/' ? "" : folder, *line == '/' ? "" : "/",
		 line);
	p->pcm = read_pcm(path, &p->n);
	if (!p->pcm)
		return ENOENT;
	p->text = si_copy(text, strlen(text));
	low_make(p);
	return 0;
}

/* ---- the catalogue ---- */

static void rows_make(struct si_prompts *p)
{
	size_t size = SI_PROMPT_BANDS * sizeof *p->rows, at = 0;

	for (size_t i = 0; i < p->n; i++) {
		p->v[i].first_row = p->n_rows;
		p->n_rows += p->v[i].n_low / SI_PROMPT_ROW;
	}
	p->rows = si_alloc((p->n_rows + SI_PROMPT_WINDOW) * size);
	p->spread = si_alloc((p->n_rows + 1) * sizeof *p->spread);
	for (size_t i = 0; i < p->n; i++)
		si_prompt_rows(p->rows + p->v[i].first_row * SI_PROMPT_BANDS, p->v[i].low,
			       p->v[i].n_low / SI_PROMPT_ROW);
	for (; at + SI_PROMPT_WINDOW <= p->n_rows; at++) {
		double sum = 0;

		for (unsigned b = 0; b < SI_PROMPT_BANDS; b++) {
			double mean = 0, squares = 0;

			for (unsigned k = 0; k < SI_PROMPT_WINDOW; k++) {
				double x = p->rows[(at + k) * SI_PROMPT_BANDS + b];

				mean += x / SI_PROMPT_WINDOW;
				squares += x * x;
			}
			sum += squares - SI_PROMPT_WINDOW * mean * mean;
		}
		p->spread[at] = (float)sqrt(fmax(sum, 0));
	}
}

int si_prompts_alloc(struct si_prompts **out, const char *path)
{
	struct si_prompts *p = si_alloc(sizeof *p);
	char line[LINE], folder[LINE];
	const char *slash = strrchr(path, '/');
	FILE *f = fopen(path, "r");
	int err = f ? 0 : errno;

	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
	while (!err && fgets(line, sizeof line, f)) {
		p->v = realloc(p->v, (p->n + 1) * sizeof *p->v);
		if (!p->v)
			abort();
		p->v[p->n] = (struct si_prompt){0};
		err = prompt_read(&p->v[p->n++], folder, line);
	}
	if (f)
		fclose(f);
	if (!err && !p->n)
		err = EBADMSG;
	if (err) {
		si_prompts_free(p);
		return err;
	}
	rows_make(p);
	*out = p;
	return 0;
}

struct si_prompts *si_prompts_free(struct si_prompts *p)
{
	if (!p)
		return NULL;
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].text);
		free(p->v[i].pcm);
		free(p->v[i].low);
		free(p->v[i].half);
		free(p->v[i].power);
	}
	free(p->v);
	free(p->rows);
	free(p->spread);
	free(p);
	return NULL;
}

/* ---- speaking ---- */

static const char *letter_next(const char *t)
{
	while (*t && !isalnum((unsigned char)*t) && (unsigned char)*t < 0x80)
		t++;
	return t;
}

/* The bytes of text that have the letters of the whole prompt; 0: it has others. */
static size_t text_begins(const char *text, const char *prompt)
{
	const char *t = text;

	for (prompt = letter_next(prompt); *prompt; prompt = letter_next(prompt + 1)) {
		t = letter_next(t);
		if (tolower((unsigned char)*t) != tolower((unsigned char)*prompt))
			return 0;
		t++;
	}
	return (size_t)(t - text);
}

int16_t *si_prompts_speak(const struct si_prompts *p, const char *text, size_t *n)
{
	int16_t *pcm = NULL;
	size_t made = 0;

	for (text = letter_next(text); *text; text = letter_next(text)) {
		const struct si_prompt *best = NULL;
		size_t most = 0;

		for (size_t i = 0; i < p->n; i++) {
			size_t took = text_begins(text, p->v[i].text);

			if (took > most) {
				most = took;
				best = &p->v[i];
			}
		}
		if (!best) {
			free(pcm);
			return NULL;
		}
		pcm = realloc(pcm, (made + best->n) * sizeof *pcm);
		if (!pcm)
			abort();
		memcpy(pcm + made, best->pcm, best->n * sizeof *pcm);
		made += best->n;
		text += most;
	}
	*n = made;
	return pcm;
}
