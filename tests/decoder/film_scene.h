/* A film whose video is read into a ring, and what a viewer sees of it. */
#ifndef TESTS_DECODER_FILM_SCENE_H
#define TESTS_DECODER_FILM_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "mediad/decoder/film.h"
#include "mediad/music/video_ring.h"
#include "tests/film_file/film_made.h"
#include "tests/golive/film.h"

struct viewing {
	struct video_ring *reader, *writer;
	struct film film;
	struct decoder_opened opened;
	bool is_open;
	char path[64];
	int fd;
};

/* To be set to conf.openedh, with the viewing as conf.arg. */
void on_opened(const struct decoder_opened *opened, void *arg);
/* Makes the file, which is unlinked at once. False: that failed. */
bool make_viewing(struct viewing *v, const struct film_made *m);
/* Returns an errno. There is one ring in a process. */
int make_rings(struct viewing *v);
void close_viewing(struct viewing *v);
/* Reads all of it, from this 48 kHz frame on. */
enum decoder_reason view(struct viewing *v, uint64_t start);

/* What came out, as a viewer sees it: how many frames, each of which shows a later number than the
 * one before and comes at the time of its number. */
struct seen {
	unsigned frames, keys, width, height;
	int first, last;
	bool in_order, in_time;
};

/* Reads what is in the ring. */
void look(struct viewing *v, unsigned fps, struct seen *s);

/* 3 s of H.264 that streams cannot send. */
extern const struct film_made b_frames;

#endif
