/* Joining one guild's voice channel through the main gateway (Discord documentation, "Voice
 * connections").
 *
 * A machine without I/O. Inputs: the wanted channel, Discord's events and mediad's requests.
 * Outputs: op 4, a lease of session, token and endpoint, and outcomes for people. A lease is made
 * only from a voice state and a voice server update that came after the last op 4; it is handed out
 * once and forgotten. A late server update that an earlier lease used is recognised and ignored,
 * unless the bot was out of the channel in between: Discord may then give the same pair again.
 *
 * Every wait has a deadline. A first join makes three attempts and then fails, so that the person
 * who asked gets an answer. A standing call, one that was up or that the settings want, stays in
 * the channel and retries with a backoff until it is withdrawn, unless a retry cannot help.
 * Pointers in an action are borrowed until the handler returns. The handler must not free the
 * machine. */
#ifndef CONTROL_DISCORD_VOICE_H
#define CONTROL_DISCORD_VOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/words/words.h"

struct voice;

/* States (enum voice_state): OUT; WAITING for the main gateway or for a mediad; ASKED, op 4 was
 * sent; LEAVING, op 4 with null was sent, asks again when Discord confirms it or after a second;
 * IN, a lease was handed out; SETTLING, a new server update came unasked, and its voice state may
 * follow; FOLLOWING, somebody moved the bot, waiting for the server update; HOLDING, mediad was
 * disconnected, waiting for Discord's reason; PARKED, Discord has no voice server now; RETRYING, a
 * standing call could not be restored, and the next attempt is due later; FAILED. The states and
 * the reasons (enum voice_reason) stand with their sentences in control/words/words.def. */

enum voice_act_type {
	VOICE_ACT_OP4,	  /* channel, 0 to leave */
	VOICE_ACT_LEASE,  /* session, token, endpoint, channel */
	VOICE_ACT_MOVED,  /* somebody moved the bot to channel */
	VOICE_ACT_LEFT,	  /* somebody disconnected the bot: why */
	VOICE_ACT_FAILED, /* joining failed for good: why, media_reason */
};
struct voice_act {
	enum voice_act_type type;
	uint64_t channel;
	const char *session, *token, *endpoint;
	enum voice_reason why;
	unsigned media_reason;
};
typedef void(voice_act_h)(const struct voice_act *act, void *arg);
/* The known obstacle to joining this channel; VOICE_REASON_NONE when there is none. */
typedef enum voice_reason(voice_predict_h)(uint64_t channel, void *arg);

enum {
	VOICE_ASK_MS = 10000,  /* both events of a fresh join */
	VOICE_REASK_MS = 5000, /* a new server update for the present channel */
	VOICE_SETTLE_MS = 300,
	VOICE_ECHO_MS = 300, /* a voice state came for the present channel: its server update */
	VOICE_STATE_GRACE_MS =
		1000, /* a server update came for the known session: a new state may follow */
	VOICE_FOLLOW_MS = 5000,
	VOICE_LEAVE_MS = 1000,
	VOICE_PARK_MS = 30000,
	VOICE_CHECK_MS = 10000, /* desired channel against the actual one */
	VOICE_STANDING_MS =
		30000,	       /* the settings want a channel that has an obstacle: look again */
	VOICE_COOL_MS = 60000, /* after a rate limit nobody may ask again for so long */
	VOICE_GOOD_MS = 30000, /* a call that was up this long resets the retry counters */
	VOICE_RETRY_MS = 5000, /* the first wait of RETRYING; it doubles */
	VOICE_RETRY_MAX_MS = 60000,
	VOICE_TRIES = 3,
};

/* EINVAL, ENOMEM. Caller owns *out. */
int voice_alloc(struct voice **out, voice_act_h *acth, voice_predict_h *predicth, void *arg);
/* Wipes what it holds. */
struct voice *voice_free(struct voice *v);

/* Joins a channel, or moves to it. standing: keep trying for ever. Returns the obstacle when it is
 * known at once; then nothing changes, unless standing is set. */
enum voice_reason voice_join(struct voice *v, uint64_t channel, bool standing, uint64_t now_ns);
void voice_leave(struct voice *v, uint64_t now_ns);
/* Takes over from an earlier control that wanted `channel` and was in `actual` (0: in none) when it
 * last saved its state. A call whose channel the bot is in counts as one that was up. Nothing is
 * sent before the main gateway has reported later changes. */
void voice_adopt(struct voice *v, uint64_t channel, uint64_t actual, bool standing,
		 uint64_t now_ns);

/* The main gateway is up. fresh: after an Identify, which ended every voice session. */
void voice_online(struct voice *v, bool fresh, uint64_t now_ns);
/* True if a mediad is connected (initially yes). Nothing is sent to Discord without one, because
 * its lease would be lost. */
void voice_mediad(struct voice *v, bool there, uint64_t now_ns);
void voice_offline(struct voice *v);
/* The bot's own VOICE_STATE_UPDATE. channel 0: in none. session may be NULL. */
void voice_own_state(struct voice *v, uint64_t channel, const char *session, uint64_t now_ns);
/* VOICE_SERVER_UPDATE. endpoint NULL: the server was removed. */
void voice_server(struct voice *v, const char *token, const char *endpoint, uint64_t now_ns);
/* The call's state as mediad reports it (enum media_phase, enum media_reason). */
void voice_media(struct voice *v, unsigned phase, unsigned reason, bool wants_credentials,
		 uint64_t now_ns);
void voice_tick(struct voice *v, uint64_t now_ns);
/* When to call voice_tick next; UINT64_MAX means never. */
uint64_t voice_deadline(const struct voice *v);

enum voice_state voice_state(const struct voice *v);
/* The wanted channel, 0 for none. */
uint64_t voice_channel(const struct voice *v);
bool voice_standing(const struct voice *v);
/* The reason of VOICE_FAILED, VOICE_RETRYING, VOICE_PARKED and VOICE_WAITING. */
enum voice_reason voice_why(const struct voice *v, unsigned *media_reason);

#endif
