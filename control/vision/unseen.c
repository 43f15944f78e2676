/* Why no screen can be looked at, as models tell it to the person who asks. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "control/vision/inside.h"
#include "ipc/env.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum { TOLD_S = 600 };

/* The words of vision_end_share. */
static const char *explain_end(const struct vision *v, const struct share *s, const char *why)
{
	static const char *const clauses[][2] = {{"expired", PROMPT_UNSEEN_EXPIRED},
						 {"left", PROMPT_UNSEEN_LEFT},
						 {"off", PROMPT_UNSEEN_SWITCHED_OFF},
						 {"stream_ended", PROMPT_UNSEEN_STREAM_OVER}};

	for (size_t i = 0; i < sizeof clauses / sizeof clauses[0]; i++)
		if (strcmp(why, clauses[i][0]) == 0)
			return clauses[i][1];
	if (shares_where(&v->conf.world, &s->owner) != SHARE_GRANTED)
		return PROMPT_UNSEEN_NOT_HEARD;
	return s->owner.stream ? PROMPT_UNSEEN_OVER : PROMPT_UNSEEN_STOPPED;
}

void vision_note_end(struct vision *v, const struct share *s, const char *why, const char *failure)
{
	struct ended_share *e;

	/* A link that nobody has opened is its owner's affair. */
	if (s->state == SHARE_OFFERED)
		return;
	e = &v->ended[v->n_ended++ % ENDED_SHARES];
	*e = (struct ended_share){.guild = s->owner.guild,
				  .channel = s->owner.channel,
				  .user = s->owner.target,
				  .at = env_now(v->conf.env)};
	vision_write_name(v, s->owner.guild, s->owner.target, e->name);
	utf8_copy(e->why, sizeof e->why, failure ? failure : explain_end(v, s, why));
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
	bool others;			 /* somebody else than the target shows one */
};

static bool is_there(const struct unseen *u, uint64_t guild, uint64_t channel)
{
	return guild == u->guild && channel == u->channel;
}

static bool is_meant(const struct unseen *u, uint64_t user)
{
	return !u->target || u->target == user;
}

static const char *write_name(const struct unseen *u, uint64_t user, char out[VISION_NAME_SIZE])
{
	return vision_write_name(u->v, u->guild, user, out);
}

/* The user whose absence, or refusal to be heard, keeps the bot from looking; 0: none. */
static uint64_t find_missing(const struct vision *v, const struct share *s)
{
	enum share_refusal where = shares_where(&v->conf.world, &s->owner);

	return where == SHARE_AWAY	    ? s->owner.requester
	       : where == SHARE_TARGET_AWAY ? s->owner.target
					    : 0;
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
	uint64_t missing = find_missing(u->v, s);
	char name[VISION_NAME_SIZE];

	write_name(u, missing ? missing : s->owner.target, name);
	snprintf(out, VISION_ABOUT_MAX, missing ? PROMPT_UNSEEN_REFUSED : reason_of(s, view), name,
		 image_reason_text(view->problem));
}

static void take_streamer(uint64_t user, void *arg)
{
	struct unseen *u = arg;

	if (!is_meant(u, user))
		u->others = true;
	else if (!u->streams)
		u->streams = user;
}

/* The newest share that ended; name: of this person alone, or NULL. */
static const struct ended_share *find_ended(const struct unseen *u, const char *name)
{
	const struct ended_share *found = NULL;
	uint64_t now = env_now(u->v->conf.env);

	for (unsigned i = 0; i < ENDED_SHARES; i++) {
		const struct ended_share *e = &u->v->ended[i];

		if (e->user && is_there(u, e->guild, e->channel) && is_meant(u, e->user) &&
		    (!name || strcasecmp(e->name, name) == 0) && now - e->at < TOLD_S * NS_PER_S &&
		    (!found || e->at > found->at))
			found = e;
	}
	return found;
}

uint64_t vision_find_ended(const struct vision *v, uint64_t guild, uint64_t channel,
			   const char *name)
{
	const struct unseen u = {.v = v, .guild = guild, .channel = channel};
	const struct ended_share *e = find_ended(&u, name);

	return e ? e->user : 0;
}

/* Writes the reason where there is no share to look at. */
static void write_none(struct unseen *u, char out[VISION_ABOUT_MAX])
{
	const struct vision *v = u->v;
	const struct ended_share *e = find_ended(u, NULL);
	char name[VISION_NAME_SIZE];

	if (v->streams.eachh)
		v->streams.eachh(u->guild, u->channel, take_streamer, u, v->streams.arg);
	if (u->streams)
		snprintf(out, VISION_ABOUT_MAX, PROMPT_UNSEEN_STREAMS,
			 write_name(u, u->streams, name));
	else if (e)
		snprintf(out, VISION_ABOUT_MAX, PROMPT_UNSEEN_ENDED, e->name, e->why,
			 (unsigned long)((env_now(v->conf.env) - e->at) / NS_PER_S));
	else if (u->target && !vision_may_show(v, u->guild, u->channel, u->target))
		snprintf(out, VISION_ABOUT_MAX, PROMPT_UNSEEN_REFUSED,
			 write_name(u, u->target, name));
	else if (u->others)
		snprintf(out, VISION_ABOUT_MAX, PROMPT_UNSEEN_NOT_THEIRS,
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
		    !is_there(&u, s->owner.guild, s->owner.channel))
			continue;
		if (!is_meant(&u, s->owner.target)) {
			u.others = true;
			continue;
		}
		if (share_is_seen(s, &v->views[i]))
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
