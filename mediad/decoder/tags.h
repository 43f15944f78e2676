/* What the tags of a source say: title, artist, album, and levels by ReplayGain or R128. */
#ifndef MEDIAD_DECODER_TAGS_H
#define MEDIAD_DECODER_TAGS_H

#include <stdint.h>

#include "mediad/music/decoder_wire.h"

struct AVDictionary;
struct AVStream;

/* Fills the texts and levels of *o. container: tags of the whole source, or NULL. */
void tags_read(struct decoder_opened *o, const struct AVDictionary *container,
	       const struct AVStream *stream);
/* Samples of sound without encoder delay and padding, by the tag iTunSMPB; 0 if absent. */
uint64_t tags_itunes_samples(const struct AVDictionary *container);

#endif
