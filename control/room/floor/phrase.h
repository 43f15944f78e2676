/* What is said over the bot's voice: a sound of listening, a way to take the floor, or words?
 * (phrases.def)
 *
 *   row   words                                                            it is
 *   1     none, or nothing but punctuation                                  NOTHING
 *   2     a stop word or phrase and no more than goes with it               STOP
 *   3     a phrase that takes the floor, anywhere                           TAKEOVER
 *   4     with a question mark                                              WORDS
 *   5     listening words and laughter, glue between them, at most 6 words  LISTENING
 *   6     a question or request has begun: "what is", "can you", "tell me"  WORDS
 *   7     at most 6 words of those that only hold sentences together        LISTENING
 *   8     at most 2 words of at most 12 letters                             LISTENING
 *   9     at most 4 words of at most 20 letters                             FEW
 *   10    anything else                                                     WORDS
 *
 * FEW is what nobody can tell from its words, "of all things" from "the small one": whether they go
 * on tells. Taking over is looked for first: a bare "stop" is short enough for row 8. */
#ifndef CONTROL_ROOM_FLOOR_PHRASE_H
#define CONTROL_ROOM_FLOOR_PHRASE_H

#include <stdbool.h>

enum room_phrase {
	ROOM_PHRASE_NOTHING,
	ROOM_PHRASE_BACKCHANNEL,
	ROOM_PHRASE_FEW,
	ROOM_PHRASE_WORDS,
	ROOM_PHRASE_TAKEOVER,
	ROOM_PHRASE_STOP,
};

enum room_phrase room_phrase_of(const char *text);
/* Nothing but sounds and humming: no answer to anything. */
bool room_phrase_is_nonverbal(const char *text);
/* Who said this waits for an answer: a question mark, or a sentence that begins as a question or a
 * request. */
bool room_phrase_asks(const char *text);
/* Sounds, listening words, or one short word that asks for nothing: an answer only to somebody who
 * asked. */
bool room_phrase_idle(const char *text);
/* The same, and whatever several words are LISTENING: said over a voice, it is not taken up later.
 */
bool room_phrase_passing(const char *text);

#endif
