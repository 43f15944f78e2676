/* The hallucination filter: decides whether a transcript is speech of a person. The first row that
 * fits decides.
 *
 *   transcript                                                                     kind
 *   contains a control token: <|...|>, vq_..._audio_..., audio_future1, end_of_task   CONTROL
 *   contains no letter and no digit                                                EMPTY
 *   has a low confidence on average                                                UNSURE
 *   has few words for the length of its audio                                      SPARSE
 *   anything else                                                                  WORDS
 *
 * The third and fourth row need a provider that reports confidence. A transcript with the bot's
 * name in it is never UNSURE or SPARSE.
 *
 * Each utterance is examined before that:
 *
 *   utterance                                                                      hallucination
 *   the provider reports that there was probably no speech                         SILENCE
 *   has more characters than anybody can say in the voiced audio                   RATE
 *   repeats the same one to four words six times, and little else, without a       LOOP
 *   name and with other words than stop words
 *
 * Transcripts of silence ("thank you for watching") are detected by the silence, not by a list of
 * phrases: people say each of these phrases in earnest, too. */
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
	uint32_t spoken_ms; /* length of the audio with speech */
	bool named;	    /* the bot's name is in it */
};

enum room_transcript_kind room_transcript_classify(const struct room_transcript_input *input,
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
	uint32_t voice_ms;  /* length of its voiced audio; 0: not known */
	bool named;
	bool stop; /* nothing but a stop request, which people do repeat */
};

enum room_hallucination room_hallucination_detect(const struct room_utterance_transcript *heard,
						  const struct settings *s);
/* Non-blank characters per 10 s of so many ms of audio; 0 without audio. */
uint32_t room_speech_rate(const char *text, uint32_t ms);
/* Number of repetitions in a row of the same one to four words that fill at least two thirds of
 * the text; 1 if there are none. */
unsigned room_repetitions(const char *text);
bool room_has_control_tokens(const char *text);
/* True if there is a letter or a digit; everything beyond ASCII counts as a letter. */
bool room_has_words(const char *text);

#endif
