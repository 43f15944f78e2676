/* Classifies words that are said over the bot's speech: a backchannel, a takeover, or words
 * (phrases.def). The first row that fits decides.
 *
 *   row   words                                                             class
 *   1     none, or only punctuation                                         NOTHING
 *   2     a stop word or phrase, with the words that may accompany it       STOP
 *   3     a takeover phrase in any position                                 TAKEOVER
 *   4     with a question mark                                              WORDS
 *   5     backchannels and laughter, with glue words, at most 6 words       BACKCHANNEL
 *   6     the beginning of a question or request: "what is", "tell me"      WORDS
 *   7     at most 6 function words                                          BACKCHANNEL
 *   8     at most 2 words of at most 12 letters                             BACKCHANNEL
 *   9     at most 4 words of at most 20 letters                             FEW
 *   10    anything else                                                     WORDS
 *
 * FEW words do not tell what they are ("of all things", "the small one"); the speaker's going on
 * decides. STOP and TAKEOVER are tested first, because a bare "stop" is short enough for row 8. */
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
/* Whether the text is only nonverbal sounds and humming. */
bool room_phrase_is_nonverbal(const char *text);
/* Whether the speaker expects an answer: a question mark, or the beginning of a question or
 * request. */
bool room_phrase_asks(const char *text);
/* Whether the text is sounds, backchannels or one short word that asks for nothing: an answer
 * only after a question. */
bool room_phrase_idle(const char *text);
/* The same, and every BACKCHANNEL of several words: over an answer it is not taken up later. */
bool room_phrase_passing(const char *text);

#endif
