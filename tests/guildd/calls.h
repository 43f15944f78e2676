/* Voice states and their notifications: who is in which channel, the leases for the voice server,
 * VOICE_STATE_UPDATE and VOICE_SERVER_UPDATE (Discord, "Gateway Events", "Voice Connections"). */
#ifndef GUILDD_CALLS_H
#define GUILDD_CALLS_H

#include "tests/guildd/guildd.h"

enum gd_join {
	GD_JOIN_OK,
	GD_JOIN_UNKNOWN,       /* no such guild, channel or member, or not a voice channel */
	GD_JOIN_NO_PERMISSION, /* VIEW_CHANNEL or CONNECT is missing */
	GD_JOIN_FULL,	       /* user_limit reached and no MOVE_MEMBERS */
	GD_JOIN_FAILED,	       /* out of memory */
};

struct gd_join_req {
	uint64_t guild, user, channel;
	bool self_mute, self_deaf;
	bool forced; /* by the control API: no permission, no limit is looked at */
	bool fresh;  /* a lease of its own even when already there */
};

/* Joins, moves, or (same channel) changes the flags. *out, borrowed, may be NULL. */
enum gd_join gd_call_join(struct guildd *g, const struct gd_join_req *req, struct gd_vstate **out);
/* Leaves: the voice session is closed with `code` (4014, 4022 …) and the channel forgotten. */
void gd_call_leave(struct guildd *g, struct gd_vstate *v, uint16_t code);
/* Another voice server or only a new token: VOICE_SERVER_UPDATE with a new lease, the session id
 * stays. */
void gd_call_new_server(struct guildd *g, struct gd_vstate *v);
/* The voice server went away: endpoint null; no lease until the next new server. */
void gd_call_no_server(struct guildd *g, struct gd_vstate *v);
/* Tells a changed voice state (mute, suppress, …) and lets the relay know. */
void gd_call_changed(struct guildd *g, struct gd_vstate *v);
/* A channel was removed, or a bot lost its main session: everybody concerned leaves. */
void gd_call_leave_channel(struct guildd *g, uint64_t channel, uint16_t code);
void gd_call_leave_all(struct guildd *g, uint64_t user, uint16_t code);
/* The user's voice state in any guild; NULL. */
struct gd_vstate *gd_call_of(struct guildd *g, uint64_t user);

#endif
