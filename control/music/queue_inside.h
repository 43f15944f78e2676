/* The state of a queue, for queue.c and queue_document.c alone. */
#ifndef CONTROL_MUSIC_QUEUE_INSIDE_H
#define CONTROL_MUSIC_QUEUE_INSIDE_H

#include "control/music/queue.h"

enum { MUSIC_QUEUE_TRACKS = MUSIC_QUEUE_WAITING + MUSIC_QUEUE_HISTORY };

struct music_queue {
	uint64_t guild, channel, revision, starts, position;
	uint32_t next_id, playing, prepared;
	uint32_t last_number;
	uint64_t playing_start;	 /* starts, when `playing` was set */
	uint32_t prepared_entry; /* the track that `prepared` is of */
	/* Entries that were present, the newest last: the way back in a queue that loops. */
	uint32_t left[MUSIC_QUEUE_HISTORY];
	size_t n_left;
	enum music_loop loop;
	unsigned volume;
	bool paused;
	size_t n, at;				  /* at: the present track; n: there is none */
	struct track *tracks[MUSIC_QUEUE_TRACKS]; /* owned */
};

#endif
