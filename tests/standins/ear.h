/* What a session that transcribes has heard: the sound of an utterance, and the words in it.
 *
 * Its session owns it, fills in st, link, rate, h and arg, and ends it by si_ear_clear. */
#ifndef STANDINS_EAR_H
#define STANDINS_EAR_H

#include "tests/standins/link.h"

struct si_recognition;
struct si_sound;

struct si_ear {
	struct si_standin *st;
	struct si_link *link;
	uint32_t rate;
	int16_t *pcm;
	size_t n, cap;			    /* samples */
	struct si_acts acts;		    /* of the last commit */
	struct si_sound *hearing;	    /* NULL: nothing is being transcribed */
	char *words;			    /* "" when there were none */
	struct si_recognition *recognition; /* NULL: the program knows no prompts */
	char *interim;			    /* the interim transcript that was sent last */
	void (*h)(void *arg);		    /* words are there, in the time that the script wants */
	void *arg;
};

/* More sound, s16le. False: it is no whole number of samples, or no base64. */
bool si_ear_take(struct si_ear *e, const void *pcm, size_t bytes);
bool si_ear_take_base64(struct si_ear *e, const json_t *audio);
/* True if there is another interim transcript: borrowed until the next call. delay_ms: when it is
 * due. */
bool si_ear_interim(struct si_ear *e, const char **text, uint32_t *delay_ms);
/* The utterance is over: fires SI_COMMIT. */
void si_ear_commit(struct si_ear *e);
/* Transcribes what came, unless the script is silent. Forgets its sound. */
void si_ear_hear(struct si_ear *e);
void si_ear_clear(struct si_ear *e);

#endif
