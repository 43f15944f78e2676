/* Shared screens as models, tools and pages get them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "control/vision/inside.h"
#include "ipc/env.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum { SMALL = 2 }; /* text of 16 pixels has less than 8 in a picture of less than a half */

static bool is_of(const struct share *s, uint64_t guild, uint64_t channel)
{
	return s->owner.guild == guild && s->owner.channel == channel;
}

static const char *name_of(const struct vision *v, const struct share *s)
{
	return v->conf.nameh(s->owner.guild, s->owner.target, v->conf.arg);
}

const char *vision_write_name(const struct vision *v, uint64_t guild, uint64_t user,
			      char out[VISION_NAME_SIZE])
{
	utf8_copy(out, VISION_NAME_SIZE, v->conf.nameh(guild, user, v->conf.arg));
	utf8_plain(out);
	return out;
}

static uint64_t age_of(const struct vision *v, const struct view *view)
{
	return (env_now(v->conf.env) - view->confirmed) / NS_PER_MS;
}

static json_t *share_json(const struct vision *v, const struct share *s, const struct view *view)
{
	/* A link that nobody has opened shows nothing, wherever its person is. */
	bool away = s->state != SHARE_OFFERED &&
		    shares_where(&v->conf.world, &s->owner) != SHARE_GRANTED;

	return json_pack("{s:o,s:s,s:s,s:b,s:I,s:o}", "user",
			 json_sprintf("%llu", (unsigned long long)s->owner.target), "name",
			 name_of(v, s), "state", away ? "away" : share_state_name(s->state),
			 "watched", s->watched && !away, "frames", (json_int_t)s->frames, "ageMs",
			 view->newest.p ? json_integer((json_int_t)age_of(v, view)) : json_null());
}

static json_t *notes_json(const struct vision *v, const struct notes *notes)
{
	json_t *list = json_array();
	uint64_t now = env_now(v->conf.env);

	for (unsigned i = 0; i < notes->n && i < NOTES_SHOWN; i++) {
		const struct note *note = &notes->v[notes->n - 1 - i];

		json_array_append_new(list, json_pack("{s:I,s:i,s:s?}", "agoMs",
						      (json_int_t)((now - note->at) / NS_PER_MS),
						      "changed", (int)note->share, "text",
						      note->text[0] ? note->text : NULL));
	}
	return list;
}

static json_t *list_shares(const struct vision *v, uint64_t guild, uint64_t channel, bool notes)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < SHARES_MAX; i++) {
		const struct share *s = &v->shares.v[i];
		const struct view *view = &v->views[i];
		bool told =
			s->id && is_of(s, guild, channel) && (notes || s->state != SHARE_OFFERED);
		json_t *share = told ? share_json(v, s, view) : NULL;

		if (!share)
			continue;
		if (notes)
			json_object_set_new(share, "notes", notes_json(v, &view->notes));
		json_array_append_new(list, share);
	}
	vision_list_streams(v, guild, channel, list);
	return list;
}

json_t *vision_list(const struct vision *v, uint64_t guild, uint64_t channel)
{
	return list_shares(v, guild, channel, false);
}

json_t *vision_room(const struct vision *v, uint64_t guild, uint64_t channel)
{
	return list_shares(v, guild, channel, true);
}

/* A model that cannot read small text is not to guess it. */
static void write_scale(const struct view *view, struct vision_picture *p)
{
	const struct kept_picture *k = &view->newest;
	uint32_t side = k->width > k->height ? k->width : k->height;
	size_t n = strlen(p->about);

	if (k->screen > SMALL * side)
		snprintf(p->about + n, sizeof p->about - n, PROMPT_SCREEN_SMALL, k->screen, side);
}

static void write_about(const struct vision *v, const struct share *s, const struct view *view,
			struct vision_picture *p)
{
	unsigned long age = (unsigned long)(p->age_ms / 1000);
	char name[VISION_NAME_SIZE];

	vision_write_name(v, s->owner.guild, s->owner.target, name);
	if (s->state == SHARE_PAUSED)
		snprintf(p->about, sizeof p->about, PROMPT_SCREEN_PAUSED, name, age);
	else if (p->age_ms > VISION_FRESH_MS)
		snprintf(p->about, sizeof p->about, PROMPT_SCREEN_OLD, name, age);
	else
		snprintf(p->about, sizeof p->about, PROMPT_SCREEN_NOW, name, age,
			 (unsigned long)((env_now(v->conf.env) - view->newest.at) / NS_PER_S));
	write_scale(view, p);
}

/* How old a picture is in words, and what was noted last. */
static uint64_t print_words(const struct share *s, const struct view *view, uint64_t age_ms)
{
	static const uint64_t ages[] = {VISION_FRESH_MS, 60000, 300000};
	const struct note *note = view->notes.n ? &view->notes.v[view->notes.n - 1] : NULL;
	uint64_t print = note ? (uint64_t)note->id << 1 | (note->text[0] != '\0') : 0;
	unsigned old = 0;

	while (old < sizeof ages / sizeof ages[0] && age_ms > ages[old])
		old++;
	return print << 3 | (s->state == SHARE_PAUSED) << 2 | old;
}

/* Keeps the `most` newest, the newest first. */
static void put_picture(struct vision_picture *out, size_t *n, size_t most,
			const struct vision_picture *p)
{
	size_t i = *n;

	while (i && out[i - 1].age_ms > p->age_ms)
		i--;
	if (i == most)
		return;
	*n += *n < most;
	memmove(out + i + 1, out + i, (*n - 1 - i) * sizeof *out);
	out[i] = *p;
}

size_t vision_latest(const struct vision *v, uint64_t guild, uint64_t channel,
		     struct vision_picture *out, size_t most)
{
	size_t n = 0;

	for (unsigned i = 0; i < SHARES_MAX; i++) {
		const struct share *s = &v->shares.v[i];
		const struct view *view = &v->views[i];
		struct vision_picture p;

		if (!s->id || !share_is_seen(s, view) || !is_of(s, guild, channel))
			continue;
		p = (struct vision_picture){
			.image = {.type = image_media_type(IMAGE_JPEG),
				  .data = {view->newest.p, view->newest.n}},
			.user = s->owner.target,
			.share = s->id,
			.number = view->number,
			.age_ms = age_of(v, view),
			.words = print_words(s, view, age_of(v, view)),
		};
		write_about(v, s, view, &p);
		put_picture(out, &n, most, &p);
	}
	return n;
}

void vision_looked(struct vision *v, uint64_t guild, uint64_t channel)
{
	for (unsigned i = 0; i < SHARES_MAX; i++)
		if (v->shares.v[i].id && is_of(&v->shares.v[i], guild, channel))
			v->views[i].looked = env_now(v->conf.env);
}

size_t vision_whose(const struct vision *v, uint64_t guild, uint64_t channel, uint64_t *users,
		    size_t most)
{
	size_t n = 0;

	for (unsigned i = 0; i < SHARES_MAX && n < most; i++) {
		const struct share *s = &v->shares.v[i];
		const struct view *view = &v->views[i];

		if (s->id && s->watched && is_of(s, guild, channel) &&
		    (view->newest.p || view->notes.n))
			users[n++] = s->owner.target;
	}
	return n;
}

size_t vision_notes(const struct vision *v, uint64_t guild, uint64_t channel,
		    char out[VISION_NOTES_MAX])
{
	size_t used = 0;

	*out = '\0';
	for (unsigned i = 0; i < SHARES_MAX && used < VISION_NOTES_MAX; i++) {
		const struct share *s = &v->shares.v[i];
		char name[VISION_NAME_SIZE];
		int k;

		if (!s->id || !s->watched || !v->views[i].notes.n || !is_of(s, guild, channel))
			continue;
		k = snprintf(out + used, VISION_NOTES_MAX - used, PROMPT_SCREEN_NOTES,
			     vision_write_name(v, s->owner.guild, s->owner.target, name));
		if (k < 0 || used + (size_t)k >= VISION_NOTES_MAX)
			break;
		used += (size_t)k;
		used += notes_write(&v->views[i].notes, env_now(v->conf.env), out + used,
				    VISION_NOTES_MAX - used);
	}
	out[used < VISION_NOTES_MAX ? used : VISION_NOTES_MAX - 1] = '\0';
	return used;
}

bool vision_note(struct vision *v, uint32_t share, uint32_t number, const char *text)
{
	const struct share *s = shares_find(&v->shares, share);

	/* What was wiped meanwhile does not come back by its words. */
	return s && number > view_of(v, s)->wiped &&
	       notes_tell(&view_of(v, s)->notes, number, text);
}

const char *vision_noted(struct vision *v, uint32_t share)
{
	const struct share *s = shares_find(&v->shares, share);

	return s ? notes_told(&view_of(v, s)->notes) : "";
}

json_t *vision_state(struct vision *v, uint32_t share)
{
	const struct share *s = shares_find(&v->shares, share);
	const struct settings *set;
	const struct view *view;
	bool watched, missing;

	if (!s)
		return NULL;
	set = vision_settings(v, s->owner.guild);
	view = view_of(v, s);
	missing = (!view->newest.p || view->problem != IMAGE_OK) && !view->decoding;
	watched = s->watched &&
		  v->conf.world.bot_channel(s->owner.guild, v->conf.world.arg) == s->owner.channel;
	return json_pack("{s:s,s:b,s:b,s:b,s:I,s:s?,s:{s:i,s:i,s:f,s:i}}", "state",
			 share_state_name(s->state), "watched", (int)watched, "blind",
			 v->conf.seesh && !v->conf.seesh(s->owner.guild, v->conf.arg), "wants",
			 (int)(watched && missing && s->state != SHARE_PAUSED), "frames",
			 (json_int_t)s->frames, "problem",
			 view->problem == IMAGE_OK ? NULL : image_reason_text(view->problem),
			 "settings", "frameMs", (int)set->share_frame_ms, "width",
			 (int)set->share_width, "quality", set->share_quality / 100.0, "bytes",
			 (int)set->share_frame_bytes);
}
