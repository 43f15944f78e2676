#include "mediad/mls/psk.h"

#include <errno.h>

#include "mediad/mls/codec.h"
#include "mediad/mls/crypto.h"

enum { EXTERNAL = 1, RESUMPTION = 2 };

/* One PreSharedKeyID; *name is that of an external one, else empty. */
static struct slice read_id(struct rd *r, struct slice *name)
{
	size_t start = r->pos;

	*name = (struct slice){0};
	switch (rd_be(r, 1)) {
	case EXTERNAL:
		*name = mls_rd_vec(r);
		break;
	case RESUMPTION:
		rd_be(r, 1); /* usage */
		mls_rd_vec(r);
		rd_be(r, 8);
		break;
	default:
		r->ok = false;
	}
	mls_rd_vec(r); /* nonce */
	return r->ok ? mls_slice(r->p + start, r->pos - start) : (struct slice){0};
}

void mls_psk_id_skip(struct rd *r)
{
	struct slice name;

	read_id(r, &name);
}

static int count_ids(struct slice ids, unsigned *n)
{
	struct rd r = rd_of(ids.p, ids.n);

	for (*n = 0; rd_left(&r); ++*n) {
		if (*n == MLS_PSKS_MAX)
			return EOVERFLOW;
		mls_psk_id_skip(&r);
	}
	return r.ok ? 0 : EBADMSG;
}

static const struct mls_psk *find_key(struct slice name, const struct mls_psk *known, unsigned n)
{
	for (unsigned i = 0; name.n && i < n; i++)
		if (mls_equal(known[i].id, name))
			return &known[i];
	return NULL;
}

/* secret = Extract(psk_input, secret). */
static int mix_secret(uint8_t secret[MLS_HASH], struct slice key, struct slice id, unsigned i,
		      unsigned n)
{
	static const uint8_t zero[MLS_HASH];
	uint8_t extracted[MLS_HASH], input[MLS_HASH], next[MLS_HASH];
	struct mls_out label = {0};
	int err;

	mls_out_slice(&label, id);
	mls_out_be(&label, i, 2);
	mls_out_be(&label, n, 2);
	err = label.err;
	if (!err)
		err = mls_extract(extracted, mls_slice(zero, MLS_HASH), key);
	if (!err)
		err = mls_expand_label(input, MLS_HASH, mls_slice(extracted, MLS_HASH),
				       "derived psk", mls_out_view(&label));
	if (!err)
		err = mls_extract(next, mls_slice(input, MLS_HASH), mls_slice(secret, MLS_HASH));
	if (!err)
		memcpy(secret, next, MLS_HASH);
	mls_wipe(extracted, sizeof extracted);
	mls_wipe(input, sizeof input);
	mls_wipe(next, sizeof next);
	mls_out_free(&label);
	return err;
}

int mls_psk_secret(uint8_t out[MLS_HASH], struct slice ids, const struct mls_psk *known,
		   unsigned n_known)
{
	struct rd r = rd_of(ids.p, ids.n);
	uint8_t secret[MLS_HASH] = {0};
	unsigned n;
	int err = count_ids(ids, &n);

	for (unsigned i = 0; !err && i < n; i++) {
		struct slice name, id = read_id(&r, &name);
		const struct mls_psk *psk = find_key(name, known, n_known);

		err = psk ? mix_secret(secret, psk->key, id, i, n) : ENOTSUP;
	}
	if (!err)
		memcpy(out, secret, MLS_HASH);
	mls_wipe(secret, sizeof secret);
	return err;
}
