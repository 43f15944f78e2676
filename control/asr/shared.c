#include "control/asr/shared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/room/share.h"

enum { SESSION = 1 }; /* the user whose session everybody's is */

/* An utterance's sound that could not be sent yet. */
struct kept {
	struct kept *next;
	uint32_t utterance;
	size_t n;
	uint8_t *pcm; /* ROOM_SHARE_KEPT at most */
	size_t cap;
};

struct asr_shared {
	struct asr *asr;
	struct room_share share;
	struct kept *kept;
	uint64_t open[ROOM_SHARES]; /* users who have not closed it since they spoke */
	unsigned n_open;
	asr_h *h;
	void *arg;
};

static struct kept **kept_at(struct asr_shared *s, uint32_t utterance)
{
	struct kept **at = &s->kept;

	while (*at && (*at)->utterance != utterance)
		at = &(*at)->next;
	return at;
}

static void kept_drop(struct asr_shared *s, uint32_t utterance)
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

/* It holds the session from now on. */
static void take(struct asr_shared *s, uint32_t utterance, bool ended)
{
	const struct kept *k = *kept_at(s, utterance);

	asr_start(s->asr, SESSION, utterance);
	if (k)
		asr_append(s->asr, SESSION, utterance, k->pcm, k->n);
	kept_drop(s, utterance);
	if (ended)
		asr_commit(s->asr, SESSION, utterance);
}

static void over(struct asr_shared *s, uint32_t utterance)
{
	bool ended = false;
	uint32_t next = room_share_over(&s->share, utterance, &ended);

	kept_drop(s, utterance);
	if (next)
		take(s, next, ended);
}

static void fact(enum asr_event ev, uint64_t session, uint32_t utterance, const uint8_t *text,
		 size_t len, struct asr_sure sure, void *arg)
{
	struct asr_shared *s = arg;
	uint64_t user = room_share_user(&s->share, utterance);

	(void)session;
	if (!user)
		return;
	s->h(ev, user, utterance, text, len, sure, s->arg);
	if (ev != ASR_PARTIAL && room_share_holder(&s->share) == utterance)
		over(s, utterance);
}

static unsigned open_at(const struct asr_shared *s, uint64_t user)
{
	unsigned i = 0;

	while (i < s->n_open && s->open[i] != user)
		i++;
	return i;
}

int asr_shared_start(struct asr_shared *s, uint64_t user, uint32_t utterance)
{
	struct kept *k;

	if (!room_share_start(&s->share, user, utterance))
		return EBUSY;
	k = calloc(1, sizeof *k);
	if (!k) {
		over(s, utterance);
		return ENOMEM;
	}
	k->utterance = utterance;
	k->next = s->kept;
	s->kept = k;
	if (open_at(s, user) == s->n_open && s->n_open < ROOM_SHARES)
		s->open[s->n_open++] = user;
	return 0;
}

void asr_shared_append(struct asr_shared *s, uint32_t utterance, const uint8_t *pcm, size_t n)
{
	enum room_share_state state = room_share_sound(&s->share, utterance, n);
	struct kept *k = *kept_at(s, utterance);

	if (state == ROOM_SHARE_HOLDS)
		asr_append(s->asr, SESSION, utterance, pcm, n);
	else if (state && k && keep(k, pcm, n))
		over(s, utterance);
}

void asr_shared_promoted(struct asr_shared *s, uint32_t utterance)
{
	if (room_share_promoted(&s->share, utterance))
		take(s, utterance, false);
}

void asr_shared_commit(struct asr_shared *s, uint64_t user, uint32_t utterance)
{
	static const char why[] = "the session was not free";
	enum room_share_state state = room_share_sound(&s->share, utterance, 0);

	if (room_share_ended(&s->share, utterance))
		asr_commit(s->asr, SESSION, utterance);
	else if (state == ROOM_SHARE_NONE)
		s->h(ASR_FAILED, user, utterance, (const uint8_t *)why, sizeof why - 1,
		     (struct asr_sure){0}, s->arg);
}

void asr_shared_interim(struct asr_shared *s, uint32_t utterance)
{
	if (room_share_holder(&s->share) == utterance)
		asr_interim(s->asr, SESSION, utterance);
}

void asr_shared_cancel(struct asr_shared *s, uint32_t utterance)
{
	if (room_share_holder(&s->share) == utterance)
		asr_cancel(s->asr, SESSION, utterance);
	over(s, utterance);
}

void asr_shared_close(struct asr_shared *s, uint64_t user)
{
	unsigned i = open_at(s, user);
	uint32_t utterance;

	while ((utterance = room_share_of(&s->share, user)))
		asr_shared_cancel(s, utterance);
	if (i == s->n_open)
		return;
	s->open[i] = s->open[--s->n_open];
	if (!s->n_open)
		asr_close(s->asr, SESSION);
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
		kept_drop(s, s->kept->utterance);
	free(s);
	return NULL;
}
