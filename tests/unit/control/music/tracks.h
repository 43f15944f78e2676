/* Tracks and queues for tests of music. */
#ifndef TESTS_UNIT_CONTROL_MUSIC_TRACKS_H
#define TESTS_UNIT_CONTROL_MUSIC_TRACKS_H

#include <stdio.h>
#include <string.h>

#include "control/music/queue.h"

enum { GUILD = 77, CHANNEL = 88, ALICE = 1, BOB = 2 };

static inline struct track local_track(const char *title, uint64_t requester)
{
	struct track t = {.requester = requester, .duration_ms = 60000};

	snprintf(t.title, sizeof t.title, "%s", title);
	snprintf(t.reference, sizeof t.reference, "%s.flac", title);
	return t;
}

/* Appends a track for each letter: "abc". */
static inline int add_letters(struct music_queue *q, const char *letters, uint64_t requester)
{
	size_t first;
	int err = 0;

	for (; *letters && !err; letters++) {
		struct track t = local_track((char[]){*letters, '\0'}, requester);

		err = music_queue_add(q, &t, 1, MUSIC_QUEUE_END, &first);
	}
	return err;
}

/* The first letters of the titles: history, '|', the present track and those that wait. Static. */
static inline const char *spell_queue(const struct music_queue *q)
{
	static char text[MUSIC_QUEUE_WAITING + MUSIC_QUEUE_HISTORY + 2];
	size_t n = 0;

	for (size_t i = music_queue_played_count(q); i; i--)
		text[n++] = *music_queue_played(q, i - 1)->title;
	text[n++] = '|';
	for (size_t i = 0; i < music_queue_count(q); i++)
		text[n++] = *music_queue_at(q, i)->title;
	text[n] = '\0';
	return text;
}

#endif
