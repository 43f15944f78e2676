#include "control/vision/core/shares.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "proto/base/time.h"

#define MINUTE (UINT64_C(60) * NS_PER_S)

static const struct {
	int status;
	const char *code, *text;
} refusals[] = {{200, "", ""},
#define REFUSAL(NAME, status, code, text) {status, #code, text},
		SHARE_REFUSALS(REFUSAL)
#undef REFUSAL
};

int share_refusal_status(enum share_refusal r)
{
	return refusals[r].status;
}

const char *share_refusal_code(enum share_refusal r)
{
	return refusals[r].code;
}

const char *share_refusal_text(enum share_refusal r)
{
	return refusals[r].text;
}

const char *share_state_name(enum share_state state)
{
	static const char *const names[] = {
#define STATE(NAME, name) #name,
		SHARE_STATES(STATE)
#undef STATE
	};

	return names[state];
}

void share_secret_write(char out[SHARE_SECRET_SIZE], const uint8_t random[SHARE_SECRET_BYTES])
{
	sodium_bin2base64(out, SHARE_SECRET_SIZE, random, SHARE_SECRET_BYTES,
			  sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

/* ---- finding ---- */

/* Every secret of the table is compared, and each of them whole. */
static struct share *find_secret(struct shares *s, const char *secret, bool key)
{
	char text[SHARE_SECRET_SIZE] = "";
	struct share *found = NULL;

	if (strlen(secret) != SHARE_SECRET_SIZE - 1)
		return NULL;
	memcpy(text, secret, SHARE_SECRET_SIZE);
	for (unsigned i = 0; i < SHARES_MAX; i++) {
		const char *own = key ? s->v[i].key : s->v[i].token;

		if (sodium_memcmp(own, text, SHARE_SECRET_SIZE) == 0 && s->v[i].id)
			found = &s->v[i];
	}
	sodium_memzero(text, sizeof text);
	return found;
}

struct share *shares_find(struct shares *s, uint32_t id)
{
	for (unsigned i = 0; i < SHARES_MAX; i++)
		if (id && s->v[i].id == id)
			return &s->v[i];
	return NULL;
}

uint32_t shares_match_key(const struct shares *s, const char *key)
{
	const struct share *found = find_secret((struct shares *)(uintptr_t)s, key, true);

	return found ? found->id : 0;
}

struct share *shares_each(struct shares *s, unsigned *place)
{
	while (*place < SHARES_MAX)
		if (s->v[(*place)++].id)
			return &s->v[*place - 1];
	return NULL;
}

struct share *shares_expired(struct shares *s, uint64_t now)
{
	for (unsigned i = 0; i < SHARES_MAX; i++)
		if (s->v[i].id && now >= s->v[i].expires)
			return &s->v[i];
	return NULL;
}

/* ---- offering ---- */

static bool same_owner(const struct share_owner *a, const struct share_owner *b)
{
	return a->guild == b->guild && a->channel == b->channel && a->requester == b->requester &&
	       a->target == b->target && a->stream == b->stream;
}

static struct share *find_owner(struct shares *s, const struct share_owner *owner, uint64_t now)
{
	for (unsigned i = 0; i < SHARES_MAX; i++)
		if (s->v[i].id && now < s->v[i].expires && same_owner(&s->v[i].owner, owner))
			return &s->v[i];
	return NULL;
}

static struct share *find_place(struct shares *s)
{
	for (unsigned i = 0; i < SHARES_MAX; i++)
		if (!s->v[i].id)
			return &s->v[i];
	return NULL;
}

enum share_refusal shares_where(const struct share_world *world, const struct share_owner *owner)
{
	if (world->channel_of(owner->guild, owner->requester, world->arg) != owner->channel)
		return SHARE_AWAY;
	if (world->channel_of(owner->guild, owner->target, world->arg) != owner->channel)
		return SHARE_TARGET_AWAY;
	return SHARE_GRANTED;
}

enum share_refusal shares_offer(struct shares *s, const struct share_rules *rules,
				const struct share_world *world, const struct share_owner *owner,
				const char *token, uint64_t now, struct share_offered *out)
{
	struct share *share = find_owner(s, owner, now);
	enum share_refusal refusal = shares_where(world, owner);
	bool reused;

	if (refusal)
		return refusal;
	reused = share != NULL;
	if (!share)
		share = find_place(s);
	if (!share)
		return SHARE_FULL;
	if (!reused) {
		shares_end(share);
		if (!++s->last_id)
			s->last_id = 1;
		share->id = s->last_id;
		share->owner = *owner;
	}
	/* Whoever opened the link may be somebody else, whatever that browser shows. */
	if (!reused || *share->key) {
		memcpy(share->token, token, SHARE_SECRET_SIZE);
		sodium_memzero(share->key, sizeof share->key);
		share->state = SHARE_OFFERED;
	}
	share->watched = true;
	share->expires = now + rules->ttl;
	*out = (struct share_offered){share, reused};
	return SHARE_GRANTED;
}

/* ---- a browser ---- */

static enum share_refusal find_token(struct shares *s, const char *token, uint64_t now,
				     struct share **out)
{
	struct share *share = find_secret(s, token, false);

	if (!share || now >= share->expires)
		return SHARE_UNKNOWN;
	*out = share;
	return SHARE_GRANTED;
}

enum share_refusal shares_open(struct shares *s, const struct share_rules *rules, const char *token,
			       const char *key, uint32_t browser, uint64_t now, struct share **out)
{
	struct share *share;
	enum share_refusal refusal = find_token(s, token, now, &share);

	if (refusal)
		return refusal;
	if (*share->key && browser != share->id)
		return SHARE_TAKEN;
	if (!*share->key) {
		memcpy(share->key, key, SHARE_SECRET_SIZE);
		share->state = SHARE_OPENED;
	}
	share->expires = now + rules->ttl;
	*out = share;
	return SHARE_GRANTED;
}

enum share_refusal shares_prove(struct shares *s, const char *token, uint32_t browser, uint64_t now,
				struct share **out)
{
	struct share *share;
	enum share_refusal refusal = find_token(s, token, now, &share);

	if (refusal)
		return refusal;
	if (!*share->key || browser != share->id)
		return SHARE_TAKEN;
	*out = share;
	return SHARE_GRANTED;
}

/* ---- pictures ---- */

static bool take_of_minute(struct share *s, unsigned most, uint64_t now)
{
	if (!s->minute || now - s->minute >= MINUTE) {
		s->minute = now;
		s->in_minute = 0;
	}
	if (s->in_minute >= most)
		return false;
	s->in_minute++;
	return true;
}

enum share_refusal shares_take(struct share *s, const struct share_rules *rules,
			       const struct share_world *world, const struct share_frame *frame,
			       uint64_t now)
{
	enum share_refusal where = shares_where(world, &s->owner);

	if (where)
		return where;
	if (frame->bytes > rules->frame_bytes)
		return SHARE_TOO_LARGE;
	if (!take_of_minute(s, rules->frames_per_minute, now))
		return SHARE_TOO_OFTEN;
	/* A picture that was under way does not end a pause. */
	if (!s->watched || s->state == SHARE_PAUSED ||
	    world->bot_channel(s->owner.guild, world->arg) != s->owner.channel)
		return SHARE_NOT_WATCHED;
	if (!frame->known_type)
		return SHARE_BAD_TYPE;
	s->frames++;
	s->heard = now;
	s->state = SHARE_SHOWING;
	s->expires = now + rules->ttl;
	return SHARE_GRANTED;
}

uint64_t shares_spacing(uint64_t every_ms, unsigned frames_per_minute)
{
	/* One that was asked for comes a little earlier or later than the one before did. */
	uint64_t asked = every_ms * NS_PER_MS / 4 * 3;
	uint64_t least = frames_per_minute ? MINUTE / frames_per_minute : 0;

	return asked > least ? asked : least;
}

bool shares_due(const struct share *s, const struct share_rules *rules, uint64_t now)
{
	return !s->frames || now - s->heard >= rules->spacing;
}

enum share_refusal shares_find_target(struct shares *s, uint64_t guild, uint64_t target,
				      uint64_t now, struct share **out)
{
	bool others = false;

	for (unsigned i = 0; i < SHARES_MAX; i++) {
		struct share *share = &s->v[i];

		if (!share->id || !share->watched || share->owner.stream ||
		    share->owner.guild != guild || now >= share->expires)
			continue;
		if (share->owner.target == target) {
			*out = share;
			return SHARE_GRANTED;
		}
		others = true;
	}
	return others ? SHARE_OTHER_TARGET : SHARE_NOT_WATCHED;
}

void shares_touch(struct share *s, const struct share_rules *rules, bool paused, uint64_t now)
{
	s->expires = now + rules->ttl;
	s->heard = now;
	if (paused)
		s->state = SHARE_PAUSED;
	else if (s->state == SHARE_PAUSED)
		s->state = SHARE_OPENED;
}

void shares_end(struct share *s)
{
	sodium_memzero(s, sizeof *s);
}
