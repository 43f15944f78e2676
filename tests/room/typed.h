/* Watches what was typed in the chat of the voice channel: no question has words that do not stand
 * there any more. For tests/room/watch.c. */
#ifndef TESTS_ROOM_TYPED_H
#define TESTS_ROOM_TYPED_H

#include "control/room/room.h"

enum { TYPED_LINES = 32, TYPED_TEXT = 64 /* longer words are not watched */ };

struct typed_watch {
	unsigned n; /* ever */
	struct typed_line {
		uint64_t message; /* 0: free */
		bool gone;	  /* these words do not stand there any more */
		char text[TYPED_TEXT];
	} line[TYPED_LINES];
};

/* TYPED or EDITED. */
void typed_came(struct typed_watch *w, const struct room_event *ev);
/* True if this ASK tells words that were taken back. */
bool typed_is_stale(const struct typed_watch *w, const struct room *room,
		    const struct room_effect *e);

#endif
