/* The codec of proto/media.def: one struct per message, packed to bytes and unpacked from bytes.
 *
 * Packing uses msgpack-c. Unpacking uses our own cursor, which allocates nothing and checks every
 * length against the available bytes (msgpack-c allocates by the counts that a hostile header
 * claims). Strings and binaries of an unpacked message point into the frame and live as long as it.
 */
#ifndef PROTO_MEDIA_H
#define PROTO_MEDIA_H

#include "proto/base/cursor.h"
#include "proto/media.def"

enum media_type {
#define X(NAME, name, num, dir, lane, cap, since) MEDIA_##NAME = num,
	MEDIA_MESSAGES(X)
#undef X
};
enum media_phase {
#define X(NAME, name, num, text) MEDIA_PHASE_##NAME = num,
	MEDIA_PHASES(X)
#undef X
};
enum media_reason {
#define X(NAME, name, num, text, final) MEDIA_REASON_##NAME = num,
	MEDIA_REASONS(X)
#undef X
};
enum media_heal {
#define X(NAME, name, num, text) MEDIA_HEAL_##NAME = num,
	MEDIA_HEALS(X)
#undef X
};
enum media_e2ee {
#define X(NAME, name, num, text) MEDIA_E2EE_##NAME = num,
	MEDIA_E2EES(X)
#undef X
};
enum media_music_phase {
#define X(NAME, name, num, text) MEDIA_MUSIC_PHASE_##NAME = num,
	MEDIA_MUSIC_PHASES(X)
#undef X
};
enum media_video_codec {
#define X(NAME, name, num, text) MEDIA_VIDEO_##NAME = num,
	MEDIA_VIDEO_CODECS(X)
#undef X
};
/* The decoders' own kinds begin alike (mediad/music/decoder_wire.h). */
enum media_music_kind {
	MEDIA_MUSIC_NONE,
	MEDIA_MUSIC_FILE,
	MEDIA_MUSIC_HTTP,
	MEDIA_MUSIC_VISUALIZER /* of VIDEO_PLAY alone */
};
enum media_consent_default {
	MEDIA_CONSENT_UNCHANGED,
	MEDIA_CONSENT_NO,
	MEDIA_CONSENT_YES,
};
enum media_fault_code {
#define X(NAME, name, num, text) MEDIA_FAULT_##NAME = num,
	MEDIA_FAULTS(X)
#undef X
};
enum { MEDIA_CAP_MEMBERS = 1 /* control wants MEMBER */ };
enum { MEDIA_HEARD_CONCEALED = 1, MEDIA_HEARD_PREROLL = 2, MEDIA_HEARD_FIRST = 4 };
enum {
	MEDIA_SPEAKING_OFF_MS = 200
}; /* after the last voice packet; reported up to a frame later */
enum media_lane { MEDIA_LANE_COMMAND, MEDIA_LANE_AUDIO };
enum media_side { MEDIA_SIDE_CONTROL, MEDIA_SIDE_MEDIAD };

#define MEDIA_CT_u8	  uint8_t
#define MEDIA_CT_u16	  uint16_t
#define MEDIA_CT_u32	  uint32_t
#define MEDIA_CT_u64	  uint64_t
#define MEDIA_CT_b	  bool
#define MEDIA_CT_str(cap) struct slice
#define MEDIA_CT_bin(cap) struct slice

#define MEDIA_MEMBER_(type, field, since, def) MEDIA_CT_##type field;
#define X(NAME, name, num, dir, lane, cap, since)                                                  \
	struct media_##name {                                                                      \
		MEDIA_FIELDS_##NAME(MEDIA_MEMBER_)                                                 \
	};
MEDIA_MESSAGES(X)
#undef X

struct media_msg {
	enum media_type type;
	union {
#define X(NAME, name, num, dir, lane, cap, since) struct media_##name name;
		MEDIA_MESSAGES(X)
#undef X
	};
};

/* "HELLO" …; "?" when unknown. */
const char *media_type_name(unsigned type);
const char *media_phase_name(unsigned phase);
const char *media_phase_text(unsigned phase);
const char *media_reason_name(unsigned reason);
/* True if no other lease can help: the call is left until somebody asks for it again. A refused
 * protocol must never loop, and a call that lost its encryption is not joined again by itself. */
bool media_reason_is_final(unsigned reason);
/* A clause for people, e.g. "UDP to the voice server is blocked (firewall or network)". */
const char *media_reason_text(unsigned reason);
const char *media_music_phase_name(unsigned phase);
const char *media_music_phase_text(unsigned phase);
const char *media_video_codec_name(unsigned codec);
const char *media_heal_name(unsigned heal);
const char *media_heal_text(unsigned heal);
const char *media_fault_text(unsigned fault);
enum media_lane media_lane_of(enum media_type type);
/* The minor version that introduced the type. */
unsigned media_since(enum media_type type);

/* Packs msg for a peer of minor version `minor`. *len gets the size. Returns EMSGSIZE when it
 * exceeds cap or the message's own cap, EINVAL for a type unknown to us or to the peer. */
int media_pack(const struct media_msg *msg, unsigned minor, uint8_t *buf, size_t cap, size_t *len);

/* Unpacks one body sent by `from`. Returns EBADMSG when malformed or over the cap of the type or a
 * field; EPERM for a type that the sender may not send; ENOSYS for an unknown type below 32768
 * (count and skip it); EPROTO for an unknown one from 32768 on. *msg is written only on success. */
int media_unpack(struct media_msg *msg, enum media_side from, const uint8_t *body, size_t len);

/* Writes one JSON-like line for traces, without pcm and token. Always terminated. */
void media_print(const struct media_msg *msg, char *buf, size_t size);

static inline struct slice slice_str(const char *s)
{
	return (struct slice){.p = (const uint8_t *)s, .n = s ? strlen(s) : 0};
}

#endif
