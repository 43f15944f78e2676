/* The pictures of one share: decoded in the jail, compared with the last keyframe, kept and wiped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/vision/inside.h"
#include "ipc/env.h"
#include "ipc/json_wipe.h"
#include "ipc/log.h"
#include "proto/base/time.h"

static void wipe_picture(struct view *view)
{
	view->vision->memory -= view->newest.n;
	json_wipe_block(view->newest.p);
	free(view->newest.p);
	view->newest = (struct kept_picture){0};
}

void view_wipe(struct view *view)
{
	/* What is in the jail would come back. */
	if (view->decoding) {
		image_jail_cancel(view->vision->jail, view);
		if (view->vision->frames)
			image_jail_cancel(view->vision->frames, view);
	}
	view->decoding = false;
	wipe_picture(view);
	notes_wipe(&view->notes);
	view->wiped = view->number;
	change_clear(&view->change);
}

void view_end(struct view *view)
{
	if (!view->vision)
		return;
	view_wipe(view);
	explicit_bzero(view, sizeof *view);
}

void view_tell(struct view *view, const struct share *s, bool shown, const char *why)
{
	const struct vision_conf *conf = view->vision ? &view->vision->conf : NULL;

	if (!conf || view->shown == shown)
		return;
	view->shown = shown;
	vision_publish_share(view->vision, s, shown ? EVENT_SHARE_SHOWN : EVENT_SHARE_HIDDEN, why);
	if (conf->shownh)
		conf->shownh(&s->owner, shown, conf->arg);
}

/* ---- events ---- */

static struct bus_event start_event(const struct vision *v, const struct share *s,
				    enum event_type type)
{
	return (struct bus_event){.type = type,
				  .at_ms = env_wall_ms(v->conf.env),
				  .guild = s->owner.guild,
				  .user = s->owner.target};
}

static void publish_frame(const struct view *view, const struct share *s, unsigned change,
			  bool keyframe)
{
	struct bus_event ev = start_event(view->vision, s, EVENT_SHARE_FRAME);

	ev.frame = (struct event_frame){.share = s->id,
					.channel = s->owner.channel,
					.bytes = view->newest.n,
					.width = view->newest.width,
					.height = view->newest.height,
					.change = change,
					.keyframe = keyframe};
	bus_publish(view->vision->conf.bus, &ev);
}

static void publish_note(const struct view *view, const struct share *s)
{
	struct bus_event ev = start_event(view->vision, s, EVENT_SHARE_NOTE);
	const struct note *note = &view->notes.v[view->notes.n - 1];

	ev.note = (struct event_note){.share = s->id,
				      .channel = s->owner.channel,
				      .note = note->id,
				      .change = note->share};
	bus_publish(view->vision->conf.bus, &ev);
}

/* ---- pictures ---- */

static uint32_t longer_of(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static int keep_picture(struct view *view, const struct image_result *r)
{
	uint8_t *p;

	wipe_picture(view);
	if (view->vision->memory + r->n > VISION_MEMORY)
		return ENOSPC;
	p = malloc(r->n);
	if (!p)
		return ENOMEM;
	memcpy(p, r->jpeg, r->n);
	view->newest = (struct kept_picture){
		.p = p,
		.n = r->n,
		.width = r->width,
		.height = r->height,
		.screen = longer_of(view->screen, longer_of(r->picture.width, r->picture.height)),
		.at = view->came};
	view->vision->memory += r->n;
	view->number++;
	return 0;
}

static void compare_picture(struct view *view, const struct share *s, const struct image_result *r)
{
	const struct vision_conf *conf = &view->vision->conf;
	const struct settings *set = vision_settings(view->vision, s->owner.guild);
	const struct change_rules rules = {.threshold = set->watch_change,
					   .floor = set->watch_floor,
					   .least = set->watch_change_ms * NS_PER_MS,
					   .slow = set->watch_note_s * NS_PER_S};
	const struct change_picture picture = {r->grey, r->grey_width, r->grey_height, view->came};
	struct change_found found = {CHANGE_NONE, 0};
	int err = change_feed(&view->change, &rules, &picture, &found);

	if (err)
		log_warn("screen_change", "share=%u error=\"%s\"", s->id, strerror(err));
	publish_frame(view, s, found.share, found.kind != CHANGE_NONE);
	if (found.kind == CHANGE_NONE)
		return;
	notes_changed(&view->notes, found.share, view->number, view->came);
	publish_note(view, s);
	if (conf->changedh)
		conf->changedh(&s->owner, s->id, conf->arg);
}

static void take_result(const struct image_result *r, void *arg)
{
	struct view *view = arg;
	struct share *s = shares_find(&view->vision->shares, view->share);
	int err;

	view->decoding = false;
	view->problem = r->reason;
	if (!s || r->reason != IMAGE_OK)
		return;
	err = keep_picture(view, r);
	if (err) {
		view->problem = IMAGE_NO_MEMORY;
		return;
	}
	view->confirmed = view->came;
	compare_picture(view, s, r);
	view_tell(view, s, true, "");
}

enum share_refusal view_take(struct view *view, const struct share *s, enum frame_codec codec,
			     struct slice picture)
{
	struct image_jail *jail = codec ? view->vision->frames : view->vision->jail;
	const struct settings *set = vision_settings(view->vision, s->owner.guild);
	const struct image_limits limits = {
		.side = set->share_width, .quality = set->share_quality, .codec = codec};
	enum image_reason why;
	int err;

	/* One at a time: the page sends the next one soon. */
	if (view->decoding || !jail)
		return SHARE_BUSY;
	err = image_jail_decode(jail, picture.p, picture.n, &limits, take_result, view, &why);
	view->share = s->id;
	if (!err) {
		view->decoding = true;
		view->came = env_now(view->vision->conf.env);
		return SHARE_GRANTED;
	}
	view->problem = why;
	return err == EBADMSG ? SHARE_BAD_TYPE : SHARE_BUSY;
}

void view_tick(struct view *view, const struct share *s)
{
	const struct settings *set = vision_settings(view->vision, s->owner.guild);

	if (s->state == SHARE_SHOWING && view->newest.p &&
	    notes_unchanged(&view->notes, set->watch_idle_s * NS_PER_S,
			    env_now(view->vision->conf.env)))
		publish_note(view, s);
}
