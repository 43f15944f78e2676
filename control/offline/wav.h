/* WAV files, s16 mono: what is heard and said is kept in, and one-shot runs read. Blocking; not for
 * the loop's hot path.
 *
 * Reading takes RIFF with PCM of 16 bits, any rate and channel count (channels are averaged). */
#ifndef OFFLINE_WAV_H
#define OFFLINE_WAV_H

#include <stddef.h>
#include <stdint.h>

/* errno of the file operation. */
int wav_write(const char *path, unsigned rate, const int16_t *pcm, size_t n);
/* EBADMSG when it is no such file, EFBIG past ten minutes at 48 kHz, ENOMEM. Caller frees *pcm. */
int wav_read(const char *path, unsigned *rate, int16_t **pcm, size_t *n);

#endif
