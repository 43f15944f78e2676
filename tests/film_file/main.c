/* Makes a video file of a film: film_file CODEC FILM FILE ROUNDS [sound] (film_file.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/film_file/film_file.h"

int main(int argc, char **argv)
{
	enum media_video_codec codec = MEDIA_VIDEO_AV1;
	struct film film;
	int err;

	if (argc < 5) {
		fprintf(stderr, "usage: film_file h264|vp8|av1 FILM FILE ROUNDS [sound]\n");
		return 2;
	}
	if (strcmp(argv[1], "h264") == 0)
		codec = MEDIA_VIDEO_H264;
	else if (strcmp(argv[1], "vp8") == 0)
		codec = MEDIA_VIDEO_VP8;
	err = film_read(&film, codec, argv[2]);
	if (!err) {
		err = film_file_write(argv[3], codec, &film, (unsigned)strtoul(argv[4], NULL, 10),
				      argc > 5 ? FILM_FILE_SOUND : FILM_FILE_PLAIN);
		film_free(&film);
	}
	if (err)
		fprintf(stderr, "film_file: %s\n", strerror(err));
	return err ? 1 : 0;
}
