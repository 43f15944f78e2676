/* Inside the explorer of text chat (explore.h): what it plays, and what it holds against each step.
 */
#ifndef TESTS_TEXT_EXPLORE_INSIDE_H
#define TESTS_TEXT_EXPLORE_INSIDE_H

#include "control/settings/settings.h"
#include "control/text/taken.h"
#include "control/text/text_chat.h"
#include "proto/base/time.h"
#include "tests/text/explore.h"

enum {
	CHANNELS = 6,
	USERS = 5,
	BOT = 1,
	KNOWN = 1 << 14,
	RECENT = 64,
	SENDS = 64,
	ANSWERS = 64,
	POSTS = 8,
	REACTIONS = 64
};

/* A message by its number. */
struct known {
	uint64_t id;
	uint32_t open, sent; /* RECORDs that are missing; answers that have it */
	bool put;	     /* it has a reaction of the bot */
	bool deleted, own;   /* own: the bot wrote it */
};
struct explore {
	struct text_explore_result *out;
	uint64_t random, now, next_id;
	struct settings *settings;
	struct text_chat *chat;
	struct text_effects fx;
	struct known known[KNOWN];
	uint64_t forgotten[USERS]; /* their messages up to this one */
	uint64_t recent[RECENT], recent_user[RECENT], recent_channel[RECENT];
	struct text_event recent_as[RECENT]; /* as they are now */
	struct taken_table *taken;	     /* what the store keeps */
	/* The bot's messages that Discord has, and those under way. */
	struct {
		uint64_t channel, message, replies_to, mark;
	} answer[ANSWERS], on_way[CHANNELS];
	unsigned n_answers;		/* ever */
	uint64_t post[CHANNELS][POSTS]; /* ns: of the bot's own accord, the last ones */
	unsigned n_posts[CHANNELS];	/* ever */
	uint64_t late_from; /* messages before this id were written before the core began */
	uint32_t asked[CHANNELS], sending[CHANNELS]; /* replies under way */
	/* Reactions that are whole answers, under way, and on what; whether the last ASK offered
	 * one. */
	uint32_t reacting[CHANNELS];
	uint64_t react_on[CHANNELS], react_mark[CHANNELS];
	bool offered[CHANNELS];
	/* The bot's reactions that Discord has. */
	struct {
		uint64_t channel, mark;
	} put[ANSWERS];
	unsigned n_put;				  /* ever */
	uint64_t reacted_at[CHANNELS][REACTIONS]; /* ns: the last ones */
	unsigned n_reacted[CHANNELS];
	uint64_t asked_of[CHANNELS][TEXT_BURST];
	unsigned n_asked_of[CHANNELS];
	bool acted[CHANNELS];			      /* calls of the answer changed something */
	unsigned tools[CHANNELS], workings[CHANNELS]; /* at work for the answer; how often told */
	uint64_t question[CHANNELS][USERS];	      /* that waits for a user's yes; 0: none */
	uint64_t asked_at[CHANNELS][USERS];
	uint64_t next_question; /* of the SENT under way; 0: it asks nothing */
	unsigned next_asker;
	uint64_t sent_at[CHANNELS][SENDS], typed_at[CHANNELS];
	unsigned n_sent[CHANNELS], edits[CHANNELS];
	bool typed[CHANNELS], owed[CHANNELS]; /* owed: what is asked for is required */
	uint64_t newest[CHANNELS];
	uint32_t reported[RECENT]; /* answers of messages that ended in this step */
	unsigned n_reported;
	/* Of a user's messages that ended in this step: how many, and when the first came. */
	struct {
		unsigned n;
		uint64_t at;
	} left_out[CHANNELS][USERS];
	/* Messages that must be answered and have not ended; whether the answer asked for last is
	 * one to what does not address the bot. */
	struct {
		uint64_t message, user;
	} waits[CHANNELS][TEXT_QUEUE];
	unsigned n_waits[CHANNELS];
	bool ambient[CHANNELS];
	bool load; /* many people talk to one another */
	bool over, jobs[CHANNELS][USERS];
	unsigned results[CHANNELS][USERS]; /* that were to be told */
};
/* ---- explore_see.c ---- */
/* The first violation ends the run. */
void explore_violate(struct explore *x, const char *why);
struct known *explore_known(struct explore *x, uint64_t id);
/* Discord has the answer that was under way in this channel. */
void explore_arrive(struct explore *x, unsigned ch, uint64_t message);
/* Discord has the reaction that was under way there, or will not have it. */
void explore_reacted(struct explore *x, unsigned ch, bool took);
/* Gives the core the event, and looks at what it does. */
void explore_step(struct explore *x, const struct text_event *ev);

#endif
