/* A voice that reads out: the sound of exactly these words, while it is made. A shell around control/dialect (POST
 * audio/speech).
 *
 * Sound comes raw, s16le mono at 24 kHz, in whole samples. What comes under another Content-Type is a failure, as it
 * would be noise. Cancelling closes the connection, with which servers stop to speak.
 *
 * Everything runs on env's loop thread. The provider is borrowed. The handler is never called from inside a function of
 * this header; each piece gets exactly one TTS_DONE or TTS_FAILED, unless it is cancelled. */
#ifndef CONTROL_TTS_SPEECH_H
#define CONTROL_TTS_SPEECH_H

#include <stddef.h>
#include <stdint.h>

struct provider;
struct tts_speech;

enum { TTS_SPEECH_MS = 120000, TTS_SPEECH_AT_ONCE = 8, TTS_SPEECH_MAX = 24 << 20 /* bytes of one piece */ };

enum tts_event {
	TTS_SOUND,  /* data: more of it */
	TTS_DONE,
	TTS_FAILED, /* data: why */
};
/* data is borrowed until return. */
typedef void(tts_h)(enum tts_event ev, uint32_t turn, uint32_t chunk, const uint8_t *data, size_t n, void *arg);

/* ENOMEM, EINVAL. Caller owns *out, and frees it outside the handler. */
int tts_speech_alloc(struct tts_speech **out, struct provider *provider, tts_h *h, void *arg);
struct tts_speech *tts_speech_free(struct tts_speech *t);

/* Texts are copied. ENOMEM, EBUSY too many are under way. */
int tts_speech_say(struct tts_speech *t, const char *model, const char *voice, uint32_t turn, uint32_t chunk,
		   const char *text);
/* Of this turn nothing more is wanted. */
void tts_speech_cancel(struct tts_speech *t, uint32_t turn);

#endif
