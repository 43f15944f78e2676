/* Who said what in a turn: its words by utterance, in the order in which they came.
 *
 * A turn holds segments {user, utterance, revision, words}. Turns that become one keep all their
 * segments, so an answer to two people knows who said which words, and a better transcript of an
 * utterance that comes late edits its own words in place and no others. The words stand in
 * turn->transcript, one blank between segments; a segment says where. When they do not fit, the
 * oldest are dropped and counted. */
#ifndef CONTROL_ROOM_TURN_SEGMENT_H
#define CONTROL_ROOM_TURN_SEGMENT_H

#include "control/room/turn/turn.h"

enum room_revised {
	ROOM_REVISED_NONE, /* no such utterance in this turn */
	ROOM_REVISED_SAME, /* it said so already */
	ROOM_REVISED,
};

/* The words of one utterance after all others. An utterance without words leaves nothing. */
void room_segment_add(struct room_turn *turn, uint64_t user, const char *name, uint32_t utterance,
		      const char *text);
/* All segments of `from` after those of `into`; `from` keeps its own. */
void room_segment_merge(struct room_turn *into, const struct room_turn *from);
enum room_revised room_segment_revise(struct room_turn *turn, uint64_t user, uint32_t utterance,
				      const char *text);
/* Takes the words of one user out. How many segments are left. */
unsigned room_segment_drop(struct room_turn *turn, uint64_t user);
/* Whether somebody but its first speaker has words in it. */
bool room_segment_shared(const struct room_turn *turn);
/* The words of one segment, cut at the size. */
void room_segment_text(const struct room_turn *turn, unsigned i, char *buf, size_t size);
/* "[Alice]: words", one line each time the speaker changes; words of nobody (user 0) stand alone.
 * Always terminated; what it would need.
 */
size_t room_segment_lines(const struct room_turn *turn, char *buf, size_t size);

#endif
