/* What the payload formats of the codecs offer to payload.c. */
#ifndef MEDIAD_VIDEO_PAYLOAD_INTERNAL_H
#define MEDIAD_VIDEO_PAYLOAD_INTERNAL_H

#include "mediad/video/payload.h"

/* Appends to the frame. Returns EMSGSIZE. */
int depacketizer_append(struct video_depacketizer *d, const void *bytes, size_t n);

int h264_start(struct video_packetizer *p);
bool h264_next(struct video_packetizer *p, uint8_t *out, size_t *len, bool *last);
int h264_add(struct video_depacketizer *d, const uint8_t *p, size_t n);
bool h264_begins_frame(const uint8_t *p, size_t n);

int vp8_start(struct video_packetizer *p);
bool vp8_next(struct video_packetizer *p, uint8_t *out, size_t *len, bool *last);
int vp8_add(struct video_depacketizer *d, const uint8_t *p, size_t n);
bool vp8_begins_frame(const uint8_t *p, size_t n);

int av1_start(struct video_packetizer *p);
bool av1_next(struct video_packetizer *p, uint8_t *out, size_t *len, bool *last);
int av1_add(struct video_depacketizer *d, const uint8_t *p, size_t n);
int av1_end(struct video_depacketizer *d);
bool av1_begins_frame(const uint8_t *p, size_t n);

#endif
