/* Makes a video file of a film: film_file CODEC FILM FILE ROUNDS [sound] (film_file.h); or one that
 * no stream can send as it is stored: film_file make FILE FRAMES TONE, 640 × 360 in H.264 with
 * B-frames and a tone at every so many frames. film_file look IVF prints what a viewer of VP8 sees
 * (film_made.h): for each frame its number, or -1, and its time in ms. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/film_file/film_file.h"
#include "tests/film_file/film_made.h"

enum { FRAME_MAX = 1 << 20, IVF_HEAD = 32, IVF_FRAME = 12 };

static int fail(int err)
{
	fprintf(stderr, "film_file: %s\n", strerror(err));
	return 1;
}

static int make(char **argv)
{
	const struct film_made m = {.container = "mov",
				    .encoder = "libx264",
				    .options = "preset=ultrafast:bf=3:b_adapt=0:g=60",
				    .width = 640,
				    .height = 360,
				    .fps = 30,
				    .frames = (unsigned)strtoul(argv[3], NULL, 10),
				    .tone = (unsigned)strtoul(argv[4], NULL, 10)};
	int err = film_make(argv[2], &m);

	return err ? fail(err) : 0;
}

static int look(const char *path)
{
	static uint8_t frame[FRAME_MAX];
	uint8_t head[IVF_HEAD];
	struct film_look *l;
	FILE *f = fopen(path, "rb");
	unsigned width = 0, height = 0;
	int err = f ? film_look_alloc(&l) : errno;

	if (err)
		return fail(err);
	if (fread(head, 1, IVF_HEAD, f) == IVF_HEAD)
		while (fread(head, 1, IVF_FRAME, f) == IVF_FRAME) {
			size_t n = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16;
			unsigned long long ms = 0;
			int number;

			for (unsigned i = 8; i > 0; i--)
				ms = ms << 8 | head[3 + i];
			if (n > FRAME_MAX || fread(frame, 1, n, f) != n)
				break;
			number = film_look_put(l, frame, n, &width, &height);
			printf("%d %llu %ux%u\n", number, ms, width, height);
		}
	film_look_free(l);
	fclose(f);
	return 0;
}

static int copy(int argc, char **argv)
{
	enum media_video_codec codec = MEDIA_VIDEO_AV1;
	struct film film;
	int err;

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
	return err ? fail(err) : 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "look") == 0)
		return look(argv[2]);
	if (argc == 5 && strcmp(argv[1], "make") == 0)
		return make(argv);
	if (argc < 5) {
		fprintf(stderr, "usage: film_file h264|vp8|av1 FILM FILE ROUNDS [sound]\n"
				"       film_file make FILE FRAMES TONE\n"
				"       film_file look IVF\n");
		return 2;
	}
	return copy(argc, argv);
}
