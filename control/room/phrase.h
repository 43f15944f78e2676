/* What is said over the bot's voice: a sound of listening, a way to take the floor, or words? (phrases.def)
 *
 *   row   words                                                            it is
 *   1     none, or nothing but punctuation                                  NOTHING
 *   2     a stop word or phrase and no more than goes with it               STOP
 *   3     a phrase that takes the floor, anywhere                           TAKEOVER
 *   4     listening words and laughter, glue between them, at most 6 words  LISTENING
 *   5     at most 2 words of at most 12 letters, no question                LISTENING
 *   6     anything else                                                     WORDS
 *
 * Taking over is looked for first: a bare "stop" is short enough for row 5. */
#ifndef CONTROL_ROOM_PHRASE_H
#define CONTROL_ROOM_PHRASE_H

enum room_phrase {
	ROOM_PHRASE_NOTHING,
	ROOM_PHRASE_LISTENING,
	ROOM_PHRASE_WORDS,
	ROOM_PHRASE_TAKEOVER,
	ROOM_PHRASE_STOP,
};

enum room_phrase room_phrase(const char *text);

#endif
