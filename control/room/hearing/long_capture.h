/* Long speech: each full piece of it goes to speech-to-text, and its words are banked until the
 * speaker really ends.
 *
 *   input                                   next
 *   a piece is full                         its transcript is awaited as one of ROOM_CAPTURE_CHUNKS
 *   ... and as many are awaited             the oldest that has its words goes to the bank, the
 * turn's segments, in order the speaker ends                        bank and pieces become the
 * words of one turn the speaker leaves, others are there    what is banked or has its words becomes
 * the turn; what is awaited is forgotten
 *
 * The bank holds text, never sound. */
#ifndef CONTROL_ROOM_HEARING_LONG_CAPTURE_H
#define CONTROL_ROOM_HEARING_LONG_CAPTURE_H

#include <stdbool.h>

struct room;
struct room_capture_chunk;
struct room_turn;

/* A place for one more piece; NULL when as many are awaited as can be. */
struct room_capture_chunk *room_long_capture_add(struct room_turn *turn);
/* False: nothing is there that could be a turn. */
bool room_long_capture_flush(struct room *room, struct room_turn *turn);

#endif
