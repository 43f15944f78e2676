#include "control/asr/shared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/room/share.h"
#include "ipc/env.h"

enum { SESSION = 1 }; /* the user whose session everybody's is */

/* A speaker's sound that could not be sent yet. */
struct kept {
	struct kept *next;
	uint64_t user;
	uint32_t utterance;
	size_t n;
	uint8_t *pcm; /* ROOM_SHARE_KEPT at most */
	size_t cap;
};

struct asr_shared {
	struct env *env;
	struct asr *asr;
	struct room_share share;
	struct kept *kept;
	asr_h *h;
	void *arg;
};

static struct kept *kept_of(const struct asr_shared *s, uint64_t user)
{
	for (struct kept *k = s->kept; k; k = k->next)
		if (k->user == user)
			return k;
	return NULL;
}

static void kept_drop(struct asr_shared *s, uint64_t user)
{
	for (struct kept **at = &s->kept; *at; at = &(*at)->next)
		if ((*at)->user == user) {
			struct kept *k = *at;

			*at = k->next;
			free(k->pcm);
			free(k);
			return;
		}
}

static int keep(struct kept *k, const uint8_t *pcm, size_t n)
{
	if (n > ROOM_SHARE_KEPT) {
		pcm += n - ROOM_SHARE_KEPT;
		n = ROOM_SHARE_KEPT;
	}
	if (k->n + n > ROOM_SHARE_KEPT) {
		size_t old = k->n + n - ROOM_SHARE_KEPT;

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

/* The user holds the session from now on. */
static void take(struct asr_shared *s, uint64_t user, uint32_t utterance, bool ended)
{
	struct kept *k = kept_of(s, user);

	asr_start(s->asr, SESSION, utterance);
	if (k && k->utterance == utterance)
		asr_append(s->asr, SESSION, utterance, k->pcm, k->n);
	kept_drop(s, user);
	if (ended)
		asr_commit(s->asr, SESSION, utterance);
}

static void over(struct asr_shared *s, uint64_t user)
{
	uint32_t utterance;
	bool ended;
	uint64_t next = room_share_over(&s->share, user, &utterance, &ended, env_now(s->env));

	kept_drop(s, user);
	if (next)
		take(s, next, utterance, ended);
}

static void fact(enum asr_event ev, uint64_t session, uint32_t utterance, const uint8_t *text,
		 size_t len, uint32_t doubt, void *arg)
{
	struct asr_shared *s = arg;
	uint64_t user = room_share_holder(&s->share);

	(void)session;
	if (!user)
		return;
	s->h(ev, user, utterance, text, len, doubt, s->arg);
	if (ev != ASR_PARTIAL && room_share_holder(&s->share) == user)
		over(s, user);
}

int asr_shared_start(struct asr_shared *s, uint64_t user, uint32_t utterance)
{
	struct kept *k;

	if (!room_share_start(&s->share, user, utterance))
		return EBUSY;
	k = kept_of(s, user);
	if (!k) {
		k = calloc(1, sizeof *k);
		if (!k) {
			over(s, user);
			return ENOMEM;
		}
		k->user = user;
		k->next = s->kept;
		s->kept = k;
	}
	k->utterance = utterance;
	k->n = 0;
	return 0;
}

void asr_shared_append(struct asr_shared *s, uint64_t user, uint32_t utterance, const uint8_t *pcm,
		       size_t n)
{
	enum room_share_state state = room_share_sound(&s->share, user, utterance, n);
	struct kept *k = kept_of(s, user);

	if (state == ROOM_SHARE_HOLDS)
		asr_append(s->asr, SESSION, utterance, pcm, n);
	else if (state && k && keep(k, pcm, n))
		over(s, user);
}

void asr_shared_promoted(struct asr_shared *s, uint64_t user, uint32_t utterance)
{
	if (room_share_promoted(&s->share, user, utterance))
		take(s, user, utterance, false);
}

void asr_shared_commit(struct asr_shared *s, uint64_t user, uint32_t utterance)
{
	static const char why[] = "the session was not free";
	enum room_share_state state = room_share_sound(&s->share, user, utterance, 0);

	if (room_share_ended(&s->share, user, utterance, env_now(s->env)))
		asr_commit(s->asr, SESSION, utterance);
	else if (state == ROOM_SHARE_NONE)
		s->h(ASR_FAILED, user, utterance, (const uint8_t *)why, sizeof why - 1, 0, s->arg);
}

void asr_shared_peek(struct asr_shared *s, uint64_t user, uint32_t utterance)
{
	if (room_share_holder(&s->share) == user)
		asr_peek(s->asr, SESSION, utterance);
}

void asr_shared_cancel(struct asr_shared *s, uint64_t user, uint32_t utterance)
{
	if (room_share_holder(&s->share) == user)
		asr_cancel(s->asr, SESSION, utterance);
	if (room_share_of(&s->share, user) == utterance)
		over(s, user);
}

void asr_shared_close(struct asr_shared *s, uint64_t user)
{
	asr_shared_cancel(s, user, room_share_of(&s->share, user));
	kept_drop(s, user);
}

unsigned asr_shared_sessions(const struct asr_shared *s)
{
	return asr_sessions(s->asr);
}

int asr_shared_alloc(struct asr_shared **out, const struct asr_conf *conf)
{
	struct asr_conf inner = *conf;
	struct asr_shared *s;
	int err;

	if (!out || !conf->env || !conf->h)
		return EINVAL;
	s = calloc(1, sizeof *s);
	if (!s)
		return ENOMEM;
	s->env = conf->env;
	s->h = conf->h;
	s->arg = conf->arg;
	inner.h = fact;
	inner.arg = s;
	err = asr_alloc(&s->asr, &inner);
	if (err) {
		free(s);
		return err;
	}
	*out = s;
	return 0;
}

struct asr_shared *asr_shared_free(struct asr_shared *s)
{
	if (!s)
		return NULL;
	asr_free(s->asr);
	while (s->kept)
		kept_drop(s, s->kept->user);
	free(s);
	return NULL;
}
