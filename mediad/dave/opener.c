#include <errno.h>
#include <stdlib.h>

#include "mediad/dave/aead.h"
#include "mediad/dave/key_internal.h"
#include "mediad/dave/media.h"
#include "proto/base/not_cleared.h"
#include "proto/base/time.h"
#include "proto/base/touch.h"

#define GRACE (DAVE_GRACE_MS * NS_PER_MS)
#define NEVER UINT64_MAX

struct held_key {
	struct dave_key *key;
	uint64_t added;	      /* when the ratchet was added, not this pair of generations */
	uint32_t reached;     /* the generation that it was added with, since frames of it opened */
	uint64_t expires;     /* NEVER: the newest, of a member */
	uint64_t first_until; /* until when the first generation is accepted; NEVER until the second
				 was used */
};

struct dave_opener {
	/* Beside the first keys: usually there is one, and its speaker's memory is cold. */
	uint64_t now;
	uint64_t clear_until;
	unsigned n;
	bool next_requested;		 /* the next pair of the newest ratchet was requested */
	struct held_key keys[DAVE_KEYS]; /* oldest first */
};

int dave_opener_alloc(struct dave_opener **out)
{
	struct dave_opener *o = calloc(1, sizeof *o);

	if (!o)
		return ENOMEM;
	touch_pages(o, sizeof *o);
	*out = o;
	return 0;
}

struct dave_opener *dave_opener_free(struct dave_opener *o)
{
	if (!o)
		return NULL;
	for (unsigned i = 0; i < o->n; i++)
		dave_key_free(o->keys[i].key);
	free(o);
	return NULL;
}

/* ---- keys ---- */

/* Drops the first `count` keys. */
static void drop_oldest(struct dave_opener *o, unsigned count, dave_key_h *h, void *arg)
{
	if (!count)
		return;
	for (unsigned i = 0; i < count; i++)
		h(o->keys[i].key, arg);
	o->n -= count;
	memmove(o->keys, o->keys + count, o->n * sizeof o->keys[0]);
}

void dave_opener_clear(struct dave_opener *o, dave_key_h *h, void *arg)
{
	drop_oldest(o, o->n, h, arg);
}

/* Older ones expire no later than newer ones. */
void dave_opener_sweep(struct dave_opener *o, uint64_t now, dave_key_h *h, void *arg)
{
	unsigned spent = 0;

	o->now = now;
	while (spent < o->n && o->keys[spent].expires <= now)
		spent++;
	drop_oldest(o, spent, h, arg);
}

/* Replaces the pair of generations of a present ratchet. */
static void replace_pair(struct dave_opener *o, struct held_key *s, struct dave_key *key,
			 dave_key_h *h, void *arg)
{
	if (key->generation <= s->key->generation) {
		h(key, arg);
		return;
	}
	key->window = s->key->window;
	h(s->key, arg);
	s->key = key;
	s->first_until = NEVER;
	if (s == &o->keys[o->n - 1])
		o->next_requested = false;
}

void dave_opener_expire(struct dave_opener *o, uint64_t now)
{
	struct held_key *newest = o->n ? &o->keys[o->n - 1] : NULL;

	if (newest && newest->expires == NEVER)
		newest->expires = now + GRACE;
}

void dave_opener_add(struct dave_opener *o, struct dave_key *key, uint64_t now, dave_key_h *h,
		     void *arg)
{
	dave_opener_sweep(o, now, h, arg);
	for (unsigned i = 0; i < o->n; i++) {
		if (dave_key_same(o->keys[i].key, key)) {
			replace_pair(o, &o->keys[i], key, h, arg);
			return;
		}
	}
	if (o->n == DAVE_KEYS)
		drop_oldest(o, 1, h, arg);
	dave_opener_expire(o, now);
	o->keys[o->n++] = (struct held_key){.key = key,
					    .added = now,
					    .reached = key->generation,
					    .expires = key->until ? key->until : NEVER,
					    .first_until = NEVER};
	o->next_requested = false;
}

void dave_opener_clear_until(struct dave_opener *o, uint64_t until)
{
	o->clear_until = until;
}

bool dave_opener_wants_next(struct dave_opener *o)
{
	if (o->next_requested || !o->n || o->keys[o->n - 1].first_until > o->now)
		return false;
	o->next_requested = true;
	return true;
}

/* ---- frames ---- */

/* Chooses the cipher for a frame of this counter and completes its nonce. Returns NULL when the
 * generation is not available. */
static struct aead *choose_cipher(const struct held_key *s, uint32_t counter, uint64_t now,
				  uint64_t *nonce)
{
	uint32_t oldest = s->key->generation + (s->first_until <= now);
	uint32_t generation = dave_generation(oldest, (uint8_t)(counter >> 24));

	uint64_t age = now > s->added ? (now - s->added) / NS_PER_S : 0;

	/* A ratchet this young cannot have reached this generation. */
	if (generation > s->reached + (age * DAVE_RATE_MAX >> 24))
		return NULL;
	*nonce = dave_nonce(generation, counter);
	return dave_key_cipher(s->key, generation);
}

static bool open_with(struct aead *cipher, const struct dave_frame *f, uint8_t *out)
{
	struct aead_frame a = {.range = f->range, .n_ranges = f->n_ranges, .n = f->body.n};

	if (!f->n_ranges)
		return aead_open_whole(cipher, f->nonce, f->body.p, f->body.n, f->tag.p, out);
	return aead_open(cipher, f->nonce, &a, f->body.p, f->tag.p, out);
}

static enum dave_opened open_with_key(struct held_key *s, const struct dave_frame *f, uint64_t now,
				      uint8_t *out)
{
	uint64_t nonce;
	struct aead *cipher = choose_cipher(s, f->nonce, now, &nonce);

	/* A used nonce is decrypted too: only an authentic frame is a replay, and not a frame
	 * encrypted with a key that we lack. */
	if (!cipher || !open_with(cipher, f, out))
		return DAVE_FAILED;
	if (!dave_window_fresh(&s->key->window, nonce))
		return DAVE_REPLAYED;
	dave_window_mark(&s->key->window, nonce);
	if (nonce >> 24 > s->key->generation && s->first_until == NEVER)
		s->first_until = now + GRACE;
	return DAVE_SEALED;
}

static enum dave_opened open_sealed(struct dave_opener *o, const struct dave_frame *f, uint64_t now,
				    uint8_t *out, uint64_t *epoch)
{
	enum dave_opened got = DAVE_NO_KEY;

	for (unsigned i = o->n; i-- > 0 && o->keys[i].expires > now;) {
		got = open_with_key(&o->keys[i], f, now, out);
		if (got == DAVE_SEALED)
			*epoch = o->keys[i].key->epoch;
		if (got != DAVE_FAILED)
			break;
	}
	return got;
}

enum dave_opened dave_open(struct dave_opener *o, struct slice frame, uint64_t now, uint8_t *out,
			   size_t cap, size_t *len, uint64_t *epoch)
{
	struct dave_frame f NOT_CLEARED;
	enum dave_opened got;

	o->now = now;
	if (cap < frame.n)
		return DAVE_FAILED;
	if (dave_is_silence(frame.p, frame.n)) {
		got = DAVE_SILENCE;
	} else if (!dave_frame_parse(&f, frame.p, frame.n)) {
		got = now < o->clear_until || o->clear_until == NEVER ? DAVE_CLEAR
								      : DAVE_NOT_SEALED;
	} else {
		got = open_sealed(o, &f, now, out, epoch);
		if (got == DAVE_SEALED)
			*len = f.body.n;
		return got;
	}
	if (got == DAVE_NOT_SEALED)
		return got;
	memcpy(out, frame.p, frame.n);
	*len = frame.n;
	*epoch = 0;
	return got;
}
