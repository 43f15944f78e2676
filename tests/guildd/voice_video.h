/* Video of streams in the voice gateway: the codecs of op 1, what the owner sends (op 12) and what
 * viewers want (op 15). Only voice*.c include this. */
#ifndef GUILDD_VOICE_VIDEO_H
#define GUILDD_VOICE_VIDEO_H

#include "tests/guildd/voice_session.h"

/* Identify: the session gets video when it is one of a stream and asks for it. */
void vvideo_identify(struct vsession *s, const json_t *d);
/* "streams" of op 2; caller owns it. */
json_t *vvideo_streams(const struct vsession *s);
/* The codecs of op 1. EINVAL: malformed, or without Opus at type 120. */
int vvideo_select(struct vsession *s, const json_t *codecs);
/* "video_codec" of op 4: the first one of the owner's list that it encodes, where this client has
 * it; NULL: none. Borrowed. */
const char *vvideo_codec(const struct vsession *s);
/* After op 4: viewers are told what the owner sends. */
void vvideo_described(struct vsession *s);
/* Ops 12 and 15. EINVAL: malformed. EPERM: another's SSRC. */
int vvideo_told(struct vsession *s, const json_t *d);
int vvideo_wanted(struct vsession *s, const json_t *d);
void vvideo_free(struct vsession *s);

#endif
