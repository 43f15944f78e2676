#include "control/engine/transcribe_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/stt_file.h"
#include "control/engine/endpoint.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/http/retry_after.h"

/* A kept recording. */
struct sound {
	struct sound *next;
	uint64_t user;
	uint32_t utterance;
	bool broken; /* part of it was lost */
	bool wanted; /* requested: goes out with the next send */
	uint8_t *pcm;
	size_t n, cap;
};

/* A request under way. */
struct sent {
	struct sent *next;
	struct transcribe_file *f;
	uint64_t user;
	uint32_t utterance;
	struct http_req *req;	 /* NULL: it waits to be asked again, or is over */
	struct openai_body body; /* until it is answered */
	bool again;		 /* it was retried once */
	uint64_t again_at;	 /* 0: it does not wait */
};

struct transcribe_file {
	struct env *env;
	struct endpoint *provider;
	const struct stt_file *wire;
	char *model, *language;
	transcribe_h *h;
	void *arg;
	struct sound *sounds, **last; /* in order of their start */
	unsigned n_sounds;
	size_t bytes;
	struct sent *sent;
	struct tmr *held; /* requests that wait to be asked again */
};

static struct sound *sound_of(const struct transcribe_file *f, uint64_t user, uint32_t utterance)
{
	for (struct sound *s = f->sounds; s; s = s->next)
		if (s->user == user && s->utterance == utterance)
			return s;
	return NULL;
}

/* Takes the recording at *at out of the list. */
static void sound_free(struct transcribe_file *f, struct sound **at)
{
	struct sound *s = *at;

	*at = s->next;
	if (f->last == &s->next)
		f->last = at;
	f->n_sounds--;
	f->bytes -= s->cap;
	free(s->pcm);
	free(s);
}

static void sent_free(struct sent *x)
{
	for (struct sent **at = &x->f->sent; *at; at = &(*at)->next)
		if (*at == x) {
			*at = x->next;
			break;
		}
	if (x->req)
		http_req_cancel(x->req);
	free(x->body.p);
	free(x);
}

/* ---- recordings ---- */

int transcribe_file_rekey(struct transcribe_file *f, const char *key)
{
	return endpoint_rekey(f->provider, key);
}

int transcribe_file_start(struct transcribe_file *f, uint64_t user, uint32_t utterance)
{
	struct sound *s;

	if (f->n_sounds == TRANSCRIBE_FILE_KEPT)
		return ENOBUFS;
	s = calloc(1, sizeof *s);
	if (!s)
		return ENOMEM;
	s->user = user;
	s->utterance = utterance;
	*f->last = s;
	f->last = &s->next;
	f->n_sounds++;
	return 0;
}

static bool make_place(struct transcribe_file *f, struct sound *s, size_t n)
{
	size_t cap = s->cap ? s->cap : 48000;
	uint8_t *grown;

	if (n > TRANSCRIBE_FILE_ONE - s->n)
		return false;
	while (cap < s->n + n)
		cap *= 2;
	if (cap == s->cap)
		return true;
	if (cap - s->cap > TRANSCRIBE_FILE_BYTES - f->bytes)
		return false;
	grown = realloc(s->pcm, cap);
	if (!grown)
		return false;
	f->bytes += cap - s->cap;
	s->pcm = grown;
	s->cap = cap;
	return true;
}

void transcribe_file_append(struct transcribe_file *f, uint64_t user, uint32_t utterance,
			    const uint8_t *pcm, size_t n)
{
	struct sound *s = sound_of(f, user, utterance);

	if (!s || !n || s->broken)
		return;
	if (!make_place(f, s, n)) {
		s->broken = true;
		log_warn("recording_lost", "utterance=%u bytes=%zu", utterance, s->n);
		return;
	}
	memcpy(s->pcm + s->n, pcm, n);
	s->n += n;
}

int transcribe_file_run(struct transcribe_file *f, uint64_t user, uint32_t utterance)
{
	struct sound *s = sound_of(f, user, utterance);

	if (!s)
		return ENOENT;
	if (s->broken) {
		transcribe_file_cancel(f, user, utterance);
		return ENOBUFS;
	}
	s->wanted = true;
	return 0;
}

/* ---- the provider ---- */

static void watch_held(struct transcribe_file *f)
{
	uint64_t at = UINT64_MAX;

	for (const struct sent *x = f->sent; x; x = x->next)
		if (x->again_at && x->again_at < at)
			at = x->again_at;
	if (at == UINT64_MAX)
		tmr_stop(f->held);
	else
		tmr_start_at(f->held, at);
}

/* The provider asks for a wait that a person puts up with. False: it was asked twice, or asks for
 * none. */
static bool ask_later(struct sent *x, const char *why)
{
	uint32_t ms = retry_after_told(why, strlen(why));

	if (x->again || !ms || ms > RETRY_AFTER_PATIENCE_MS)
		return false;
	x->again = true;
	x->again_at = env_now(x->f->env) + ms * NS_PER_MS;
	watch_held(x->f);
	log_debug("recording_held", "utterance=%u ms=%u", x->utterance, ms);
	return true;
}

static void on_words(const struct http_resp *resp, void *arg)
{
	struct sent *x = arg;
	struct transcribe_file *f = x->f;
	uint64_t user = x->user;
	uint32_t utterance = x->utterance;
	bool refused = resp->err || resp->status / 100 != 2;
	struct openai_words w;
	char why[OPENAI_WHY_MAX];

	x->req = NULL;
	if (refused)
		endpoint_why(resp, why, sizeof why);
	if (refused && ask_later(x, why))
		return;
	sent_free(x);
	if (!refused && f->wire->parse(&w, resp->body.p, resp->body.n) == 0) {
		f->h(TRANSCRIBE_TRANSCRIPT, user, utterance, (const uint8_t *)w.text,
		     strlen(w.text), (struct transcribe_sure){w.doubt, w.no_speech, w.language},
		     f->arg);
		return;
	}
	if (!refused)
		snprintf(why, sizeof why, "the answer holds no words");
	log_warn("recording_failed", "utterance=%u why=\"%s\"", utterance, why);
	f->h(TRANSCRIBE_FAILED, user, utterance, (const uint8_t *)why, strlen(why),
	     (struct transcribe_sure){0}, f->arg);
}

static int send_body(struct sent *x)
{
	const struct transcribe_file *f = x->f;
	const struct endpoint_call call = {.endpoint = f->wire->endpoint,
					   .type = x->body.type,
					   .body = x->body.p,
					   .n = x->body.n,
					   .sound_at = x->body.sound_at,
					   .ms = TRANSCRIBE_FILE_MS,
					   .max_body = OPENAI_ANSWER_MAX,
					   .h = on_words,
					   .arg = x};

	return endpoint_post(f->provider, &call, &x->req);
}

/* A handler may cancel any request, so this looks from the start each time. */
static void ask_held(void *arg)
{
	static const char why[] = "the request could not be begun";
	struct transcribe_file *f = arg;
	uint64_t now = env_now(f->env);
	struct sent *x = f->sent;

	while (x) {
		uint64_t user = x->user;
		uint32_t utterance = x->utterance;

		if (!x->again_at || x->again_at > now) {
			x = x->next;
			continue;
		}
		x->again_at = 0;
		if (send_body(x)) {
			sent_free(x);
			f->h(TRANSCRIBE_FAILED, user, utterance, (const uint8_t *)why,
			     sizeof why - 1, (struct transcribe_sure){0}, f->arg);
		}
		x = f->sent;
	}
	watch_held(f);
}

static int post(struct transcribe_file *f, const struct sound *first, struct slice pcm)
{
	struct openai_recording rec = {
		.model = f->model, .language = f->language, .pcm = pcm, .rate = TRANSCRIBE_RATE};
	struct sent *x;
	uint64_t nonce[2];
	char boundary[64];
	int err;

	env_random(f->env, nonce, sizeof nonce);
	snprintf(boundary, sizeof boundary, "parley%016llx%016llx", (unsigned long long)nonce[0],
		 (unsigned long long)nonce[1]);
	rec.boundary = boundary;
	x = calloc(1, sizeof *x);
	if (!x)
		return ENOMEM;
	err = f->wire->build(&x->body, &rec);
	if (err) {
		free(x);
		return err;
	}
	x->f = f;
	x->user = first->user;
	x->utterance = first->utterance;
	x->next = f->sent;
	f->sent = x;
	err = send_body(x);
	if (err)
		sent_free(x);
	return err;
}

/* The audio of all requested recordings, concatenated. */
static int gather(const struct transcribe_file *f, uint8_t **out, size_t *len)
{
	size_t n = 0;
	uint8_t *pcm;

	for (const struct sound *s = f->sounds; s; s = s->next)
		n += s->wanted ? s->n : 0;
	if (n > TRANSCRIBE_FILE_ONE)
		return EMSGSIZE;
	pcm = malloc(n ? n : 1);
	if (!pcm)
		return ENOMEM;
	n = 0;
	for (const struct sound *s = f->sounds; s; s = s->next) {
		if (!s->wanted || !s->n)
			continue;
		memcpy(pcm + n, s->pcm, s->n);
		n += s->n;
	}
	*out = pcm;
	*len = n;
	return 0;
}

int transcribe_file_send(struct transcribe_file *f, uint64_t *user, uint32_t *utterance)
{
	struct sound *first = f->sounds;
	uint8_t *pcm = NULL;
	size_t n = 0;
	int err;

	while (first && !first->wanted)
		first = first->next;
	if (!first)
		return 0;
	*user = first->user;
	*utterance = first->utterance;
	err = gather(f, &pcm, &n);
	if (!err)
		err = post(f, first, (struct slice){pcm, n});
	free(pcm);
	for (struct sound **at = &f->sounds; *at;)
		if ((*at)->wanted)
			sound_free(f, at);
		else
			at = &(*at)->next;
	return err;
}

/* ---- cancelling ---- */

static void drop(struct transcribe_file *f, uint64_t user, bool all, uint32_t utterance)
{
	struct sent *next;

	for (struct sound **at = &f->sounds; *at;)
		if ((*at)->user == user && (all || (*at)->utterance == utterance))
			sound_free(f, at);
		else
			at = &(*at)->next;
	for (struct sent *x = f->sent; x; x = next) {
		next = x->next;
		if (x->user == user && (all || x->utterance == utterance))
			sent_free(x);
	}
}

void transcribe_file_cancel(struct transcribe_file *f, uint64_t user, uint32_t utterance)
{
	drop(f, user, false, utterance);
}

void transcribe_file_close(struct transcribe_file *f, uint64_t user)
{
	drop(f, user, true, 0);
}

/* ---- coming and going ---- */

int transcribe_file_alloc(struct transcribe_file **out, const struct transcribe_conf *conf)
{
	struct transcribe_file *f;
	int err = ENOMEM;

	if (!out || !conf->env || !conf->http || !conf->base || !conf->model || !conf->h ||
	    !stt_file(conf->dialect))
		return EINVAL;
	f = calloc(1, sizeof *f);
	if (!f)
		return ENOMEM;
	f->env = conf->env;
	f->wire = stt_file(conf->dialect);
	f->h = conf->h;
	f->arg = conf->arg;
	f->last = &f->sounds;
	f->model = strdup(conf->model);
	f->language = strdup(conf->language ? conf->language : "");
	if (f->model && f->language)
		err = tmr_alloc(&f->held, f->env, ask_held, f);
	if (!err)
		err = endpoint_alloc(&f->provider,
				     &(struct endpoint_conf){.http = conf->http,
							     .base = conf->base,
							     .key = conf->base_key,
							     .key_header = f->wire->key_header});
	if (err) {
		transcribe_file_free(f);
		return err;
	}
	*out = f;
	return 0;
}

struct transcribe_file *transcribe_file_free(struct transcribe_file *f)
{
	struct sent *x;

	if (!f)
		return NULL;
	while ((x = f->sent) != NULL) {
		f->sent = x->next;
		sent_free(x);
	}
	while (f->sounds)
		sound_free(f, &f->sounds);
	endpoint_free(f->provider);
	tmr_free(f->held);
	free(f->model);
	free(f->language);
	free(f);
	return NULL;
}
