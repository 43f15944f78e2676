/* Speech synthesis with flite: 24 kHz s16 mono, sentence by sentence, so that the first is ready
 * early.
 *
 * Synchronous, for one thread at a time in the whole process (flite keeps global tables). No clock,
 * no thread. */
#ifndef OFFLINE_SPEECH_H
#define OFFLINE_SPEECH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct speech;

enum { SPEECH_RATE = 24000 };

/* Sound of one sentence, or a part of it; piece is the sentence (with the blank before it, if any)
 * where it begins, else "". False stops the speech. */
typedef bool(speech_h)(const int16_t *pcm, size_t n, const char *piece, void *arg);

/* ENOMEM. Caller owns *out. */
int speech_alloc(struct speech **out);
struct speech *speech_free(struct speech *s);
/* voice: slt, rms or awb; speed 0.25 … 1.5, 1 is as recorded. EINVAL for another voice, ENOMEM,
 * EIO. */
int speech_say(struct speech *s, const char *text, const char *voice, double speed, speech_h *h,
	       void *arg);
/* Length of the first sentence of text in bytes, with the blanks before it; 0 at the end. */
size_t speech_sentence(const char *text);

#endif
