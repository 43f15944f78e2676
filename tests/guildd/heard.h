/* Records which packets the relay forwarded to a receiver, as runs of sequence numbers per sender,
 * so that a test can tell which of them were never decrypted. Pure. */
#ifndef GUILDD_HEARD_H
#define GUILDD_HEARD_H

#include "tests/guildd/vec.h"

#include <jansson.h>
#include <stdint.h>

/* Adds one packet of the sender with this SSRC to *list (of its own structs; begins as zeros). ext:
 * sequence number with the cycles above 16 bits. Nothing without memory. */
void gd_heard_add(struct gd_vec *list, uint64_t user, uint32_t ssrc, uint32_t ext);
void gd_heard_clear(struct gd_vec *list);
/* [{user_id, ssrc, count, runs: [[first, last], …]}]; caller owns it. */
json_t *gd_heard_json(const struct gd_vec *list);

#endif
