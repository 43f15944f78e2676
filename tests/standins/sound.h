/* The sounds of a stand-in: tones that a test can recognise, or real words by offlined, which
 * runs as a server on this machine.
 *
 * Without offlined the n-th sound of the program is a tone of si_sound_hz(n), SI_SOUND_WORD_MS for
 * each word, and speech has no words but those of the script. */
#ifndef STANDINS_SOUND_H
#define STANDINS_SOUND_H

#include <stddef.h>
#include <stdint.h>

struct si_sound;
struct si_standin;

enum { SI_SOUND_WORD_MS = 200 };

/* pcm: s16le mono, borrowed; words: NULL when they could not be heard. */
typedef void(si_speak_h)(const int16_t *pcm, size_t n, void *arg);
typedef void(si_hear_h)(const char *words, void *arg);

/* Both call h in a later turn of the loop, unless they are cancelled before. Caller owns the
 * result, until h was called. */
struct si_sound *si_sound_speak(struct si_standin *st, const char *text, uint32_t rate,
				si_speak_h *h, void *arg);
/* words: those of the script, or NULL. */
struct si_sound *si_sound_hear(struct si_standin *st, const int16_t *pcm, size_t n, uint32_t rate,
			       const char *words, si_hear_h *h, void *arg);
struct si_sound *si_sound_cancel(struct si_sound *s);

/* The pitch of the n-th sound, n from 1. */
unsigned si_sound_hz(uint32_t n);
/* Base64 without line breaks, with NUL. Caller frees. */
char *si_base64(const void *data, size_t n);
/* The bytes of a base64 text, NULL when it is none. Caller frees. */
uint8_t *si_unbase64(const char *text, size_t n, size_t *out);

#endif
