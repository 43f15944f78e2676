/* Why no screen can be looked at: for models, which tell it to who asks. */
#include <stdio.h>
#include <string.h>

#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "control/vision/inside.h"
#include "ipc/env.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum { NAME_SIZE = 81, TOLD_S = 600 };

void vision_note_end(struct vision *v, const struct share *s, const char *why, const char *failure)
{
	struct ended_share *e = &v->ended[v->n_ended++ % ENDED_SHARES];

	/* A link that nobody has opened is its owner's affair. */
	if (s->state == SHARE_OFFERED)
		return;
	*e = (struct ended_share){.guild = s->owner.guild,
				  .channel = s->owner.channel,
				  .user = s->owner.target,
				  .at = env_now(v->conf.env)};
	utf8_copy(e->why, sizeof e->why,
		  failure			? failure
		  : strcmp(why, "expired") == 0 ? PROMPT_UNSEEN_EXPIRED
		  : strcmp(why, "left") == 0	? PROMPT_UNSEEN_LEFT
						: PROMPT_UNSEEN_STOPPED);
}

void vision_forget_ended(struct vision *v, uint64_t guild, uint64_t user)
{
	for (unsigned i = 0; i < ENDED_SHARES; i++)
		if (v->ended[i].user == user && (!guild || v->ended[i].guild == guild))
			v->ended[i] = (struct ended_share){0};
}

/* What is asked about. */
struct unseen {
	const struct vision *v;
	uint64_t guild, channel, target; /* 0: anybody's */
	uint64_t streams;		 /* who streams, and is not watched */
};

static bool is_meant(const struct unseen *u, uint64_t guild, uint64_t channel, uint64_t user)
{
	return guild == u->guild && channel == u->channel && (!u->target || u->target == user);
}

static const char *write_name(const struct unseen *u, uint64_t user, char out[NAME_SIZE])
{
	utf8_copy(out, NAME_SIZE, u->v->conf.nameh(u->guild, user, u->v->conf.arg));
	utf8_plain(out);
	return out;
}

static bool is_seen(const struct share *s, const struct view *view)
{
	return s->watched && view->newest.p;
}

static const char *reason_of(const struct share *s, const struct view *view)
{
	if (!s->watched)
		return PROMPT_UNSEEN_UNWATCHED;
	if (s->state == SHARE_PAUSED)
		return PROMPT_UNSEEN_PAUSED;
	if (view->problem != IMAGE_OK)
		return PROMPT_UNSEEN_DAMAGED;
	return s->owner.stream ? PROMPT_UNSEEN_BEGINS : PROMPT_UNSEEN_OPENED;
}

static void write_share(const struct unseen *u, const struct share *s, const struct view *view,
			char out[VISION_ABOUT_MAX])
{
	char name[NAME_SIZE];

	snprintf(out, VISION_ABOUT_MAX, reason_of(s, view), write_name(u, s->owner.target, name),
		 image_reason_text(view->problem));
}

static void take_streamer(uint64_t user, void *arg)
{
	struct unseen *u = arg;

	if (!u->streams && (!u->target || u->target == user))
		u->streams = user;
}

static const struct ended_share *find_ended(const struct unseen *u)
{
	const struct ended_share *found = NULL;
	uint64_t now = env_now(u->v->conf.env);

	for (unsigned i = 0; i < ENDED_SHARES; i++) {
		const struct ended_share *e = &u->v->ended[i];

		if (e->user && is_meant(u, e->guild, e->channel, e->user) &&
		    now - e->at < TOLD_S * NS_PER_S && (!found || e->at > found->at))
			found = e;
	}
	return found;
}

/* Nobody shows one by a page, or has it watched. */
static void write_none(struct unseen *u, char out[VISION_ABOUT_MAX])
{
	const struct vision *v = u->v;
	const struct ended_share *e = find_ended(u);
	char name[NAME_SIZE];

	if (v->streams.eachh)
		v->streams.eachh(u->guild, u->channel, take_streamer, u, v->streams.arg);
	if (u->streams)
		snprintf(out, VISION_ABOUT_MAX, PROMPT_UNSEEN_STREAMS,
			 write_name(u, u->streams, name));
	else if (e)
		snprintf(out, VISION_ABOUT_MAX, PROMPT_UNSEEN_ENDED, write_name(u, e->user, name),
			 e->why, (unsigned long)((env_now(v->conf.env) - e->at) / NS_PER_S));
	else if (u->target && !vision_may_show(v, u->guild, u->channel, u->target))
		snprintf(out, VISION_ABOUT_MAX, PROMPT_UNSEEN_REFUSED,
			 write_name(u, u->target, name));
	else
		snprintf(out, VISION_ABOUT_MAX, "%s", PROMPT_UNSEEN_NOBODY);
}

bool vision_unseen(const struct vision *v, uint64_t guild, uint64_t channel, uint64_t target,
		   char out[VISION_ABOUT_MAX])
{
	struct unseen u = {.v = v, .guild = guild, .channel = channel, .target = target};
	const struct share *why = NULL;

	*out = '\0';
	for (unsigned i = 0; i < SHARES_MAX; i++) {
		const struct share *s = &v->shares.v[i];

		if (!s->id || s->state == SHARE_OFFERED ||
		    !is_meant(&u, s->owner.guild, s->owner.channel, s->owner.target))
			continue;
		if (is_seen(s, &v->views[i]))
			return false;
		/* That which is looked at says more than one that is not. */
		if (!why || (s->watched && !why->watched))
			why = s;
	}
	if (!channel)
		snprintf(out, VISION_ABOUT_MAX, "%s", PROMPT_UNSEEN_NO_CALL);
	else if (!vision_settings(v, guild)->screen_watch)
		snprintf(out, VISION_ABOUT_MAX, "%s", PROMPT_UNSEEN_OFF);
	else if (why)
		write_share(&u, why, &v->views[why - v->shares.v], out);
	else
		write_none(&u, out);
	return true;
}
