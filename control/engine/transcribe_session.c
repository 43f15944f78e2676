#include "control/engine/transcribe_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/openai.h"
#include "control/engine/core/transcription.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/ws.h"

enum { AGAIN = 48000 }; /* bytes of audio a message when it is sent again */

/* A client event that waits for the session to open. */
struct wait {
	struct wait *next;
	size_t sound; /* bytes of audio in it; 0 for another event */
	char *text;
};

struct session {
	struct session *next;
	struct transcribe_session *a;
	uint64_t user;
	struct ws *ws; /* NULL: not connected, not trying */
	struct transcription bridge;
	struct wait *first, **last;
	uint8_t *sound; /* audio of the running utterance, kept for an interim request */
	size_t n_sound, cap_sound;
	bool whole; /* all of its audio is kept */
};

struct transcribe_session {
	struct env *env;
	struct ws_ctx *ctx;
	char *url, *model, *language, *auth;
	transcribe_h *h;
	void *arg;
	struct session *sessions;
	uint64_t malformed;
};

static void tell(struct session *s, enum transcribe_event ev, uint32_t utterance, const char *text)
{
	s->a->h(ev, s->user, utterance, (const uint8_t *)text, strlen(text),
		(struct transcribe_sure){0}, s->a->arg);
}

static struct session *session_of(const struct transcribe_session *a, uint64_t user)
{
	for (struct session *s = a->sessions; s; s = s->next)
		if (s->user == user)
			return s;
	return NULL;
}

/* ---- events that wait for the session ---- */

static void wait_drop_first(struct session *s)
{
	struct wait *w = s->first;

	s->first = w->next;
	if (!s->first)
		s->last = &s->first;
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
	if (s->bridge.up) {
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
	while (s->first->sound && transcription_overfull(&s->bridge, s->first->next != NULL)) {
		transcription_dropped(&s->bridge, s->first->sound);
		wait_drop_first(s);
	}
	return;
drop:
	free(text);
}

/* ---- the link ---- */

static void session_event(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
			  size_t len, void *arg);

/* A handler may close the session, so it is looked up for every utterance; or begin a new utterance
 * in it, so the failed ones are listed first. */
static void session_lost(struct session *s, const char *why)
{
	struct transcribe_session *a = s->a;
	uint64_t user = s->user;
	uint32_t failed[TRANSCRIPTION_OWED + 1];
	unsigned n = 0;

	log_warn("asr_lost", "user=%llu owed=%u why=\"%s\"", (unsigned long long)user,
		 s->bridge.owed, why);
	s->ws = ws_free(s->ws);
	wait_clear(s);
	transcription_lost(&s->bridge);
	while ((failed[n] = transcription_fail_next(&s->bridge)))
		n++;
	for (unsigned i = 0; i < n && (s = session_of(a, user)); i++)
		tell(s, TRANSCRIBE_FAILED, failed[i], why);
}

static void session_connect(struct session *s)
{
	struct transcribe_session *a = s->a;
	const char *const headers[] = {a->auth, NULL};
	struct ws_dial dial = {.url = a->url,
			       .headers = a->auth ? headers : NULL,
			       .connect_ms = 10000,
			       .max_message = OPENAI_MAX_MESSAGE};
	int err;

	err = ws_connect(&s->ws, a->ctx, &dial, session_event, s);
	if (err) {
		s->ws = NULL;
		transcription_lost(&s->bridge);
		log_warn("asr_connect_failed", "error=\"%s\"", strerror(err));
	}
}

static void session_opened(struct session *s)
{
	transcription_opened(&s->bridge);
	/* The session update goes before the events that waited. */
	send_or_wait(s, openai_session_transcription(s->a->model, s->a->language), 0);
	while (s->first) {
		ws_send(s->ws, true, s->first->text, strlen(s->first->text));
		wait_drop_first(s);
	}
}

/* A refused commit that was too short is an empty transcript; any other refusal is a failure. */
static void fact_error(struct session *s, const struct openai_fact *f)
{
	bool little = strcmp(f->code, "input_audio_buffer_commit_empty") == 0;

	log_warn("asr_error", "code=%s fatal=%d text=\"%.*s\"", *f->code ? f->code : "none",
		 f->error == OPENAI_ERROR_FATAL, (int)f->text.n, (const char *)f->text.p);
	if (f->error == OPENAI_ERROR_FATAL && s->ws)
		ws_close(s->ws, 1000, NULL);
	if (transcription_refused(&s->bridge, f->utterance))
		s->a->h(little ? TRANSCRIBE_TRANSCRIPT : TRANSCRIBE_FAILED, s->user, f->utterance,
			little ? NULL : f->text.p, little ? 0 : f->text.n,
			(struct transcribe_sure){0}, s->a->arg);
}

static void fact_words(struct session *s, const struct openai_fact *f)
{
	bool revised, failed = f->type == OPENAI_TRANSCRIPT_FAILED;
	const char *so_far = "";
	uint32_t utterance;

	if (f->type == OPENAI_PARTIAL) {
		utterance = transcription_partial(&s->bridge, f->item, (const char *)f->text.p,
						  f->text.n, &so_far);
		if (utterance)
			tell(s, TRANSCRIBE_PARTIAL, utterance, so_far);
		return;
	}
	if (transcription_interim_given(&s->bridge, f->item, &utterance)) {
		if (utterance && !failed)
			s->a->h(TRANSCRIBE_PARTIAL, s->user, utterance, f->text.p, f->text.n,
				(struct transcribe_sure){0}, s->a->arg);
		return;
	}
	utterance = transcription_done(&s->bridge, f->item, &revised);
	if (utterance && !(revised && failed))
		s->a->h(failed ? TRANSCRIBE_FAILED : TRANSCRIBE_TRANSCRIPT, s->user, utterance,
			f->text.p, f->text.n, (struct transcribe_sure){.doubt = f->doubt},
			s->a->arg);
}

static void fact(struct session *s, const struct openai_fact *f)
{
	switch (f->type) {
	case OPENAI_COMMITTED:
		transcription_committed(&s->bridge, f->item);
		break;
	case OPENAI_PARTIAL:
	case OPENAI_TRANSCRIPT:
	case OPENAI_TRANSCRIPT_FAILED:
		fact_words(s, f);
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

static void sound_drop(struct session *s)
{
	free(s->sound);
	s->sound = NULL;
	s->n_sound = s->cap_sound = 0;
	s->whole = false;
}

static void sound_keep(struct session *s, const uint8_t *pcm, size_t n)
{
	if (s->whole && s->n_sound + n > s->cap_sound) {
		size_t cap = 2 * (s->n_sound + n);
		uint8_t *grown = cap <= 2 * TRANSCRIPTION_INTERIM ? realloc(s->sound, cap) : NULL;

		if (!grown) {
			sound_drop(s);
			return;
		}
		s->sound = grown;
		s->cap_sound = cap;
	}
	if (s->whole && n)
		memcpy(s->sound + s->n_sound, pcm, n);
	s->n_sound += s->whole ? n : 0;
}

static void session_free(struct session *s)
{
	ws_free(s->ws);
	wait_clear(s);
	sound_drop(s);
	free(s);
}

int transcribe_session_rekey(struct transcribe_session *a, const char *key)
{
	return openai_auth_replace(&a->auth, key);
}

int transcribe_session_start(struct transcribe_session *a, uint64_t user, uint32_t utterance)
{
	struct session *s = session_of(a, user);
	struct transcription_out out;

	if (!s) {
		s = calloc(1, sizeof *s);
		if (!s)
			return ENOMEM;
		s->a = a;
		s->user = user;
		s->last = &s->first;
		transcription_init(&s->bridge, OPENAI_MIN_COMMIT);
		s->next = a->sessions;
		a->sessions = s;
	}
	sound_drop(s);
	s->whole = true;
	out = transcription_start(&s->bridge, utterance, env_now(a->env));
	if (out.clear)
		send_or_wait(s, openai_clear(), 0);
	if (out.connect)
		session_connect(s);
	return 0;
}

void transcribe_session_append(struct transcribe_session *a, uint64_t user, uint32_t utterance,
			       const uint8_t *pcm, size_t n)
{
	struct session *s = session_of(a, user);

	if (!s || !transcription_append(&s->bridge, utterance, n).append)
		return;
	sound_keep(s, pcm, n);
	send_or_wait(s, openai_append(pcm, n), n);
}

void transcribe_session_interim(struct transcribe_session *a, uint64_t user, uint32_t utterance)
{
	struct session *s = session_of(a, user);

	if (!s || !s->whole || !transcription_interim(&s->bridge, utterance).commit)
		return;
	send_or_wait(s, openai_commit(utterance), 0);
	for (size_t at = 0; at < s->n_sound; at += AGAIN) {
		size_t n = s->n_sound - at < AGAIN ? s->n_sound - at : AGAIN;

		send_or_wait(s, openai_append(s->sound + at, n), n);
	}
}

void transcribe_session_commit(struct transcribe_session *a, uint64_t user, uint32_t utterance)
{
	static const char none[] = "there is no session";
	struct session *s = session_of(a, user);
	struct transcription_out out;

	if (!s) {
		a->h(TRANSCRIBE_FAILED, user, utterance, (const uint8_t *)none, sizeof none - 1,
		     (struct transcribe_sure){0}, a->arg);
		return;
	}
	out = transcription_commit(&s->bridge, utterance);
	if (!s->bridge.utterance)
		sound_drop(s);
	if (out.give_up) {
		/* The session does not answer any more: the next utterance gets a new one.
		 */
		session_lost(s, "it owes too many transcripts");
		s = session_of(a, user);
		if (!s)
			return;
	}
	if (out.clear)
		send_or_wait(s, openai_clear(), 0);
	if (out.commit)
		send_or_wait(s, openai_commit(utterance), 0);
	if (out.failed)
		tell(s, TRANSCRIBE_FAILED, utterance, "the session was lost");
	else if (out.empty)
		tell(s, TRANSCRIBE_TRANSCRIPT, utterance, "");
}

void transcribe_session_cancel(struct transcribe_session *a, uint64_t user, uint32_t utterance)
{
	struct session *s = session_of(a, user);

	if (!s)
		return;
	if (transcription_cancel(&s->bridge, utterance).clear)
		send_or_wait(s, openai_clear(), 0);
	if (!s->bridge.utterance)
		sound_drop(s);
}

void transcribe_session_close(struct transcribe_session *a, uint64_t user)
{
	for (struct session **at = &a->sessions; *at; at = &(*at)->next)
		if ((*at)->user == user) {
			struct session *s = *at;

			*at = s->next;
			session_free(s);
			return;
		}
}

unsigned transcribe_session_sessions(const struct transcribe_session *a)
{
	unsigned n = 0;

	for (const struct session *s = a->sessions; s; s = s->next)
		n += s->ws != NULL;
	return n;
}

int transcribe_session_alloc(struct transcribe_session **out, const struct transcribe_conf *conf)
{
	struct transcribe_session *a;
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
	transcribe_session_free(a);
	return err;
}

struct transcribe_session *transcribe_session_free(struct transcribe_session *a)
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
