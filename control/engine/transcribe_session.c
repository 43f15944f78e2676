#include "control/engine/transcribe_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/stt_wire.h"
#include "control/engine/core/describe.h"
#include "control/engine/core/log_limit.h"
#include "control/engine/core/rate_change.h"
#include "control/engine/core/transcription.h"
#include "control/engine/utterance_audio.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/base/time.h"
#include "proto/http/retry_after.h"

enum {
	ALL_AUDIO = 32 << 20,
	AT_ONCE = 48000, /* bytes of audio a message */
	SAID_MAX = 16384,
};

struct session {
	struct session *next;
	struct transcribe_session *a;
	uint64_t user;
	struct ws *ws; /* NULL: not connected, not trying */
	bool waits;    /* to connect, until held_until */
	struct transcription bridge;
	struct rate_change *rate;      /* NULL: the provider takes the room's */
	struct utterance_audio *audio; /* in order of their start */
	char why[160];		       /* it was lost, or is about to be; until it connects again */
	char *said;		       /* the first words of the next transcript; NULL: none */
};

struct transcribe_session {
	struct env *env;
	struct ws_ctx *ctx;
	const struct stt_wire *wire;
	char *url, *base, *model, *language, *auth;
	transcribe_h *h;
	void *arg;
	struct session *sessions;
	size_t bytes;	     /* of all audio that is kept */
	uint64_t held_until; /* the provider's rate limit forbids a connection until then */
	struct tmr *held;
	uint64_t malformed;
	struct log_limit errors[2]; /* the fatal ones are [1] */
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

static struct stt_session described(const struct transcribe_session *a)
{
	return (struct stt_session){.socket_url = a->url,
				    .http_url = a->base,
				    .model = a->model,
				    .language = a->language};
}

/* ---- audio ---- */

static struct utterance_audio *audio_of(const struct session *s, uint32_t utterance)
{
	struct utterance_audio *x = s->audio;

	while (x && x->utterance != utterance)
		x = x->next;
	return x;
}

/* Forgets the audio that nobody needs any more. */
static void audio_prune(struct session *s)
{
	for (struct utterance_audio **at = &s->audio; *at;)
		if (transcription_holds(&s->bridge, (*at)->utterance))
			at = &(*at)->next;
		else
			utterance_audio_free(at, &s->a->bytes);
}

/* Takes text. */
static void send_text(struct session *s, char *text)
{
	if (text)
		ws_send(s->ws, true, text, strlen(text));
	free(text);
}

static void send_audio(struct session *s, struct utterance_audio *x)
{
	const struct stt_wire *wire = s->a->wire;

	if (!x->begun && wire->begin)
		send_text(s, wire->begin());
	x->begun = true;
	while (x->sent < x->n) {
		size_t n = x->n - x->sent < AT_ONCE ? x->n - x->sent : AT_ONCE;

		if (wire->append)
			send_text(s, wire->append(x->pcm + x->sent, n));
		else
			ws_send(s->ws, false, x->pcm + x->sent, n);
		x->sent += n;
	}
	if (x->ended && !x->committed) {
		send_text(s, wire->commit(x->utterance));
		x->committed = true;
	}
}

/* Sends all that was not sent yet, in order. */
static void audio_pump(struct session *s)
{
	if (!s->ws || !s->bridge.up)
		return;
	for (struct utterance_audio *x = s->audio; x; x = x->next) {
		send_audio(s, x);
		if (s->a->wire->one_at_a_time)
			break;
	}
}

/* While the first connection is awaited. */
static void audio_limit(struct session *s)
{
	struct utterance_audio *x = s->audio;
	size_t over;

	while (x && (over = transcription_overfull(&s->bridge))) {
		over = utterance_audio_drop(x, over);
		transcription_dropped(&s->bridge, over);
		x = over ? x : x->next;
	}
}

/* The provider forgets what it has of the utterance. */
static void audio_discard(struct session *s, uint32_t utterance)
{
	struct utterance_audio *x = audio_of(s, utterance);

	if (x && x->sent && s->ws && s->bridge.up) {
		if (s->a->wire->clear) {
			send_text(s, s->a->wire->clear());
		} else {
			transcription_discard(&s->bridge, utterance);
			x->ended = true;
			audio_pump(s);
		}
	}
	audio_prune(s);
}

/* ---- the link ---- */

static void session_event(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
			  size_t len, void *arg);

static int session_connect(struct session *s)
{
	struct transcribe_session *a = s->a;
	const char *const headers[] = {a->auth, NULL};
	struct stt_session described_as = described(a);
	char *url = a->wire->url(&described_as);
	struct ws_dial dial = {.url = url,
			       .headers = a->auth ? headers : NULL,
			       .connect_ms = 10000,
			       .max_message = STT_MESSAGE_MAX};
	int err = url ? ws_connect(&s->ws, a->ctx, &dial, session_event, s) : ENOMEM;

	free(url);
	free(s->said);
	s->said = NULL;
	s->why[0] = '\0';
	for (struct utterance_audio *x = s->audio; x; x = x->next)
		utterance_audio_rewind(x);
	if (err) {
		s->ws = NULL;
		log_warn("asr_connect_failed", "error=\"%s\"", strerror(err));
	}
	return err;
}

/* Connects, when the provider may be asked again. EAGAIN: later than a person waits. */
static int session_dial(struct session *s)
{
	struct transcribe_session *a = s->a;
	uint64_t now = env_now(a->env);

	if (now >= a->held_until)
		return session_connect(s);
	if (a->held_until - now > RETRY_AFTER_PATIENCE_MS * NS_PER_MS)
		return EAGAIN;
	s->waits = true;
	tmr_start_at(a->held, a->held_until);
	return 0;
}

/* A handler may close the session, so it is looked up for every utterance; or begin a new utterance
 * in it, so the failed ones are listed first. */
static void session_lost(struct session *s, const char *why)
{
	struct transcribe_session *a = s->a;
	uint64_t user = s->user;
	uint32_t failed[TRANSCRIPTION_OWED + 1];
	unsigned n = 0;
	char text[sizeof s->why];
	uint32_t wait_ms;

	snprintf(text, sizeof text, "%s", *s->why ? s->why : why);
	memcpy(s->why, text, sizeof s->why);
	wait_ms = retry_after_told(text, strlen(text));
	if (wait_ms)
		a->held_until = env_now(a->env) + wait_ms * NS_PER_MS;
	log_warn("asr_lost", "user=%llu owed=%u why=\"%s\"", (unsigned long long)user,
		 s->bridge.owed, text);
	s->ws = ws_free(s->ws);
	while (transcription_lost(&s->bridge, env_now(a->env)))
		if (!session_dial(s))
			break;
	while ((failed[n] = transcription_fail_next(&s->bridge)))
		n++;
	audio_prune(s);
	for (unsigned i = 0; i < n && (s = session_of(a, user)); i++)
		tell(s, TRANSCRIBE_FAILED, failed[i], text);
}

/* A handler may close any session, so this looks from the start each time. */
static void connect_held(void *arg)
{
	struct transcribe_session *a = arg;
	struct session *s = a->sessions;

	while (s) {
		if (!s->waits) {
			s = s->next;
			continue;
		}
		s->waits = false;
		if (session_connect(s))
			session_lost(s, "it cannot be connected");
		s = a->sessions;
	}
}

static void session_opened(struct session *s)
{
	struct stt_session described_as = described(s->a);

	transcription_opened(&s->bridge);
	if (s->a->wire->open)
		send_text(s, s->a->wire->open(&described_as));
	audio_pump(s);
}

/* A refused commit that was too short is an empty transcript; any other refusal is a failure. */
static void fact_error(struct session *s, const struct stt_fact *f)
{
	uint32_t utterance = 0;
	char why[sizeof s->why];
	unsigned held;

	describe_error(f->code, f->text, why, sizeof why);
	if (log_limit_pass(&s->a->errors[f->fatal], env_now(s->a->env), &held))
		log_warn("asr_error", "fatal=%d error=\"%s\" held_back=%u", f->fatal, why, held);
	if (f->fatal && s->ws) {
		memcpy(s->why, why, sizeof s->why);
		ws_close(s->ws, 1000, NULL);
	}
	if (f->commit)
		utterance = transcription_refused(&s->bridge, f->utterance);
	audio_prune(s);
	audio_pump(s);
	if (utterance)
		s->a->h(f->empty ? TRANSCRIBE_TRANSCRIPT : TRANSCRIBE_FAILED, s->user, utterance,
			f->empty ? NULL : f->text.p, f->empty ? 0 : f->text.n,
			(struct transcribe_sure){0}, s->a->arg);
}

static void fact_partial(struct session *s, const struct stt_fact *f)
{
	const char *so_far = "";
	uint32_t utterance = transcription_partial(&s->bridge, f->item, f->text, f->whole, &so_far);

	if (utterance)
		tell(s, TRANSCRIBE_PARTIAL, utterance, so_far);
}

static void fact_final(struct session *s, const struct stt_fact *f)
{
	bool revised, failed = f->type == STT_FAILED;
	uint32_t utterance;

	if (transcription_interim_given(&s->bridge, f->item, &utterance)) {
		if (utterance && !failed)
			s->a->h(TRANSCRIBE_PARTIAL, s->user, utterance, f->text.p, f->text.n,
				(struct transcribe_sure){0}, s->a->arg);
		return;
	}
	utterance = transcription_done(&s->bridge, f->item, &revised);
	audio_prune(s);
	audio_pump(s);
	if (utterance && !(revised && failed))
		s->a->h(failed ? TRANSCRIBE_FAILED : TRANSCRIBE_TRANSCRIPT, s->user, utterance,
			f->text.p, f->text.n,
			(struct transcribe_sure){.doubt = f->doubt, .language = f->language},
			s->a->arg);
}

/* Memory that is short costs these words. */
static void said_append(struct session *s, struct slice text)
{
	size_t had = s->said ? strlen(s->said) : 0, n = had + text.n + 2;
	char *grown = text.n && n <= SAID_MAX ? realloc(s->said, n) : NULL;

	if (!grown)
		return;
	s->said = grown;
	snprintf(grown + had, n - had, "%s%.*s", had ? " " : "", (int)text.n, (const char *)text.p);
}

/* The words before it belong to it. */
static void fact_last(struct session *s, const struct stt_fact *f)
{
	struct stt_fact whole = *f;
	char *said;

	if (!s->said) {
		fact_final(s, f);
		return;
	}
	said_append(s, f->text);
	said = s->said;
	s->said = NULL;
	whole.text = (struct slice){(const uint8_t *)said, strlen(said)};
	fact_final(s, &whole);
	free(said);
}

static void fact(struct session *s, const struct stt_fact *f)
{
	switch (f->type) {
	case STT_READY:
		if (!s->bridge.up)
			session_opened(s);
		break;
	case STT_SEGMENT:
		said_append(s, f->text);
		break;
	case STT_COMMITTED:
		transcription_committed(&s->bridge, f->item);
		break;
	case STT_PARTIAL:
		fact_partial(s, f);
		break;
	case STT_FINAL:
		fact_last(s, f);
		break;
	case STT_FAILED:
		fact_final(s, f);
		break;
	case STT_ERROR:
		fact_error(s, f);
		break;
	case STT_IGNORED:
		break;
	}
}

static void session_event(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
			  size_t len, void *arg)
{
	struct session *s = arg;
	struct stt_fact f;
	char why[160];

	(void)ws;
	switch (ev) {
	case WS_OPEN:
		if (!s->a->wire->waits)
			session_opened(s);
		break;
	case WS_TEXT:
		if (s->a->wire->parse(&f, data, len)) {
			s->a->malformed++;
			log_debug("asr_malformed", "bytes=%zu", len);
			break;
		}
		fact(s, &f);
		stt_fact_clear(&f);
		break;
	case WS_BINARY:
		s->a->malformed++;
		break;
	case WS_CLOSED:
		describe_close(code, data, len, why, sizeof why);
		session_lost(s, why);
		break;
	}
}

/* ---- the owner's side ---- */

static void session_free(struct session *s)
{
	ws_free(s->ws);
	while (s->audio)
		utterance_audio_free(&s->audio, &s->a->bytes);
	rate_change_free(s->rate);
	free(s->said);
	free(s);
}

/* The key may be the one that it has: any change of the settings gives it once more. */
int transcribe_session_rekey(struct transcribe_session *a, const char *key)
{
	char *fresh = a->wire->auth(key);
	bool same;

	if (!fresh && key && *key)
		return ENOMEM;
	same = strcmp(fresh ? fresh : "", a->auth ? a->auth : "") == 0;
	if (a->auth)
		explicit_bzero(a->auth, strlen(a->auth));
	free(a->auth);
	a->auth = fresh;
	if (same)
		return 0;
	a->held_until = 0; /* that was asked of the key before */
	for (struct session *s = a->sessions; s; s = s->next) {
		s->bridge.tried_at = 0;
		if (s->waits)
			tmr_start_at(a->held, env_now(a->env));
	}
	return 0;
}

static struct session *session_alloc(struct transcribe_session *a, uint64_t user)
{
	struct session *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	if (a->wire->rate != TRANSCRIBE_RATE &&
	    rate_change_alloc(&s->rate, TRANSCRIBE_RATE, a->wire->rate)) {
		free(s);
		return NULL;
	}
	s->a = a;
	s->user = user;
	transcription_init(&s->bridge, (size_t)a->wire->rate / 1000 * 2 * a->wire->min_commit_ms);
	s->next = a->sessions;
	a->sessions = s;
	return s;
}

int transcribe_session_start(struct transcribe_session *a, uint64_t user, uint32_t utterance)
{
	struct session *s = session_of(a, user);
	struct transcription_out out;
	uint32_t before;
	int err;

	if (!s && !(s = session_alloc(a, user)))
		return ENOMEM;
	before = s->bridge.utterance;
	if (s->rate)
		rate_change_reset(s->rate);
	out = transcription_start(&s->bridge, utterance, env_now(a->env));
	if (out.clear)
		audio_discard(s, before);
	audio_prune(s);
	err = out.connect ? session_dial(s) : 0;
	if (err == EAGAIN)
		snprintf(s->why, sizeof s->why, "rate_limit: the provider asked for a longer wait");
	if (err)
		session_lost(s, "it cannot be connected");
	return 0;
}

static void take_audio(struct session *s, uint32_t utterance, const uint8_t *pcm, size_t n)
{
	struct utterance_audio *x;

	if (!transcription_append(&s->bridge, utterance, n).append)
		return;
	x = audio_of(s, utterance);
	if (!x && !(x = utterance_audio_alloc(&s->audio, utterance)))
		return;
	if (utterance_audio_append(x, pcm, n, &s->a->bytes, ALL_AUDIO))
		log_warn("asr_audio_lost", "utterance=%u bytes=%zu", utterance, n);
	audio_limit(s);
	audio_pump(s);
}

void transcribe_session_append(struct transcribe_session *a, uint64_t user, uint32_t utterance,
			       const uint8_t *pcm, size_t n)
{
	struct session *s = session_of(a, user);
	uint8_t *slow;

	if (!s || s->bridge.utterance != utterance)
		return;
	if (!s->rate) {
		take_audio(s, utterance, pcm, n);
		return;
	}
	slow = malloc(rate_change_most(s->rate, n));
	if (slow)
		take_audio(s, utterance, slow, rate_change_run(s->rate, pcm, n, slow));
	free(slow);
}

void transcribe_session_interim(struct transcribe_session *a, uint64_t user, uint32_t utterance)
{
	struct session *s = session_of(a, user);
	struct utterance_audio *x = s ? audio_of(s, utterance) : NULL;

	if (!x || !a->wire->interim || !transcription_interim(&s->bridge, utterance).commit)
		return;
	send_text(s, a->wire->commit(utterance));
	x->sent = 0;
	audio_pump(s);
}

void transcribe_session_commit(struct transcribe_session *a, uint64_t user, uint32_t utterance)
{
	static const char none[] = "there is no session";
	struct session *s = session_of(a, user);
	struct utterance_audio *x;
	struct transcription_out out;

	if (!s) {
		a->h(TRANSCRIBE_FAILED, user, utterance, (const uint8_t *)none, sizeof none - 1,
		     (struct transcribe_sure){0}, a->arg);
		return;
	}
	out = transcription_commit(&s->bridge, utterance);
	if (out.give_up) {
		/* The session does not answer any more: the next utterance gets a new one.
		 */
		session_lost(s, "it owes too many transcripts");
		s = session_of(a, user);
		if (!s)
			return;
	}
	if (out.clear)
		audio_discard(s, utterance);
	x = audio_of(s, utterance);
	if (x && out.commit)
		x->ended = true;
	else if (out.commit) /* there was no memory for its audio */
		out.failed = transcription_refused(&s->bridge, utterance) != 0;
	audio_prune(s);
	audio_pump(s);
	if (out.failed)
		tell(s, TRANSCRIBE_FAILED, utterance, *s->why ? s->why : "the session was lost");
	else if (out.empty)
		tell(s, TRANSCRIBE_TRANSCRIPT, utterance, "");
}

void transcribe_session_cancel(struct transcribe_session *a, uint64_t user, uint32_t utterance)
{
	struct session *s = session_of(a, user);

	if (!s)
		return;
	if (transcription_cancel(&s->bridge, utterance).clear)
		audio_discard(s, utterance);
	audio_prune(s);
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

	if (!out || !conf->env || !conf->ws || !conf->url || !conf->model || !conf->h ||
	    !stt_wire(conf->dialect))
		return EINVAL;
	a = calloc(1, sizeof *a);
	if (!a)
		return ENOMEM;
	a->env = conf->env;
	a->ctx = conf->ws;
	a->wire = stt_wire(conf->dialect);
	a->h = conf->h;
	a->arg = conf->arg;
	a->url = strdup(conf->url);
	a->base = strdup(conf->base ? conf->base : "");
	a->model = strdup(conf->model);
	a->language = strdup(conf->language ? conf->language : "");
	if (!a->url || !a->base || !a->model || !a->language)
		goto out;
	err = transcribe_session_rekey(a, conf->key);
	if (!err)
		err = tmr_alloc(&a->held, a->env, connect_held, a);
	if (err)
		goto out;
	*out = a;
	a = NULL;
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
	tmr_free(a->held);
	if (a->auth)
		explicit_bzero(a->auth, strlen(a->auth));
	free(a->auth);
	free(a->url);
	free(a->base);
	free(a->model);
	free(a->language);
	free(a);
	return NULL;
}
