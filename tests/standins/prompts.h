/* Prompts: recordings with known words. A stand-in recognises them in the audio that it received,
 * by their sound alone, and speaks them.
 *
 * A catalogue is a file of lines `FILE <tab> TEXT`; FILE holds s16le mono at SI_PROMPT_RATE; its
 * path is absolute, or relative to the catalogue. */
#ifndef STANDINS_PROMPTS_H
#define STANDINS_PROMPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SI_PROMPT_RATE = 24000,
	SI_PROMPT_LOW = 8000, /* the rate of everything below */
	SI_PROMPT_ROW = 160,  /* samples of a row of the spectrogram, 20 ms */
	SI_PROMPT_BANDS = 8,
	SI_PROMPT_WINDOW = 20, /* rows that are compared at once, 400 ms */
	SI_PROMPT_SPACE = 25,  /* silent rows before and after each prompt */
	SI_PROMPT_WORDS = 64,
};

struct si_prompt {
	char *text;
	int16_t *pcm; /* at SI_PROMPT_RATE */
	size_t n;
	float *low; /* at SI_PROMPT_LOW, with SI_PROMPT_SPACE rows of silence on both sides */
	size_t n_low;
	float *half;	  /* every two samples of `low` as one */
	double *power;	  /* of the first n samples of `low`, squared and added */
	size_t first_row; /* of its `low` in the catalogue */
	/* The voice in `low`, and where each word ends in it. */
	size_t from, to;
	size_t word_end[SI_PROMPT_WORDS];
	unsigned words;
};

struct si_prompts {
	struct si_prompt *v;
	size_t n;
	float *rows;   /* SI_PROMPT_BANDS each, of all prompts */
	float *spread; /* of the window that begins at this row: the norm about its mean */
	size_t n_rows;
};

/* ENOENT, EBADMSG: a file is missing or empty, or a line has no text. Caller owns *out. */
int si_prompts_alloc(struct si_prompts **out, const char *path);
struct si_prompts *si_prompts_free(struct si_prompts *p);
/* The sound of a text that consists of prompts, at SI_PROMPT_RATE; NULL when a part of it is none.
 * Caller frees. */
int16_t *si_prompts_speak(const struct si_prompts *p, const char *text, size_t *n);

/* For recognition.c. The sum of the products of n samples, of which only whole groups of eight
 * count. */
float si_prompt_dot(const float *x, const float *y, size_t n);
/* The spectrogram of n_rows * SI_PROMPT_ROW samples. */
void si_prompt_rows(float *rows, const float *low, size_t n_rows);
/* Every third sample of a stream, filtered; `tail` keeps the samples before. */
struct si_thinner {
	float tail[48];
	unsigned phase;
};
/* Writes at most n / 3 + 1 samples and returns their number. */
size_t si_thin(struct si_thinner *t, float *out, const int16_t *pcm, size_t n);

#endif
