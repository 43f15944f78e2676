/* The text instrument: plays wordings (wordings/README.md) to a room in simulated time, each in the
 * situation of its class, and scores what the room did by its effects alone.
 *
 *   class        situation                                        right when
 *   backchannel  over an answer                                   the bot talks on
 *   tic          over an answer                                   the bot talks on
 *   aside        over an answer, or 5 to 45 s after the last one  it talks on, and does not answer
 *   of_the_bot   the same                                         the same
 *   takeover     over an answer                                   silent within YIELD_MS, for good
 *   correction   over an answer                                   the words reach a question
 *   followup     after an answer                                  the words reach a question
 *   named        over an answer, or in a silence                  the words reach a question
 *
 * The bot talks on when it is neither stopped nor paused until AFTER_MS after the end of the words.
 * Three people are in the channel; nobody has a name that occurs in the wordings, so that only
 * terms of address and common given names tell who is called. Every play is a function of its
 * line. */
#ifndef TESTS_CONVERSATIONS_WORDINGS_H
#define TESTS_CONVERSATIONS_WORDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define WORDINGS_CLASSES(C)                                                                        \
	C(BACKCHANNEL, backchannel)                                                                \
	C(TIC, tic)                                                                                \
	C(ASIDE, aside)                                                                            \
	C(OF_THE_BOT, of_the_bot)                                                                  \
	C(TAKEOVER, takeover)                                                                      \
	C(CORRECTION, correction)                                                                  \
	C(FOLLOWUP, followup)                                                                      \
	C(NAMED, named)
#define WORDINGS_LANGUAGES(L)                                                                      \
	L(en) L(de) L(es) L(fr) L(it) L(nl) L(pl) L(pt) L(ru) L(ja) L(ko) L(zh)

enum wordings_class {
#define X(NAME, name) WORDINGS_##NAME,
	WORDINGS_CLASSES(X)
#undef X
		WORDINGS_CLASS_COUNT
};

enum wordings_language {
#define X(code) WORDINGS_##code,
	WORDINGS_LANGUAGES(X)
#undef X
		WORDINGS_LANGUAGE_COUNT
};

enum {
	WORDINGS_TEXT = 400,
	WORDINGS_PLACES = 64,				/* of an author's class in one language */
	WORDINGS_SITUATIONS = 26 * 2 * WORDINGS_PLACES, /* authors, in English or not */
};

struct wordings_line {
	enum wordings_class class;
	unsigned situation; /* within its class: an author wrote it in several languages */
	enum wordings_language language;
	bool asker;
	char bot[WORDINGS_TEXT]; /* what it says or has just said; "" for nothing */
	char said[WORDINGS_TEXT];
};

struct wordings {
	size_t n;
	struct wordings_line *v;
};

/* Reads all files of a folder (tests/conversations/wordings/tuned or untouched). ENOENT, EBADMSG,
 * ENOMEM. The caller ends it with wordings_free(). */
int wordings_load(struct wordings *out, const char *folder);
void wordings_free(struct wordings *w);

/* What the room did. */
struct wordings_play {
	bool over;	  /* it was said over an answer */
	bool talked_on;	  /* neither stopped nor paused */
	bool yielded;	  /* silent within YIELD_MS */
	bool asked;	  /* the words reached a question */
	char reason[160]; /* how the turn of the words ended */
};
/* A stand-in for the model of the role `classify`: it knows the class of the words and errs at
 * random, by the line. */
enum { WORDINGS_CLASSIFIER_MS = 150 };
struct wordings_classifier {
	unsigned wrong;	   /* verdicts of a thousand */
	unsigned after_ms; /* from the question to the verdict */
};

/* classifier: NULL for rules alone. 0, or what making a room gives. */
int wordings_play(struct wordings_play *out, const struct wordings_line *line,
		  const struct wordings_classifier *classifier);
bool wordings_right(const struct wordings_line *line, const struct wordings_play *play);
/* Letters: characters without blanks and ASCII punctuation. */
unsigned wordings_letters(const char *text);

/* ---- scoring (wordings_score.c) ---- */

struct wordings_share {
	unsigned right, of;
	double effective; /* independent wordings that tell as much; 0: all of them */
};
double wordings_rate(const struct wordings_share *s);
/* Wilson's interval at 95 %, of as many wordings as are effective: the same situation in eleven
 * languages is not eleven observations. */
void wordings_interval(const struct wordings_share *s, double *low, double *high);

#define WORDINGS_BASELINES(B)                                                                      \
	B(LENGTH, length)                                                                          \
	B(NAME, name)                                                                              \
	B(ALWAYS, always)                                                                          \
	B(NEVER, never)
enum wordings_baseline {
#define X(NAME, name) WORDINGS_BASELINE_##NAME,
	WORDINGS_BASELINES(X)
#undef X
		WORDINGS_BASELINES_COUNT
};

/* Balanced accuracy of takeovers against backchannels, both weighted to the same lengths within
 * each language, and its 95 % interval. */
struct wordings_matched {
	double value, low, high;
	double baseline[WORDINGS_BASELINES_COUNT]; /* length: with the threshold that is best here
						    */
	unsigned takeovers, backchannels;	   /* with a counterpart of their length */
};

enum { WORDINGS_SCORED = WORDINGS_LANGUAGE_COUNT + 1 }; /* the last one: all together */
struct wordings_score {
	struct wordings_share row[WORDINGS_CLASS_COUNT][WORDINGS_SCORED];
	struct wordings_share
		quiet[WORDINGS_SCORED]; /* backchannels that were not answered later */
	struct wordings_share baseline[WORDINGS_CLASS_COUNT][WORDINGS_BASELINES_COUNT];
	struct wordings_matched matched;
};

/* True if the words of this class are for the bot: it falls silent, or answers. */
bool wordings_for_bot(enum wordings_class class);
/* Plays every `step`-th line; with show != NULL, a line there for each that was not right. */
int wordings_score(struct wordings_score *out, const struct wordings *w, size_t step,
		   const struct wordings_classifier *classifier, FILE *show);
/* The least that the room reaches on the tuned half, a little below its score (docs/room-score.md).
 * The margin is in hundredths of its points. */
#define WORDINGS_FLOORS(F)                                                                         \
	F(text_backchannel, 0.97)                                                                  \
	F(text_tic, 0.97)                                                                          \
	F(text_aside, 0.78)                                                                        \
	F(text_of_the_bot, 0.92)                                                                   \
	F(text_yield, 0.97)                                                                        \
	F(text_short_kept, 0.96)                                                                   \
	F(text_followup, 0.90)                                                                     \
	F(text_named, 0.94)                                                                        \
	F(text_backchannel_quiet, 0.96)                                                            \
	F(text_matched, 0.97)                                                                      \
	F(text_margin, 0.44)
enum {
#define X(row, floor) WORDINGS_ROW_##row,
	WORDINGS_FLOORS(X)
#undef X
		WORDINGS_ROWS
};
/* Prints the rows that are below their floors; returns their number. */
unsigned wordings_check_floors(FILE *to, const struct wordings_score *s);
/* One line for each row of the score, with intervals, baselines and languages. */
void wordings_print(FILE *to, const char *half, const struct wordings_score *s);
const char *wordings_class_name(enum wordings_class class);

#endif
