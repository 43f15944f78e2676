#include "control/offline/wavfile.h"

#include "proto/base/wav.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_BYTES = 128 << 20 };

int wavfile_write(const char *path, uint32_t rate, const int16_t *pcm, size_t n)
{
	uint8_t header[WAV_HEADER];
	FILE *f = fopen(path, "wb");
	int err = 0;

	if (!f)
		return errno;
	wav_header(header, rate, 1, n);
	if (fwrite(header, 1, sizeof header, f) != sizeof header ||
	    fwrite(pcm, sizeof *pcm, n, f) != n)
		err = EIO;
	if (fclose(f) && !err)
		err = errno;
	return err;
}

int wavfile_mono(const struct wav *w, int16_t **pcm)
{
	int16_t *out = malloc(w->frames * sizeof *out + 1);
	const uint8_t *p = w->data;

	if (!out)
		return ENOMEM;
	assert(w->channels); /* wav_parse says so */
	for (size_t i = 0; i < w->frames; i++) {
		long sum = 0;

		for (unsigned k = 0; k < w->channels; k++, p += 2)
			sum += (int16_t)(p[0] | p[1] << 8);
		out[i] = (int16_t)(sum / w->channels);
	}
	*pcm = out;
	return 0;
}

int wavfile_read(const char *path, uint32_t *rate, int16_t **pcm, size_t *n)
{
	FILE *f = fopen(path, "rb");
	uint8_t *b = NULL;
	struct wav w;
	long len = 0;
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
	fclose(f);
	if (!err)
		err = wav_parse(&w, b, (size_t)len);
	if (!err)
		err = wavfile_mono(&w, pcm);
	if (!err) {
		*rate = w.rate;
		*n = w.frames;
	}
	free(b);
	return err;
}
