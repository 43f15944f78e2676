/* A speaker pauses: what they said so far is looked at, and when they have likely finished (eot.h),
 * their answer is begun (speculative.h).
 *
 *   they                                                           what happens
 *   pause for eot_pause_ms, and words so far were told             (the words are there)
 *   pause for eot_pause_ms, and the provider tells none while      what was heard goes to
 * speech-to-text as a piece; whatever they speak follows is the next one (capture.h) still pause
 * when the probability of their words reaches eot_share   the answer is begun go on what was begun
 * is taken back; the next pause counts anew
 *
 * Only while an answer may be begun at all (the policy, a free floor), and each speaker has a
 * session of their own. A piece costs nothing when they do go on: it is sound that was to be
 * transcribed anyway. For control/room only. */
#ifndef CONTROL_ROOM_TURN_ENDPOINTING_H
#define CONTROL_ROOM_TURN_ENDPOINTING_H

#include <stdint.h>

#include "control/room/turn/eot.h"
#include "control/room/turn/turn.h"

struct room;
struct room_speaker;

/* What a speaker said of what is still being heard. */
struct room_endpointing {
	uint32_t utterance; /* whose words so far are in text */
	char text[ROOM_CAPTURE_CHUNK_TEXT];
	enum room_eot_words words; /* of all that was said in the turn */
	uint64_t examined_at;	   /* the end of the voice before the pause that was looked at */
};

/* Words so far of an utterance. */
void room_endpointing_set_interim(struct room_speaker *sp, uint32_t utterance, const char *text);
/* All that the speaker has said by what is known, "" when they say nothing. */
void room_endpointing_text(const struct room_speaker *sp, char *buf, size_t size);
/* The same by utterances into another turn, which has the turn's own segments already. */
void room_endpointing_copy(const struct room_speaker *sp, struct room_turn *to);
/* There are other words than before. */
void room_endpointing_update(struct room *room, struct room_speaker *sp);
/* At the end of a step: what pauses bring. */
void room_endpointing_tick(struct room *room);
uint64_t room_endpointing_deadline(const struct room *room);

#endif
