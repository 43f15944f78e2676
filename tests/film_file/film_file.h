/* A video file of a film of tests/data/golive: its frames, again and again, in MP4 (H.264) or WebM
 * (VP8, AV1), by the muxers of libav and without encoding anything.
 *
 * In MP4 the parameters of H.264 are kept apart from the frames, and units have their length before
 * them, so that whoever shows the file has to bring both back. */
#ifndef TESTS_FILM_FILE_FILM_FILE_H
#define TESTS_FILM_FILE_FILM_FILE_H

#include "tests/golive/film.h"

/* film: as film_read gives it; borrowed. reordered: every other frame is to be shown after the one
 * that follows it, as B-frames are. Returns EBADMSG, ENOMEM, ENOTSUP, EACCES, EIO. */
int film_file_write(const char *path, enum media_video_codec codec, const struct film *film,
		    unsigned rounds, bool reordered);

#endif
