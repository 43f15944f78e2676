/* Streams ("Go Live"): what a member shows to others of a voice channel. Discord does not document
 * them, and bots have none: ops 18 to 22 of a bot's session are unknown opcodes.
 *
 * A stream has a voice server of its own: a second session of the voice gateway, with rtc_server_id
 * in the place of the guild and the session id of the main gateway's voice state. Its DAVE group
 * and its relay have the id before that, as a channel has. The owner and each viewer get a lease
 * for one Identify. */
#ifndef GUILDD_GOLIVE_H
#define GUILDD_GOLIVE_H

#include "tests/guildd/guildd.h"

enum { GD_STREAM_KEY = 80 };

struct gd_golives;
struct gd_golive;

/* Caller owns *out; frees it after the gateways. */
int gd_golives_alloc(struct gd_golives **out);
struct gd_golives *gd_golives_free(struct gd_golives *l);

/* Ops 18, 19, 20 and 22 of a person. What is refused is answered with STREAM_DELETE and a reason.
 */
void gd_golive_create(struct guildd *g, uint64_t user, uint64_t guild, uint64_t channel);
void gd_golive_delete(struct guildd *g, uint64_t user, const char *key);
void gd_golive_watch(struct guildd *g, uint64_t user, const char *key);
void gd_golive_pause(struct guildd *g, uint64_t user, const char *key, bool paused);
/* The user is no longer in this channel: its stream ends, and it watches none there. */
void gd_golive_left(struct guildd *g, uint64_t user, uint64_t channel);

/* Finders; NULL: there is none. Borrowed. */
struct gd_golive *gd_golive_of_key(const struct guildd *g, const char *key);
struct gd_golive *gd_golive_of_server(const struct guildd *g, uint64_t server);
struct gd_golive *gd_golive_of_channel(const struct guildd *g, uint64_t channel);
struct gd_vstate *gd_golive_lease(const struct gd_golive *l, uint64_t user);
uint64_t gd_golive_owner(const struct gd_golive *l);
/* The voice channel that it is shown in. */
uint64_t gd_golive_parent(const struct gd_golive *l);
/* For GET /stats; caller owns it. */
json_t *gd_golives_json(const struct guildd *g);

#endif
