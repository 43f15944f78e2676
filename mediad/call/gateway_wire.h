/* JSON of the voice gateway: built and read here, decided about in gateway.c.
 *
 * Building gives the length, or 0 when the buffer is too small or memory ran out. */
#ifndef MEDIAD_CALL_GATEWAY_WIRE_H
#define MEDIAD_CALL_GATEWAY_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The newest DAVE (end-to-end encryption) protocol version we speak. */
#define VGW_DAVE_VERSION 1

enum { VGW_TEXT_MAX = 2048, VGW_IDS_MAX = 8192 };

size_t vgw_put_identify(char *buf, size_t cap, uint64_t guild, uint64_t user, const char *session,
			const char *token);
size_t vgw_put_resume(char *buf, size_t cap, uint64_t guild, const char *session, const char *token,
		      int seq);
size_t vgw_put_select(char *buf, size_t cap, const char *ip, uint16_t port, const char *mode);
size_t vgw_put_heartbeat(char *buf, size_t cap, uint64_t nonce, int seq);
size_t vgw_put_speaking(char *buf, size_t cap, bool on, uint32_t ssrc);
/* Op 23 or 31. */
size_t vgw_put_transition(char *buf, size_t cap, unsigned op, uint16_t transition);

/* A snowflake: decimal string or integer, not zero. */
bool vgw_get_id(const json_t *v, uint64_t *out);
/* An integer in 0..max. */
bool vgw_get_uint(const json_t *v, uint64_t max, uint64_t *out);
/* The same, or its decimal digits as a string: `epoch` is seen in both forms. */
bool vgw_get_epoch(const json_t *v, uint64_t *out);
/* Exactly 32 integers of 0..255. */
bool vgw_get_key(const json_t *v, uint8_t key[32]);
/* The first of `modes` (ours, best first) that the array offers; NULL when none. */
const char *vgw_pick_mode(const json_t *offered, const char *const *modes);

#endif
