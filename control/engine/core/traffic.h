/* Traffic between a provider and us: a bound for the usage that it tells, and an estimate of
 * usage where it tells none.
 *
 *   unit           at most                                               estimated as
 *   text_in        2 tokens a byte of what it can have read, + 4096      a token for 4 bytes
 *   text_out       2 tokens a byte of the answer, + 16384 of thoughts    a token for 4 bytes
 *   audio_in       64 tokens a second of sound it can have heard, + 64   10 tokens a second
 *   audio_out      64 tokens a second of the answer, + 64                20 tokens a second
 *   image_in       16384 tokens an image                                 1000 tokens an image
 *   characters     the bytes of the text                                 the bytes of the text
 *   seconds        the seconds of all sound, + 2                         the seconds of all sound
 *
 * Sound and images that it can have read may count as text_in, so their bounds are added to it; an
 * image without a price of its own is estimated as text.
 *
 * Cached units count with the others of their kind, and sound may be counted as text. A session may
 * bill its whole conversation with each answer, so what it can have read is all that it was ever
 * told, and all that it said; a context is never above 262144 tokens.
 *
 * Source of the rates: 1 token for 100 ms heard and for 50 ms spoken (OpenAI, costs of realtime
 * sessions), 32 a second (Gemini); 64 leaves room.
 *
 * Pure. */
#ifndef CONTROL_ENGINE_CORE_TRAFFIC_H
#define CONTROL_ENGINE_CORE_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "control/engine/core/ask.h"
#include "control/settings/usage.h"

struct traffic {
	uint64_t text_in, text_out;	    /* bytes */
	uint64_t sound_in_ms, sound_out_ms; /* ms */
	uint32_t images;
};

/* The traffic of an ask to an engine that receives all of it. */
struct traffic traffic_of_ask(const struct engine_ask *ask);
void traffic_add(struct traffic *to, const struct traffic *more);
bool traffic_is_none(const struct traffic *t);

/* Lowers what cannot be. context: what the provider can have read before this answer. True: some of
 * it was lowered. */
bool traffic_bound(const struct traffic *context, const struct traffic *answer, struct usage *u);
/* Fills in the units that are priced. A model that is priced in several ways counts once: by
 * seconds, else by characters, else by tokens. False: nothing is priced, or nothing passed. */
bool traffic_estimate(const struct traffic *t, const bool priced[PRICE_KINDS], struct usage *u);

#endif
