/* Messages between mediad and decoderd, one per packet of a SOCK_SEQPACKET socket.
 *
 * A track is one opening of a source, with an id that is never reused; a slot is the ring that its
 * sound is decoded into (track_ring.h), or that gets its video (video_ring.h). mediad sends OPEN
 * and CLOSE. decoderd answers an OPEN with OPENED once the first 20 ms, or pictures, are in the
 * ring, or not at all if that fails, and with ENDED, after which no process uses the slot. It
 * answers each CLOSE with ENDED as well, also of a track that it does not know. An ENDED with
 * reason `end` leaves something in the ring to be read. LEVELS corrects the levels of OPENED, once
 * more of the track is measured. READY comes first, and again after decoderd's worker was replaced:
 * all tracks before it are lost.
 *
 * LOG says what decoders that begin from then on write to the log, and belongs to no track.
 *
 * Integers are big-endian, strings have a length of two bytes. Pure. */
#ifndef MEDIAD_MUSIC_DECODER_WIRE_H
#define MEDIAD_MUSIC_DECODER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mediad/music/analysis.h"

enum {
	DECODER_SLOTS = 256, /* rings of sound */
	DECODER_VIDEOS = 4,  /* rings of video; their numbers follow those of sound */
	DECODER_ALL_SLOTS = DECODER_SLOTS + DECODER_VIDEOS,
	DECODER_ROOTS = 16,
	DECODER_PATH_MAX = 2048,    /* bytes of a path or URL */
	DECODER_TEXT_MAX = 256,	    /* bytes of a tag or title */
	DECODER_HEADERS_MAX = 1024, /* bytes of header lines */
	DECODER_MSG_MAX = 3600,	    /* bytes of a message */
	DECODER_NO_LEVEL = INT16_MIN,
	DECODER_LOG_LEVEL_MAX = 4, /* trace */
	DECODER_CODEC_LAST = 3,
	DECODER_SOUND_MAX = 10000, /* ms by which the sound of a video begins later */
};
#define DECODER_FRAMES_MAX (INT64_C(1) << 40) /* of a track: 265 days */

enum decoder_type {
	DECODER_OPEN = 1,
	DECODER_CLOSE = 2,
	DECODER_LOG = 3,
	DECODER_READY = 16,
	DECODER_OPENED = 17,
	DECODER_TITLE = 18,
	DECODER_ENDED = 19,
	DECODER_LEVELS = 20,
	DECODER_ANALYSIS = 256, /* of mediad alone (decoders.h): never on the wire */
};

/* R(CODE, name, text for people): reasons of ENDED. The code is also a child's exit status, so
 * entries are appended only. The first is never sent. */
#define DECODER_REASONS(R)                                                                         \
	R(UNKNOWN, "unknown", "the reason is unknown")                                             \
	R(END, "end", "the track has been decoded to its end")                                     \
	R(CLOSED, "closed", "the track was closed")                                                \
	R(NO_JAIL, "no_jail", "decoders cannot be sandboxed on this system")                       \
	R(NO_DECODER, "no_decoder", "the decoder program is not running")                          \
	R(NO_PROCESS, "no_process", "no decoder process could be started")                         \
	R(NOT_FOUND, "not_found", "there is no such file")                                         \
	R(NOT_READABLE, "not_readable", "the file cannot be read")                                 \
	R(UNKNOWN_FORMAT, "unknown_format", "the format is not supported")                         \
	R(NO_AUDIO, "no_audio", "the source contains no sound that can be decoded")                \
	R(DAMAGED, "damaged", "the source is damaged")                                             \
	R(NOT_SEEKABLE, "not_seekable", "the source cannot start at that position")                \
	R(CRASHED, "crashed", "the decoder process crashed")                                       \
	R(FORBIDDEN_CALL, "forbidden_call", "the decoder process made a forbidden system call")    \
	R(LIMIT, "limit", "the decoder process exceeded a limit")                                  \
	R(STALLED, "stalled", "the decoder process made no progress")                              \
	R(REFUSED_URL, "refused_url", "the address may not be read")                               \
	R(UNREACHABLE, "unreachable", "the server cannot be reached")                              \
	R(HTTP_ERROR, "http_error", "the server refused the request")                              \
	R(LOST, "lost", "the decoder program was restarted")                                       \
	R(ENCRYPTED, "encrypted", "the stream is encrypted")                                       \
	R(OVERLOADED, "overloaded", "the server is overloaded or being restarted")                 \
	R(NO_VIDEO, "no_video", "the source contains no video")                                    \
	R(VIDEO_CODEC, "video_codec", "the video is of a kind that cannot be decoded here")        \
	R(VIDEO_ORDER, "video_order",                                                              \
	  "frames are not stored in the order in which they are shown (B-frames)")                 \
	R(VIDEO_FRAME, "video_frame", "a frame of the video is too long")                          \
	R(INDEX_LAST, "index_last",                                                                \
	  "all of the file has to arrive before it can be played, and that takes too long")        \
	R(VIDEO_SIZE, "video_size", "the picture is larger than 4096 x 2304 pixels")

enum decoder_reason {
#define R(code, name, text) DECODER_REASON_##code,
	DECODER_REASONS(R)
#undef R
};

enum decoder_source_kind { DECODER_FILE = 1, DECODER_HTTP = 2 };

struct decoder_source {
	enum decoder_source_kind kind;
	uint8_t root;			 /* of a file: index of the configured folder */
	char path[DECODER_PATH_MAX + 1]; /* relative to the root, or a URL */
	/* Of a URL: lines that its host alone is sent (proto/http/stream_headers.h). */
	char headers[DECODER_HEADERS_MAX + 1];
	/* No source but the visualizer, with this mode (mediad/decoder/picture.h) plus one; 0:
	 * none. */
	uint8_t visualizer;
};

/* In 1/100 dB; DECODER_NO_LEVEL if unknown. */
struct decoder_levels {
	int16_t loudness; /* LUFS */
	int16_t peak;	  /* dBFS */
};

/* What a stream says of its video; codec: enum video_codec (mediad/video/codec.h), 0 for sound. As
 * bounded. */
struct decoder_video {
	uint8_t codec, fps;
	uint16_t width, height;
	/* ms of the video at which its sound begins: 0 to DECODER_SOUND_MAX. 0: at once, or it has
	 * none. */
	uint16_t sound_ms;
	uint32_t bitrate; /* bit/s */
};

/* Tags come from strangers: well-formed UTF-8 on one line, "" if absent. Levels are those of the
 * tags, or measured ahead. */
struct decoder_opened {
	uint64_t duration; /* frames of the whole track, DECODER_FRAMES_MAX at most; 0: unknown */
	uint64_t start;	   /* frame of the track at which the ring's sound begins; as bounded */
	bool seekable;
	bool guessed; /* the duration follows from the rate of the first packets: the track may
		       * last longer, so no crossfade counts on it */
	struct decoder_levels levels;
	struct decoder_video video;
	char title[DECODER_TEXT_MAX + 1], artist[DECODER_TEXT_MAX + 1], album[DECODER_TEXT_MAX + 1];
};

struct decoder_msg {
	enum decoder_type type;
	uint16_t slot;	/* all but READY and LOG */
	uint64_t track; /* all but READY and LOG */
	union {
		struct {
			struct decoder_source source;
			uint64_t start; /* frame */
			bool measure;	/* the levels, if tags do not give them */
		} open;
		struct {
			uint8_t level; /* enum log_level */
			bool json;
		} log;
		bool jailed; /* READY: children can be sandboxed; otherwise each OPEN fails */
		struct decoder_opened opened;
		char title[DECODER_TEXT_MAX + 1];
		struct decoder_levels levels;
		enum decoder_reason reason; /* ENDED */
		struct {
			uint64_t at; /* frame of the ring's sound */
			struct analysis a;
		} analysis;
	};
};

/* Writes a message to buf, DECODER_MSG_MAX bytes. EINVAL: a field is out of range. */
int decoder_wire_encode(const struct decoder_msg *msg, uint8_t *buf, size_t *n);
/* EBADMSG: malformed. *out is written only on success. */
int decoder_wire_decode(struct decoder_msg *out, const uint8_t *buf, size_t n);

/* "end", "crashed", …; "unknown" for a code that is none. Static. */
const char *decoder_reason_name(enum decoder_reason reason);
/* A clause for people. Static. */
const char *decoder_reason_text(enum decoder_reason reason);
/* The reason with this code; DECODER_REASON_UNKNOWN if there is none. */
enum decoder_reason decoder_reason_of(unsigned code);

#endif
