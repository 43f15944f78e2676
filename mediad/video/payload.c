#include "mediad/video/payload_internal.h"

#include <errno.h>

int video_packetizer_start(struct video_packetizer *p, enum video_codec codec, const uint8_t *frame,
			   size_t n, size_t cap)
{
	uint16_t picture_id = p->picture_id;

	if (cap < VIDEO_PAYLOAD_MIN)
		return EINVAL;
	*p = (struct video_packetizer){.codec = codec,
				       .frame = frame,
				       .n = n,
				       .cap = cap,
				       .first = true,
				       .picture_id = picture_id};
	switch (codec) {
	case VIDEO_H264:
		return h264_start(p);
	case VIDEO_VP8:
		return vp8_start(p);
	case VIDEO_AV1:
		return av1_start(p);
	case VIDEO_NONE:
		break;
	}
	return EINVAL;
}

bool video_packetizer_next(struct video_packetizer *p, uint8_t *out, size_t *len, bool *last)
{
	bool more = false;

	switch (p->codec) {
	case VIDEO_H264:
		more = h264_next(p, out, len, last);
		break;
	case VIDEO_VP8:
		more = vp8_next(p, out, len, last);
		break;
	case VIDEO_AV1:
		more = av1_next(p, out, len, last);
		break;
	case VIDEO_NONE:
		break;
	}
	p->first = false;
	return more;
}

void video_depacketizer_start(struct video_depacketizer *d, enum video_codec codec, uint8_t *out,
			      size_t cap)
{
	*d = (struct video_depacketizer){.codec = codec, .out = out, .cap = cap};
}

int depacketizer_append(struct video_depacketizer *d, const void *bytes, size_t n)
{
	if (n > d->cap - d->n)
		return EMSGSIZE;
	if (n)
		memcpy(d->out + d->n, bytes, n);
	d->n += n;
	return 0;
}

int video_depacketizer_add(struct video_depacketizer *d, const uint8_t *p, size_t n)
{
	int err = EINVAL;

	switch (d->codec) {
	case VIDEO_H264:
		err = h264_add(d, p, n);
		break;
	case VIDEO_VP8:
		err = vp8_add(d, p, n);
		break;
	case VIDEO_AV1:
		err = av1_add(d, p, n);
		break;
	case VIDEO_NONE:
		break;
	}
	d->any = true;
	return err;
}

int video_depacketizer_end(struct video_depacketizer *d)
{
	if (d->open)
		return EBADMSG;
	if (d->codec == VIDEO_AV1)
		return av1_end(d);
	return d->n ? 0 : EBADMSG;
}

bool video_payload_begins_frame(enum video_codec codec, const uint8_t *p, size_t n)
{
	switch (codec) {
	case VIDEO_H264:
		return h264_begins_frame(p, n);
	case VIDEO_VP8:
		return vp8_begins_frame(p, n);
	case VIDEO_AV1:
		return av1_begins_frame(p, n);
	case VIDEO_NONE:
		break;
	}
	return false;
}
