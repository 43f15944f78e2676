#include "control/engine/transcribe_shared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/engine/core/session_share.h"

enum { SESSION = 1 }; /* the user id under which all speakers use the session */

/* Audio of an utterance that could not be sent yet. */
struct kept {
	struct kept *next;
	uint32_t utterance;
	size_t n;
	uint8_t *pcm; /* SESSION_SHARE_KEPT at most */
	size_t cap;
};

struct transcribe_shared {
	struct transcribe_session *asr;
	struct session_share share;
	struct kept *kept;
	uint64_t open[SESSION_SHARES]; /* users who have not closed it since they spoke */
	unsigned n_open;
	transcribe_h *h;
	void *arg;
};

static struct kept **kept_at(struct transcribe_shared *s, uint32_t utterance)
{
	struct kept **at = &s->kept;

	while (*at && (*at)->utterance != utterance)
		at = &(*at)->next;
	return at;
}

static void kept_drop(struct transcribe_shared *s, uint32_t utterance)
{
	struct kept **at = kept_at(s, utterance), *k = *at;

	if (!k)
		return;
	*at = k->next;
	free(k->pcm);
	free(k);
}

static int keep(struct kept *k, const uint8_t *pcm, size_t n)
{
	if (n > SESSION_SHARE_KEPT) {
		pcm += n - SESSION_SHARE_KEPT;
		n = SESSION_SHARE_KEPT;
	}
	if (k->n + n > SESSION_SHARE_KEPT) {
		size_t old = k->n + n - SESSION_SHARE_KEPT;

		memmove(k->pcm, k->pcm + old, k->n - old);
		k->n -= old;
	}
	if (k->n + n > k->cap) {
		size_t cap = 2 * k->cap > k->n + n ? 2 * k->cap : k->n + n;
		uint8_t *grown = realloc(k->pcm, cap);

		if (!grown)
			return ENOMEM;
		k->pcm = grown;
		k->cap = cap;
	}
	memcpy(k->pcm + k->n, pcm, n);
	k->n += n;
	return 0;
}

/* It holds the session from now on. */
static void take(struct transcribe_shared *s, uint32_t utterance, bool ended)
{
	const struct kept *k = *kept_at(s, utterance);

	transcribe_session_start(s->asr, SESSION, utterance);
	if (k)
		transcribe_session_append(s->asr, SESSION, utterance, k->pcm, k->n);
	kept_drop(s, utterance);
	if (ended)
		transcribe_session_commit(s->asr, SESSION, utterance);
}

static void over(struct transcribe_shared *s, uint32_t utterance)
{
	bool ended = false;
	uint32_t next = session_share_over(&s->share, utterance, &ended);

	kept_drop(s, utterance);
	if (next)
		take(s, next, ended);
}

static void fact(enum transcribe_event ev, uint64_t session, uint32_t utterance,
		 const uint8_t *text, size_t len, struct transcribe_sure sure, void *arg)
{
	struct transcribe_shared *s = arg;
	uint64_t user = session_share_user(&s->share, utterance);

	(void)session;
	if (!user)
		return;
	s->h(ev, user, utterance, text, len, sure, s->arg);
	if (ev != TRANSCRIBE_PARTIAL && session_share_holder(&s->share) == utterance)
		over(s, utterance);
}

static unsigned open_at(const struct transcribe_shared *s, uint64_t user)
{
	unsigned i = 0;

	while (i < s->n_open && s->open[i] != user)
		i++;
	return i;
}

int transcribe_shared_rekey(struct transcribe_shared *s, const char *key)
{
	return transcribe_session_rekey(s->asr, key);
}

int transcribe_shared_start(struct transcribe_shared *s, uint64_t user, uint32_t utterance)
{
	struct kept *k;

	if (!session_share_start(&s->share, user, utterance))
		return EBUSY;
	k = calloc(1, sizeof *k);
	if (!k) {
		over(s, utterance);
		return ENOMEM;
	}
	k->utterance = utterance;
	k->next = s->kept;
	s->kept = k;
	if (open_at(s, user) == s->n_open && s->n_open < SESSION_SHARES)
		s->open[s->n_open++] = user;
	return 0;
}

void transcribe_shared_append(struct transcribe_shared *s, uint32_t utterance, const uint8_t *pcm,
			      size_t n)
{
	enum session_share_state state = session_share_sound(&s->share, utterance, n);
	struct kept *k = *kept_at(s, utterance);

	if (state == SESSION_SHARE_HOLDS)
		transcribe_session_append(s->asr, SESSION, utterance, pcm, n);
	else if (state && k && keep(k, pcm, n))
		over(s, utterance);
}

void transcribe_shared_promoted(struct transcribe_shared *s, uint32_t utterance)
{
	if (session_share_promoted(&s->share, utterance))
		take(s, utterance, false);
}

void transcribe_shared_commit(struct transcribe_shared *s, uint64_t user, uint32_t utterance)
{
	static const char why[] = "the session was not free";
	enum session_share_state state = session_share_sound(&s->share, utterance, 0);

	if (session_share_ended(&s->share, utterance))
		transcribe_session_commit(s->asr, SESSION, utterance);
	else if (state == SESSION_SHARE_NONE)
		s->h(TRANSCRIBE_FAILED, user, utterance, (const uint8_t *)why, sizeof why - 1,
		     (struct transcribe_sure){0}, s->arg);
}

void transcribe_shared_interim(struct transcribe_shared *s, uint32_t utterance)
{
	if (session_share_holder(&s->share) == utterance)
		transcribe_session_interim(s->asr, SESSION, utterance);
}

void transcribe_shared_cancel(struct transcribe_shared *s, uint32_t utterance)
{
	if (session_share_holder(&s->share) == utterance)
		transcribe_session_cancel(s->asr, SESSION, utterance);
	over(s, utterance);
}

void transcribe_shared_close(struct transcribe_shared *s, uint64_t user)
{
	unsigned i = open_at(s, user);
	uint32_t utterance;

	while ((utterance = session_share_of(&s->share, user)))
		transcribe_shared_cancel(s, utterance);
	if (i == s->n_open)
		return;
	s->open[i] = s->open[--s->n_open];
	if (!s->n_open)
		transcribe_session_close(s->asr, SESSION);
}

unsigned transcribe_shared_sessions(const struct transcribe_shared *s)
{
	return transcribe_session_sessions(s->asr);
}

int transcribe_shared_alloc(struct transcribe_shared **out, const struct transcribe_conf *conf)
{
	struct transcribe_conf inner = *conf;
	struct transcribe_shared *s;
	int err;

	if (!out || !conf->env || !conf->h)
		return EINVAL;
	s = calloc(1, sizeof *s);
	if (!s)
		return ENOMEM;
	s->h = conf->h;
	s->arg = conf->arg;
	inner.h = fact;
	inner.arg = s;
	err = transcribe_session_alloc(&s->asr, &inner);
	if (err) {
		free(s);
		return err;
	}
	*out = s;
	return 0;
}

struct transcribe_shared *transcribe_shared_free(struct transcribe_shared *s)
{
	if (!s)
		return NULL;
	transcribe_session_free(s->asr);
	while (s->kept)
		kept_drop(s, s->kept->utterance);
	free(s);
	return NULL;
}
