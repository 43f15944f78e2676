/* Shares of screens: one-time links, whom they belong to, and what may be taken from them. Pure: no
 * picture is here, only decisions.
 *
 * A share belongs to a server, a voice channel, a requester and a target (whose screen it is). Its
 * token stands in a link, which others may see. The first browser that opens the link exchanges the
 * token for a key, a cookie; from then on the token alone opens nothing, and only requests with
 * both are that browser's. Texts are compared in constant time. A link holds share_minutes; each
 * picture that is taken, and each word of its page, prolongs the share by as much.
 *
 * Times in ns of the monotonic clock. */
#ifndef CONTROL_VISION_CORE_SHARES_H
#define CONTROL_VISION_CORE_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/vision/core/shares.def"

enum {
	SHARES_MAX = 240,
	SHARE_SECRET_BYTES = 18,
	SHARE_SECRET_SIZE = 25, /* base64url, with NUL */
};

enum share_refusal {
	SHARE_GRANTED,
#define REFUSAL_(NAME, status, code, text) SHARE_##NAME,
	SHARE_REFUSALS(REFUSAL_)
#undef REFUSAL_
};
int share_refusal_status(enum share_refusal r);
const char *share_refusal_code(enum share_refusal r);
const char *share_refusal_text(enum share_refusal r);

enum share_state {
#define STATE_(NAME, name) SHARE_##NAME,
	SHARE_STATES(STATE_)
#undef STATE_
};
const char *share_state_name(enum share_state state);

/* Whose share: the requester asked for it, the target's screen it is. stream: it is a stream of
 * Discord, whose token nobody is told. */
struct share_owner {
	uint64_t guild, channel, requester, target;
	bool stream;
};

struct share {
	uint32_t id; /* 0: a free place */
	struct share_owner owner;
	char token[SHARE_SECRET_SIZE];
	char key[SHARE_SECRET_SIZE]; /* of the browser; "" until the link is opened */
	uint64_t expires;
	enum share_state state;
	bool watched;	    /* the bot wants its pictures */
	uint64_t minute;    /* begin of the minute in which pictures are counted */
	unsigned in_minute; /* pictures that came in it */
	uint64_t frames;    /* that were taken */
	uint64_t heard;	    /* ns; the last picture or word of its page */
};

struct shares {
	struct share v[SHARES_MAX];
	uint32_t last_id;
};

/* The settings in effect. */
struct share_rules {
	uint64_t ttl; /* ns */
	unsigned frames_per_minute;
	size_t frame_bytes;
	uint64_t spacing; /* ns; between key frames of a stream */
};
/* The spacing at which a stream that consists of key frames does not use up the pictures of a
 * minute before it is over: somewhat less than every_ms, in which they are asked for. */
uint64_t shares_spacing(uint64_t every_ms, unsigned frames_per_minute);

/* Who is where: the voice channel of a person, and that of the bot; 0: none. */
struct share_world {
	uint64_t (*channel_of)(uint64_t guild, uint64_t user, void *arg);
	uint64_t (*bot_channel)(uint64_t guild, void *arg);
	void *arg;
};

/* 18 random bytes as text. */
void share_secret_write(char out[SHARE_SECRET_SIZE], const uint8_t random[SHARE_SECRET_BYTES]);

/* The share of this owner, which the bot watches from now on: a new one with this token, or the one
 * that there is (reused). That one has a new token, and its browser is forgotten, if it was opened,
 * also if that browser shows something: it may be that of somebody else, who was faster. FULL,
 * AWAY, TARGET_AWAY. */
struct share_offered {
	struct share *share;
	bool reused;
};
enum share_refusal shares_offer(struct shares *s, const struct share_rules *rules,
				const struct share_world *world, const struct share_owner *owner,
				const char *token, uint64_t now, struct share_offered *out);
/* NULL: there is none with this number. */
struct share *shares_find(struct shares *s, uint32_t id);
/* The share with this key, 0 without one: what the cookie of a request proves. */
uint32_t shares_match_key(const struct shares *s, const char *key);

/* Exchanges the token of a link for the key. browser: the share that the request's cookie proves,
 * or 0; the same browser may open its link again. UNKNOWN, TAKEN. */
enum share_refusal shares_open(struct shares *s, const struct share_rules *rules, const char *token,
			       const char *key, uint32_t browser, uint64_t now, struct share **out);
/* The share of this token, if the request's cookie proves it. UNKNOWN, TAKEN. */
enum share_refusal shares_prove(struct shares *s, const char *token, uint32_t browser, uint64_t now,
				struct share **out);

struct share_frame {
	size_t bytes;
	bool known_type;
};
/* Decides about a picture before it is looked at: rules in the order of SHARE_REFUSALS. A picture
 * that is granted counts as taken. */
enum share_refusal shares_take(struct share *s, const struct share_rules *rules,
			       const struct share_world *world, const struct share_frame *frame,
			       uint64_t now);
/* The share whose target's screen comes from another program. NOT_WATCHED: nobody's is watched
 * there; OTHER_TARGET: somebody else's is. */
enum share_refusal shares_find_target(struct shares *s, uint64_t guild, uint64_t target,
				      uint64_t now, struct share **out);
/* True if a key frame is wanted now: the last picture that was taken is old enough. */
bool shares_due(const struct share *s, const struct share_rules *rules, uint64_t now);
/* AWAY, TARGET_AWAY: the requester, or the target, is not in the voice channel of the share. */
enum share_refusal shares_where(const struct share_world *world, const struct share_owner *owner);
/* A word of its page: it is there. */
void shares_touch(struct share *s, const struct share_rules *rules, bool paused, uint64_t now);
/* Forgets it with its secrets. */
void shares_end(struct share *s);
/* The next one that has expired; NULL: none. */
struct share *shares_expired(struct shares *s, uint64_t now);
/* The next used share at or after *place, which moves behind it; NULL: there is none. */
struct share *shares_each(struct shares *s, unsigned *place);

#endif
