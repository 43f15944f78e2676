/* The bot's voice in one call: performs the room's SAY effects with a playback
 * (control/media/media.h), and reports the playback to the room. Audio of an answer waits here
 * until the room releases it.
 *
 *   state      effect                      next
 *   NONE       SAY_PCM                     HELD
 *   HELD       SAY_PCM, up to 5 minutes    HELD; beyond that the room gets BRAIN_FAILED
 *   HELD       SAY_OPEN                    PLAYING, or the room gets SAY_STOPPED
 *   PLAYING    SAY_PCM, _END, _GAIN, …     PLAYING; beyond 5 minutes of backlog the same, and what
 *                                          is there plays to its end
 *   PLAYING    drained, and more comes     HELD: another playback of the same turn
 *   any        SAY_PCM of another turn     HELD; the older turn's audio is dropped
 *
 * Everything runs on the media link's loop thread. The handler may be called from inside
 * voice_output_do. */
#ifndef CONTROL_AGENT_VOICE_OUTPUT_H
#define CONTROL_AGENT_VOICE_OUTPUT_H

#include <stdint.h>

struct media_call;
struct room_effect;
struct room_event;
struct voice_output;

/* ROOM_SAY_STARTED, _DRAINED, _STOPPED, ROOM_BRAIN_FAILED; borrowed until return. It may call
 * voice_output_over. */
typedef void(voice_output_h)(const struct room_event *ev, void *arg);

/* call is borrowed. EINVAL, ENOMEM. Caller owns *out. */
int voice_output_alloc(struct voice_output **out, struct media_call *call, voice_output_h *h,
		       void *arg);
struct voice_output *voice_output_free(struct voice_output *s);
/* One ROOM_DO_SAY_*. */
void voice_output_do(struct voice_output *s, const struct room_effect *e);
/* The turn ended: drops the rest of its audio. */
void voice_output_over(struct voice_output *s, uint32_t turn);

#endif
