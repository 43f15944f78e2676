/* Being in one server's voice channel, as the main gateway sees it (Discord documentation, "Voice
 * connections").
 *
 * A machine without I/O. It is told what ought to be, what Discord said and what mediad asks for;
 * it answers with actions: op 4, a lease of session, token and endpoint, and what people should
 * know. A lease is made only from a voice state and a voice server that came after the last op 4;
 * it is handed out once and forgotten. What comes late of a server that a lease was made of is known again and passed over.
 *
 * Every wait has a deadline, every retry a cap of three. Pointers in an action are borrowed until
 * the handler returns; the handler must not free the machine. */
#ifndef CONTROL_DISCORD_VOICE_H
#define CONTROL_DISCORD_VOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/words/words.h"

struct voice;

/* States (enum voice_state): OUT; WAITING for the main gateway or for a mediad; ASKED, op 4 is out;
 * LEAVING, op 4 null is out, asks again after a second; IN, a lease was handed out; SETTLING, a new
 * server came by itself, a moment for the state that may belong to it; FOLLOWING, moved by
 * somebody, the server is awaited; HOLDING, mediad was disconnected, Discord will say why; PARKED,
 * no voice server for now; FAILED. They and the reasons (enum voice_reason) stand with their words
 * in control/words/words.def. */

enum voice_act_type {
	VOICE_ACT_OP4,	  /* channel, 0 to leave */
	VOICE_ACT_LEASE,  /* session, token, endpoint, channel */
	VOICE_ACT_MOVED,  /* now in channel, by somebody else's hand */
	VOICE_ACT_LEFT,	  /* out, by somebody else's hand: why */
	VOICE_ACT_FAILED, /* given up: why, media_reason */
};
struct voice_act {
	enum voice_act_type type;
	uint64_t channel;
	const char *session, *token, *endpoint;
	enum voice_reason why;
	unsigned media_reason;
};
typedef void(voice_act_h)(const struct voice_act *act, void *arg);
/* What stands in the way of joining this channel, as far as is known; VOICE_REASON_NONE when
 * nothing. */
typedef enum voice_reason(voice_predict_h)(uint64_t channel, void *arg);

enum {
	VOICE_ASK_MS = 10000,  /* both events of a fresh join */
	VOICE_REASK_MS = 5000, /* a new server for the channel one is in already */
	VOICE_SETTLE_MS = 300,
	VOICE_STATE_GRACE_MS =
		1000, /* a server came for the known session: time for a new state to come */
	VOICE_FOLLOW_MS = 5000,
	VOICE_LEAVE_MS = 1000,
	VOICE_PARK_MS = 30000,
	VOICE_CHECK_MS = 10000,	   /* desired channel against the actual one */
	VOICE_STANDING_MS = 30000, /* a wish from the command line is tried again */
	VOICE_GOOD_MS = 30000,	   /* a call that was up so long forgives earlier tries */
	VOICE_TRIES = 3,
};

/* EINVAL, ENOMEM. Caller owns *out. */
int voice_alloc(struct voice **out, voice_act_h *acth, voice_predict_h *predicth, void *arg);
/* Wipes what it holds. */
struct voice *voice_free(struct voice *v);

/* Join, or move to, a channel. standing: go on trying, now and then, for ever. Returns what stands
 * in the way when that is known at once; then nothing changed, unless the wish is a standing one.
 */
enum voice_reason voice_join(struct voice *v, uint64_t channel, bool standing, uint64_t now_ns);
void voice_leave(struct voice *v, uint64_t now_ns);
/* An earlier control had wished to be in channel, and was in `actual` (0: in none) when it last
 * wrote that down. Nothing is asked for before the main gateway has told what happened since. */
void voice_adopt(struct voice *v, uint64_t channel, uint64_t actual, bool standing,
		 uint64_t now_ns);

/* The main gateway is up. fresh: by a new Identify, which took us out of every channel. */
void voice_online(struct voice *v, bool fresh, uint64_t now_ns);
/* A mediad is there to take a lease, or none (at first one is). Nothing is asked of Discord while
 * there is none: a lease nobody takes is lost. */
void voice_mediad(struct voice *v, bool there, uint64_t now_ns);
void voice_offline(struct voice *v);
/* VOICE_STATE_UPDATE of our own. channel 0: in none. session may be NULL. */
void voice_own_state(struct voice *v, uint64_t channel, const char *session, uint64_t now_ns);
/* VOICE_SERVER_UPDATE. endpoint NULL: taken away. */
void voice_server(struct voice *v, const char *token, const char *endpoint, uint64_t now_ns);
/* mediad's word on the call (enum media_phase, enum media_reason). */
void voice_media(struct voice *v, unsigned phase, unsigned reason, bool wants_credentials,
		 uint64_t now_ns);
void voice_tick(struct voice *v, uint64_t now_ns);
/* When voice_tick is wanted; UINT64_MAX for never. */
uint64_t voice_deadline(const struct voice *v);

enum voice_state voice_state(const struct voice *v);
/* The channel wished for, 0 for none. */
uint64_t voice_channel(const struct voice *v);
bool voice_standing(const struct voice *v);
/* Of VOICE_FAILED, VOICE_PARKED, VOICE_WAITING. */
enum voice_reason voice_why(const struct voice *v, unsigned *media_reason);

#endif
