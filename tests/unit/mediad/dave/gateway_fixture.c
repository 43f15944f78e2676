#include "tests/unit/mediad/dave/gateway_fixture.h"

#include <errno.h>

static void be64(uint8_t out[8], uint64_t v)
{
	for (unsigned i = 0; i < 8; i++)
		out[i] = (uint8_t)(v >> 8 * (7 - i));
}

void gateway_fixture_new_key(struct gateway_fixture *g)
{
	mls_out_free(&g->package);
	(void)p256_generate(&g->key, &g->rng);
	mls_out_vec(&g->package, mls_slice(g->key.pub, MLS_POINT));
	mls_out_be(&g->package, MLS_CREDENTIAL_BASIC, 2);
	mls_out_vec(&g->package, mls_slice("", 1));
}

void gateway_fixture_init(struct gateway_fixture *g)
{
	static const uint8_t seed[MLS_SEED] = {7};

	memset(g, 0, sizeof *g);
	mls_rng_seed(&g->rng, seed);
	gateway_fixture_new_key(g);
}

void gateway_fixture_sign(struct gateway_fixture *g, struct mls_out *o,
			  const struct gateway_fixture_framing *how, struct slice body)
{
	struct mls_out content = {0}, tbs = {0};
	uint8_t id[8], sig[MLS_SIG_MAX];
	size_t n = 0;

	be64(id, how->channel ? how->channel : GATEWAY_FIXTURE_CHANNEL);
	mls_content_write(&content, mls_slice(id, 8), how->epoch,
			  how->sender ? how->sender : MLS_SENDER_EXTERNAL, how->index,
			  MLS_CONTENT_PROPOSAL);
	mls_out_slice(&content, body);
	(void)mls_content_tbs(&tbs, mls_out_view(&content), mls_slice(NULL, 0));
	(void)mls_sign(sig, &n, g->key.priv, "FramedContentTBS", mls_out_view(&tbs), &g->rng);
	mls_out_be(o, MLS_VERSION, 2);
	mls_out_be(o, MLS_PUBLIC_MESSAGE, 2);
	mls_out_slice(o, mls_out_view(&content));
	mls_out_vec(o, mls_slice(sig, n));
	if (content.err || tbs.err)
		o->err = ENOMEM;
	mls_out_free(&content);
	mls_out_free(&tbs);
}

void gateway_fixture_add(struct gateway_fixture *g, struct mls_out *o, uint64_t epoch,
			 struct slice package)
{
	struct mls_out body = {0};

	mls_out_be(&body, MLS_PROPOSAL_ADD, 2);
	mls_out_slice(&body, package);
	gateway_fixture_sign(g, o, &(struct gateway_fixture_framing){.epoch = epoch},
			     mls_out_view(&body));
	if (body.err)
		o->err = ENOMEM;
	mls_out_free(&body);
}

void gateway_fixture_remove(struct gateway_fixture *g, struct mls_out *o, uint64_t epoch,
			    uint32_t leaf)
{
	struct mls_out body = {0};

	mls_out_be(&body, MLS_PROPOSAL_REMOVE, 2);
	mls_out_be(&body, leaf, 4);
	gateway_fixture_sign(g, o, &(struct gateway_fixture_framing){.epoch = epoch},
			     mls_out_view(&body));
	if (body.err)
		o->err = ENOMEM;
	mls_out_free(&body);
}

void gateway_fixture_free(struct gateway_fixture *g)
{
	mls_out_free(&g->package);
}

struct slice gateway_fixture_split_op28(struct slice op28, struct slice *welcome)
{
	struct rd r = rd_of(op28.p, op28.n);
	struct mls_public m;

	if (mls_public_read(&m, &r))
		return (struct slice){0};
	*welcome = mls_slice(op28.p + r.pos, op28.n - r.pos);
	return mls_slice(op28.p, r.pos);
}
