#include "control/discord/sounds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/discord/rest.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

enum { LISTS = 2, REF_MAX = 192 };

/* A sound that waits for the list. */
struct play {
	struct play *next;
	uint64_t channel, ticket;
	char ref[REF_MAX];
};

/* A REST call in progress; it may outlive its owner. */
struct asked {
	struct asked *next, **at;
	struct sounds *s; /* NULL: its owner is gone */
	uint64_t ticket;
};

struct sounds {
	struct env *env;
	struct rest *rest;
	uint64_t guild;
	sounds_h *h;
	sounds_listed_h *listedh;
	void *arg;
	struct sound_list list, coming;
	unsigned lists_left; /* list requests in progress */
	bool failed;	     /* one of them failed */
	uint64_t listed_at;  /* 0: never */
	struct play *plays;
	unsigned n_plays;
	struct asked *asked;
};

/* ---- the list, pure ---- */

/* Discord sends the ids of default sounds as numbers too. */
static uint64_t id_of(const json_t *v)
{
	uint64_t id = 0;

	if (json_is_integer(v) && json_integer_value(v) > 0)
		return (uint64_t)json_integer_value(v);
	discord_snowflake(json_string_value(v), &id);
	return id;
}

void sound_list_add(struct sound_list *list, const json_t *sounds)
{
	const json_t *items = json_is_array(sounds) ? sounds : json_object_get(sounds, "items");

	for (size_t i = 0; i < json_array_size(items) && list->n < SOUNDS_MAX; i++) {
		const json_t *s = json_array_get(items, i);
		const char *name = json_string_value(json_object_get(s, "name"));
		struct sound *to = &list->v[list->n];

		if (!name || !*name || json_is_false(json_object_get(s, "available")))
			continue;
		*to = (struct sound){.id = id_of(json_object_get(s, "sound_id")),
				     .guild = id_of(json_object_get(s, "guild_id"))};
		utf8_copy(to->name, sizeof to->name, name);
		list->n += to->id != 0;
	}
}

/* "123", "123@456" */
static bool by_id(const char *ref, uint64_t *id, uint64_t *guild)
{
	char text[24];
	size_t n = strcspn(ref, "@");

	if (n >= sizeof text)
		return false;
	memcpy(text, ref, n);
	text[n] = '\0';
	*guild = 0;
	return discord_snowflake(text, id) && (!ref[n] || discord_snowflake(ref + n + 1, guild));
}

int sound_list_find(const struct sound_list *list, const char *ref, uint64_t *id, uint64_t *guild)
{
	const struct sound *part = NULL;
	unsigned parts = 0;

	if (by_id(ref, id, guild))
		return 0;
	if (!*ref)
		return ENOENT;
	*guild = 0;
	for (unsigned i = 0; i < list->n; i++) {
		const struct sound *s = &list->v[i];

		if (strcasecmp(s->name, ref) == 0) {
			*id = s->id;
			return 0;
		}
		if (strcasestr(s->name, ref)) {
			part = s;
			parts++;
		}
	}
	if (parts != 1)
		return parts ? EEXIST : ENOENT;
	*id = part->id;
	return 0;
}

/* ---- calls ---- */

static struct asked *request_new(struct sounds *s, uint64_t ticket)
{
	struct asked *x = calloc(1, sizeof *x);

	if (!x)
		return NULL;
	x->s = s;
	x->ticket = ticket;
	x->next = s->asked;
	x->at = &s->asked;
	if (x->next)
		x->next->at = &x->next;
	s->asked = x;
	return x;
}

/* Frees the request and returns its owner, NULL when that is gone. */
static struct sounds *request_free(struct asked *x)
{
	struct sounds *s = x->s;

	if (s) {
		*x->at = x->next;
		if (x->next)
			x->next->at = x->at;
	}
	free(x);
	return s;
}

static int request(struct sounds *s, const struct rest_call *call, rest_h *h, uint64_t ticket)
{
	struct asked *x = request_new(s, ticket);
	int err = x ? rest_request(s->rest, call, h, x) : ENOMEM;

	if (err && x)
		request_free(x);
	return err;
}

/* ---- playing ---- */

static void on_played(int err, int status, const json_t *body, void *arg)
{
	uint64_t ticket = ((struct asked *)arg)->ticket;
	struct sounds *s = request_free(arg);

	if (!s)
		return;
	if (!err && status / 100 != 2) {
		log_warn("sound_refused", "status=%d text=\"%s\"", status,
			 json_string_value(json_object_get(body, "message")));
		err = status == 403 ? EACCES : status == 404 ? ENOENT : EIO;
	}
	s->h(ticket, err, s->arg);
}

static int send_sound(struct sounds *s, const struct play *p)
{
	struct rest_call call = {.method = "POST", .route = "/channels/{}/send-soundboard-sound"};
	char path[80], major[24], id_text[24], guild_text[24];
	uint64_t id, guild;
	int err = sound_list_find(&s->list, p->ref, &id, &guild);

	if (err)
		return err;
	snprintf(major, sizeof major, "%llu", (unsigned long long)p->channel);
	snprintf(path, sizeof path, "/channels/%s/send-soundboard-sound", major);
	snprintf(id_text, sizeof id_text, "%llu", (unsigned long long)id);
	snprintf(guild_text, sizeof guild_text, "%llu", (unsigned long long)guild);
	call.path = path;
	call.major = major;
	call.body =
		guild ? json_pack("{s:s,s:s}", "sound_id", id_text, "source_guild_id", guild_text)
		      : json_pack("{s:s}", "sound_id", id_text);
	err = call.body ? request(s, &call, on_played, p->ticket) : ENOMEM;
	json_decref(call.body);
	return err;
}

/* Plays all sounds that waited for the list. */
static void play_all(struct sounds *s)
{
	struct play *p = s->plays;

	s->plays = NULL;
	s->n_plays = 0;
	while (p) {
		struct play *next = p->next;
		int err = send_sound(s, p);

		if (err) {
			log_warn("sound_not_played", "why=\"%s\"",
				 err == ENOENT	 ? "there is no such sound"
				 : err == EEXIST ? "several sounds have that in their name"
						 : strerror(err));
			s->h(p->ticket, err, s->arg);
		}
		free(p);
		p = next;
	}
}

/* ---- listing ---- */

static void finish_lists(struct sounds *s, int err, int status, const json_t *body)
{
	s->failed = s->failed || err || status != 200;
	sound_list_add(&s->coming, status == 200 ? body : NULL);
	if (--s->lists_left)
		return;
	/* An old list is better than an incomplete new one. */
	if (!s->failed || s->coming.n > s->list.n)
		s->list = s->coming;
	s->listed_at = env_now(s->env);
	if (s->listedh)
		s->listedh(&s->list, s->arg);
	play_all(s);
}

static void on_listed(int err, int status, const json_t *body, void *arg)
{
	struct sounds *s = request_free(arg);

	if (s)
		finish_lists(s, err, status, body);
}

static int request_lists(struct sounds *s)
{
	char path[64], major[24];
	const struct rest_call calls[LISTS] = {
		{.method = "GET",
		 .route = "/guilds/{}/soundboard-sounds",
		 .path = path,
		 .major = major,
		 .idempotent = true},
		{.method = "GET",
		 .route = "/soundboard-default-sounds",
		 .path = "/soundboard-default-sounds",
		 .idempotent = true},
	};
	int err = 0;

	snprintf(major, sizeof major, "%llu", (unsigned long long)s->guild);
	snprintf(path, sizeof path, "/guilds/%s/soundboard-sounds", major);
	s->failed = false;
	s->coming.n = 0;
	for (unsigned i = 0; i < LISTS && !err; i++) {
		err = request(s, &calls[i], on_listed, 0);
		s->lists_left += !err;
	}
	s->failed = err != 0;
	/* If no list request is in progress, nothing else will end the wait. */
	return s->lists_left ? 0 : err;
}

/* ---- interface ---- */

int sounds_play(struct sounds *s, uint64_t channel, const char *ref, uint64_t ticket)
{
	bool fresh = s->listed_at && env_now(s->env) < s->listed_at + SOUNDS_FRESH_S * NS_PER_S;
	struct play *p, **last = &s->plays;
	int err = 0;

	if (s->n_plays == SOUNDS_WAITING)
		return ENOBUFS;
	p = calloc(1, sizeof *p);
	if (!p)
		return ENOMEM;
	p->channel = channel;
	p->ticket = ticket;
	utf8_copy(p->ref, sizeof p->ref, ref);
	if (fresh && !s->lists_left) {
		err = send_sound(s, p);
		free(p);
		return err;
	}
	while (*last)
		last = &(*last)->next;
	*last = p;
	s->n_plays++;
	if (!s->lists_left)
		err = request_lists(s);
	if (err) {
		*last = NULL;
		s->n_plays--;
		free(p);
	}
	return err;
}

int sounds_list(struct sounds *s)
{
	return s->lists_left ? 0 : request_lists(s);
}

const char *sounds_name(const struct sounds *s, uint64_t id)
{
	for (unsigned i = 0; i < s->list.n; i++)
		if (s->list.v[i].id == id)
			return s->list.v[i].name;
	return NULL;
}

int sounds_alloc(struct sounds **out, struct env *env, struct rest *rest, uint64_t guild,
		 sounds_h *h, sounds_listed_h *listedh, void *arg)
{
	struct sounds *s;

	if (!out || !env || !rest || !guild || !h)
		return EINVAL;
	s = calloc(1, sizeof *s);
	if (!s)
		return ENOMEM;
	s->env = env;
	s->rest = rest;
	s->guild = guild;
	s->h = h;
	s->listedh = listedh;
	s->arg = arg;
	*out = s;
	return 0;
}

struct sounds *sounds_free(struct sounds *s)
{
	if (!s)
		return NULL;
	for (struct asked *x = s->asked; x; x = x->next)
		x->s = NULL;
	while (s->plays) {
		struct play *p = s->plays;

		s->plays = p->next;
		free(p);
	}
	free(s);
	return NULL;
}
