/* The echo filter: tells the bot's own words that come back through a member's open microphone from
 * words that the member says. A function of a transcript and of the words that the bot was playing
 * while its audio was recorded.
 *
 * The transcript's words are aligned with the played ones in their order; a word of five letters or
 * more may differ by one. The echo is the stretch of the transcript with the highest score, in
 * which an aligned word counts its letters and any other one costs half as much again (as much, of
 * a known echo), since speech-to-text errs. The first row that fits decides.
 *
 *   transcript                                                 sound               echo
 *   is a stop request and nothing else                         not of a known echo no
 *   asks with a question mark that the bot's words lack        the member's level  no
 *   has 4 aligned words and 12 letters, or 6 characters of a   any                 yes
 *   script without blanks
 *   has an aligned word, and nothing beside it is the member's of a known echo     yes
 *   anything else                                                                  no
 *
 * Four words can be repeated by a member, so they remove this transcript and prove nothing about
 * the next. A microphone is known to return the bot's voice when sound has shown it
 * (transcript.c): audio of nothing but the bot's words that is less than half as loud as the
 * member's voice is while the bot is silent, or that begins with an answer, which nobody can have
 * heard before. For five minutes the sound of a known echo is audio that is at most twice as
 * loud.
 *
 * Words before and after the echo are the member's if they are not slight (phrase.h) and 3 or more
 * (2, if every word of the echo is aligned), or if they ask the bot to stop or for the floor, ask,
 * object or request, or hold its name; others are errors of speech-to-text. Audio that went on for
 * longer than an echo can, with nothing but the bot's words, is a member who repeats them.
 *
 * Before there are words, a voice from a microphone that is known to return the bot's counts for
 * nothing over an answer unless it is more than twice as loud as the echo was
 * (room_asr_returns_bot, floor/barge_in_gate.h). For control/room only. */
#ifndef CONTROL_ROOM_HEARING_ECHO_FILTER_H
#define CONTROL_ROOM_HEARING_ECHO_FILTER_H

#include <stdbool.h>

struct room_names;

enum room_echo {
	ROOM_ECHO_NONE,
	ROOM_ECHO_PART, /* words of the member are left */
	ROOM_ECHO_ALL,
};

struct room_echo_input {
	const char *played;		/* the bot's words, in their order */
	const struct room_names *names; /* of the bot */
	bool known;    /* the sound is that of an echo which this microphone returned lately */
	bool own;      /* the sound is as loud as the member's own voice */
	bool outlasts; /* the audio went on for longer than an echo can */
};

/* Removes the echo from a transcript, in place. */
enum room_echo room_echo_remove(char *text, const struct room_echo_input *in);

#endif
