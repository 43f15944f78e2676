#include "control/asr/asr.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/openai.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/ws.h"

enum { OWED = 16, WAIT_BYTES = 480000, RETRY_MS = 1000 };

/* A client event that waits for the session to open. */
struct wait {
	struct wait *next;
	size_t sound; /* bytes of it when it is sound, else 0 */
	char *text;
};

/* An utterance that was committed and has no transcript yet. */
struct owed {
	uint32_t utterance; /* 0 = free */
	bool cancelled;
	char item[OPENAI_ID_MAX]; /* "" until the commit was confirmed */
};

struct session {
	struct session *next;
	struct asr *a;
	uint64_t user, tried_at;
	struct ws *ws; /* NULL: not connected, not trying */
	bool open;
	uint32_t utterance; /* being streamed, 0 = none */
	uint64_t sound;	    /* its bytes so far */
	bool broken;	    /* part of it went to a session that was lost */
	struct wait *first, **last;
	size_t waiting;
	struct owed owed[OWED]; /* in order of commit */
	unsigned n_owed;
};

struct asr {
	struct env *env;
	struct ws_ctx *ctx;
	char *url, *model, *language, *auth;
	asr_h *h;
	void *arg;
	struct session *sessions;
	uint64_t malformed;
};

static void tell(struct session *s, enum asr_event ev, uint32_t utterance, const char *text)
{
	s->a->h(ev, s->user, utterance, (const uint8_t *)text, strlen(text), s->a->arg);
}

static struct session *session_of(const struct asr *a, uint64_t user)
{
	for (struct session *s = a->sessions; s; s = s->next)
		if (s->user == user)
			return s;
	return NULL;
}

/* ---- what waits ---- */

static void wait_drop_first(struct session *s)
{
	struct wait *w = s->first;

	s->first = w->next;
	if (!s->first)
		s->last = &s->first;
	s->waiting -= w->sound;
	free(w->text);
	free(w);
}

static void wait_clear(struct session *s)
{
	while (s->first)
		wait_drop_first(s);
}

/* Takes text. */
static void send_or_wait(struct session *s, char *text, size_t sound)
{
	struct wait *w;

	if (!text || !s->ws)
		goto drop;
	if (s->open) {
		ws_send(s->ws, true, text, strlen(text));
		goto drop;
	}
	w = calloc(1, sizeof *w);
	if (!w)
		goto drop;
	w->text = text;
	w->sound = sound;
	*s->last = w;
	s->last = &w->next;
	s->waiting += sound;
	while (s->waiting > WAIT_BYTES && s->first->sound)
		wait_drop_first(s);
	return;
drop:
	free(text);
}

/* ---- what is owed ---- */

static void owed_remove(struct session *s, unsigned i)
{
	s->n_owed--;
	memmove(&s->owed[i], &s->owed[i + 1], (s->n_owed - i) * sizeof s->owed[0]);
}

static void owed_over(struct session *s, unsigned i, enum asr_event ev, struct slice text)
{
	uint32_t utterance = s->owed[i].utterance;
	bool cancelled = s->owed[i].cancelled;

	owed_remove(s, i);
	if (!cancelled)
		s->a->h(ev, s->user, utterance, text.p, text.n, s->a->arg);
}

/* The one with this item; else the oldest whose commit was not confirmed. */
static int owed_find(const struct session *s, const char *item)
{
	for (unsigned i = 0; i < s->n_owed; i++)
		if (strcmp(s->owed[i].item, item) == 0)
			return (int)i;
	for (unsigned i = 0; i < s->n_owed; i++)
		if (!s->owed[i].item[0])
			return (int)i;
	return -1;
}

/* ---- the link ---- */

static void session_event(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
			  size_t len, void *arg);

/* A handler may close the session, so it is looked up anew for every utterance. */
static void session_lost(struct session *s, const char *why)
{
	const struct slice text = {(const uint8_t *)why, strlen(why)};
	struct asr *a = s->a;
	uint64_t user = s->user;

	log_warn("asr_lost", "user=%llu owed=%u why=\"%s\"", (unsigned long long)user, s->n_owed,
		 why);
	s->ws = ws_free(s->ws);
	s->open = false;
	s->broken = s->broken || s->utterance;
	wait_clear(s);
	for (unsigned n = s->n_owed; n && (s = session_of(a, user)) && s->n_owed; n--)
		owed_over(s, 0, ASR_FAILED, text);
}

static void session_connect(struct session *s)
{
	struct asr *a = s->a;
	uint64_t now = env_now(a->env);
	const char *const headers[] = {a->auth, NULL};
	struct ws_dial dial = {.url = a->url,
			       .headers = a->auth ? headers : NULL,
			       .connect_ms = 10000,
			       .max_message = OPENAI_MAX_MESSAGE};
	int err;

	if (s->ws || (s->tried_at && now < s->tried_at + RETRY_MS * 1000000ull))
		return;
	s->tried_at = now;
	err = ws_connect(&s->ws, a->ctx, &dial, session_event, s);
	if (err) {
		s->ws = NULL;
		log_warn("asr_connect_failed", "error=\"%s\"", strerror(err));
	}
}

static void session_opened(struct session *s)
{
	s->open = true;
	/* The session is described before anything that waited. */
	send_or_wait(s, openai_session_transcription(s->a->model, s->a->language), 0);
	while (s->first) {
		ws_send(s->ws, true, s->first->text, strlen(s->first->text));
		wait_drop_first(s);
	}
}

/* A commit that was too short is no words; any other refusal of one is a failure. */
static void fact_error(struct session *s, const struct openai_fact *f)
{
	bool little = strcmp(f->code, "input_audio_buffer_commit_empty") == 0;

	log_warn("asr_error", "code=%s fatal=%d text=\"%.*s\"", *f->code ? f->code : "none",
		 f->fatal, (int)f->text.n, (const char *)f->text.p);
	if (f->fatal && s->ws)
		ws_close(s->ws, 1000, NULL);
	for (unsigned k = 0; f->utterance && k < s->n_owed; k++)
		if (s->owed[k].utterance == f->utterance) {
			owed_over(s, k, little ? ASR_TRANSCRIPT : ASR_FAILED,
				  little ? (struct slice){(const uint8_t *)"", 0} : f->text);
			return;
		}
}

static void fact(struct session *s, const struct openai_fact *f)
{
	int i = -1;

	switch (f->type) {
	case OPENAI_COMMITTED:
		for (unsigned k = 0; k < s->n_owed && i < 0; k++)
			if (!s->owed[k].item[0])
				i = (int)k;
		if (i >= 0)
			memcpy(s->owed[i].item, f->item, sizeof s->owed[i].item);
		break;
	case OPENAI_PARTIAL:
		for (unsigned k = 0; k < s->n_owed && i < 0; k++)
			if (strcmp(s->owed[k].item, f->item) == 0)
				i = (int)k;
		if (i < 0 ? s->utterance != 0 : !s->owed[i].cancelled)
			s->a->h(ASR_PARTIAL, s->user, i < 0 ? s->utterance : s->owed[i].utterance,
				f->text.p, f->text.n, s->a->arg);
		break;
	case OPENAI_TRANSCRIPT:
	case OPENAI_TRANSCRIPT_FAILED:
		i = owed_find(s, f->item);
		if (i >= 0)
			owed_over(s, (unsigned)i,
				  f->type == OPENAI_TRANSCRIPT ? ASR_TRANSCRIPT : ASR_FAILED,
				  f->text);
		break;
	case OPENAI_ERROR:
		fact_error(s, f);
		break;
	default:
		break;
	}
}

static void session_event(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
			  size_t len, void *arg)
{
	struct session *s = arg;
	struct openai_fact f;
	char why[160];

	(void)ws;
	switch (ev) {
	case WS_OPEN:
		session_opened(s);
		break;
	case WS_TEXT:
		if (openai_parse(&f, data, len)) {
			s->a->malformed++;
			log_debug("asr_malformed", "bytes=%zu", len);
			break;
		}
		fact(s, &f);
		openai_fact_clear(&f);
		break;
	case WS_BINARY:
		s->a->malformed++;
		break;
	case WS_CLOSED:
		snprintf(why, sizeof why, "closed %u %.*s", code, len > 100 ? 100 : (int)len,
			 len ? (const char *)data : "");
		session_lost(s, why);
		break;
	}
}

/* ---- the owner's side ---- */

static void session_free(struct session *s)
{
	ws_free(s->ws);
	wait_clear(s);
	free(s);
}

int asr_start(struct asr *a, uint64_t user, uint32_t utterance)
{
	struct session *s = session_of(a, user);

	if (!s) {
		s = calloc(1, sizeof *s);
		if (!s)
			return ENOMEM;
		s->a = a;
		s->user = user;
		s->last = &s->first;
		s->next = a->sessions;
		a->sessions = s;
	}
	/* The one before was neither committed nor cancelled: its sound does not belong to this. */
	if (s->utterance && s->sound)
		send_or_wait(s, openai_clear(), 0);
	s->utterance = utterance;
	s->sound = 0;
	session_connect(s);
	s->broken = !s->ws;
	return 0;
}

void asr_append(struct asr *a, uint64_t user, uint32_t utterance, const uint8_t *pcm, size_t n)
{
	struct session *s = session_of(a, user);

	if (!s || s->utterance != utterance || s->broken || !n)
		return;
	s->sound += n;
	send_or_wait(s, openai_append(pcm, n), n);
}

void asr_commit(struct asr *a, uint64_t user, uint32_t utterance)
{
	struct session *s = session_of(a, user);
	bool little;

	if (!s || s->utterance != utterance)
		return;
	s->utterance = 0;
	little = s->sound < OPENAI_MIN_COMMIT;
	if (s->n_owed == OWED) {
		/* It will not answer these any more: the next utterance gets a session of its own.
		 */
		s->broken = true;
		session_lost(s, "it owes too many transcripts");
		s = session_of(a, user);
		if (!s)
			return;
	}
	if (s->broken) {
		tell(s, ASR_FAILED, utterance, "the session was lost");
	} else if (little) {
		if (s->sound)
			send_or_wait(s, openai_clear(), 0);
		tell(s, ASR_TRANSCRIPT, utterance, "");
	} else {
		s->owed[s->n_owed++] = (struct owed){.utterance = utterance};
		send_or_wait(s, openai_commit(utterance), 0);
	}
}

void asr_cancel(struct asr *a, uint64_t user, uint32_t utterance)
{
	struct session *s = session_of(a, user);

	if (!s)
		return;
	if (s->utterance == utterance) {
		s->utterance = 0;
		if (s->sound && !s->broken)
			send_or_wait(s, openai_clear(), 0);
	}
	for (unsigned i = 0; i < s->n_owed; i++)
		if (s->owed[i].utterance == utterance)
			s->owed[i].cancelled = true;
}

void asr_close(struct asr *a, uint64_t user)
{
	for (struct session **at = &a->sessions; *at; at = &(*at)->next)
		if ((*at)->user == user) {
			struct session *s = *at;

			*at = s->next;
			session_free(s);
			return;
		}
}

unsigned asr_sessions(const struct asr *a)
{
	unsigned n = 0;

	for (const struct session *s = a->sessions; s; s = s->next)
		n += s->ws != NULL;
	return n;
}

int asr_alloc(struct asr **out, const struct asr_conf *conf)
{
	struct asr *a;
	int err = ENOMEM;

	if (!out || !conf->env || !conf->ws || !conf->url || !conf->model || !conf->h)
		return EINVAL;
	a = calloc(1, sizeof *a);
	if (!a)
		return ENOMEM;
	a->env = conf->env;
	a->ctx = conf->ws;
	a->h = conf->h;
	a->arg = conf->arg;
	a->url = openai_url_transcription(conf->url);
	a->model = strdup(conf->model);
	a->language = strdup(conf->language ? conf->language : "");
	if (!a->url || !a->model || !a->language)
		goto out;
	if (conf->key && *conf->key && !(a->auth = openai_auth(conf->key)))
		goto out;
	*out = a;
	a = NULL;
	err = 0;
out:
	asr_free(a);
	return err;
}

struct asr *asr_free(struct asr *a)
{
	if (!a)
		return NULL;
	while (a->sessions) {
		struct session *s = a->sessions;

		a->sessions = s->next;
		session_free(s);
	}
	if (a->auth)
		explicit_bzero(a->auth, strlen(a->auth));
	free(a->auth);
	free(a->url);
	free(a->model);
	free(a->language);
	free(a);
	return NULL;
}
