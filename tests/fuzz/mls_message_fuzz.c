/* Readers of messages: what they give lies inside of what they read, and is written again as the
 * same bytes.
 *
 * Input: one byte that chooses the reader, then the bytes. */
#include <stdlib.h>

#include "mediad/mls/message.h"
#include "mediad/mls/psk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(struct slice part, struct slice whole)
{
	if (part.n && (part.p < whole.p || part.p + part.n > whole.p + whole.n))
		abort();
}

static void same(struct mls_out *o, struct slice want)
{
	if (!o->err && !mls_equal(mls_out_view(o), want))
		abort();
	mls_out_free(o);
}

static void public_message(struct rd *r)
{
	struct slice whole = mls_slice(r->p, r->n);
	uint8_t ref[MLS_HASH];
	struct mls_public m;

	while (rd_left(r) && mls_public_read(&m, r) == 0) {
		const struct slice parts[] = {m.group_id,	m.aad,
					      m.body,		mls_authenticated(&m),
					      m.signature,	m.confirmation_tag,
					      m.membership_tag, mls_transcript_input(&m)};

		inside(m.raw, whole);
		inside(m.content, m.raw);
		for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
			inside(parts[i], m.raw);
		(void)mls_proposal_ref(ref, &m);
	}
}

static void proposals(struct rd *r)
{
	struct slice whole = mls_slice(r->p, r->n);
	struct mls_proposal_or_ref p;

	while (rd_left(r) && mls_proposal_or_ref_read(&p, r) == 0) {
		if (p.by_ref && p.ref.n != MLS_HASH)
			abort();
		inside(p.ref, whole);
		inside(p.value.raw, whole);
		inside(p.value.body, p.value.raw);
		inside(p.value.extensions, p.value.raw);
		mls_proposal_free(&p.value);
	}
}

static void group_context(struct rd *r)
{
	struct mls_group_context c;
	struct mls_out o = {0};
	struct slice data;

	if (mls_group_context_read(&c, r))
		return;
	mls_group_context_write(&o, &c);
	same(&o, mls_slice(r->p, r->pos));
	if (mls_extensions_check(c.extensions) == 0 &&
	    mls_extension_find(c.extensions, MLS_EXT_EXTERNAL_SENDERS, &data))
		inside(data, c.extensions);
}

static void group_info(struct rd *r)
{
	struct mls_group_info g;
	struct mls_out o = {0};

	if (mls_group_info_read(&g, r))
		return;
	inside(g.context_raw, g.tbs);
	mls_group_context_write(&o, &g.context);
	mls_out_vec(&o, g.extensions);
	mls_out_vec(&o, g.confirmation_tag);
	mls_out_be(&o, g.signer, 4);
	mls_out_vec(&o, g.signature);
	same(&o, mls_slice(r->p, r->pos));
}

static void welcome(struct rd *r)
{
	static const uint8_t ref[MLS_HASH] = {1};
	struct mls_welcome w;
	struct slice enc, sealed;
	struct mls_out o = {0};

	if (mls_welcome_read(&w, r))
		return;
	mls_out_be(&o, w.suite, 2);
	mls_out_vec(&o, w.secrets);
	mls_out_vec(&o, w.group_info);
	same(&o, mls_slice(r->p, r->n));
	if (mls_welcome_secrets(&w, ref, &enc, &sealed) == 0) {
		inside(enc, w.secrets);
		inside(sealed, w.secrets);
	}
}

static void pre_shared_keys(struct slice ids)
{
	static const struct mls_psk known = {.id = {.p = (const uint8_t *)"id", .n = 2}};
	uint8_t secret[MLS_HASH];

	(void)mls_psk_secret(secret, ids, &known, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rd r;

	if (size == 0)
		return 0;
	r = rd_of(data + 1, size - 1);
	switch (data[0]) {
	case 0:
		public_message(&r);
		break;
	case 1:
		proposals(&r);
		break;
	case 2:
		group_context(&r);
		break;
	case 3:
		group_info(&r);
		break;
	case 4:
		welcome(&r);
		break;
	default:
		pre_shared_keys(mls_slice(data + 1, size - 1));
		break;
	}
	return 0;
}
