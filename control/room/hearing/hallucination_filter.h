/* Is a transcript words of a person? The first row that fits decides:
 *
 *   a control token of the model: <|…|>, vq_…_audio_…, audio_future and a digit, end_of_task
 * CONTROL no letter and no digit EMPTY the recogniser is unsure of it on the whole UNSURE long
 * sound and few words                                                                     SPARSE
 *   anything else WORDS
 *
 * The last two only when the provider tells how sure it is; a transcript with the bot's name in it
 * is none of them.
 *
 * And before that of each utterance: can anybody have said it?
 *
 *   the recogniser says that there was likely no speech IN_SILENCE more characters than anybody
 * says in the voice there was                                     TOO_MUCH the same one to four
 * words six times in a row, and little else; the bot's name is not in it  LOOP
 *
 * Words for a silence ("thank you for watching") are known by the silence, not by a list of such
 * words: there is none that nobody says in earnest. */
#ifndef CONTROL_ROOM_HEARING_HALLUCINATION_FILTER_H
#define CONTROL_ROOM_HEARING_HALLUCINATION_FILTER_H

#include <stdbool.h>
#include <stdint.h>

struct settings;

enum { ROOM_REPETITIONS_MIN = 6 };

enum room_transcript_kind {
	ROOM_TRANSCRIPT_KIND_WORDS,
	ROOM_TRANSCRIPT_KIND_CONTROL,
	ROOM_TRANSCRIPT_KIND_EMPTY,
	ROOM_TRANSCRIPT_KIND_UNSURE,
	ROOM_TRANSCRIPT_KIND_SPARSE,
};

struct room_transcript_input {
	const char *text;
	uint32_t doubt;	    /* as of ROOM_TRANSCRIPT; 0: not told */
	uint32_t spoken_ms; /* of sound in which somebody spoke */
	bool named;	    /* the bot's name is in it */
};

enum room_transcript_kind room_transcript_classify(const struct room_transcript_input *facts,
						   const struct settings *s);

enum room_hallucination {
	ROOM_HALLUCINATION_NONE,
	ROOM_HALLUCINATION_SILENCE,
	ROOM_HALLUCINATION_RATE,
	ROOM_HALLUCINATION_LOOP,
};

/* One utterance. */
struct room_utterance_transcript {
	const char *text;
	uint32_t no_speech; /* as of ROOM_TRANSCRIPT; 0: not told */
	uint32_t voice_ms;  /* of its sound, loud enough for a voice; 0: not known */
	bool named;
};

enum room_hallucination room_hallucination_detect(const struct room_utterance_transcript *heard,
						  const struct settings *s);
/* Characters that are not blank in 10 s of so many ms of sound; 0 without any. */
uint32_t room_speech_rate(const char *text, uint32_t ms);
/* How often in a row its one to four words come that fill two thirds of it or more; 1 when none do.
 */
unsigned room_repetitions(const char *text);
bool room_has_control_tokens(const char *text);
/* A letter or a digit; all beyond ASCII counts as letters. */
bool room_has_words(const char *text);

#endif
