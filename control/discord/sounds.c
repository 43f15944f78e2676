#include "control/discord/sounds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	bool external;
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
	bool whole;	     /* the list is complete */
	bool changed;	     /* a change came while the list was on its way */
	uint64_t listed_at;  /* 0: never */
	struct play *plays;
	unsigned n_plays;
	struct asked *asked;
};

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

static int explain_refusal(int status, json_int_t code)
{
	if (code == DISCORD_ERROR_MUTED_FOR_SOUND)
		return EPERM;
	return status == 403 ? EACCES : status == 404 ? ENOENT : EIO;
}

static void on_played(int err, int status, const json_t *body, void *arg)
{
	uint64_t ticket = ((struct asked *)arg)->ticket;
	struct sounds *s = request_free(arg);

	if (!s)
		return;
	if (!err && status / 100 != 2) {
		log_warn("sound_refused", "status=%d text=\"%s\"", status,
			 json_string_value(json_object_get(body, "message")));
		err = explain_refusal(status, json_integer_value(json_object_get(body, "code")));
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
	if (guild == s->guild)
		guild = 0;
	if (guild ? !p->external : !sound_list_by_id(&s->list, id))
		return ENOENT;
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

		if (err)
			s->h(p->ticket, err, s->arg);
		free(p);
		p = next;
	}
}

/* ---- listing ---- */

static int request_lists(struct sounds *s);

static void finish_lists(struct sounds *s, int err, int status, const json_t *body)
{
	s->failed = s->failed || err || status != 200;
	sound_list_add(&s->coming, status == 200 ? body : NULL);
	if (--s->lists_left)
		return;
	if (s->changed && !s->failed && !request_lists(s))
		return;
	/* An old list is better than an incomplete new one. */
	if (!s->failed || s->coming.n > s->list.n)
		s->list = s->coming;
	s->whole = s->whole || !s->failed;
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
	s->failed = s->changed = false;
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

int sounds_play(struct sounds *s, uint64_t channel, const char *ref, bool external, uint64_t ticket)
{
	bool listed = s->whole ||
		      (s->listed_at && env_now(s->env) < s->listed_at + SOUNDS_AGAIN_S * NS_PER_S);
	struct play *p, **last = &s->plays;
	int err = 0;

	if (s->n_plays == SOUNDS_WAITING)
		return ENOBUFS;
	p = calloc(1, sizeof *p);
	if (!p)
		return ENOMEM;
	p->channel = channel;
	p->ticket = ticket;
	p->external = external;
	utf8_copy(p->ref, sizeof p->ref, ref);
	if (s->whole || (listed && !s->lists_left)) {
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

const struct sound_list *sounds_now(const struct sounds *s)
{
	return s->whole ? &s->list : NULL;
}

int sounds_list(struct sounds *s)
{
	return s->lists_left ? 0 : request_lists(s);
}

bool sounds_cancel(struct sounds *s, uint64_t ticket)
{
	struct asked *x = s->asked;

	for (struct play **at = &s->plays; *at; at = &(*at)->next) {
		struct play *p = *at;

		if (p->ticket != ticket)
			continue;
		*at = p->next;
		s->n_plays--;
		free(p);
		return true;
	}
	while (x && x->ticket != ticket)
		x = x->next;
	if (!x || !rest_withdraw(s->rest, on_played, x))
		return false;
	request_free(x);
	return true;
}

/* Returns false if the event is none of the soundboard. */
static bool apply_event(struct sounds *s, const char *name, const json_t *d)
{
	uint64_t id = 0;

	if (strcmp(name, "GUILD_SOUNDBOARD_SOUND_CREATE") == 0 ||
	    strcmp(name, "GUILD_SOUNDBOARD_SOUND_UPDATE") == 0) {
		sound_list_set(&s->list, d);
	} else if (strcmp(name, "GUILD_SOUNDBOARD_SOUND_DELETE") == 0) {
		if (discord_snowflake(json_string_value(json_object_get(d, "sound_id")), &id))
			sound_list_remove(&s->list, id);
	} else if (strcmp(name, "GUILD_SOUNDBOARD_SOUNDS_UPDATE") == 0 ||
		   strcmp(name, "SOUNDBOARD_SOUNDS") == 0) {
		sound_list_clear(&s->list, s->guild);
		sound_list_add(&s->list, d);
	} else {
		return false;
	}
	return true;
}

void sounds_event(struct sounds *s, const char *name, const json_t *d)
{
	if (!apply_event(s, name, d))
		return;
	s->changed = true;
	if (s->whole && s->listedh)
		s->listedh(&s->list, s->arg);
}

const char *sounds_name(const struct sounds *s, uint64_t id)
{
	const struct sound *sound = sound_list_by_id(&s->list, id);

	return sound ? sound->name : NULL;
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
