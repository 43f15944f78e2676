/* The formats that decoderd plays, each with a file that a test encodes. */
#ifndef TESTS_DECODER_FORMATS_H
#define TESTS_DECODER_FORMATS_H

#include <stdbool.h>
#include <stdint.h>

#include "mediad/music/track_ring.h"
#include "tests/decoder/deck.h"

struct format {
	const char *name, *format, *codec;
	int rate;
	double snr;	  /* at least, in dB */
	int length_error; /* frames, at most */
};

enum { FORMATS = 12, FORMAT_SECONDS = 4, RATE = TRACK_RING_RATE };
extern const struct format formats[FORMATS];

/* Encodes FORMAT_SECONDS and 77 samples of the signal into the deck's folder. */
bool format_write(const struct deck *d, const struct format *f, int channels);
/* Frames at 48 kHz that the file lasts. */
long format_frames(const struct format *f);
/* Signal-to-noise ratio in dB of the decoded frames against the signal from frame `start` on. */
double format_snr(const struct played *p, uint64_t start);

#endif
