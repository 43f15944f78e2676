/* Speech-to-text that knows the sounds of a catalogue (prompts.h): it returns words only for audio
 * that it received, late and with errors that depend on the signal-to-noise ratio that it measured.
 *
 * Every 200 ms it compares the last 400 ms with all prompts: by their spectrogram first, then by
 * the waveform. What a prompt does not explain counts as noise; the codec's errors alone are 9 to
 * 18 dB below a voice.
 *
 *   measured ratio, dB   words wrong   further delay, ms
 *   9 and more           3 %           0
 *   6 to 9               6 %           0
 *   3 to 6               12 %          50
 *   0 to 3               20 %          100
 *   -5 to 0              45 %          150
 *   less                 no words
 *
 * An error depends on the prompt, the word and the ratio alone. */
#ifndef STANDINS_RECOGNITION_H
#define STANDINS_RECOGNITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/standins/prompts.h"

enum {
	SI_RECOGNITION_INTERIM_MS = 150, /* from the audio of a word to an interim transcript */
	SI_RECOGNITION_FINAL_MS = 200,	 /* from the commit to the final transcript */
	SI_RECOGNITION_TEXT = 4096,
};

struct si_recognition;

/* p is borrowed. */
struct si_recognition *si_recognition_new(const struct si_prompts *p);
struct si_recognition *si_recognition_free(struct si_recognition *r);
void si_recognition_take(struct si_recognition *r, const int16_t *pcm, size_t n);
/* The utterance is over: looks at its last samples too. */
void si_recognition_end(struct si_recognition *r);
/* The words so far; *delay_ms is the further delay of the table. */
void si_recognition_words(const struct si_recognition *r, char text[SI_RECOGNITION_TEXT],
			  uint32_t *delay_ms);
/* The measured ratio of all that was recognised, dB; -100: nothing was. */
double si_recognition_ratio(const struct si_recognition *r);
/* Forgets the utterance. */
void si_recognition_clear(struct si_recognition *r);

#endif
