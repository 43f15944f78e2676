/* Long captures: every full chunk goes to speech-to-text, and its transcript is kept until the
 * speaker has finished.
 *
 *   input                                   result
 *   a chunk is full                         its transcript is awaited in one of
 *                                           ROOM_CAPTURE_CHUNKS places
 *   all places are taken, the oldest chunk  it becomes a segment of the turn
 *   has its transcript
 *   all places are taken, it has none yet   the turn awaits its transcripts, and the capture goes
 *                                           on in a new turn (transcript.c)
 *   the speaker finishes                    segments and chunks become the words of one turn
 *   the speaker leaves, others are present  the words so far become the turn; pending chunks are
 *                                           cancelled
 *
 * Only text is kept, no audio. room_long_capture_flush is in base/hearing.h. */
#ifndef CONTROL_ROOM_HEARING_LONG_CAPTURE_H
#define CONTROL_ROOM_HEARING_LONG_CAPTURE_H

struct room_capture_chunk;
struct room_turn;

/* A place for another chunk of this turn; NULL if as many as possible are pending. */
struct room_capture_chunk *room_long_capture_add(struct room_turn *turn);

#endif
