/* The machine of captures: feeds each speaker's capture (capture.h) with speaking events, audio and
 * time, and turns its output into speech-to-text requests and turns.
 *
 *   output of a capture   what the room does
 *   start                 starts an utterance of speech-to-text
 *   append                sends the frame to speech-to-text, and to the barge-in arbiter
 *   promote               begins a turn
 *   end CHUNK             commits the chunk; the turn continues
 *   end SPEECH            commits the rest; the turn waits for its transcripts
 *   end NOISE, DISCARDED  cancels the utterance; a turn without earlier chunks ends as noise
 *
 * For control/room only. */
#ifndef CONTROL_ROOM_HEARING_CAPTURES_H
#define CONTROL_ROOM_HEARING_CAPTURES_H

#include "control/room/base/people.h"
#include "control/room/hearing/capture.h"
#include "control/room/hearing/preroll.h"

struct room_capture_chunk;
struct room_event;

struct room_captures {
	struct room_capture of[ROOM_SPEAKERS]; /* by the person's place */
	struct room_preroll preroll[ROOM_SPEAKERS];
};

/* The capture of the person in this place. */
const struct room_capture *room_capture_of(const struct room_context *context, unsigned place);
/* True if this frame of the person rises above the background of their microphone. */
bool room_captures_is_voice(const struct room_context *context, unsigned place,
			    const struct room_signal *frame);
/* Captures that are open now, of all speakers. */
unsigned room_live_captures(const struct room_context *context);
/* An interim transcript shows that this utterance is speech. */
void room_captures_on_vad(struct room_context *context, unsigned place, uint32_t utterance);
/* The transcript of a chunk has words, or has none. */
void room_captures_on_words(struct room_context *context, unsigned place,
			    const struct room_capture_chunk *chunk, bool words);
/* Commits the audio so far as a chunk; the capture goes on. */
void room_captures_split(struct room_context *context, unsigned place);
/* The end of the turn is predicted: ends the capture, although audio may follow. */
void room_captures_finish(struct room_context *context, unsigned place);
/* Ends every open capture at once: the call is lost. */
void room_captures_end(struct room_context *context);
/* The person in this place left. */
void room_captures_forget(struct room_context *context, unsigned place);

void room_captures_on_event(struct room_context *context, const struct room_event *ev);
void room_captures_tick(struct room_context *context);
uint64_t room_captures_deadline(const struct room_context *context);

#endif
