/* A few words of ours while the tools of a voice model's answer work and the model itself said
 * nothing: read out by the role speech, and played as the beginning of the answer. They end when
 * the model's own audio arrives. (Where answers are written, response_watchdog.c adds the words to
 * the text.) For control/room only. */
#ifndef CONTROL_ROOM_ANSWER_WAIT_LINE_H
#define CONTROL_ROOM_ANSWER_WAIT_LINE_H

#include <stdbool.h>

#include "control/room/answer/retry_policy.h"
#include "control/room/base/event.h"
#include "control/room/base/turn.h"

struct room_context;
struct settings;

/* Of the settings; "" for none. */
const char *room_wait_line_text(const struct settings *s, enum room_wait_line line);
/* Has the words synthesised, unless earlier ones are not over. */
void room_wait_line_say(struct room_retry *l, struct room_context *context, struct room_turn *t,
			enum room_wait_line line);
/* SPEECH_AUDIO, _DONE, _FAILED of ROOM_LINE_CHUNK. True: the audio is to be played. */
bool room_wait_line_on_speech(struct room_retry *l, struct room_context *context,
			      struct room_turn *t, const struct room_event *ev);
/* The answer's own audio arrives. */
void room_wait_line_end(struct room_retry *l, struct room_context *context, struct room_turn *t);

#endif
