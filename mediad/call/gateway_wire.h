/* Builds and reads the JSON of the voice gateway.
 *
 * vgw_put functions return the length, or 0 when the buffer is too small or memory ran out. */
#ifndef MEDIAD_CALL_GATEWAY_WIRE_H
#define MEDIAD_CALL_GATEWAY_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The newest version of DAVE (end-to-end encryption) that we support. */
#define VGW_DAVE_VERSION 1

enum { VGW_TEXT_MAX = 2048 };

struct vgw_video;

/* stream: asks for the SSRCs of a screen. */
size_t vgw_put_identify(char *buf, size_t cap, uint64_t guild, uint64_t user, const char *session,
			const char *token, bool stream);
size_t vgw_put_resume(char *buf, size_t cap, uint64_t guild, const char *session, const char *token,
		      int seq);
/* encode: the codec of video that we send; "": we receive alone; NULL: no video. */
size_t vgw_put_select(char *buf, size_t cap, const char *ip, uint16_t port, const char *mode,
		      const char *encode);
size_t vgw_put_heartbeat(char *buf, size_t cap, uint64_t nonce, int seq);
/* flags: 1 a voice, 2 the sound of a screen. */
size_t vgw_put_speaking(char *buf, size_t cap, unsigned flags, uint32_t ssrc);
/* Op 12, of ours. audio: our SSRC of sound. v->ssrc 0: nothing is sent. */
size_t vgw_put_video(char *buf, size_t cap, uint32_t audio, const struct vgw_video *v);
/* Op 15. */
size_t vgw_put_wants(char *buf, size_t cap, const uint32_t *ssrcs, const uint8_t *qualities,
		     unsigned n);
/* Op 23 or 31. */
size_t vgw_put_transition(char *buf, size_t cap, unsigned op, uint16_t transition);

/* Reads a snowflake: a decimal string or integer, not zero. */
bool vgw_get_id(const json_t *v, uint64_t *out);
/* Reads an integer in 0..max. */
bool vgw_get_uint(const json_t *v, uint64_t max, uint64_t *out);
/* The same, or its decimal digits as a string: both forms of `epoch` occur. */
bool vgw_get_epoch(const json_t *v, uint64_t *out);
/* Reads exactly 32 integers of 0..255. */
bool vgw_get_key(const json_t *v, uint8_t key[32]);
/* Returns the first of `modes` (ours, best first) that the array offers, or NULL. */
const char *vgw_pick_mode(const json_t *offered, const char *const *modes);

#endif
