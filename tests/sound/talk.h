/* The people of one room: they ask, wait for the answer, say what the item wants, and listen. What
 * they hear of the bot is recorded. */
#ifndef TESTS_SOUND_TALK_H
#define TESTS_SOUND_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/sound/items.h"

struct env;
struct media_heard;
struct mic;
struct talk;

struct talk_conf {
	unsigned room;
	const struct item *items; /* of all rooms; borrowed */
	size_t n;
	struct mic *asker, *other; /* borrowed */
	struct mic *echo;	   /* one that hears the bot, or NULL */
	int record;		   /* a file: the bot, s16le at MIC_LOW from t0 on */
	FILE *played;		   /* a line for each item: see talk_tick */
	uint64_t t0, first;	   /* ns; no question before `first` */
};

int talk_alloc(struct talk **out, struct env *env, const struct talk_conf *conf);
struct talk *talk_free(struct talk *t);
/* A frame of the bot, at MIC_LOW. */
void talk_hears(struct talk *t, const struct media_heard *f);
void talk_capture_ends(struct talk *t);
/* Every 20 ms. Returns false when all items are over. Writes to `played`: the number of the item,
 * the room, the first and the last sample at MIC_LOW, and whether the question was answered. */
bool talk_tick(struct talk *t);

#endif
