/* DAVE in the voice gateway: one delivery service (dave_group.h) for each voice channel where
 * end-to-end encryption is spoken, between the sessions of its clients. Stages have none. */
#ifndef GUILDD_DAVE_H
#define GUILDD_DAVE_H

#include "tests/guildd/dave_group.h"
#include "tests/guildd/guildd.h"

struct gd_dave;
struct vconn;
struct vsession;

/* Caller owns *out; frees it after the voice gateway. */
int gd_dave_alloc(struct gd_dave **out, struct guildd *g);
struct gd_dave *gd_dave_free(struct gd_dave *d);

/* True if DAVE is spoken in this channel at all. */
bool gd_dave_spoken(const struct guildd *g, uint64_t channel);
/* dave_protocol_version of op 4 for this session; gd_dave_described follows when it was sent. */
unsigned gd_dave_version(struct gd_dave *d, const struct vsession *s);
void gd_dave_described(struct gd_dave *d, const struct vsession *s);
/* A session of this user in this channel is over. */
void gd_dave_left(struct gd_dave *d, uint64_t channel, uint64_t user);

/* From a client: a binary message; ops 23 and 31. Connections are closed when the message asks for
 * it. */
void gd_dave_binary(struct gd_dave *d, struct vconn *c, const uint8_t *data, size_t len);
void gd_dave_ready(struct gd_dave *d, const struct vsession *s, uint16_t transition);
void gd_dave_invalid(struct gd_dave *d, struct vsession *s, uint16_t transition);

/* What the relay asks: must sound of this user be sealed, and is a frame sealed? */
enum gd_seal gd_dave_seal(const struct gd_dave *d, uint64_t channel, uint64_t user);
bool gd_dave_sealed(struct slice frame);

/* Faults by name: new_sender, stale_proposal, reinit, next_transition (with value). ENOENT: no
 * group there; EINVAL. */
int gd_dave_fault(struct gd_dave *d, uint64_t channel, const char *what, uint64_t value);

/* For GET /stats; caller owns it. */
json_t *gd_dave_json(const struct gd_dave *d);
/* NULL for a channel without a group; for a user who is in none. */
json_t *gd_dave_channel_json(const struct gd_dave *d, uint64_t channel);
json_t *gd_dave_user_json(const struct gd_dave *d, uint64_t channel, uint64_t user);

#endif
