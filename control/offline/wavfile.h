/* WAV files, s16 mono, for records of a run and for one-shot runs. Blocking. */
#ifndef OFFLINE_WAVFILE_H
#define OFFLINE_WAVFILE_H

#include <stddef.h>
#include <stdint.h>

/* errno of the file operation. */
int wavfile_write(const char *path, uint32_t rate, const int16_t *pcm, size_t n);
/* Several channels are averaged. As wav_parse; EFBIG past 128 MiB, ENOMEM, errno. Caller frees
 * *pcm. */
int wavfile_read(const char *path, uint32_t *rate, int16_t **pcm, size_t *n);
/* Converts a parsed file to one channel. ENOMEM. Caller frees *pcm. */
struct wav;
int wavfile_mono(const struct wav *wav, int16_t **pcm);

#endif
