#include "mediad/dave/key.h"

#include <errno.h>
#include <stdlib.h>

#include "mediad/dave/key_internal.h"
#include "mediad/mls/crypto.h"
#include "proto/base/touch.h"

/* One sender's ratchet at a generation; its secret has 16 bytes at first and 32 from the next
 * generation on. */
struct ratchet {
	uint8_t secret[MLS_HASH];
	size_t n;
	uint32_t generation;
};

static struct slice ratchet_secret(const struct ratchet *r)
{
	return mls_slice(r->secret, r->n);
}

static int ratchet_step(struct ratchet *r)
{
	uint8_t next[MLS_HASH];
	int err = mls_derive_tree_secret(next, sizeof next, ratchet_secret(r), "secret",
					 r->generation);

	if (!err) {
		memcpy(r->secret, next, sizeof next);
		r->n = sizeof next;
		r->generation++;
	}
	mls_wipe(next, sizeof next);
	return err;
}

static int ratchet_start(struct ratchet *r, const uint8_t base[DAVE_SECRET], uint32_t generation)
{
	int err = 0;

	memcpy(r->secret, base, DAVE_SECRET);
	r->n = DAVE_SECRET;
	r->generation = 0;
	while (!err && r->generation < generation)
		err = ratchet_step(r);
	return err;
}

static int ratchet_key(const struct ratchet *r, uint8_t out[MLS_KEY])
{
	return mls_derive_tree_secret(out, MLS_KEY, ratchet_secret(r), "key", r->generation);
}

int dave_key_bytes(uint8_t out[16], const uint8_t base[DAVE_SECRET], uint32_t generation)
{
	struct ratchet r;
	int err;

	if (generation > DAVE_GENERATIONS_MAX)
		return EINVAL;
	err = ratchet_start(&r, base, generation);
	if (!err)
		err = ratchet_key(&r, out);
	mls_wipe(&r, sizeof r);
	return err;
}

/* ---- keyed contexts ---- */

static int set_cipher(struct aead **cipher, const struct ratchet *r)
{
	uint8_t key[MLS_KEY];
	int err = ratchet_key(r, key);

	if (!err)
		err = aead_alloc(cipher, key);
	mls_wipe(key, sizeof key);
	return err;
}

/* Sets an identifier that keys of one ratchet share and that reveals nothing about them. */
static int set_id(struct dave_key *k, const uint8_t base[DAVE_SECRET])
{
	const struct slice part = mls_slice(base, DAVE_SECRET);
	uint8_t hash[MLS_HASH];
	int err = mls_hash(hash, &part, 1);

	if (!err)
		memcpy(k->id, hash, sizeof k->id);
	mls_wipe(hash, sizeof hash);
	return err;
}

int dave_key_alloc(struct dave_key **out, const uint8_t base[DAVE_SECRET], uint64_t epoch,
		   uint32_t generation)
{
	struct ratchet r = {0};
	struct dave_key *k;
	int err;

	if (!epoch || generation > DAVE_GENERATIONS_MAX - (DAVE_KEY_GENERATIONS - 1))
		return EINVAL;
	k = calloc(1, sizeof *k);
	if (!k)
		return ENOMEM;
	touch_pages(k, sizeof *k);
	k->epoch = epoch;
	k->generation = generation;
	err = set_id(k, base);
	if (!err)
		err = ratchet_start(&r, base, generation);
	for (unsigned i = 0; !err && i < DAVE_KEY_GENERATIONS; i++) {
		err = set_cipher(&k->cipher[i], &r);
		if (!err && i + 1 < DAVE_KEY_GENERATIONS)
			err = ratchet_step(&r);
	}
	if (err)
		goto out;
	*out = k;
	k = NULL;
out:
	mls_wipe(&r, sizeof r);
	dave_key_free(k);
	return err;
}

struct dave_key *dave_key_free(struct dave_key *k)
{
	if (!k)
		return NULL;
	for (unsigned i = 0; i < DAVE_KEY_GENERATIONS; i++)
		aead_free(k->cipher[i]);
	mls_wipe(k, sizeof *k);
	free(k);
	return NULL;
}

uint64_t dave_key_next_nonce(const struct dave_key *k)
{
	return dave_window_next(&k->window);
}

void dave_key_start_at(struct dave_key *k, uint64_t next)
{
	dave_window_restart(&k->window, next);
}

void dave_key_end_at(struct dave_key *k, uint64_t until)
{
	k->until = until;
}

uint64_t dave_key_epoch(const struct dave_key *k)
{
	return k->epoch;
}

uint32_t dave_key_generation(const struct dave_key *k)
{
	return k->generation;
}

bool dave_key_same(const struct dave_key *a, const struct dave_key *b)
{
	return a->epoch == b->epoch && memcmp(a->id, b->id, sizeof a->id) == 0;
}

struct aead *dave_key_cipher(struct dave_key *k, uint32_t generation)
{
	return generation - k->generation < DAVE_KEY_GENERATIONS
		       ? k->cipher[generation - k->generation]
		       : NULL;
}
