/* A video file of a film of tests/data/golive: its frames, again and again, in MP4 (H.264) or WebM
 * (VP8, AV1), by the muxers of libav and without encoding anything.
 *
 * In MP4 the parameters of H.264 are kept apart from the frames, and units have their length before
 * them, so that whoever shows the file has to bring both back. */
#ifndef TESTS_FILM_FILE_FILM_FILE_H
#define TESTS_FILM_FILE_FILM_FILE_H

#include "tests/golive/film.h"

enum film_file_kind {
	FILM_FILE_PLAIN,
	/* With sound beside it: a tone of FILM_FILE_TONE_MS at the first frame of each round. The
	 * film is of H.264, and the file a MOV, which takes sound that is not encoded. */
	FILM_FILE_SOUND,
};
enum { FILM_FILE_TONE_MS = 400 };

/* film: as film_read gives it; borrowed. Returns EBADMSG, ENOMEM, ENOTSUP, EACCES, EIO. */
int film_file_write(const char *path, enum media_video_codec codec, const struct film *film,
		    unsigned rounds, enum film_file_kind kind);

#endif
