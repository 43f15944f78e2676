/* The messages for new members: group contexts, group infos, welcomes. */
#include <errno.h>

#include "mediad/mls/message.h"

enum { EXTENSIONS_MAX = 64 };

/* ---- extensions ---- */

bool mls_extension_find(struct slice extensions, uint16_t type, struct slice *data)
{
	struct rd r = rd_of(extensions.p, extensions.n);

	while (rd_left(&r)) {
		uint64_t found = rd_be(&r, 2);
		struct slice body = mls_rd_vec(&r);

		if (r.ok && found == type)
			return *data = body, true;
	}
	return false;
}

int mls_extensions_check(struct slice extensions)
{
	struct rd r = rd_of(extensions.p, extensions.n);
	uint64_t seen[EXTENSIONS_MAX];

	for (size_t n = 0; rd_left(&r); n++) {
		if (n == EXTENSIONS_MAX)
			return EOVERFLOW;
		seen[n] = rd_be(&r, 2);
		mls_rd_vec(&r);
		for (size_t i = 0; i < n; i++)
			if (seen[i] == seen[n])
				return EBADMSG;
	}
	return r.ok ? 0 : EBADMSG;
}

/* ---- group context and group info ---- */

int mls_group_context_read(struct mls_group_context *out, struct rd *r)
{
	uint64_t version = rd_be(r, 2);
	struct mls_group_context c;

	if (r->ok && version != MLS_VERSION)
		return ENOTSUP;
	c.suite = (uint16_t)rd_be(r, 2);
	c.group_id = mls_rd_vec(r);
	c.epoch = rd_be(r, 8);
	c.tree_hash = mls_rd_vec(r);
	c.confirmed = mls_rd_vec(r);
	c.extensions = mls_rd_vec(r);
	if (!r->ok)
		return EBADMSG;
	*out = c;
	return 0;
}

void mls_group_context_write(struct mls_out *o, const struct mls_group_context *c)
{
	mls_out_be(o, MLS_VERSION, 2);
	mls_out_be(o, c->suite, 2);
	mls_out_vec(o, c->group_id);
	mls_out_be(o, c->epoch, 8);
	mls_out_vec(o, c->tree_hash);
	mls_out_vec(o, c->confirmed);
	mls_out_vec(o, c->extensions);
}

int mls_group_info_read(struct mls_group_info *out, struct rd *r)
{
	struct mls_group_info g;
	size_t start = r->pos;
	int err = mls_group_context_read(&g.context, r);

	if (err)
		return err;
	g.context_raw = mls_slice(r->p + start, r->pos - start);
	g.extensions = mls_rd_vec(r);
	g.confirmation_tag = mls_rd_vec(r);
	g.signer = (uint32_t)rd_be(r, 4);
	g.tbs = mls_slice(r->p + start, r->pos - start);
	g.signature = mls_rd_vec(r);
	if (!r->ok)
		return EBADMSG;
	*out = g;
	return 0;
}

/* ---- welcomes ---- */

int mls_welcome_read(struct mls_welcome *out, struct rd *r)
{
	struct mls_welcome w;

	if (rd_left(r) > MLS_BYTES_MAX)
		return EOVERFLOW;
	w.suite = (uint16_t)rd_be(r, 2);
	w.secrets = mls_rd_vec(r);
	w.group_info = mls_rd_vec(r);
	if (!r->ok || rd_left(r))
		return EBADMSG;
	*out = w;
	return 0;
}

int mls_welcome_secrets(const struct mls_welcome *w, const uint8_t ref[MLS_HASH], struct slice *enc,
			struct slice *sealed)
{
	struct rd r = rd_of(w->secrets.p, w->secrets.n);

	while (rd_left(&r)) {
		struct slice whose = mls_rd_vec(&r), kem_output = mls_rd_vec(&r),
			     ciphertext = mls_rd_vec(&r);

		if (!r.ok)
			break;
		if (mls_equal(whose, mls_slice(ref, MLS_HASH))) {
			*enc = kem_output;
			*sealed = ciphertext;
			return 0;
		}
	}
	return r.ok ? ENOENT : EBADMSG;
}
