/* A voice that reads out: the sound of exactly these words, while it is made. A shell around
 * control/dialect (POST audio/speech).
 *
 * Sound comes raw, s16le mono at 24 kHz, in whole samples. What comes under another Content-Type is
 * a failure, as it would be noise. Cancelling closes the connection, with which servers stop to
 * speak.
 *
 * Everything runs on env's loop thread. The provider is borrowed. The handler is never called from
 * inside a function of this header; each piece gets exactly one ENGINE_SPEECH_DONE or
 * ENGINE_SPEECH_FAILED, unless it is cancelled. */
#ifndef CONTROL_ENGINE_SPEECH_H
#define CONTROL_ENGINE_SPEECH_H

#include <stddef.h>
#include <stdint.h>

struct endpoint;
struct engine_speech;

enum {
	ENGINE_SPEECH_MS = 120000,
	ENGINE_SPEECH_AT_ONCE = 8,
	ENGINE_SPEECH_MAX = 24 << 20 /* bytes of one piece */
};

enum engine_speech_event {
	ENGINE_SPEECH_SOUND, /* data: more of it */
	ENGINE_SPEECH_DONE,
	ENGINE_SPEECH_FAILED, /* data: why */
};
/* data is borrowed until return. */
typedef void(engine_speech_h)(enum engine_speech_event ev, uint32_t turn, uint32_t chunk,
			      const uint8_t *data, size_t n, void *arg);

/* ENOMEM, EINVAL. Caller owns *out, and frees it outside the handler. */
int engine_speech_alloc(struct engine_speech **out, struct endpoint *provider, engine_speech_h *h,
			void *arg);
struct engine_speech *engine_speech_free(struct engine_speech *t);

/* Texts are copied. ENOMEM, EBUSY too many are under way. */
int engine_speech_say(struct engine_speech *t, const char *model, const char *voice, uint32_t turn,
		      uint32_t chunk, const char *text);
/* Of this turn nothing more is wanted. */
void engine_speech_cancel(struct engine_speech *t, uint32_t turn);

#endif
