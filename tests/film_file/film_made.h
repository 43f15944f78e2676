/* Video files that libav encodes, for what a stream cannot send as it is stored: with B-frames, of
 * other codecs, too large, turned. Each frame shows its number in cells of black and white along
 * its upper edge; film_look reads it again. */
#ifndef TESTS_FILM_FILE_FILM_MADE_H
#define TESTS_FILM_FILE_FILM_MADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct film_made {
	const char *container; /* of libav: "mp4", "matroska", "mov" */
	const char *encoder;   /* of libav: "libx264" */
	const char *options;   /* "bf=3:g=60" */
	const char *format;    /* of pixels; NULL: "yuv420p" */
	unsigned width, height, fps, frames;
	unsigned quarters;  /* turns clockwise by which it has to be shown */
	unsigned aspect[2]; /* of a pixel, width and height; 0: square */
	/* A tone of FILM_FILE_TONE_MS at every so many frames (film_file.h), in MOV and Matroska
	 * alone; 0: no sound. */
	unsigned tone;
	bool noise; /* below the number, instead of what is easy to encode */
	/* A second track of sound, which is silent and begins so many ms behind the first one; 0:
	 * none. It may be the one that players choose. */
	int second_ms;
	bool second_is_default;
	bool empty_first;   /* a track of sound without a packet comes before these */
	bool foreign_first; /* one of a codec that decoderd does not play, with silence */
	unsigned late_ms;   /* by which the sound begins later than the picture */
	unsigned begin_s;   /* at which both begin, of Matroska; 0 otherwise */
	unsigned far_frame; /* that lies 100 s ahead of its place; 0: none */
	unsigned key_frame; /* a second key frame, whatever options say; 0: none */
	unsigned b_from;    /* frames before it are no B-frames */
	/* Of MP4 and MOV: written piece by piece, without a table of the whole; or with one of the
	 * first piece. */
	bool pieces, first_piece;
	/* Of them: no list of edits, so that the picture begins later than its sound by as much as
	 * B-frames need. */
	bool no_edits;
};

/* ENOTSUP where libav lacks the encoder; EIO, ENOMEM. */
int film_make(const char *path, const struct film_made *m);

/* Decodes VP8 as a viewer does, frame by frame. */
struct film_look;
int film_look_alloc(struct film_look **out);
struct film_look *film_look_free(struct film_look *l);
/* The number is where the upper edge goes to by so many turns clockwise. */
void film_look_turn(struct film_look *l, unsigned quarters);
/* Returns the number that the frame shows, or -1: it cannot be decoded or shows none. Sets its
 * size. */
int film_look_put(struct film_look *l, const uint8_t *p, size_t n, unsigned *width,
		  unsigned *height);

#endif
