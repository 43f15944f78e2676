/* What the bot did in an item, by the recordings alone. Pure; knows nothing of the programs.
 *
 * All recordings have SCORE_RATE and one clock. A silence is at least JUDGE_SILENCE_MS long. */
#ifndef TESTS_SOUND_SCORE_JUDGE_H
#define TESTS_SOUND_SCORE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SCORE_RATE = 8000,
	JUDGE_SILENCE_MS = 400,
	JUDGE_YIELD_MS = 2000, /* from the first sound of a takeover to silence */
	JUDGE_AFTER_MS = 1000, /* the bot talks on for so long after the end of the words */
	JUDGE_LATER_MS = 5000, /* a follow-up is answered within this */
};

struct recording {
	int16_t *pcm;
	size_t n;
};

struct judge_item {
	struct recording asker, speaker, bot; /* speaker: the mouth that says the item's words */
	size_t from, to;		      /* of the item */
	bool same;			      /* the speaker is the asker */
	const struct recording *answers;      /* what the bot would say to the question, in order */
	size_t n_answers;
};

struct judgement {
	bool asked, said; /* the question, the item's words were found */
	double answer_ms; /* from the end of the question to the bot's first sound; < 0: none */
	double words_ms;  /* how long the item's words have voice */
	bool over;	  /* the bot was speaking when they began */
	bool broken;	  /* it had been, and fell silent before */
	bool talked_on;	  /* until JUDGE_AFTER_MS after their end */
	double silent_ms; /* from their first sound to silence; < 0: none in the item */
	bool resumed;	  /* the old answer went on after a silence */
	bool yielded;	  /* silent within JUDGE_YIELD_MS and not resumed */
	bool spoke_later; /* something else was said after the answer */
	bool answered;	  /* the bot began to speak within JUDGE_LATER_MS of their end */
};

void judge(struct judgement *out, const struct judge_item *item);

#endif
