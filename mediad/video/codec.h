/* The video codecs of streams, and the names and RTP payload types that we offer for them.
 *
 * The payload types are ours to choose: Select Protocol (op 1) names them, and the server sends
 * with them. Those of retransmissions (RFC 4588) are beside them. */
#ifndef MEDIAD_VIDEO_CODEC_H
#define MEDIAD_VIDEO_CODEC_H

/* M(NAME, wire name, payload type, payload type of retransmissions) */
#define VIDEO_CODECS(M)                                                                            \
	M(AV1, "AV1", 101, 102)                                                                    \
	M(H264, "H264", 103, 104)                                                                  \
	M(VP8, "VP8", 105, 106)

enum video_codec {
	VIDEO_NONE,
#define X(NAME, wire, pt, rtx) VIDEO_##NAME,
	VIDEO_CODECS(X)
#undef X
};

/* "H264"; "" for VIDEO_NONE. */
static inline const char *video_codec_wire(enum video_codec codec)
{
	static const char *const names[] = {"",
#define X(NAME, wire, pt, rtx) wire,
					    VIDEO_CODECS(X)
#undef X
	};

	return names[codec];
}

/* 0 for VIDEO_NONE. */
static inline unsigned char video_payload_type(enum video_codec codec)
{
	static const unsigned char types[] = {0,
#define X(NAME, wire, pt, rtx) pt,
					      VIDEO_CODECS(X)
#undef X
	};

	return types[codec];
}

static inline unsigned char video_rtx_type(enum video_codec codec)
{
	static const unsigned char types[] = {0,
#define X(NAME, wire, pt, rtx) rtx,
					      VIDEO_CODECS(X)
#undef X
	};

	return types[codec];
}

enum { VIDEO_CLOCK = 90000 }; /* RTP time per second, of every video codec */

#endif
