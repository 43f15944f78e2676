#include "control/offline/wav.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 44, MAX_BYTES = 600 * 48000 * 4 };

static void put(uint8_t *p, unsigned bytes, uint32_t v)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static uint32_t get(const uint8_t *p, unsigned bytes)
{
	uint32_t v = 0;

	for (unsigned i = bytes; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

int wav_write(const char *path, unsigned rate, const int16_t *pcm, size_t n)
{
	uint8_t h[HEADER] = "RIFF....WAVEfmt ";
	FILE *f = fopen(path, "wb");
	int err = 0;

	if (!f)
		return errno;
	put(h + 4, 4, (uint32_t)(HEADER - 8 + n * 2));
	put(h + 16, 4, 16);
	put(h + 20, 2, 1);
	put(h + 22, 2, 1);
	put(h + 24, 4, rate);
	put(h + 28, 4, rate * 2);
	put(h + 32, 2, 2);
	put(h + 34, 2, 16);
	memcpy(h + 36, "data", 4);
	put(h + 40, 4, (uint32_t)(n * 2));
	if (fwrite(h, 1, sizeof h, f) != sizeof h || fwrite(pcm, sizeof *pcm, n, f) != n)
		err = EIO;
	if (fclose(f) && !err)
		err = errno;
	return err;
}

static int parse(const uint8_t *b, size_t len, unsigned *rate, int16_t **pcm, size_t *n)
{
	unsigned channels = 0;
	size_t at = 12;

	if (len < 12 || memcmp(b, "RIFF", 4) != 0 || memcmp(b + 8, "WAVE", 4) != 0)
		return EBADMSG;
	while (len - at >= 8) {
		const uint8_t *c = b + at;
		size_t size = get(c + 4, 4);

		at += 8;
		if (memcmp(c, "fmt ", 4) == 0 && size >= 16 && len - at >= 16) {
			if (get(c + 8, 2) != 1 && get(c + 8, 2) != 0xfffe)
				return EBADMSG;
			channels = get(c + 10, 2);
			*rate = get(c + 12, 4);
			if (!channels || channels > 8 || get(c + 22, 2) != 16 || *rate < 4000 ||
			    *rate > 192000)
				return EBADMSG;
		} else if (memcmp(c, "data", 4) == 0 && channels) {
			/* Programs that stream write a length that is too large. */
			if (size > len - at)
				size = len - at;
			*n = size / (2 * channels);
			*pcm = malloc(*n * sizeof **pcm + 1);
			if (!*pcm)
				return ENOMEM;
			for (size_t i = 0; i < *n; i++) {
				long sum = 0;

				for (unsigned k = 0; k < channels; k++)
					sum += (int16_t)get(b + at + (i * channels + k) * 2, 2);
				(*pcm)[i] = (int16_t)(sum / (long)channels);
			}
			return 0;
		}
		size += size & 1;
		if (size > len - at)
			return EBADMSG;
		at += size;
	}
	return EBADMSG;
}

int wav_read(const char *path, unsigned *rate, int16_t **pcm, size_t *n)
{
	FILE *f = fopen(path, "rb");
	uint8_t *b = NULL;
	long len;
	int err = 0;

	if (!f)
		return errno;
	if (fseek(f, 0, SEEK_END) || (len = ftell(f)) < 0 || fseek(f, 0, SEEK_SET))
		err = errno;
	else if (len > MAX_BYTES)
		err = EFBIG;
	else if (!(b = malloc((size_t)len + 1)))
		err = ENOMEM;
	else if (fread(b, 1, (size_t)len, f) != (size_t)len)
		err = EIO;
	else
		err = parse(b, (size_t)len, rate, pcm, n);
	free(b);
	fclose(f);
	return err;
}
