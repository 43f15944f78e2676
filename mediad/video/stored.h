/* Frames of stored video, as containers have them, in the form in which streams send them.
 *
 * Containers keep H.264 with the length of each unit before it, and its parameters apart (ISO/IEC
 * 14496-15); a stream has start codes, and the parameters before each key frame, for viewers who
 * come later. Bytes are those of strangers. Pure. */
#ifndef MEDIAD_VIDEO_STORED_H
#define MEDIAD_VIDEO_STORED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mediad/video/codec.h"
#include "proto/base/cursor.h"

enum { STORED_PARAMETERS_MAX = 4096 };

struct stored_video {
	enum video_codec codec;
	unsigned length_size; /* of H.264: bytes before each unit */
	size_t n_parameters;
	uint8_t parameters[STORED_PARAMETERS_MAX]; /* in Annex B */
};

/* config: of H.264 its AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1.2); ignored of
 * others. EBADMSG: malformed; ENOTSUP: a profile or codec that viewers of streams do not decode. */
int stored_video_set(struct stored_video *out, enum video_codec codec, struct slice config);
/* Writes a frame as a stream sends it to out, of cap bytes, and sets *n and *key. *n 0: the frame
 * has nothing to be sent. EBADMSG: malformed; EMSGSIZE: it is longer than cap. */
int stored_video_write(const struct stored_video *s, struct slice frame, uint8_t *out, size_t cap,
		       size_t *n, bool *key);

#endif
