/* The items of a sound test, one line each, in the order in which each room has them:
 *
 *   ROOM CLASS SPEAKER AFTER AT_MS QUESTION SAID ANSWERS TEXT
 *
 * divided by tabs. SPEAKER: 0 the asker, 1 another member. AFTER: 0 said AT_MS after the answer
 * began, 1 after it ended. QUESTION, SAID and the ANSWERS (divided by commas) are recordings, s16le
 * mono at ITEM_RATE; SAID is "-" for a question alone. */
#ifndef TESTS_SOUND_ITEMS_H
#define TESTS_SOUND_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ITEM_RATE = 24000, ITEM_PATH = 256, ITEM_ANSWERS = 6, ITEM_TEXT = 400 };

struct item {
	unsigned room;
	char class[16];
	bool other, after;
	uint32_t at_ms;
	char question[ITEM_PATH], said[ITEM_PATH], answer[ITEM_ANSWERS][ITEM_PATH], text[ITEM_TEXT];
};

/* ENOENT, EBADMSG, ENOMEM. Caller frees *out. */
int items_read(struct item **out, size_t *n, const char *path);
/* The samples of a recording; NULL without it. Caller frees. */
int16_t *items_sound(const char *path, size_t *n);

#endif
