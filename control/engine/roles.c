#include "control/engine/roles.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/engine/roles_state.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/http/retry_after.h"

/* ---- the lists ---- */

static const struct provider_record *record_at(const struct settings *s, enum engine_use use,
					       unsigned i)
{
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
	case ENGINE_USE_SUMMARY:
		return settings_purpose(s, PURPOSE_MEMORY, i);
	case ENGINE_USE_INTERRUPTION:
		return settings_purpose(s, PURPOSE_INTERRUPT_DECISION, i);
	case ENGINE_USE_WORKER:
		return settings_purpose(s, PURPOSE_WORKER, i);
	case ENGINE_USE_EMBED:
		return settings_role(s, ROLE_EMBED, i);
	case ENGINE_USE_TEXT:
		return settings_purpose(s, PURPOSE_TEXT_REPLY, i);
	case ENGINE_USE_SEE:
		return settings_role(s, ROLE_SEE, i);
	case ENGINE_USE_FOLLOWUP:
	case ENGINE_USE_TEXT_FOLLOWUP:
		return settings_purpose(s, PURPOSE_FOLLOWUP, i);
	case ENGINE_USE_COUNT:
		break;
	}
	return NULL;
}

enum role roles_role(enum engine_use use)
{
	static const enum role roles[] = {[ENGINE_USE_VOICE] = ROLE_VOICE,
					  [ENGINE_USE_REPLY] = ROLE_TEXT,
					  [ENGINE_USE_DECISION] = ROLE_CLASSIFY,
					  [ENGINE_USE_SPEECH] = ROLE_SPEECH,
					  [ENGINE_USE_TRANSCRIBE] = ROLE_TRANSCRIBE,
					  [ENGINE_USE_SUMMARY] = ROLE_TEXT,
					  [ENGINE_USE_INTERRUPTION] = ROLE_CLASSIFY,
					  [ENGINE_USE_WORKER] = ROLE_TEXT,
					  [ENGINE_USE_EMBED] = ROLE_EMBED,
					  [ENGINE_USE_TEXT] = ROLE_TEXT,
					  [ENGINE_USE_SEE] = ROLE_SEE,
					  [ENGINE_USE_FOLLOWUP] = ROLE_TEXT,
					  [ENGINE_USE_TEXT_FOLLOWUP] = ROLE_TEXT};

	return roles[use];
}

bool roles_refresh(struct served *s)
{
	const struct provider_record *p = settings_provider_named(s->r->settings, s->record->name);

	if (!p || p->dialect != s->caps->dialect ||
	    (s->engine && strcmp(p->url, s->record->url) != 0))
		return false;
	/* It may grant this key more than the last one. */
	if (strcmp(p->key, s->record->key) != 0)
		s->held_until = s->rests_until = 0;
	*s->record = *p;
	return true;
}

int roles_open(struct served *s)
{
	const struct roles *r = s->r;
	const struct provider_record *p = s->record;
	char socket[PROVIDER_URL_MAX], http[PROVIDER_URL_MAX];
	struct engine_conf conf = {
		.env = r->env,
		.ws = r->ws,
		.http = r->http,
		.caps = s->caps,
		.socket_url = socket,
		.http_url = http,
		.language = r->settings->language,
		.silent_ms = r->settings->not_answering_ms,
		.idle_ms = s->use == ENGINE_USE_VOICE ? r->settings->voice_idle_s * 1000 : 0,
		.transcription = r->transcription,
		.text_only = s->use == ENGINE_USE_VOICE && settings_reads_out(r->settings),
		.h = roles_take_event,
		.arg = s};
	int err;

	if (s->engine)
		return 0;
	roles_refresh(s);
	err = provider_socket_url(p, socket, sizeof socket);
	if (!err)
		err = provider_http_url(p, http, sizeof http);
	if (err)
		return err;
	conf.key = p->key;
	conf.options = p->options;
	conf.model = settings_model(r->settings, roles_role(s->use), p);
	conf.voice = settings_voice(r->settings, roles_role(s->use), p);
	err = s->caps->ops->alloc(&s->engine, &conf);
	if (!err && r->instructions && s->use == ENGINE_USE_VOICE)
		err = s->caps->ops->instruct(s->engine, r->instructions);
	if (!err && r->tools && s->use == ENGINE_USE_VOICE)
		err = s->caps->ops->tools(s->engine, r->tools->tools, r->tools->n_tools);
	return err;
}

struct served *roles_pick(const struct roles *r, enum engine_use use, unsigned tried)
{
	const struct list *l = &r->list[use];
	const struct served *any = NULL;
	uint64_t now = env_now(r->env);

	for (unsigned i = 0; i < l->n; i++) {
		bool backwards = r->saves && use != ENGINE_USE_TRANSCRIBE;
		const struct served *s = &l->v[backwards ? l->n - 1 - i : i];

		if (tried & 1u << s->place)
			continue;
		if (!s->down && s->rests_until <= now)
			return (struct served *)s;
		if (!any || (any->held_until > now && s->held_until <= now))
			any = s;
	}
	return (struct served *)any;
}

bool roles_sent_images(const struct served *s)
{
	return s->caps->image_in && s->record->images != PROVIDER_IMAGES_OFF;
}

bool roles_sees(const struct roles *r, enum engine_use use)
{
	const struct served *s = roles_pick(r, use, 0);

	return s && roles_sent_images(s);
}

void roles_rest(struct served *s, struct slice why)
{
	uint32_t ms = retry_after_told((const char *)why.p, why.n);
	uint64_t now = env_now(s->r->env);

	s->held_until = ms ? now + ms * NS_PER_MS : 0;
	s->rests_until = ms ? s->held_until : now + ROLES_REST_S * NS_PER_S;
	if (ms)
		log_info("provider_holds", "provider=%s role=%s ms=%u", s->record->name,
			 role_name(roles_role(s->use)), ms);
}

/* What the provider can do in this use; NULL: it does not serve there. */
static const struct engine_caps *find_caps(const struct provider_record *p, enum engine_use use)
{
	/* Who sees is sent images. */
	if (use == ENGINE_USE_SEE && p->images == PROVIDER_IMAGES_OFF)
		return NULL;
	return engine_caps((enum dialect)p->dialect, roles_role(use));
}

static bool first_sees(const struct settings *s, enum engine_use use)
{
	const struct engine_caps *caps = NULL;
	const struct provider_record *p;

	for (unsigned i = 0; !caps && (p = record_at(s, use, i)); i++)
		caps = find_caps(p, use);
	return caps && caps->image_in && p->images != PROVIDER_IMAGES_OFF;
}

bool roles_see_screens(const struct settings *s)
{
	enum engine_use answers =
		s->reply_path == SETTINGS_REPLY_BRAIN ? ENGINE_USE_REPLY : ENGINE_USE_VOICE;

	return (s->screen_mode == SETTINGS_SCREEN_MULTIMODAL && first_sees(s, answers)) ||
	       first_sees(s, ENGINE_USE_SEE);
}

static int fill_list(struct roles *r, enum engine_use use)
{
	const struct provider_record *p;
	struct list *l = &r->list[use];

	for (unsigned i = 0; (p = record_at(r->settings, use, i)) && l->n < ROLE_PROVIDERS_MAX;
	     i++) {
		const struct engine_caps *caps = find_caps(p, use);
		struct provider_record *record;

		if (!caps) {
			log_debug("provider_unfit", "provider=%s role=%s", p->name,
				  role_name(roles_role(use)));
			continue;
		}
		record = malloc(sizeof *record);
		if (!record)
			return ENOMEM;
		*record = *p;
		l->v[l->n] = (struct served){
			.r = r, .use = use, .place = l->n, .caps = caps, .record = record};
		l->n++;
	}
	return 0;
}

static void clear_list(struct list *l)
{
	for (unsigned i = 0; i < l->n; i++) {
		l->v[i].caps->ops->free(l->v[i].engine);
		explicit_bzero(l->v[i].record, sizeof *l->v[i].record);
		free(l->v[i].record);
	}
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

/* An ask without a question keeps them. */
static int keep_tools(struct roles *r, const struct engine_tool *tools, size_t n)
{
	const struct engine_message none = {.role = ENGINE_USER, .speaker = "", .text = ""};
	const struct engine_ask ask = {.messages = &none, .n = 1, .tools = tools, .n_tools = n};
	struct engine_ask *copy;
	int err = engine_ask_copy(&copy, &ask);

	if (err)
		return err;
	free(r->tools);
	r->tools = copy;
	r->tools_version++;
	return 0;
}

void roles_tools(struct roles *r, const struct engine_tool *tools, size_t n)
{
	struct list *l = &r->list[ENGINE_USE_VOICE];
	int err = keep_tools(r, tools, n);

	for (unsigned i = 0; !err && i < l->n; i++)
		if (l->v[i].engine)
			err = l->v[i].caps->ops->tools(l->v[i].engine, tools, n);
	if (err)
		log_warn("tools_failed", "error=\"%s\"", strerror(err));
}

void roles_search(struct roles *r, bool on)
{
	r->search = on;
}

int roles_result(struct roles *r, uint32_t turn, const char *call, const char *text, bool failed)
{
	struct live *l = roles_live_by_turn(r, ENGINE_USE_VOICE, turn);

	if (!l || !l->by || !l->by->engine)
		return ENOENT;
	return l->by->caps->ops->result(l->by->engine, call, text, failed);
}

const char *roles_instructions(const struct roles *r)
{
	return r->instructions ? r->instructions : "";
}

void roles_hear(struct roles *r, const struct engine_message *message)
{
	struct served *s = roles_pick(r, ENGINE_USE_VOICE, 0);
	struct engine_message heard = *message;

	if (!s || !s->engine)
		return;
	if (!roles_sent_images(s))
		heard.n_images = 0;
	roles_count_heard(s, &heard);
	s->caps->ops->hear(s->engine, &heard);
}

void roles_renew(struct roles *r)
{
	struct list *l = &r->list[ENGINE_USE_VOICE];

	for (unsigned i = 0; i < l->n; i++)
		if (l->v[i].engine && l->v[i].caps->ops->renew)
			l->v[i].caps->ops->renew(l->v[i].engine);
}

void roles_wake(struct roles *r)
{
	struct served *s = roles_pick(r, ENGINE_USE_VOICE, 0);

	if (s && s->engine && s->caps->ops->wake)
		s->caps->ops->wake(s->engine);
}

void roles_aside(struct roles *r, uint32_t turn, const char *text)
{
	struct live *l = roles_live_by_turn(r, ENGINE_USE_VOICE, turn);
	int err = ENOTSUP;

	if (l && l->by && l->by->engine && l->by->caps->aside)
		err = l->by->caps->ops->aside(l->by->engine, l->id, text);
	if (err && err != ENOTSUP)
		log_warn("aside_failed", "turn=%u error=\"%s\"", turn, strerror(err));
}

void roles_truncate(struct roles *r, uint32_t turn, uint32_t ms, const char *heard)
{
	struct live *l = roles_live_by_turn(r, ENGINE_USE_VOICE, turn);

	if (l && l->by && l->by->engine)
		l->by->caps->ops->truncate(l->by->engine, l->id, ms, heard);
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

static struct hearer *hearer_of(struct roles *r, uint32_t utterance)
{
	for (unsigned i = 0; i < ROLES_UTTERANCES; i++)
		if (r->hearer[i].by && r->hearer[i].utterance == utterance)
			return &r->hearer[i];
	return NULL;
}

void roles_transcribed(struct roles *r, uint32_t utterance)
{
	struct hearer *h = hearer_of(r, utterance);

	if (h)
		h->awaited_since = 0;
}

/* A transcript did not arrive: the next provider hears others. */
static void give_up_hearer(struct roles *r, struct hearer *h)
{
	uint64_t now = env_now(r->env), waits = r->settings->asr_wait_ms * NS_PER_MS;

	if (h->awaited_since && now >= h->awaited_since + waits) {
		h->by->rests_until = now + ROLES_REST_S * NS_PER_S;
		log_warn("not_transcribed", "utterance=%u provider=%s", h->utterance,
			 h->by->record->name);
	}
	h->awaited_since = 0;
}

static int start_hearing(struct roles *r, uint32_t utterance)
{
	struct served *s = roles_pick(r, ENGINE_USE_TRANSCRIBE, 0);
	unsigned at = r->hearers++ % ROLES_UTTERANCES;

	if (!s || roles_open(s))
		return EHOSTUNREACH;
	r->hearer[at] = (struct hearer){.utterance = utterance, .by = s};
	return 0;
}

static int close_user(struct roles *r, const struct engine_sound *sound)
{
	struct list *l = &r->list[ENGINE_USE_TRANSCRIBE];

	for (unsigned i = 0; i < l->n; i++)
		if (l->v[i].engine)
			l->v[i].caps->ops->sound(l->v[i].engine, sound);
	return 0;
}

/* A session of a speaker gets sound at once; a shared one, or a file, when it was speech. */
static void count_sound(const struct roles *r, struct hearer *h, const struct engine_sound *sound)
{
	bool ends = sound->type == ENGINE_SOUND_COMMIT || sound->type == ENGINE_SOUND_FILE;

	h->bytes += sound->pcm.n;
	if (!ends && r->transcription != ENGINE_TRANSCRIBE_SPEAKERS)
		return;
	roles_count_sound(h->by, h->bytes);
	h->bytes = 0;
}

int roles_sound(struct roles *r, const struct engine_sound *sound)
{
	struct hearer *h;

	if (sound->type == ENGINE_SOUND_CLOSE)
		return close_user(r, sound);
	if (sound->type == ENGINE_SOUND_START && start_hearing(r, sound->utterance))
		return EHOSTUNREACH;
	h = hearer_of(r, sound->utterance);
	if (!h)
		return EHOSTUNREACH;
	count_sound(r, h, sound);
	if (sound->type == ENGINE_SOUND_COMMIT || sound->type == ENGINE_SOUND_FILE)
		h->awaited_since = env_now(r->env);
	else if (sound->type == ENGINE_SOUND_CANCEL)
		give_up_hearer(r, h);
	return h->by->caps->ops->sound(h->by->engine, sound);
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

			if (roles_refresh(s) && s->engine &&
			    s->caps->ops->rekey(s->engine, s->record->key))
				log_warn("key_not_taken", "provider=%s", s->record->name);
		}
}

void roles_save(struct roles *r, bool on)
{
	r->saves = on;
}

/* True if the room asks for this use. */
static bool is_used(const struct roles *r, enum engine_use use)
{
	switch (use) {
	case ENGINE_USE_SUMMARY:
	case ENGINE_USE_WORKER:
	case ENGINE_USE_EMBED:
	case ENGINE_USE_TEXT:
	case ENGINE_USE_SEE:
	case ENGINE_USE_FOLLOWUP:
	case ENGINE_USE_TEXT_FOLLOWUP:
		return false;
	case ENGINE_USE_REPLY:
		return r->settings->reply_path == SETTINGS_REPLY_BRAIN;
	case ENGINE_USE_DECISION:
		return settings_classifies_turns(r->settings);
	case ENGINE_USE_INTERRUPTION:
		return r->settings->classify_interruptions;
	default:
		return settings_uses(r->settings, roles_role(use));
	}
}

void roles_serving(const struct roles *r, char *buf, size_t size)
{
	size_t n = 0;

	*buf = '\0';
	for (unsigned i = 0; i < ENGINE_USE_COUNT && n < size; i++) {
		enum engine_use use = (enum engine_use)i;
		const struct served *s = is_used(r, use) ? roles_pick(r, use, 0) : NULL;

		if (s)
			n += (size_t)snprintf(buf + n, size - n, "%s%s %s", n ? ", " : "",
					      role_name(roles_role(use)), s->record->name);
	}
}

void roles_shown(const struct roles *r, enum engine_use use, char *buf, size_t size)
{
	const struct served *s = roles_pick(r, use, 0);

	if (s && *s->record->url)
		provider_shown(s->record, buf, size);
	else
		snprintf(buf, size, "none");
}

/* ---- coming and going ---- */

enum roles_health roles_health(const struct roles *r, enum engine_use use)
{
	const struct served *s = roles_pick(r, use, 0);

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
	struct served *s = roles_pick(r, use, 0);
	int err = s ? roles_open(s) : ENOENT;

	if (err == ENOMEM)
		return err;
	if (err)
		log_warn("no_provider", "role=%s hint=\"configure a provider for it\"",
			 role_name(roles_role(use)));
	return 0;
}

int roles_alloc(struct roles **out, const struct roles_conf *conf)
{
	static const enum engine_transcription transcription[] = {
		[SETTINGS_ASR_SPEAKER] = ENGINE_TRANSCRIBE_SPEAKERS,
		[SETTINGS_ASR_SHARED] = ENGINE_TRANSCRIBE_SHARED,
		[SETTINGS_ASR_FILE] = ENGINE_TRANSCRIBE_FILES};
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
	r->transcription = transcription[conf->settings->asr_sessions];
	r->h = conf->h;
	r->arg = conf->arg;
	err = tmr_alloc(&r->silence, r->env, roles_time, r);
	if (!err)
		err = tmr_alloc(&r->usage, r->env, roles_usage_time, r);
	for (unsigned i = 0; !err && i < ENGINE_USE_COUNT; i++)
		err = fill_list(r, (enum engine_use)i);
	if (!err && !conf->idle && r->settings->reply_path != SETTINGS_REPLY_BRAIN)
		err = open_first(r, ENGINE_USE_VOICE);
	if (!err && !conf->idle)
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
	roles_usage_end(r);
	for (unsigned i = 0; i < ENGINE_USE_COUNT; i++)
		clear_list(&r->list[i]);
	for (unsigned i = 0; i < ROLES_LIVE; i++)
		engine_ask_free(r->live[i].ask);
	tmr_free(r->silence);
	tmr_free(r->usage);
	free(r->instructions);
	free(r->tools);
	free(r);
	return NULL;
}
