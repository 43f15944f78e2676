/* Conversations that are made up, with labels that are exact because nobody had to listen for them:
 * two to eight people in a channel with the bot, who ask it things, correct themselves, begin and
 * break off, say mhm while it speaks, cough, talk among each other, interrupt it, come and go.
 *
 * A conversation is made while it goes on, since people react to the bot: what they say and when is
 * drawn from the seed, the bot is a room on a stage (tests/room/stage.h). What they said is scored
 * as spec/peers.md tells tau-Voice does:
 *
 *   backchannel    said while the bot speaks: it talks on (neither cut nor paused before 1 s after
 * its end) tic, aside     said while it speaks: the same; said in silence: not answered
 *   interruption   by the person it speaks to, or by anybody who says its name: it is silent within
 * 2 s and stays so
 *
 * Beside the room stand a bot without one (answers every transcript with words, stops at any
 * speech) and an oracle. */
#ifndef TESTS_CONVERSATIONS_CONVERSATION_H
#define TESTS_CONVERSATIONS_CONVERSATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/conversations/words.def"

enum conversation_kind {
	CONVERSATION_QUESTION,
	CONVERSATION_BACKCHANNEL,
	CONVERSATION_TIC,
	CONVERSATION_ASIDE,
	CONVERSATION_TAKEOVER,
	CONVERSATION_CALL,
	CONVERSATION_CORRECTION,
	CONVERSATION_FALSE_START,
	CONVERSATION_KINDS
};

enum conversation_set {
	CONVERSATION_A,
	CONVERSATION_B,
	CONVERSATION_C,
	CONVERSATION_D,
	CONVERSATION_E,
	CONVERSATION_F, /* the newest: not looked at while the room was tuned */
	CONVERSATION_SETS
};

/* One row of the table. */
struct conversation_words {
	enum conversation_kind kind;
	enum conversation_set set;
	const char *words;
};
/* NULL past the last. */
const struct conversation_words *conversation_words(size_t i);

struct conversation_conf {
	uint64_t seed;
	unsigned people;     /* 2 to 8 */
	unsigned episodes;   /* things that happen */
	unsigned misheard;   /* words in a thousand that speech-to-text hears as others */
	unsigned partial_ms; /* words so far come so often, 0: not */
	unsigned asr_ms; /* speech-to-text takes so long after a commit; 0: as long as on any stage
			  */
	bool no_looks;	 /* nor when the room asks for them */
	bool show;	 /* what was not right, a line each */
	enum conversation_set set;
};

enum { CONVERSATION_ROWS = 4 };
enum conversation_row { ROW_BACKCHANNEL, ROW_TIC, ROW_ASIDE, ROW_YIELD };

/* How often it was right, of how many. */
struct conversation_share {
	unsigned right, of;
};

struct conversation_score {
	struct conversation_share row[CONVERSATION_ROWS];
	struct conversation_share asked; /* questions that were taken to the brain */
	struct conversation_share quiet; /* answers that did not begin while somebody still asked */
	unsigned delays;
	uint32_t delay_ms[4096]; /* from the end of a question to the brain */
	uint32_t yield_ms[4096];
	unsigned yields;
};

enum conversation_bot {
	CONVERSATION_ROOM,
	CONVERSATION_BASELINE,
	CONVERSATION_ORACLE,
	CONVERSATION_BOTS
};

/* Adds what happened to the scores of the three. 0, or what making a room gives. */
int conversation_run(const struct conversation_conf *conf,
		     struct conversation_score score[CONVERSATION_BOTS]);
double conversation_rate(const struct conversation_share *s);
/* Of the sentences that were held out (calls.def): calls that are heard as such, and others that
 * stay as they are. */
void conversation_calls(struct conversation_share *heard, struct conversation_share *left);

#endif
