#include "control/discord/voice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/fnv.h"
#include "proto/base/time.h"
#include "proto/media.h"

enum { USED = 8 };

struct voice {
	voice_act_h *acth;
	voice_predict_h *predicth;
	void *arg;
	enum voice_state state;
	uint64_t until;
	uint64_t wanted; /* channel */
	bool standing;
	bool was_up; /* the call was up since it was joined */
	bool leased; /* mediad has a lease for the wanted channel and has not given it up */
	bool online; /* the main gateway is up */
	bool mediad; /* a mediad can take a lease */

	uint64_t actual; /* the bot's channel according to Discord */
	bool was_there;	 /* it was the wanted channel when the main gateway was last up */
	bool adopted;	 /* and the previous control reported that */
	char session[128];
	char token[256], endpoint[256];
	bool has_state, has_server; /* since the last op 4 */
	bool reask;		    /* that op 4 named the channel the bot was in */
	bool echo_due;		    /* of the leave before the next op 4 (leave_and_ask) */
	/* Discord confirms ops 4 in their order, so what it tells before it has confirmed all
	 * leaves is older than what is wanted now. */
	unsigned leaves_due;
	uint64_t ordered; /* where it will have the bot after all ops 4 so far */
	bool crossed_due; /* of an op 4 that a disconnection crossed */
	bool left;	  /* Discord reported the bot out of the channel since the last lease */
	/* Hashes of recent leases, because Discord's update about an old server may come late. */
	struct {
		uint64_t server, session;
	} used[USED];
	unsigned n_used;

	unsigned tries;
	unsigned retries; /* of a standing call, since it was last up for VOICE_GOOD_MS */
	uint64_t up_since;
	uint64_t cool_until; /* after a rate limit */
	enum voice_reason why;
	unsigned media_reason;
};

int voice_alloc(struct voice **out, voice_act_h *acth, voice_predict_h *predicth, void *arg)
{
	struct voice *v;

	if (!out || !acth || !predicth)
		return EINVAL;
	v = calloc(1, sizeof *v);
	if (!v)
		return ENOMEM;
	v->acth = acth;
	v->predicth = predicth;
	v->arg = arg;
	v->until = UINT64_MAX;
	v->mediad = true;
	*out = v;
	return 0;
}

struct voice *voice_free(struct voice *v)
{
	if (!v)
		return NULL;
	explicit_bzero(v, sizeof *v);
	free(v);
	return NULL;
}

/* ---- transitions ---- */

static void act(struct voice *v, struct voice_act a)
{
	v->acth(&a, v->arg);
}

static void enter(struct voice *v, enum voice_state s, uint64_t until)
{
	v->state = s;
	v->until = until;
}

static void forget_server(struct voice *v)
{
	explicit_bzero(v->token, sizeof v->token);
	explicit_bzero(v->endpoint, sizeof v->endpoint);
	v->has_server = false;
}

/* Sums are kept instead of the secrets themselves. */
static uint64_t session_sum(const struct voice *v)
{
	return fnv_text(FNV_BEGIN, v->session);
}

static uint64_t server_sum(const char *token, const char *endpoint)
{
	return fnv_text(fnv_text(FNV_BEGIN, token), endpoint);
}

/* True if a lease used this server update and (unless any) the present session. */
static bool used(const struct voice *v, const char *token, const char *endpoint, bool any_session)
{
	uint64_t server = server_sum(token, endpoint), session = session_sum(v);
	unsigned n = v->n_used < USED ? v->n_used : USED;

	for (unsigned i = 0; i < n; i++)
		if (v->used[i].server == server && (any_session || v->used[i].session == session))
			return true;
	return false;
}

static void remember(struct voice *v)
{
	unsigned i = v->n_used++ % USED;

	v->used[i].server = server_sum(v->token, v->endpoint);
	v->used[i].session = session_sum(v);
}

static void ask(struct voice *v, uint64_t now)
{
	forget_server(v);
	v->has_state = false;
	v->why = VOICE_REASON_NONE;
	if (!v->online || !v->mediad) {
		v->why = v->online ? VOICE_REASON_NO_MEDIAD : VOICE_REASON_OFFLINE;
		enter(v, VOICE_WAITING, UINT64_MAX);
		return;
	}
	v->reask = v->actual == v->wanted && !v->leaves_due;
	v->ordered = v->wanted;
	enter(v, VOICE_ASKED, now + (v->reask ? VOICE_REASK_MS : VOICE_ASK_MS) * NS_PER_MS);
	act(v, (struct voice_act){.type = VOICE_ACT_OP4, .channel = v->wanted});
}

/* Discord confirms it, unless the bot is out already. */
static void order_leave(struct voice *v)
{
	v->leaves_due += v->ordered != 0;
	v->ordered = 0;
	act(v, (struct voice_act){.type = VOICE_ACT_OP4, .channel = 0});
}

/* Leaves, then joins: the only way to a new session when Discord sends none unasked. */
static void leave_and_ask(struct voice *v, uint64_t now)
{
	forget_server(v);
	if (!v->online) {
		ask(v, now);
		return;
	}
	v->echo_due = true;
	v->ordered = 0;
	enter(v, VOICE_LEAVING, now + VOICE_LEAVE_MS * NS_PER_MS);
	act(v, (struct voice_act){.type = VOICE_ACT_OP4, .channel = 0});
}

static void out(struct voice *v)
{
	forget_server(v);
	v->wanted = 0;
	v->standing = v->was_up = v->leased = v->crossed_due = false;
	v->tries = v->retries = 0;
	enter(v, VOICE_OUT, UINT64_MAX);
}

static void fail(struct voice *v, enum voice_reason why, unsigned media_reason, uint64_t now)
{
	bool again = v->standing && !media_reason_is_final(media_reason);

	forget_server(v);
	if (v->online)
		order_leave(v);
	v->why = why;
	v->media_reason = media_reason;
	if (media_reason == MEDIA_REASON_RATE_LIMITED)
		v->cool_until = now + VOICE_COOL_MS * NS_PER_MS;
	v->tries = 0;
	v->leased = false;
	enter(v, VOICE_FAILED, again ? now + VOICE_STANDING_MS * NS_PER_MS : UINT64_MAX);
	act(v, (struct voice_act){.type = VOICE_ACT_FAILED,
				  .channel = v->wanted,
				  .why = why,
				  .media_reason = media_reason});
	if (!again && v->state == VOICE_FAILED) {
		v->wanted = 0;
		v->standing = v->was_up = false;
	}
}

/* Retries a standing call later and stays in the channel meanwhile, so that a member can still
 * disconnect the bot. The person who asked for a first join is told that it failed. */
static void retry_or_fail(struct voice *v, enum voice_reason why, unsigned media_reason,
			  uint64_t now)
{
	uint64_t wait = VOICE_RETRY_MS;

	if (!(v->standing || v->was_up) || media_reason_is_final(media_reason)) {
		fail(v, why, media_reason, now);
		return;
	}
	for (unsigned i = 0; i < v->retries && wait < VOICE_RETRY_MAX_MS; i++)
		wait *= 2;
	if (wait > VOICE_RETRY_MAX_MS)
		wait = VOICE_RETRY_MAX_MS;
	v->retries++;
	v->leased = false;
	v->tries = VOICE_TRIES; /* each retry is a single attempt */
	v->why = VOICE_REASON_RETRYING;
	v->media_reason = media_reason;
	forget_server(v);
	enter(v, VOICE_RETRYING, now + wait * NS_PER_MS);
}

static void hand_out_lease(struct voice *v, uint64_t now)
{
	remember(v);
	v->left = false;
	v->leased = true;
	v->why = VOICE_REASON_NONE;
	v->up_since = 0;
	enter(v, VOICE_IN, now + VOICE_CHECK_MS * NS_PER_MS);
	act(v, (struct voice_act){.type = VOICE_ACT_LEASE,
				  .channel = v->wanted,
				  .session = v->session,
				  .token = v->token,
				  .endpoint = v->endpoint});
	forget_server(v); /* a lease is used once and not kept */
}

/* Returns false when the lease was handed out before; then the state is unchanged. After the bot
 * was out of the channel, Discord may give the same session and token again: then they are valid,
 * and are handed out if nothing newer comes within VOICE_SETTLE_MS. */
static bool lease(struct voice *v, uint64_t now)
{
	if (!used(v, v->token, v->endpoint, false)) {
		hand_out_lease(v, now);
		return true;
	}
	if (v->state == VOICE_ASKED && v->left)
		v->until = now + VOICE_SETTLE_MS * NS_PER_MS;
	else
		forget_server(v);
	return false;
}

/* mediad needs a lease: its first one, or another one because it could not use the last. */
static void renew(struct voice *v, unsigned media_reason, uint64_t now)
{
	bool was_good = v->up_since && now >= v->up_since + VOICE_GOOD_MS * NS_PER_MS;

	if (was_good || media_reason == MEDIA_REASON_NEW_CALL)
		v->tries = v->retries = 0;
	v->up_since = 0;
	if (++v->tries > VOICE_TRIES)
		retry_or_fail(v, VOICE_REASON_REFUSED, media_reason, now);
	else if (v->tries == 1)
		ask(v, now);
	else
		leave_and_ask(v, now);
}

/* ---- requests ---- */

enum voice_reason voice_join(struct voice *v, uint64_t channel, bool standing, uint64_t now)
{
	enum voice_reason why = v->predicth(channel, v->arg);

	if (now < v->cool_until)
		why = VOICE_REASON_COOLING;
	if (why && !standing)
		return why;
	if (v->wanted == channel && v->state != VOICE_FAILED && v->state != VOICE_OUT) {
		v->standing |= standing;
		if (v->state == VOICE_RETRYING && !why)
			v->until = now;
		return why;
	}
	v->wanted = channel;
	v->standing = standing;
	v->was_up = v->was_there = v->leased = false;
	v->tries = v->retries = 0;
	if (why) {
		v->why = why;
		enter(v, VOICE_FAILED, now + VOICE_STANDING_MS * NS_PER_MS);
		return why;
	}
	ask(v, now);
	return VOICE_REASON_NONE;
}

void voice_leave(struct voice *v, uint64_t now)
{
	bool there = v->wanted != 0 || v->actual != 0;

	(void)now;
	out(v);
	v->why = VOICE_REASON_NONE;
	if (there && v->online)
		order_leave(v);
}

void voice_adopt(struct voice *v, uint64_t channel, uint64_t actual, bool standing, uint64_t now)
{
	v->wanted = channel;
	v->standing = standing;
	v->actual = v->ordered = actual;
	v->was_there = v->was_up = v->leased = actual == channel;
	v->adopted = true;
	enter(v, VOICE_IN, now + VOICE_CHECK_MS * NS_PER_MS);
}

/* ---- Discord ---- */

static void thrown_out(struct voice *v)
{
	out(v);
	v->crossed_due = true;
	v->why = VOICE_REASON_DISCONNECTED;
	act(v, (struct voice_act){.type = VOICE_ACT_LEFT, .why = VOICE_REASON_DISCONNECTED});
}

static void follow(struct voice *v, uint64_t channel, uint64_t now)
{
	v->wanted = channel;
	v->has_state = true;
	enter(v, VOICE_FOLLOWING, now + VOICE_FOLLOW_MS * NS_PER_MS);
	act(v, (struct voice_act){.type = VOICE_ACT_MOVED, .channel = channel});
	if (v->has_server && v->state == VOICE_FOLLOWING)
		lease(v, now);
}

static bool settled(const struct voice *v)
{
	return v->state == VOICE_IN || v->state == VOICE_SETTLING || v->state == VOICE_FOLLOWING ||
	       v->state == VOICE_HOLDING || v->state == VOICE_PARKED || v->state == VOICE_RETRYING;
}

/* Discord has reported everything that happened while the gateway was disconnected. */
static void catch_up(struct voice *v, uint64_t now)
{
	if (v->actual == v->wanted) {
		if (v->has_server && v->state != VOICE_PARKED)
			enter(v, VOICE_SETTLING, now + VOICE_SETTLE_MS * NS_PER_MS);
	} else if (v->actual) {
		follow(v, v->actual, now);
	} else if (v->was_there) {
		thrown_out(v);
	} else {
		ask(v, now);
	}
}

/* A wish may have come, or may have become impossible, while nothing could be asked. */
static void ask_if_possible(struct voice *v, uint64_t now)
{
	enum voice_reason why = v->predicth(v->wanted, v->arg);

	if (!why) {
		ask(v, now);
	} else if (v->state == VOICE_FAILED) {
		v->why = why;
		v->until = now + VOICE_STANDING_MS * NS_PER_MS;
	} else {
		fail(v, why, 0, now);
	}
}

void voice_online(struct voice *v, bool fresh, uint64_t now)
{
	v->online = true;
	v->adopted = false;
	/* Discord repeats missed events before the session counts as resumed. */
	v->echo_due = false;
	v->leaves_due = 0;
	v->ordered = fresh ? 0 : v->actual;
	if (fresh) {
		v->actual = 0;
		v->session[0] = '\0';
		v->tries = 0;
		if (v->wanted)
			ask_if_possible(v, now);
	} else if (v->state == VOICE_WAITING && (!v->was_there || v->actual == v->wanted)) {
		ask_if_possible(v, now);
	} else if (v->state == VOICE_WAITING || settled(v)) {
		catch_up(v, now);
	} else if (!v->wanted && v->actual) {
		/* The call ended during the outage, and Discord still lists the bot. */
		order_leave(v);
	}
}

void voice_offline(struct voice *v)
{
	/* Somebody else's doing is to be told from the bot's own leave. */
	if (v->online)
		v->was_there = v->wanted && v->actual == v->wanted && v->state != VOICE_LEAVING &&
			       v->state != VOICE_FAILED;
	v->online = false;
	if (v->state == VOICE_ASKED || v->state == VOICE_LEAVING) {
		v->why = VOICE_REASON_OFFLINE;
		enter(v, VOICE_WAITING, UINT64_MAX);
	}
}

void voice_mediad(struct voice *v, bool there, uint64_t now)
{
	v->mediad = there;
	if (there && v->online && v->state == VOICE_WAITING && v->wanted)
		ask(v, now);
}

void voice_own_state(struct voice *v, uint64_t channel, const char *session, uint64_t now)
{
	bool echo = !channel &&
		    (v->leaves_due || v->echo_due || (v->state == VOICE_RETRYING && !v->actual));
	bool was_there = v->wanted && v->actual == v->wanted, late = v->leaves_due > 0;

	v->actual = channel;
	v->echo_due = false; /* events come in order */
	v->leaves_due -= late && !channel;
	if (!late && (v->state != VOICE_ASKED || v->has_state))
		v->ordered = channel;
	if (!channel)
		v->session[0] = '\0';
	else if (session && strlen(session) < sizeof v->session)
		snprintf(v->session, sizeof v->session, "%s", session);
	if (!v->online)
		return; /* a resumed session replays past events: wait for its end */
	v->left |= !channel;
	if (channel && late)
		return; /* of a join before that leave */
	if (v->state == VOICE_ASKED) {
		/* After the echo of our op 4 another channel is a move, before it the echo of an
		 * earlier op 4. */
		if (channel && channel != v->wanted && session && v->has_state) {
			follow(v, channel, now);
			return;
		}
		/* Likewise none is a disconnection. */
		if (!channel && !echo && v->has_state) {
			thrown_out(v);
			return;
		}
		if (channel != v->wanted || !session)
			return;
		v->has_state = true;
		if (v->has_server)
			lease(v, now);
		else if (v->reask && now + VOICE_ECHO_MS * NS_PER_MS < v->until)
			v->until = now + VOICE_ECHO_MS * NS_PER_MS;
	} else if (v->state == VOICE_WAITING && !channel && !echo && was_there) {
		thrown_out(v);
	} else if (v->state == VOICE_LEAVING && !channel) {
		ask(v, now);
	} else if (v->state == VOICE_OUT && channel && v->crossed_due) {
		/* Our op 4 crossed the disconnection. Without a call the bot would stay in the
		 * channel, mute and deaf. Later ones are not ours: somebody else who uses the
		 * bot's token joins, and would join again after each leave. */
		v->crossed_due = false;
		order_leave(v);
	} else if (settled(v) && !echo) {
		if (!channel)
			thrown_out(v);
		else if (channel != v->wanted)
			follow(v, channel, now);
	}
}

/* A late repetition, or Discord has nothing newer: waiting would be useless. */
static void known_server(struct voice *v, uint64_t now)
{
	if (v->state == VOICE_PARKED && v->online)
		ask(v, now);
	else if (v->state == VOICE_ASKED && v->reask &&
		 now + VOICE_STATE_GRACE_MS * NS_PER_MS < v->until)
		v->until = now + VOICE_STATE_GRACE_MS * NS_PER_MS;
}

void voice_server(struct voice *v, const char *token, const char *endpoint, uint64_t now)
{
	if (!v->wanted || v->state == VOICE_FAILED || v->state == VOICE_LEAVING ||
	    v->state == VOICE_WAITING)
		return;
	if (endpoint && v->leaves_due)
		return; /* of the session that ends */
	/* The previous control may have used this update already; mediad asks when it has no lease.
	 */
	if (!v->online && v->adopted)
		return;
	if (endpoint && token && used(v, token, endpoint, settled(v)) &&
	    !(v->state == VOICE_ASKED && v->left)) {
		known_server(v, now);
		return;
	}
	forget_server(v);
	if (!endpoint || !token || strlen(token) >= sizeof v->token ||
	    strlen(endpoint) >= sizeof v->endpoint) {
		v->why = VOICE_REASON_NO_SERVER;
		enter(v, VOICE_PARKED, now + VOICE_PARK_MS * NS_PER_MS);
		return;
	}
	snprintf(v->token, sizeof v->token, "%s", token);
	snprintf(v->endpoint, sizeof v->endpoint, "%s", endpoint);
	v->has_server = true;
	if (!v->online)
		return;
	switch (v->state) {
	case VOICE_ASKED:
		if (v->has_state)
			lease(v, now);
		else if (v->reask && v->session[0] &&
			 now + VOICE_STATE_GRACE_MS * NS_PER_MS < v->until)
			v->until = now + VOICE_STATE_GRACE_MS * NS_PER_MS;
		break;
	case VOICE_FOLLOWING:
		lease(v, now);
		break;
	case VOICE_IN:
	case VOICE_HOLDING:
	case VOICE_PARKED:
	case VOICE_RETRYING:
	case VOICE_SETTLING:
		enter(v, VOICE_SETTLING, now + VOICE_SETTLE_MS * NS_PER_MS);
		break;
	default:
		break;
	}
}

/* ---- mediad ---- */

void voice_media(struct voice *v, unsigned phase, unsigned reason, bool wants, uint64_t now)
{
	if (phase == MEDIA_PHASE_UP && !v->up_since)
		v->up_since = now;
	/* mediad's session goes on while the next lease is fetched. Its end for good must not be
	 * lost then: the next lease would open a call that was left for a reason. */
	if (v->state != VOICE_IN && v->leased && phase == MEDIA_PHASE_FAILED &&
	    media_reason_is_final(reason))
		fail(v, VOICE_REASON_MEDIA, reason, now);
	if (v->state != VOICE_IN)
		return; /* a lease is being fetched, or no channel is wanted */
	/* mediad does not ask in this case; if Discord reported nothing either, the call would
	 * never come back. */
	v->was_up |= phase == MEDIA_PHASE_UP;
	if (phase == MEDIA_PHASE_WAITING && reason == MEDIA_REASON_DISCONNECTED)
		enter(v, VOICE_HOLDING, now + VOICE_FOLLOW_MS * NS_PER_MS);
	else if (wants)
		renew(v, reason, now);
	else if (phase == MEDIA_PHASE_FAILED)
		retry_or_fail(v, VOICE_REASON_MEDIA, reason, now);
}

/* ---- time ---- */

static void asked_in_vain(struct voice *v, uint64_t now)
{
	enum voice_reason why;

	v->leaves_due = 0; /* it would have confirmed them */
	v->ordered = v->actual;
	if (v->left && v->has_state && v->has_server) {
		hand_out_lease(v, now);
		return;
	}
	/* As with a change of region: a new server for the session that goes on. */
	if (v->has_server && v->reask && v->session[0] && v->actual == v->wanted && lease(v, now))
		return;
	if (v->reask) {
		leave_and_ask(v, now);
		return;
	}
	if (++v->tries < VOICE_TRIES) {
		leave_and_ask(v, now);
		return;
	}
	why = v->predicth(v->wanted, v->arg);
	if (why)
		fail(v, why, 0, now);
	else
		retry_or_fail(v, VOICE_REASON_SILENT, 0, now);
}

void voice_tick(struct voice *v, uint64_t now)
{
	enum voice_reason why;

	if (now < v->until)
		return;
	switch (v->state) {
	case VOICE_ASKED:
		asked_in_vain(v, now);
		break;
	case VOICE_LEAVING:
		v->actual = 0;
		ask(v, now);
		break;
	case VOICE_SETTLING:
		if (!v->session[0] || !lease(v, now))
			ask(v, now);
		break;
	case VOICE_FOLLOWING:
	case VOICE_PARKED:
		ask(v, now);
		break;
	case VOICE_HOLDING:
		renew(v, MEDIA_REASON_DISCONNECTED, now);
		break;
	case VOICE_RETRYING:
		if (v->actual)
			leave_and_ask(v, now);
		else
			ask(v, now);
		break;
	case VOICE_IN:
		v->until = now + VOICE_CHECK_MS * NS_PER_MS;
		if (v->online && v->actual != v->wanted)
			ask(v, now);
		break;
	case VOICE_FAILED:
		why = v->online ? v->predicth(v->wanted, v->arg) : VOICE_REASON_OFFLINE;
		if (now < v->cool_until)
			why = VOICE_REASON_COOLING;
		if (why) {
			v->why = why;
			v->until = now + VOICE_STANDING_MS * NS_PER_MS;
		} else {
			ask(v, now);
		}
		break;
	case VOICE_OUT:
	case VOICE_WAITING:
		v->until = UINT64_MAX;
		break;
	}
}

uint64_t voice_deadline(const struct voice *v)
{
	return v->until;
}

enum voice_state voice_state(const struct voice *v)
{
	return v->state;
}

uint64_t voice_channel(const struct voice *v)
{
	return v->wanted;
}

bool voice_standing(const struct voice *v)
{
	return v->standing;
}

enum voice_reason voice_why(const struct voice *v, unsigned *media_reason)
{
	if (media_reason)
		*media_reason = v->media_reason;
	return v->why;
}
