#include "mediad/mls/message.h"

#include <errno.h>

#include "mediad/mls/psk.h"
#include "mediad/mls/treekem.h"

static struct slice slice_from(const struct rd *r, size_t from)
{
	return mls_slice(r->p + from, r->pos - from);
}

/* ---- proposals ---- */

static int read_proposal_body(struct mls_proposal *p, struct rd *r)
{
	switch (p->type) {
	case MLS_PROPOSAL_ADD:
		return mls_key_package_read(&p->key_package, r);
	case MLS_PROPOSAL_UPDATE:
		return mls_leaf_read(&p->leaf, r);
	case MLS_PROPOSAL_REMOVE:
		p->removed = (uint32_t)rd_be(r, 4);
		return r->ok ? 0 : EBADMSG;
	case MLS_PROPOSAL_GROUP_CONTEXT_EXTENSIONS:
		p->extensions = mls_rd_vec(r);
		return r->ok ? 0 : EBADMSG;
	case MLS_PROPOSAL_PSK:
		mls_psk_id_skip(r);
		return r->ok ? 0 : EBADMSG;
	case MLS_PROPOSAL_REINIT:
		mls_rd_vec(r); /* group id */
		rd_be(r, 4);   /* version and suite */
		mls_rd_vec(r); /* extensions */
		return r->ok ? 0 : EBADMSG;
	case MLS_PROPOSAL_EXTERNAL_INIT:
		mls_rd_vec(r);
		return r->ok ? 0 : EBADMSG;
	}
	return ENOTSUP;
}

int mls_proposal_read(struct mls_proposal *out, struct rd *r)
{
	struct mls_proposal p = {0};
	size_t start = r->pos, body;
	int err;

	p.type = (enum mls_proposal_type)rd_be(r, 2);
	if (!r->ok)
		return EBADMSG;
	body = r->pos;
	err = read_proposal_body(&p, r);
	if (err)
		return err;
	p.raw = slice_from(r, start);
	p.body = slice_from(r, body);
	*out = p;
	return 0;
}

void mls_proposal_free(struct mls_proposal *p)
{
	p->key_package = mls_key_package_free(p->key_package);
	p->leaf = mls_leaf_free(p->leaf);
}

int mls_proposal_or_ref_read(struct mls_proposal_or_ref *out, struct rd *r)
{
	enum { BY_VALUE = 1, BY_REF = 2 };
	struct mls_proposal_or_ref p = {0};
	uint64_t form = rd_be(r, 1);
	int err;

	if (form == BY_VALUE) {
		err = mls_proposal_read(&p.value, r);
		if (err)
			return err;
	} else {
		p.by_ref = true;
		p.ref = mls_rd_vec(r);
		if (form != BY_REF || !r->ok || p.ref.n != MLS_HASH)
			return EBADMSG;
	}
	*out = p;
	return 0;
}

/* ---- public messages ---- */

int mls_message_head(enum mls_wire_format *format, struct rd *r)
{
	uint64_t version = rd_be(r, 2), number = rd_be(r, 2);

	if (!r->ok)
		return EBADMSG;
	if (version != MLS_VERSION)
		return ENOTSUP;
	if (number < MLS_PUBLIC_MESSAGE || number > MLS_KEY_PACKAGE_MESSAGE)
		return EBADMSG;
	*format = (enum mls_wire_format)number;
	return 0;
}

static int skip_commit(struct rd *r)
{
	struct rd list = mls_rd_sub(r);
	struct mls_path path;
	int err;

	for (unsigned n = 0; rd_left(&list); n++) {
		struct mls_proposal_or_ref p;

		if (n == MLS_PROPOSALS_MAX)
			return EOVERFLOW;
		err = mls_proposal_or_ref_read(&p, &list);
		if (err)
			return err;
		mls_proposal_free(&p.value);
	}
	if (mls_rd_optional(r)) {
		err = mls_path_read(&path, r);
		if (err)
			return err;
		mls_path_free(&path);
	}
	return r->ok ? 0 : EBADMSG;
}

/* The body's end is known only by reading it. */
static int skip_body(enum mls_content_type type, struct rd *r)
{
	struct mls_proposal p;
	int err;

	switch (type) {
	case MLS_CONTENT_PROPOSAL:
		err = mls_proposal_read(&p, r);
		if (!err)
			mls_proposal_free(&p);
		return err;
	case MLS_CONTENT_COMMIT:
		return skip_commit(r);
	case MLS_CONTENT_APPLICATION: /* must be private (section 6.2) */
		break;
	}
	return EBADMSG;
}

static int read_sender(struct mls_public *m, struct rd *r)
{
	uint64_t sender = rd_be(r, 1);

	if (sender < MLS_SENDER_MEMBER || sender > MLS_SENDER_NEW_COMMIT)
		return EBADMSG;
	m->sender = (enum mls_sender_type)sender;
	if (m->sender == MLS_SENDER_MEMBER || m->sender == MLS_SENDER_EXTERNAL)
		m->sender_index = (uint32_t)rd_be(r, 4);
	return 0;
}

static int read_content(struct mls_public *m, struct rd *r)
{
	size_t start = r->pos, body;
	int err;

	m->group_id = mls_rd_vec(r);
	m->epoch = rd_be(r, 8);
	err = read_sender(m, r);
	if (err)
		return err;
	m->aad = mls_rd_vec(r);
	m->type = (enum mls_content_type)rd_be(r, 1);
	if (!r->ok)
		return EBADMSG;
	body = r->pos;
	err = skip_body(m->type, r);
	if (err)
		return err;
	m->body = slice_from(r, body);
	m->content = slice_from(r, start);
	return 0;
}

int mls_public_read(struct mls_public *out, struct rd *r)
{
	struct mls_public m = {0};
	size_t start = r->pos;
	enum mls_wire_format format;
	int err;

	if (rd_left(r) > MLS_BYTES_MAX)
		return EOVERFLOW;
	err = mls_message_head(&format, r);
	if (err)
		return err;
	if (format != MLS_PUBLIC_MESSAGE)
		return format == MLS_PRIVATE_MESSAGE ? ENOTSUP : EBADMSG;
	err = read_content(&m, r);
	if (err)
		return err;
	m.signature = mls_rd_vec(r);
	if (m.type == MLS_CONTENT_COMMIT)
		m.confirmation_tag = mls_rd_vec(r);
	if (m.sender == MLS_SENDER_MEMBER)
		m.membership_tag = mls_rd_vec(r);
	if (!r->ok)
		return EBADMSG;
	m.raw = slice_from(r, start);
	*out = m;
	return 0;
}

enum { VERSION = 2 }; /* bytes of the message before what is authenticated */

struct slice mls_transcript_input(const struct mls_public *m)
{
	const uint8_t *end = m->signature.p + m->signature.n;

	return mls_slice(m->raw.p + VERSION, (size_t)(end - m->raw.p) - VERSION);
}

struct slice mls_authenticated(const struct mls_public *m)
{
	struct slice last = m->type == MLS_CONTENT_COMMIT ? m->confirmation_tag : m->signature;

	return mls_slice(m->raw.p + VERSION, (size_t)(last.p + last.n - m->raw.p) - VERSION);
}

int mls_proposal_ref(uint8_t out[MLS_HASH], const struct mls_public *m)
{
	return mls_ref_hash(out, "MLS 1.0 Proposal Reference", mls_authenticated(m));
}

int mls_content_tbs(struct mls_out *o, struct slice content, struct slice context)
{
	mls_out_be(o, MLS_VERSION, 2);
	mls_out_be(o, MLS_PUBLIC_MESSAGE, 2);
	mls_out_slice(o, content);
	mls_out_slice(o, context);
	return o->err;
}

int mls_membership_tag(uint8_t out[MLS_HASH], const uint8_t key[MLS_HASH], struct slice tbs,
		       struct slice signature, struct slice confirmation_tag)
{
	uint8_t before[4], between_them[4];
	size_t n = mls_varint_put(before, signature.n),
	       n_tag = mls_varint_put(between_them, confirmation_tag.n);
	const struct slice parts[] = {tbs, mls_slice(before, n), signature,
				      mls_slice(between_them, n_tag), confirmation_tag};

	if (!n || !n_tag)
		return EOVERFLOW;
	/* A message without a confirmation tag lacks even its length. */
	return mls_hmac(out, mls_slice(key, MLS_HASH), parts, confirmation_tag.n ? 5 : 3);
}

void mls_content_write(struct mls_out *o, struct slice group_id, uint64_t epoch,
		       enum mls_sender_type sender, uint32_t index, enum mls_content_type type)
{
	mls_out_vec(o, group_id);
	mls_out_be(o, epoch, 8);
	mls_out_be(o, sender, 1);
	if (sender == MLS_SENDER_MEMBER || sender == MLS_SENDER_EXTERNAL)
		mls_out_be(o, index, 4);
	mls_out_vec(o, (struct slice){0});
	mls_out_be(o, type, 1);
}
