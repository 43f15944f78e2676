#include "tests/golive/film.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILM_MAX = 64 << 20, IVF_HEAD = 32, IVF_FRAME = 12 };
enum { NAL_IDR = 5, NAL_AUD = 9, OBU_DELIMITER = 2 };

static int read_file(const char *path, uint8_t **out, size_t *n)
{
	FILE *f = fopen(path, "rb");
	uint8_t *p = f ? malloc(FILM_MAX) : NULL;

	if (p)
		*n = fread(p, 1, FILM_MAX, f);
	if (f)
		fclose(f);
	*out = p;
	return p ? 0 : f ? ENOMEM : ENOENT;
}

static struct film_frame *add_frame(struct film *f)
{
	struct film_frame *more = realloc(f->frames, (f->n + 1) * sizeof *more);

	if (!more)
		return NULL;
	f->frames = more;
	more[f->n] = (struct film_frame){0};
	return &more[f->n++];
}

static int append(struct film_frame *f, const uint8_t *p, size_t n)
{
	uint8_t *more = realloc(f->bytes, f->n + n);

	if (!more)
		return ENOMEM;
	memcpy(more + f->n, p, n);
	f->bytes = more;
	f->n += n;
	return 0;
}

/* The next start code of three bytes from `at` on; n: none. */
static size_t find_start(const uint8_t *p, size_t n, size_t at)
{
	for (; at + 3 < n; at++)
		if (!p[at] && !p[at + 1] && p[at + 2] == 1)
			return at;
	return n;
}

/* Each access unit begins with a delimiter (x264: aud=1). */
static int read_annex_b(struct film *out, const uint8_t *p, size_t n)
{
	static const uint8_t start[] = {0, 0, 0, 1};
	struct film_frame *f = NULL;
	int err = 0;

	for (size_t at = find_start(p, n, 0), next; !err && at < n; at = next) {
		size_t from = at + 3, to;
		unsigned type = p[from] & 31;

		next = find_start(p, n, from);
		for (to = next; to > from && !p[to - 1] && next < n; to--)
			;
		if (type == NAL_AUD)
			f = add_frame(out);
		if (!f)
			return EBADMSG;
		f->key = f->key || type == NAL_IDR;
		err = append(f, start, sizeof start);
		if (!err)
			err = append(f, p + from, to - from);
	}
	return err;
}

static size_t read_size(const uint8_t *p, size_t n, size_t *value)
{
	size_t i = 0;

	for (*value = 0; i < n && i < 4; i++) {
		*value |= (size_t)(p[i] & 0x7f) << 7 * i;
		if (!(p[i] & 0x80))
			return i + 1;
	}
	return 0;
}

/* The last unit of a frame travels without its size, which its end tells, and stays so. */
static int drop_last_size(struct film_frame *f)
{
	enum { HAS_SIZE = 2, HAS_EXTENSION = 4 };

	for (size_t at = 0; at < f->n;) {
		size_t head = at + 1 + (f->bytes[at] & HAS_EXTENSION ? 1 : 0), size, width;

		if (head >= f->n || !(f->bytes[at] & HAS_SIZE))
			return EBADMSG;
		width = read_size(f->bytes + head, f->n - head, &size);
		if (!width || size > f->n - head - width)
			return EBADMSG;
		if (head + width + size == f->n) {
			f->bytes[at] &= (uint8_t)~HAS_SIZE;
			memmove(f->bytes + head, f->bytes + head + width, size);
			f->n -= width;
			return 0;
		}
		at = head + width + size;
	}
	return EBADMSG;
}

static int read_ivf(struct film *out, enum media_video_codec codec, const uint8_t *p, size_t n)
{
	int err = n > IVF_HEAD && memcmp(p, "DKIF", 4) == 0 ? 0 : EBADMSG;

	for (size_t at = IVF_HEAD; !err && at + IVF_FRAME < n;) {
		size_t size = p[at] | (size_t)p[at + 1] << 8 | (size_t)p[at + 2] << 16;
		const uint8_t *frame = p + at + IVF_FRAME;
		struct film_frame *f;

		at += IVF_FRAME + size;
		if (at > n || size < 3)
			return EBADMSG;
		f = add_frame(out);
		if (!f)
			return ENOMEM;
		if (codec == MEDIA_VIDEO_AV1 && frame[0] >> 3 == OBU_DELIMITER) {
			frame += 2;
			size -= 2;
		}
		/* A key frame of libaom and SVT-AV1 begins with its sequence header. */
		f->key = codec == MEDIA_VIDEO_AV1 ? (frame[0] >> 3 & 15) == 1 : !(frame[0] & 1);
		err = append(f, frame, size);
		if (!err && codec == MEDIA_VIDEO_AV1)
			err = drop_last_size(f);
	}
	return err;
}

int film_read(struct film *out, enum media_video_codec codec, const char *path)
{
	uint8_t *p;
	size_t n = 0;
	int err;

	*out = (struct film){0};
	err = read_file(path, &p, &n);
	if (err)
		return err;
	err = codec == MEDIA_VIDEO_H264 ? read_annex_b(out, p, n) : read_ivf(out, codec, p, n);
	free(p);
	if (!err && (!out->n || !out->frames[0].key))
		err = EBADMSG;
	if (err)
		film_free(out);
	return err;
}

void film_free(struct film *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->frames[i].bytes);
	free(f->frames);
	*f = (struct film){0};
}
