#include "control/engine/roles.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/media.h"

enum { REST_S = 30, LIVE = 32, UTTERANCES = 64 };

/* One provider that serves a use, opened or not. */
struct served {
	struct roles *r;
	enum engine_use use;
	unsigned index; /* of its record in the settings */
	unsigned place; /* in the list */
	const struct engine_caps *caps;
	void *engine; /* NULL: not opened yet */
	bool down;    /* its session is lost */
	bool silent;  /* it does not answer, and nobody takes its place */
	bool failed;  /* the last ask */
	uint64_t rests_until;
};

struct list {
	struct served v[ROLE_PROVIDERS_MAX];
	unsigned n;
};

/* An ask, kept after its end until its place is needed, so that it can be asked again and
 * truncated. */
struct live {
	uint32_t id; /* 0: free */
	uint32_t turn, chunk;
	enum engine_use use;
	struct served *by;
	unsigned tried; /* bits: providers that have failed it */
	bool over;
	bool life;	/* something of it came */
	uint64_t since; /* when the turn's first ask without a sign of life was asked */
	struct engine_ask *ask;
};

struct roles {
	struct env *env;
	struct ws_ctx *ws;
	struct http *http;
	const struct settings *settings;
	roles_h *h;
	void *arg;
	struct list list[ENGINE_USE_COUNT];
	struct live live[LIVE];
	struct {
		uint32_t utterance;
		struct served *by;
	} heard_by[UTTERANCES]; /* who transcribes it; the oldest go */
	unsigned heard_n;
	uint32_t asks, instructions_version;
	char *instructions;
	struct tmr *silence;
};

/* ---- the lists ---- */

static const struct provider_record *record_of(const struct roles *r, enum engine_use use,
					       unsigned i)
{
	const struct settings *s = r->settings;

	switch (use) {
	case ENGINE_USE_VOICE:
		return settings_role(s, ROLE_VOICE, i);
	case ENGINE_USE_REPLY:
		return settings_purpose(s, PURPOSE_VOICE_REPLY, i);
	case ENGINE_USE_DECISION:
		return settings_purpose(s, PURPOSE_REPLY_DECISION, i);
	case ENGINE_USE_SPEECH:
		return settings_role(s, ROLE_SPEECH, i);
	case ENGINE_USE_TRANSCRIBE:
		return settings_role(s, ROLE_TRANSCRIBE, i);
	case ENGINE_USE_COUNT:
		break;
	}
	return NULL;
}

static enum role role_of(enum engine_use use)
{
	static const enum role roles[] = {[ENGINE_USE_VOICE] = ROLE_VOICE,
					  [ENGINE_USE_REPLY] = ROLE_TEXT,
					  [ENGINE_USE_DECISION] = ROLE_CLASSIFY,
					  [ENGINE_USE_SPEECH] = ROLE_SPEECH,
					  [ENGINE_USE_TRANSCRIBE] = ROLE_TRANSCRIBE};

	return roles[use];
}

static void take_event(const struct engine_event *ev, void *arg);

/* ENOENT: there is no such provider, or its address is not known yet. */
static int open_served(struct served *s)
{
	static const enum engine_transcription transcription[] = {
		[SETTINGS_ASR_SPEAKER] = ENGINE_TRANSCRIBE_SPEAKERS,
		[SETTINGS_ASR_SHARED] = ENGINE_TRANSCRIBE_SHARED,
		[SETTINGS_ASR_FILE] = ENGINE_TRANSCRIBE_FILES};
	const struct roles *r = s->r;
	const struct provider_record *p = record_of(r, s->use, s->index);
	char socket[PROVIDER_URL_MAX], http[PROVIDER_URL_MAX];
	struct engine_conf conf = {.env = r->env,
				   .ws = r->ws,
				   .http = r->http,
				   .caps = s->caps,
				   .socket_url = socket,
				   .http_url = http,
				   .language = r->settings->language,
				   .silent_ms = r->settings->not_answering_ms,
				   .transcription = transcription[r->settings->asr_sessions],
				   .h = take_event,
				   .arg = s};
	int err;

	if (s->engine)
		return 0;
	if (!p)
		return ENOENT;
	err = provider_socket_url(p, socket, sizeof socket);
	if (!err)
		err = provider_http_url(p, http, sizeof http);
	if (err)
		return err;
	conf.key = p->key;
	conf.model = settings_model(r->settings, role_of(s->use), p);
	conf.voice = settings_voice(r->settings, role_of(s->use), p);
	err = s->caps->ops->alloc(&s->engine, &conf);
	if (!err && r->instructions && s->caps->ops->instruct)
		err = s->caps->ops->instruct(s->engine, r->instructions);
	return err;
}

/* The first provider that is ready and not among `tried`; else the first that is not; NULL: nobody
 * is left. */
static struct served *pick(const struct roles *r, enum engine_use use, unsigned tried)
{
	const struct list *l = &r->list[use];
	const struct served *any = NULL;
	uint64_t now = env_now(r->env);

	for (unsigned i = 0; i < l->n; i++) {
		const struct served *s = &l->v[i];

		if (tried & 1u << i)
			continue;
		if (!s->down && s->rests_until <= now)
			return (struct served *)s;
		any = any ? any : s;
	}
	return (struct served *)any;
}

static void fill_list(struct roles *r, enum engine_use use)
{
	const struct provider_record *p;
	struct list *l = &r->list[use];

	for (unsigned i = 0; (p = record_of(r, use, i)) && l->n < ROLE_PROVIDERS_MAX; i++) {
		const struct engine_caps *caps =
			engine_caps((enum dialect)p->dialect, role_of(use));

		if (caps) {
			l->v[l->n] = (struct served){
				.r = r, .use = use, .index = i, .place = l->n, .caps = caps};
			l->n++;
		} else {
			log_debug("provider_unfit", "provider=%s role=%s", p->name,
				  role_name(role_of(use)));
		}
	}
}

/* ---- asks ---- */

static struct live *live_by_id(struct roles *r, uint32_t id)
{
	for (unsigned i = 0; i < LIVE; i++)
		if (r->live[i].id == id)
			return &r->live[i];
	return NULL;
}

/* The turn's newest ask. */
static struct live *live_by_turn(struct roles *r, enum engine_use use, uint32_t turn)
{
	struct live *found = NULL;

	for (unsigned i = 0; i < LIVE; i++) {
		struct live *l = &r->live[i];

		if (l->id && l->use == use && l->turn == turn && (!found || l->id > found->id))
			found = l;
	}
	return found;
}

static void end_live(struct live *l)
{
	l->over = true;
	/* A voice or a decision is not asked for again. */
	if (l->use != ENGINE_USE_SPEECH && l->use != ENGINE_USE_DECISION)
		return;
	free(l->ask);
	*l = (struct live){0};
}

static void cancel_live(struct live *l)
{
	if (l->over)
		return;
	l->by->caps->ops->cancel(l->by->engine, l->id);
	end_live(l);
}

/* A free place, else that of the oldest ask that is over, else of the oldest one, which is
 * cancelled. */
static struct live *live_place(struct roles *r)
{
	struct live *best = NULL;

	for (unsigned i = 0; i < LIVE; i++) {
		struct live *l = &r->live[i];

		if (!l->id)
			return l;
		if (!best || (l->over && !best->over) ||
		    (l->over == best->over && l->id < best->id))
			best = l;
	}
	if (best->id)
		cancel_live(best);
	free(best->ask);
	*best = (struct live){0};
	return best;
}

static void tell(struct roles *r, enum engine_use use, const struct live *l,
		 const struct engine_event *ev, bool answers)
{
	struct roles_event out = {.use = use, .answers = answers, .engine = ev};

	if (l) {
		out.turn = l->turn;
		out.chunk = l->chunk;
	}
	r->h(&out, r->arg);
}

static void fail_live(struct roles *r, struct live *l, const char *why)
{
	struct live was = *l;

	end_live(l);
	was.ask = NULL;
	tell(r, was.use, &was,
	     &(struct engine_event){.type = ENGINE_FAILED, .ask = was.id, .data = slice_str(why)},
	     false);
}

static uint64_t silent_at(const struct roles *r, const struct live *l)
{
	return l->since + r->settings->not_answering_ms * NS_PER_MS;
}

static void watch_silence(struct roles *r)
{
	uint64_t at = UINT64_MAX;

	for (unsigned i = 0; i < LIVE; i++) {
		const struct live *l = &r->live[i];

		if (l->id && l->use == ENGINE_USE_REPLY && !l->over && !l->life && l->since &&
		    silent_at(r, l) < at)
			at = silent_at(r, l);
	}
	if (at == UINT64_MAX)
		tmr_stop(r->silence);
	else
		tmr_start_at(r->silence, at);
}

/* Gives the ask to the next provider, with a new id. ENOENT: nobody is left, or its address is not
 * known. */
static int give(struct roles *r, struct live *l)
{
	struct served *s = pick(r, l->use, l->tried);
	const struct provider_record *p;
	struct engine_ask ask = *l->ask;
	int err;

	if (!s)
		return ENOENT;
	l->by = s;
	l->tried |= 1u << s->place;
	l->id = ask.id = ++r->asks;
	p = record_of(r, l->use, s->index);
	err = p ? open_served(s) : ENOENT;
	if (err) {
		s->failed = true;
		return err;
	}
	ask.model = settings_model(r->settings, role_of(l->use), p);
	ask.voice = settings_voice(r->settings, role_of(l->use), p);
	ask.instructions_version = r->instructions_version;
	log_debug("ask", "ask=%u turn=%u role=%s provider=%s instructions=%u", ask.id, ask.turn,
		  role_name(role_of(l->use)), p->name, ask.instructions_version);
	return s->caps->ops->ask(s->engine, &ask);
}

/* Until somebody takes it. */
static void give_to_any(struct roles *r, struct live *l)
{
	unsigned all = (1u << r->list[l->use].n) - 1;
	int err = ENOENT;

	do
		err = give(r, l);
	while (err && (l->tried & all) != all);
	if (err)
		fail_live(r, l, err == ENOENT ? "no provider serves this" : strerror(err));
	watch_silence(r);
}

static void ask_live(struct roles *r, enum engine_use use, uint32_t chunk,
		     const struct engine_ask *ask)
{
	const struct live *before = live_by_turn(r, use, ask->turn);
	uint64_t since = before && !before->life ? before->since : 0;
	struct live *l;
	struct engine_ask *copy;

	if (engine_ask_copy(&copy, ask)) {
		struct live none = {.turn = ask->turn, .chunk = chunk, .use = use};

		fail_live(r, &none, strerror(ENOMEM));
		return;
	}
	l = live_place(r);
	*l = (struct live){.id = r->asks + 1,
			   .turn = ask->turn,
			   .chunk = chunk,
			   .use = use,
			   .since = since ? since : env_now(r->env),
			   .ask = copy};
	give_to_any(r, l);
}

void roles_ask(struct roles *r, enum engine_use use, uint32_t chunk, const struct engine_ask *ask)
{
	ask_live(r, use, chunk, ask);
}

void roles_ask_again(struct roles *r, enum engine_use use, uint32_t turn)
{
	static const char why[] = "there is nothing to ask again";
	struct live *l = live_by_turn(r, use, turn), none = {.turn = turn, .use = use};
	struct engine_ask *ask;

	if (!l || engine_ask_copy(&ask, l->ask)) {
		fail_live(r, &none, why);
		return;
	}
	cancel_live(l);
	ask->again = true;
	ask_live(r, use, l->chunk, ask);
	free(ask);
}

void roles_cancel(struct roles *r, enum engine_use use, uint32_t turn)
{
	for (unsigned i = 0; i < LIVE; i++)
		if (r->live[i].id && r->live[i].use == use && r->live[i].turn == turn)
			cancel_live(&r->live[i]);
	watch_silence(r);
}

/* ---- what the engines say ---- */

/* True: another provider took the ask over. */
static bool take_over(struct roles *r, struct live *l)
{
	unsigned all = (1u << r->list[l->use].n) - 1;

	if (l->life || (l->tried & all) == all)
		return false;
	log_warn("failover", "turn=%u role=%s", l->turn, role_name(role_of(l->use)));
	give_to_any(r, l);
	return true;
}

/* Asks that wait for a session which may not come. */
static void move_asks(struct served *from)
{
	struct roles *r = from->r;

	for (unsigned i = 0; i < LIVE; i++) {
		struct live *l = &r->live[i];

		if (!l->id || l->use != from->use || l->over || l->by != from || l->life)
			continue;
		from->caps->ops->cancel(from->engine, l->id);
		take_over(r, l);
	}
}

static void take_link(struct served *s, const struct engine_event *ev)
{
	struct served *next;

	s->down = ev->type == ENGINE_LINK_DOWN;
	if (!s->down) {
		s->rests_until = 0;
		tell(s->r, s->use, NULL, ev, false);
		return;
	}
	next = pick(s->r, s->use, 0);
	if (next == s || next->down || open_served(next)) {
		tell(s->r, s->use, NULL, ev, false);
		return;
	}
	log_warn("failover", "role=%s", role_name(role_of(s->use)));
	move_asks(s);
}

static void take_silence(struct served *s, struct live *l, const struct engine_event *ev)
{
	struct roles *r = s->r;
	unsigned all = (1u << r->list[s->use].n) - 1;

	l->since = 0;
	if (!l->life && (l->tried & all) != all) {
		s->rests_until = env_now(r->env) + REST_S * NS_PER_S;
		s->caps->ops->cancel(s->engine, l->id);
		take_over(r, l);
		return;
	}
	s->silent = true;
	tell(r, s->use, l, ev, false);
}

static void take_failure(struct served *s, struct live *l, const struct engine_event *ev)
{
	struct live was = *l;

	s->failed = true;
	s->rests_until = env_now(s->r->env) + REST_S * NS_PER_S;
	if (take_over(s->r, l))
		return;
	end_live(l);
	tell(s->r, s->use, &was, ev, false);
}

static void take_answer(struct served *s, struct live *l, const struct engine_event *ev)
{
	bool answers = s->silent;
	struct live was = *l;

	s->silent = s->failed = false;
	s->rests_until = 0;
	l->life = true;
	if (ev->type == ENGINE_DONE)
		end_live(l);
	tell(s->r, s->use, &was, ev, answers);
}

static void take_event(const struct engine_event *ev, void *arg)
{
	struct served *s = arg;
	struct live *l = ev->ask ? live_by_id(s->r, ev->ask) : NULL;

	switch (ev->type) {
	case ENGINE_LINK_UP:
	case ENGINE_LINK_DOWN:
		take_link(s, ev);
		return;
	case ENGINE_NO_TRANSCRIPT:
		s->rests_until = env_now(s->r->env) + REST_S * NS_PER_S;
		tell(s->r, s->use, NULL, ev, false);
		return;
	case ENGINE_PARTIAL:
	case ENGINE_TRANSCRIPT:
		tell(s->r, s->use, NULL, ev, false);
		return;
	default:
		break;
	}
	if (!l || l->over || l->by != s)
		return;
	if (ev->type == ENGINE_SILENT)
		take_silence(s, l, ev);
	else if (ev->type == ENGINE_FAILED)
		take_failure(s, l, ev);
	else
		take_answer(s, l, ev);
	watch_silence(s->r);
}

/* A model that writes has no session which would notice. */
static void silence_over(void *arg)
{
	struct roles *r = arg;
	uint64_t now = env_now(r->env);

	for (unsigned i = 0; i < LIVE; i++) {
		struct live *l = &r->live[i];

		if (l->id && l->use == ENGINE_USE_REPLY && !l->over && !l->life && l->since &&
		    silent_at(r, l) <= now)
			take_silence(l->by, l,
				     &(struct engine_event){.type = ENGINE_SILENT, .ask = l->id});
	}
	watch_silence(r);
}

/* ---- conversations ---- */

void roles_instruct(struct roles *r, const char *text)
{
	struct list *l = &r->list[ENGINE_USE_VOICE];
	char *copy = strdup(text);
	int err = copy ? 0 : ENOMEM;

	if (copy) {
		free(r->instructions);
		r->instructions = copy;
		r->instructions_version++;
	}
	for (unsigned i = 0; !err && i < l->n; i++)
		if (l->v[i].engine)
			err = l->v[i].caps->ops->instruct(l->v[i].engine, text);
	if (err)
		log_warn("instruct_failed", "error=\"%s\"", strerror(err));
}

void roles_hear(struct roles *r, const struct engine_message *message)
{
	struct served *s = pick(r, ENGINE_USE_VOICE, 0);

	if (s && s->engine)
		s->caps->ops->hear(s->engine, message);
}

void roles_truncate(struct roles *r, uint32_t turn, uint32_t ms)
{
	struct live *l = live_by_turn(r, ENGINE_USE_VOICE, turn);

	if (l && l->by && l->by->engine)
		l->by->caps->ops->truncate(l->by->engine, l->id, ms);
}

void roles_forget(struct roles *r, uint32_t turn)
{
	struct list *l = &r->list[ENGINE_USE_VOICE];

	roles_cancel(r, ENGINE_USE_VOICE, turn);
	roles_cancel(r, ENGINE_USE_REPLY, turn);
	for (unsigned i = 0; i < l->n; i++)
		if (l->v[i].engine)
			l->v[i].caps->ops->forget(l->v[i].engine, turn);
}

/* ---- transcription ---- */

static struct served *hearer_of(const struct roles *r, uint32_t utterance)
{
	for (unsigned i = 0; i < UTTERANCES; i++)
		if (r->heard_by[i].utterance == utterance)
			return r->heard_by[i].by;
	return NULL;
}

static int close_user(struct roles *r, const struct engine_sound *sound)
{
	struct list *l = &r->list[ENGINE_USE_TRANSCRIBE];

	for (unsigned i = 0; i < l->n; i++)
		if (l->v[i].engine)
			l->v[i].caps->ops->sound(l->v[i].engine, sound);
	return 0;
}

int roles_sound(struct roles *r, const struct engine_sound *sound)
{
	struct served *s;

	if (sound->type == ENGINE_SOUND_CLOSE)
		return close_user(r, sound);
	if (sound->type == ENGINE_SOUND_START) {
		unsigned at = r->heard_n++ % UTTERANCES;

		s = pick(r, ENGINE_USE_TRANSCRIBE, 0);
		if (!s || open_served(s))
			return EHOSTUNREACH;
		r->heard_by[at].utterance = sound->utterance;
		r->heard_by[at].by = s;
	}
	s = hearer_of(r, sound->utterance);
	return s ? s->caps->ops->sound(s->engine, sound) : EHOSTUNREACH;
}

int roles_flush(struct roles *r, uint64_t *user, uint32_t *utterance)
{
	struct list *l = &r->list[ENGINE_USE_TRANSCRIBE];
	int err = 0;

	for (unsigned i = 0; !err && i < l->n; i++)
		if (l->v[i].engine)
			err = l->v[i].caps->ops->flush(l->v[i].engine, user, utterance);
	return err;
}

void roles_settings(struct roles *r)
{
	for (unsigned i = 0; i < ENGINE_USE_COUNT; i++)
		for (unsigned k = 0; k < r->list[i].n; k++) {
			struct served *s = &r->list[i].v[k];
			const struct provider_record *p =
				record_of(r, (enum engine_use)i, s->index);

			if (s->engine && p && s->caps->ops->rekey(s->engine, p->key))
				log_warn("key_not_taken", "provider=%s", p->name);
		}
}

void roles_shown(const struct roles *r, enum engine_use use, char *buf, size_t size)
{
	const struct served *s = pick(r, use, 0);
	const struct provider_record *p = s ? record_of(r, use, s->index) : NULL;

	if (p && *p->url)
		provider_shown(p, buf, size);
	else
		snprintf(buf, size, "none");
}

/* ---- coming and going ---- */

enum roles_health roles_health(const struct roles *r, enum engine_use use)
{
	const struct served *s = pick(r, use, 0);

	if (!s)
		return ROLES_NONE;
	if (s->silent)
		return ROLES_NOT_ANSWERING;
	if (s->caps->ops->up ? !s->engine || !s->caps->ops->up(s->engine) : s->failed)
		return ROLES_DOWN;
	return ROLES_UP;
}

static int open_first(struct roles *r, enum engine_use use)
{
	struct served *s = pick(r, use, 0);
	int err = s ? open_served(s) : ENOENT;

	if (err == ENOMEM)
		return err;
	if (err)
		log_warn("no_provider", "role=%s hint=\"configure a provider for it\"",
			 role_name(role_of(use)));
	return 0;
}

int roles_alloc(struct roles **out, const struct roles_conf *conf)
{
	struct roles *r;
	int err;

	if (!out || !conf->env || !conf->http || !conf->settings || !conf->h)
		return EINVAL;
	r = calloc(1, sizeof *r);
	if (!r)
		return ENOMEM;
	r->env = conf->env;
	r->ws = conf->ws;
	r->http = conf->http;
	r->settings = conf->settings;
	r->h = conf->h;
	r->arg = conf->arg;
	for (unsigned i = 0; i < ENGINE_USE_COUNT; i++)
		fill_list(r, (enum engine_use)i);
	err = tmr_alloc(&r->silence, r->env, silence_over, r);
	if (!err && r->settings->reply_path != SETTINGS_REPLY_BRAIN)
		err = open_first(r, ENGINE_USE_VOICE);
	if (!err)
		err = open_first(r, ENGINE_USE_TRANSCRIBE);
	if (err) {
		roles_free(r);
		return err;
	}
	*out = r;
	return 0;
}

struct roles *roles_free(struct roles *r)
{
	if (!r)
		return NULL;
	for (unsigned i = 0; i < ENGINE_USE_COUNT; i++)
		for (unsigned k = 0; k < r->list[i].n; k++)
			r->list[i].v[k].caps->ops->free(r->list[i].v[k].engine);
	for (unsigned i = 0; i < LIVE; i++)
		free(r->live[i].ask);
	tmr_free(r->silence);
	free(r->instructions);
	free(r);
	return NULL;
}
