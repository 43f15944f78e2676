/* The machine of captures: feeds each speaker's capture (capture.h) with speaking events, audio and
 * time, and turns its output into speech-to-text requests and turns.
 *
 *   output of a capture   what the room does
 *   start                 starts an utterance of speech-to-text
 *   append                sends the frame to speech-to-text, and to the barge-in arbiter
 *   promote               begins a turn
 *   end CHUNK             commits the chunk; the turn continues
 *   end SPEECH            commits the rest; the turn waits for its transcripts
 *   end NOISE, DISCARDED  cancels the utterance; a turn without earlier chunks ends as noise */
#ifndef CONTROL_ROOM_HEARING_CAPTURES_H
#define CONTROL_ROOM_HEARING_CAPTURES_H

#include "control/room/room.h"

/* Captures that are open now, of all speakers. */
unsigned room_live_captures(const struct room *room);
/* Ends every open capture at once: the call is lost. */
void room_captures_end(struct room *room);

void room_captures_on_event(struct room *room, const struct room_event *ev);
void room_captures_tick(struct room *room);
uint64_t room_captures_deadline(const struct room *room);

#endif
