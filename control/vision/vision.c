#include "control/vision/vision.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/vision/inside.h"
#include "ipc/env.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

enum { TICK_S = 1 };

const struct settings *vision_settings(const struct vision *v, uint64_t guild)
{
	return v->conf.settings_of ? v->conf.settings_of(guild, v->conf.arg) : v->conf.settings;
}

struct share_rules vision_rules(const struct vision *v, uint64_t guild)
{
	const struct settings *set = vision_settings(v, guild);

	return (struct share_rules){
		.ttl = set->share_minutes * 60 * NS_PER_S,
		.frames_per_minute = set->share_frames_per_minute,
		.frame_bytes = set->share_frame_bytes,
		.spacing = shares_spacing(set->share_frame_ms, set->share_frames_per_minute)};
}

static void write_secret(struct vision *v, char out[SHARE_SECRET_SIZE])
{
	uint8_t random[SHARE_SECRET_BYTES];

	env_random(v->conf.env, random, sizeof random);
	share_secret_write(out, random);
	sodium_memzero(random, sizeof random);
}

void vision_publish_share(struct vision *v, const struct share *s, enum event_type type,
			  const char *why)
{
	struct bus_event ev = {.type = type,
			       .at_ms = env_wall_ms(v->conf.env),
			       .guild = s->owner.guild,
			       .user = s->owner.requester};

	ev.share = (struct event_share){.share = s->id,
					.channel = s->owner.channel,
					.target = s->owner.target,
					.why = why,
					.frames = s->frames};
	bus_publish(v->conf.bus, &ev);
}

void vision_end_share(struct vision *v, struct share *s, const char *why, const char *failure)
{
	vision_note_end(v, s, why, failure);
	view_tell(view_of(v, s), s, false, why);
	vision_publish_share(v, s, EVENT_SHARE_STOPPED, why);
	view_end(view_of(v, s));
	shares_end(s);
}

/* ---- time ---- */

static void hide_view(struct view *view, const struct share *s, const char *why)
{
	view_tell(view, s, false, why);
	view_wipe(view);
}

static const char *find_end(const struct vision *v, const struct share *s, uint64_t now)
{
	const struct share_world *w = &v->conf.world;

	if (!vision_settings(v, s->owner.guild)->screen_watch)
		return "off";
	if (now >= s->expires)
		return "expired";
	return w->bot_channel(s->owner.guild, w->arg) != s->owner.channel ? "left" : NULL;
}

static void on_tick(void *arg)
{
	struct vision *v = arg;
	uint64_t now = env_now(v->conf.env);
	unsigned place = 0;
	struct share *s;

	while ((s = shares_each(&v->shares, &place))) {
		const char *why = find_end(v, s, now);
		struct view *view = view_of(v, s);

		if (why)
			vision_end_share(v, s, why, NULL);
		else if (view->vision && shares_where(&v->conf.world, &s->owner) != SHARE_GRANTED)
			hide_view(view, s, "away");
		else if (view->vision)
			view_tick(view, s);
	}
	place = 0;
	if (shares_each(&v->shares, &place))
		tmr_start(v->tmr, TICK_S * NS_PER_S);
}

/* ---- life ---- */

int vision_alloc(struct vision **out, const struct vision_conf *conf)
{
	struct vision *v;
	int err;

	if (!out || !conf->env || !conf->bus || !conf->settings || !conf->program || !conf->nameh)
		return EINVAL;
	v = calloc(1, sizeof *v);
	if (!v)
		return ENOMEM;
	v->conf = *conf;
	err = tmr_alloc(&v->tmr, conf->env, on_tick, v);
	if (!err)
		err = image_jail_alloc(&v->jail, conf->env, conf->program);
	if (err)
		vision_free(v);
	else
		*out = v;
	return err;
}

struct vision *vision_free(struct vision *v)
{
	if (!v)
		return NULL;
	for (unsigned i = 0; i < SHARES_MAX; i++)
		view_end(&v->views[i]);
	image_jail_free(v->jail);
	image_jail_free(v->frames);
	tmr_free(v->tmr);
	sodium_memzero(v, sizeof *v);
	free(v);
	return NULL;
}

struct image_jail *vision_jail(struct vision *v)
{
	return v->jail;
}

bool vision_may_show(const struct vision *v, uint64_t guild, uint64_t channel, uint64_t user)
{
	const struct share_world *w = &v->conf.world;

	return channel && w->channel_of(guild, user, w->arg) == channel;
}

void vision_forget(struct vision *v, uint64_t guild, uint64_t user)
{
	unsigned place = 0;
	struct share *s;

	while (v && (s = shares_each(&v->shares, &place)))
		if ((!guild || s->owner.guild == guild) &&
		    (s->owner.requester == user || s->owner.target == user))
			vision_end_share(v, s, "stopped", NULL);
	if (v)
		vision_forget_ended(v, guild, user);
}

/* ---- offers ---- */

enum share_refusal vision_offer_share(struct vision *v, const struct share_owner *owner,
				      char token[SHARE_SECRET_SIZE], struct share **out)
{
	struct share_rules rules = vision_rules(v, owner->guild);
	uint64_t now = env_now(v->conf.env);
	struct share *s = shares_expired(&v->shares, now);
	struct share_offered offered;
	enum share_refusal refusal;

	if (!vision_settings(v, owner->guild)->screen_watch)
		return SHARE_OFF;
	if (s)
		vision_end_share(v, s, "expired", NULL);
	write_secret(v, token);
	refusal = shares_offer(&v->shares, &rules, &v->conf.world, owner, token, now, &offered);
	if (refusal)
		return refusal;
	/* A new link has a new browser; what another one showed is not this one's. */
	if (offered.reused && memcmp(token, offered.share->token, SHARE_SECRET_SIZE) == 0 &&
	    view_of(v, offered.share)->vision)
		hide_view(view_of(v, offered.share), offered.share, "stopped");
	memcpy(token, offered.share->token, SHARE_SECRET_SIZE);
	vision_publish_share(v, offered.share,
			     offered.reused ? EVENT_SHARE_REUSED : EVENT_SHARE_CREATED, "");
	tmr_start(v->tmr, TICK_S * NS_PER_S);
	*out = offered.share;
	return SHARE_GRANTED;
}

enum share_refusal vision_offer(struct vision *v, const struct share_owner *owner,
				char token[SHARE_SECRET_SIZE])
{
	struct share *s;

	return vision_offer_share(v, owner, token, &s);
}

unsigned vision_watch(struct vision *v, uint64_t guild, uint64_t channel, uint64_t target,
		      bool watched, const char **why)
{
	unsigned place = 0, n = 0;
	struct share *s;

	while ((s = shares_each(&v->shares, &place))) {
		if (s->owner.guild != guild || s->owner.channel != channel ||
		    (target && s->owner.target != target) || s->state == SHARE_OFFERED)
			continue;
		s->watched = watched;
		if (!watched && view_of(v, s)->vision)
			view_wipe(view_of(v, s));
		n++;
	}
	return n ? n : watched && target && vision_watch_stream(v, guild, channel, target, why);
}

/* ---- pages and programs ---- */

uint32_t vision_match_key(const struct vision *v, const char *key)
{
	return shares_match_key(&v->shares, key);
}

enum share_refusal vision_open(struct vision *v, const char *token, uint32_t browser,
			       char key[SHARE_SECRET_SIZE], uint32_t *share)
{
	/* Whose server it is, the token tells. */
	struct share_rules rules = vision_rules(v, 0);
	uint64_t now = env_now(v->conf.env);
	char fresh[SHARE_SECRET_SIZE];
	struct share *s;
	enum share_refusal refusal;

	write_secret(v, fresh);
	refusal = shares_open(&v->shares, &rules, token, fresh, browser, now, &s);
	key[0] = '\0';
	if (!refusal) {
		*share = s->id;
		s->expires = now + vision_rules(v, s->owner.guild).ttl;
		if (strcmp(s->key, fresh) == 0)
			memcpy(key, fresh, SHARE_SECRET_SIZE);
	}
	sodium_memzero(fresh, sizeof fresh);
	return refusal;
}

enum share_refusal vision_expect(struct vision *v, const char *token, uint32_t browser,
				 size_t bytes)
{
	struct share *s;
	enum share_refusal refusal =
		shares_prove(&v->shares, token, browser, env_now(v->conf.env), &s);

	if (refusal)
		return refusal;
	return bytes > vision_rules(v, s->owner.guild).frame_bytes ? SHARE_TOO_LARGE
								   : SHARE_GRANTED;
}

enum share_refusal vision_take(struct vision *v, struct share *s, bool known_type,
			       enum frame_codec codec, struct slice picture)
{
	struct share_rules rules = vision_rules(v, s->owner.guild);
	const struct share_frame frame = {.bytes = picture.n, .known_type = known_type};
	struct view *view = view_of(v, s);
	enum share_refusal refusal;

	if (codec)
		rules.frame_bytes = FRAME_BYTES_MAX;
	refusal = shares_take(s, &rules, &v->conf.world, &frame, env_now(v->conf.env));
	if (refusal)
		return refusal;
	view->vision = v;
	refusal = view_take(view, s, codec, picture);
	s->frames -= refusal != SHARE_GRANTED;
	return refusal;
}

static enum share_refusal take_picture(struct vision *v, struct share *s, bool known_type,
				       struct slice picture, uint32_t *share)
{
	enum share_refusal refusal = vision_take(v, s, known_type, FRAME_NONE, picture);

	if (!refusal)
		*share = s->id;
	return refusal;
}

enum share_refusal vision_frame(struct vision *v, const char *token, uint32_t browser,
				bool known_type, struct slice picture, uint32_t *share)
{
	struct share *s;
	enum share_refusal refusal =
		shares_prove(&v->shares, token, browser, env_now(v->conf.env), &s);

	return refusal ? refusal : take_picture(v, s, known_type, picture, share);
}

void vision_screen_side(struct vision *v, uint32_t share, uint32_t pixels)
{
	struct share *s = shares_find(&v->shares, share);

	if (s)
		view_of(v, s)->screen = pixels <= IMAGE_SIDE_MAX ? pixels : 0;
}

enum share_refusal vision_ingest(struct vision *v, uint64_t guild, uint64_t target, bool known_type,
				 struct slice picture, uint32_t *share)
{
	struct share *s;
	enum share_refusal refusal =
		shares_find_target(&v->shares, guild, target, env_now(v->conf.env), &s);

	return refusal ? refusal : take_picture(v, s, known_type, picture, share);
}

enum share_refusal vision_touch(struct vision *v, const char *token, uint32_t browser,
				enum vision_page page, uint32_t *share)
{
	uint64_t now = env_now(v->conf.env);
	struct share_rules rules;
	struct share *s;
	enum share_refusal refusal = shares_prove(&v->shares, token, browser, now, &s);

	if (refusal)
		return refusal;
	rules = vision_rules(v, s->owner.guild);
	/* Its pause holds, and it does not expire, while its person is elsewhere. */
	shares_touch(s, &rules, page == VISION_PAGE_PAUSED, now);
	refusal = shares_where(&v->conf.world, &s->owner);
	if (refusal)
		return refusal;
	/* The picture is not that of the screen if the last one that came could not be used. */
	if (page == VISION_PAGE_SAME && s->state == SHARE_SHOWING &&
	    view_of(v, s)->problem == IMAGE_OK)
		view_of(v, s)->confirmed = now;
	*share = s->id;
	return SHARE_GRANTED;
}

enum share_refusal vision_stop(struct vision *v, const char *token, uint32_t browser)
{
	struct share *s;
	enum share_refusal refusal =
		shares_prove(&v->shares, token, browser, env_now(v->conf.env), &s);

	if (!refusal)
		vision_end_share(v, s, "stopped", NULL);
	return refusal;
}
