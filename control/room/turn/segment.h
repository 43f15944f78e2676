/* The segments of a turn: who said which words, by utterance, in the order of their arrival.
 *
 * A segment is {user, utterance, revision, words}. Merged turns keep all their segments, so an
 * answer to two people knows who said what, and a late revision of a transcript edits its own
 * words only. The words lie in turn->transcript, separated by one blank; a segment holds their
 * position. When they do not fit, the oldest words are dropped and counted. */
#ifndef CONTROL_ROOM_TURN_SEGMENT_H
#define CONTROL_ROOM_TURN_SEGMENT_H

#include "control/room/base/turn.h"

enum room_revised {
	ROOM_REVISED_NONE, /* no such utterance in this turn */
	ROOM_REVISED_SAME, /* the words are the same */
	ROOM_REVISED,
};

/* Adds the words of one utterance at the end. Without words it adds nothing. */
void room_segment_add(struct room_turn *turn, uint64_t user, const char *name, uint32_t utterance,
		      const char *text);
/* Adds all segments of `from` after those of `into`; `from` keeps its own. */
void room_segment_merge(struct room_turn *into, const struct room_turn *from);
enum room_revised room_segment_revise(struct room_turn *turn, uint64_t user, uint32_t utterance,
				      const char *text);
/* Removes the words of one user. Returns the number of segments left. */
unsigned room_segment_drop(struct room_turn *turn, uint64_t user);
/* True if this user, or anybody else, has words in it. */
bool room_segment_of(const struct room_turn *turn, uint64_t user);
bool room_segment_of_others(const struct room_turn *turn, uint64_t user);
/* True if anybody besides its first speaker has words in it. */
bool room_segment_shared(const struct room_turn *turn);
/* The words of one segment, cut at the size. */
void room_segment_text(const struct room_turn *turn, unsigned i, char *buf, size_t size);
/* Writes "[Alice]: words", a line for each change of speaker; words of nobody (user 0) stand
 * alone. Always terminated; returns the length needed. */
size_t room_segment_lines(const struct room_turn *turn, char *buf, size_t size);

#endif
