#include "tests/bench/far_end_dave.h"

#include "mediad/dave/media.h"
#include "mediad/dave/mls_state_internal.h"
#include "mediad/mls/group.h"
#include "tests/bench/bench.h"

#include <stdlib.h>
#include <string.h>

struct far_end_group {
	struct far_end_group_conf conf;
	struct mls_group *state; /* of the first speaker */
	struct dave_epoch *epoch;
	struct dave_sealer **sealers;
};

/* ---- the external sender ---- */

static struct {
	bool made;
	struct mls_rng rng;
	struct p256_pair key;
	struct mls_out package;	   /* ExternalSender */
	struct mls_out extensions; /* of the group context */
} sender;

static void make_sender(void)
{
	static const uint8_t seed[MLS_SEED] = {5};
	size_t data, senders;

	if (sender.made)
		return;
	mls_rng_seed(&sender.rng, seed);
	BENCH_OK(p256_generate(&sender.key, &sender.rng));
	mls_out_vec(&sender.package, mls_slice(sender.key.pub, MLS_POINT));
	mls_out_be(&sender.package, MLS_CREDENTIAL_BASIC, 2);
	mls_out_vec(&sender.package, mls_slice("", 1));
	mls_out_be(&sender.extensions, MLS_EXT_EXTERNAL_SENDERS, 2);
	data = mls_out_open(&sender.extensions);
	senders = mls_out_open(&sender.extensions);
	mls_out_slice(&sender.extensions, mls_out_view(&sender.package));
	mls_out_close(&sender.extensions, senders);
	mls_out_close(&sender.extensions, data);
	BENCH_OK(sender.extensions.err);
	sender.made = true;
}

struct slice far_end_sender(void)
{
	make_sender();
	return mls_out_view(&sender.package);
}

/* Proposes to add a key package to the group. */
static void propose_add(struct mls_group *g, struct slice key_package)
{
	struct mls_out message = {0}, tbs = {0};
	uint8_t sig[MLS_SIG_MAX];
	size_t n;

	mls_content_write(&tbs, mls_group_id(g), mls_group_epoch(g), MLS_SENDER_EXTERNAL, 0,
			  MLS_CONTENT_PROPOSAL);
	mls_out_be(&tbs, MLS_PROPOSAL_ADD, 2);
	mls_out_slice(&tbs, key_package);
	mls_out_be(&message, MLS_VERSION, 2);
	mls_out_be(&message, MLS_PUBLIC_MESSAGE, 2);
	mls_out_slice(&message, mls_out_view(&tbs));
	BENCH_OK(mls_sign(sig, &n, sender.key.priv, "FramedContentTBS", mls_out_view(&message),
			  &sender.rng));
	mls_out_vec(&message, mls_slice(sig, n));
	BENCH_OK(message.err);
	BENCH_OK(mls_group_propose(g, mls_out_view(&message), NULL));
	mls_out_free(&message);
	mls_out_free(&tbs);
}

/* ---- the speakers ---- */

static struct mls_key_package *make_speaker(uint64_t user, struct mls_identity *me)
{
	uint8_t id[DAVE_USER_BYTES];
	struct mls_leaf_spec spec = {.identity = mls_slice(id, sizeof id),
				     .signer = &me->signature,
				     .source = MLS_LEAF_KEY_PACKAGE};
	struct mls_key_package *package;
	struct p256_pair init;
	struct mls_leaf *leaf;

	dave_write_be64(id, user);
	BENCH_OK(p256_generate(&me->signature, &sender.rng));
	BENCH_OK(p256_generate(&me->encryption, &sender.rng));
	BENCH_OK(p256_generate(&init, &sender.rng));
	spec.encryption_key = mls_slice(me->encryption.pub, MLS_POINT);
	BENCH_OK(mls_leaf_make(&leaf, &spec, &sender.rng));
	BENCH_OK(mls_key_package_make(&package, leaf, mls_slice(init.pub, MLS_POINT),
				      &me->signature, &sender.rng));
	mls_leaf_free(leaf);
	return package;
}

static void make_sealers(struct far_end_group *g)
{
	BENCH_OK(dave_epoch_alloc(&g->epoch, g->state));
	g->sealers = calloc(g->conf.speakers, sizeof *g->sealers);
	if (!g->sealers)
		bench_die("out of memory");
	for (unsigned s = 0; s < g->conf.speakers; s++) {
		const struct dave_member *m = dave_epoch_find(g->epoch, g->conf.first_user + s);
		struct dave_key *key;

		BENCH_OK(dave_key_alloc(&key, m->base, 1, 0));
		BENCH_OK(dave_sealer_alloc(&g->sealers[s]));
		dave_sealer_set(g->sealers[s], key);
	}
}

void far_end_group_alloc(struct far_end_group **out, const struct far_end_group_conf *conf,
			 struct slice key_package, struct slice *welcome)
{
	struct far_end_group *g = calloc(1, sizeof *g);
	struct mls_key_package *package;
	struct mls_identity first, other;
	struct mls_group *start;
	struct mls_commit commit;
	uint8_t id[DAVE_USER_BYTES], *copy;

	if (!g)
		bench_die("out of memory");
	make_sender();
	g->conf = *conf;
	dave_write_be64(id, conf->group);
	package = make_speaker(conf->first_user, &first);
	BENCH_OK(mls_group_create(&start, mls_slice(id, sizeof id), &first, package->leaf,
				  mls_out_view(&sender.extensions), &sender.rng));
	mls_key_package_free(package);
	for (unsigned s = 1; s < conf->speakers; s++) {
		package = make_speaker(conf->first_user + s, &other);
		propose_add(start, package->raw);
		mls_key_package_free(package);
	}
	propose_add(start, key_package);
	BENCH_OK(mls_group_commit(&commit, start, &sender.rng));
	copy = malloc(commit.welcome.n);
	if (!copy)
		bench_die("out of memory");
	memcpy(copy, commit.welcome.p, commit.welcome.n);
	*welcome = mls_slice(copy, commit.welcome.n);
	g->state = commit.next;
	commit.next = NULL;
	mls_commit_free(&commit);
	mls_group_free(start);
	make_sealers(g);
	*out = g;
}

struct far_end_group *far_end_group_free(struct far_end_group *g)
{
	if (!g)
		return NULL;
	for (unsigned s = 0; s < g->conf.speakers; s++)
		dave_sealer_free(g->sealers[s]);
	free(g->sealers);
	dave_epoch_free(g->epoch);
	mls_group_free(g->state);
	free(g);
	return NULL;
}

size_t far_end_group_seal(struct far_end_group *g, unsigned speaker, const uint8_t *frame, size_t n,
			  uint8_t *out, size_t cap)
{
	size_t len;

	if (speaker >= g->conf.speakers)
		bench_die("speaker %u is not in the group", speaker);
	BENCH_OK(dave_seal(g->sealers[speaker], DAVE_OPUS, frame, n, out, cap, &len));
	return len;
}

void far_end_group_key(const struct far_end_group *g, uint64_t user, uint8_t key[16])
{
	const struct dave_member *m = dave_epoch_find(g->epoch, user);

	if (!m)
		bench_die("user %llu is not in the group", (unsigned long long)user);
	BENCH_OK(dave_key_bytes(key, m->base, 0));
}
