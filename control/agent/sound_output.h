/* Plays a local soundboard sound in one call, on a playback of its own: mediad mixes it with what
 * else is heard. One sound at a time; another one takes its place.
 *
 * A sound belongs to an answer: the answer's pauses and levels are its own, too. The end is
 * told once, unless the sound was stopped or replaced.
 *
 * Everything runs on the media link's loop thread. */
#ifndef CONTROL_AGENT_SOUND_OUTPUT_H
#define CONTROL_AGENT_SOUND_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

struct media_call;
struct room_effect;
struct sound_output;

enum { SOUND_OUTPUT_RATE = 48000 };

/* The sound was played, or its playback was lost. */
typedef void(sound_output_h)(uint32_t turn, uint32_t chunk, void *arg);

/* call is borrowed. EINVAL, ENOMEM. Caller owns *out. */
int sound_output_alloc(struct sound_output **out, struct media_call *call, sound_output_h *h,
		       void *arg);
struct sound_output *sound_output_free(struct sound_output *o);
/* Mono at SOUND_OUTPUT_RATE, copied. ENOTCONN without a call, ENOMEM. */
int sound_output_play(struct sound_output *o, uint32_t turn, uint32_t chunk, const int16_t *pcm,
		      size_t n);
/* ROOM_DO_SAY_PAUSE, _RESUME or _GAIN of an answer. */
void sound_output_do(struct sound_output *o, const struct room_effect *e);
/* Stops what plays. */
void sound_output_stop(struct sound_output *o, uint16_t fade_ms);

#endif
