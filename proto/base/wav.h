/* RIFF WAVE headers for 16-bit PCM. Pure: bytes in, bytes out. */
#ifndef PROTO_BASE_WAV_H
#define PROTO_BASE_WAV_H

#include <stddef.h>
#include <stdint.h>

enum { WAV_HEADER = 44 };

struct wav {
	uint32_t rate;
	uint16_t channels;
	size_t frames;	     /* samples of each channel */
	const uint8_t *data; /* s16le, interleaved; points into the parsed bytes */
};

/* Writes the 44 bytes before `frames` interleaved s16le frames. */
void wav_header(uint8_t out[WAV_HEADER], uint32_t rate, uint16_t channels, size_t frames);

/* Parses a whole file. Returns EBADMSG when it is no WAVE or damaged, ENOTSUP when it is not 16-bit
 * PCM with 1..8 channels and 8000..192000 Hz. A data chunk that claims more than the file holds is
 * truncated (streams write such headers). */
int wav_parse(struct wav *out, const uint8_t *file, size_t len);

#endif
