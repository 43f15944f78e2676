/* Sound files for tests of decoderd, encoded by libav while a test runs. */
#ifndef TESTS_DECODER_SOUND_H
#define TESTS_DECODER_SOUND_H

#include <stdbool.h>
#include <stdint.h>

/* Strings are borrowed; NULL tags are left out. */
struct sound {
	const char *path;
	const char *format; /* libav's name of the container: "mp3", "ipod", "ogg", … */
	const char *codec;  /* libav's name of the encoder */
	int rate, channels;
	int64_t samples;
	int64_t quiet; /* the first ones, at a tenth of the level */
	const char *title, *artist, *album, *gain;
	bool empty_first;    /* a track of sound without a packet comes before it */
	bool foreign_first;  /* one of a codec that is not played */
	bool varies;	     /* the rate, by how hard it is to encode */
	const char *options; /* of the container: "name=value:name=value" */
	double (*signal)(double t, int channel); /* NULL: sound_signal */
};

/* Writes the file; false if this libav cannot. */
bool sound_write(const struct sound *sound);
/* The signal at a time in seconds, within ±1; channel 0 or 1. */
double sound_signal(double t, int channel);

#endif
