/* Streams of Discord as shares of screens (vision.h). */
#include <errno.h>

#include <sodium.h>

#include "control/settings/settings.h"
#include "control/vision/inside.h"
#include "ipc/env.h"
#include "proto/base/time.h"

/* So long after a look another one is likely; less than VISION_FRESH_MS with the way of a picture.
 */
enum { LOOKED_S = 30, SLOWEST_MS = 8000 };

int vision_set_streams(struct vision *v, const struct vision_streams *streams, const char *program)
{
	int err = image_jail_alloc(&v->frames, v->conf.env, program);

	if (!err)
		v->streams = *streams;
	return err;
}

/* ---- who streams ---- */

static const struct share *find_stream(const struct vision *v, uint64_t guild, uint64_t channel,
				       uint64_t user)
{
	for (unsigned i = 0; i < SHARES_MAX; i++) {
		const struct share *s = &v->shares.v[i];

		if (s->id && s->owner.stream && s->owner.guild == guild &&
		    s->owner.channel == channel && s->owner.target == user)
			return s;
	}
	return NULL;
}

struct listing {
	const struct vision *v;
	uint64_t guild, channel;
	json_t *list;
};

/* Members who are not to be seen are in no channel here. */
static void list_streamer(uint64_t user, void *arg)
{
	const struct listing *l = arg;
	const struct share_world *w = &l->v->conf.world;

	if (find_stream(l->v, l->guild, l->channel, user) ||
	    w->channel_of(l->guild, user, w->arg) != l->channel)
		return;
	json_array_append_new(l->list,
			      json_pack("{s:o,s:s,s:s,s:b,s:i,s:n}", "user",
					json_sprintf("%llu", (unsigned long long)user), "name",
					l->v->conf.nameh(l->guild, user, l->v->conf.arg), "state",
					"streaming", "watched", 0, "frames", 0, "ageMs"));
}

void vision_list_streams(const struct vision *v, uint64_t guild, uint64_t channel, json_t *list)
{
	struct listing l = {v, guild, channel, list};

	if (v->streams.eachh && vision_settings(v, guild)->screen_watch)
		v->streams.eachh(guild, channel, list_streamer, &l, v->streams.arg);
}

bool vision_watch_stream(struct vision *v, uint64_t guild, uint64_t channel, uint64_t target,
			 const char **why)
{
	const char *not_watched;

	if (!v->streams.watchh)
		return false;
	not_watched = v->streams.watchh(guild, channel, target, v->streams.arg);
	if (why && not_watched)
		*why = not_watched;
	return !not_watched;
}

/* ---- one stream ---- */

enum share_refusal vision_stream_begin(struct vision *v, uint64_t guild, uint64_t channel,
				       uint64_t user, uint32_t *share)
{
	const struct share_owner owner = {.guild = guild,
					  .channel = channel,
					  .requester = user,
					  .target = user,
					  .stream = true};
	char token[SHARE_SECRET_SIZE];
	struct share *s;
	enum share_refusal refusal = vision_offer_share(v, &owner, token, &s);

	sodium_memzero(token, sizeof token);
	if (refusal)
		return refusal;
	if (s->state == SHARE_OFFERED)
		s->state = SHARE_OPENED;
	view_of(v, s)->looked = env_now(v->conf.env);
	*share = s->id;
	return SHARE_GRANTED;
}

static struct share *find_share(const struct vision *v, uint32_t share)
{
	return shares_find((struct shares *)(uintptr_t)&v->shares, share);
}

enum vision_stream vision_stream_state(const struct vision *v, uint32_t share)
{
	const struct share *s = find_share(v, share);

	struct share_rules rules;

	if (!s || !s->watched)
		return VISION_STREAM_GONE;
	rules = vision_rules(v, s->owner.guild);
	return v->views[s - v->shares.v].decoding || !shares_due(s, &rules, env_now(v->conf.env))
		       ? VISION_STREAM_BUSY
		       : VISION_STREAM_WANTS;
}

enum share_refusal vision_stream_frame(struct vision *v, uint32_t share, enum frame_codec codec,
				       struct slice frame)
{
	struct share *s = find_share(v, share);

	return s ? vision_take(v, s, true, codec, frame) : SHARE_UNKNOWN;
}

void vision_stream_paused(struct vision *v, uint32_t share, bool paused)
{
	struct share *s = find_share(v, share);

	if (!s)
		return;
	if (paused)
		s->state = SHARE_PAUSED;
	else if (s->state == SHARE_PAUSED)
		s->state = SHARE_OPENED;
}

void vision_stream_end(struct vision *v, uint32_t share, const char *why, const char *failure,
		       bool told)
{
	struct share *s = find_share(v, share);

	if (!s)
		return;
	if (failure && s->watched && !s->frames && v->conf.unseenh)
		v->conf.unseenh(&s->owner, failure, told, v->conf.arg);
	vision_end_share(v, s, why, failure);
}

uint64_t vision_stream_spacing(const struct vision *v, uint32_t share)
{
	const struct share *s = find_share(v, share);
	const struct settings *set;
	uint64_t slow;

	if (!s)
		return UINT64_MAX;
	set = vision_settings(v, s->owner.guild);
	slow = set->watch_note_s * NS_PER_S;
	if (env_now(v->conf.env) - v->views[s - v->shares.v].looked < LOOKED_S * NS_PER_S)
		return set->share_frame_ms * NS_PER_MS;
	/* A picture of a stream that is watched is not to grow old. */
	return slow < SLOWEST_MS * NS_PER_MS ? slow : SLOWEST_MS * NS_PER_MS;
}

/* ---- a film of ours ---- */

const char *vision_show_kind(const struct vision_show *what)
{
	return what->visualizer ? "visualizer" : "video";
}

bool vision_shows(const struct vision *v)
{
	return v->streams.showh != NULL;
}

const char *vision_show(struct vision *v, const struct vision_film *film, vision_film_h *h,
			void *arg)
{
	return v->streams.showh ? v->streams.showh(film, h, arg, v->streams.arg)
				: "no account is set for it";
}

bool vision_end_show(struct vision *v, uint64_t guild)
{
	return v->streams.endh && v->streams.endh(guild, v->streams.arg);
}

void vision_forget_show(struct vision *v, const void *arg)
{
	if (v && v->streams.forgeth)
		v->streams.forgeth(arg, v->streams.arg);
}

void vision_show_changed(struct vision *v, const struct vision_show *what,
			 enum vision_show_over over, const char *why)
{
	struct bus_event ev = {
		.at_ms = env_wall_ms(v->conf.env), .guild = what->guild, .user = what->user};

	ev.type = over == VISION_SHOW_BEGUN ? EVENT_VIDEO_SHOWN : EVENT_VIDEO_OVER;
	ev.video = (struct event_video){.channel = what->channel,
					.kind = vision_show_kind(what),
					.why = why,
					.seconds = what->at_ms / 1000};
	bus_publish(v->conf.bus, &ev);
	if (v->conf.showh)
		v->conf.showh(what, over, v->conf.arg);
}

const char *vision_show_state(const struct vision_show *what)
{
	if (what->why)
		return "over";
	return what->playing ? "playing" : what->announced ? "waiting" : "opening";
}

bool vision_show_last(const struct vision *v, uint64_t guild, uint64_t channel,
		      struct vision_show *out, const char **name)
{
	if (!v->streams.nowh || !v->streams.nowh(guild, out, v->streams.arg) ||
	    out->channel != channel)
		return false;
	*name = out->user ? v->conf.nameh(guild, out->user, v->conf.arg) : "";
	return true;
}

json_t *vision_shown(const struct vision *v, uint64_t guild, uint64_t channel)
{
	struct vision_show what;
	const char *name;

	if (!vision_show_last(v, guild, channel, &what, &name) || what.why)
		return NULL;
	return json_pack("{s:s,s:s,s:s,s:I,s:I}", "kind", vision_show_kind(&what), "state",
			 vision_show_state(&what), "askedBy", name, "atSeconds",
			 (json_int_t)(what.at_ms / 1000), "seconds", (json_int_t)what.seconds);
}
