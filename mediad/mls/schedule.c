#include "mediad/mls/schedule.h"

static const uint8_t no_psk[MLS_HASH];

static struct slice hash_slice(const uint8_t *p)
{
	return mls_slice(p, MLS_HASH);
}

/* Derives the secret between joiner and epoch secret, from which the Welcome's key is derived too.
 */
static int derive_intermediate(uint8_t out[MLS_HASH], const uint8_t joiner[MLS_HASH],
			       const uint8_t *psk)
{
	return mls_extract(out, hash_slice(joiner), hash_slice(psk ? psk : no_psk));
}

int mls_schedule_first(struct mls_epoch *out, const uint8_t epoch_secret[MLS_HASH])
{
	struct mls_epoch e = {0};
	const struct {
		uint8_t *to;
		const char *label;
	} secrets[] = {
		{e.sender_data, "sender data"},
		{e.encryption, "encryption"},
		{e.exporter, "exporter"},
		{e.external, "external"},
		{e.confirm, "confirm"},
		{e.membership, "membership"},
		{e.resumption, "resumption"},
		{e.authenticator, "authentication"},
		{e.init, "init"},
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof secrets / sizeof *secrets; i++)
		err = mls_derive_secret(secrets[i].to, hash_slice(epoch_secret), secrets[i].label);
	if (!err)
		*out = e;
	mls_wipe(&e, sizeof e);
	return err;
}

int mls_schedule_join(struct mls_epoch *out, const uint8_t joiner[MLS_HASH], const uint8_t *psk,
		      struct slice context)
{
	uint8_t middle[MLS_HASH], welcome[MLS_HASH], epoch[MLS_HASH];
	struct mls_epoch e = {0};
	int err;

	err = derive_intermediate(middle, joiner, psk);
	if (!err)
		err = mls_derive_secret(welcome, hash_slice(middle), "welcome");
	if (!err)
		err = mls_expand_label(epoch, sizeof epoch, hash_slice(middle), "epoch", context);
	if (!err)
		err = mls_schedule_first(&e, epoch);
	if (!err) {
		memcpy(e.joiner, joiner, sizeof e.joiner);
		memcpy(e.welcome, welcome, sizeof e.welcome);
		*out = e;
	}
	mls_wipe(middle, sizeof middle);
	mls_wipe(welcome, sizeof welcome);
	mls_wipe(epoch, sizeof epoch);
	mls_wipe(&e, sizeof e);
	return err;
}

int mls_schedule(struct mls_epoch *out, const uint8_t init_prev[MLS_HASH],
		 const uint8_t commit_secret[MLS_HASH], const uint8_t *psk, struct slice context)
{
	uint8_t before[MLS_HASH], joiner[MLS_HASH];
	int err;

	err = mls_extract(before, hash_slice(init_prev), hash_slice(commit_secret));
	if (!err)
		err = mls_expand_label(joiner, sizeof joiner, hash_slice(before), "joiner",
				       context);
	if (!err)
		err = mls_schedule_join(out, joiner, psk, context);
	mls_wipe(before, sizeof before);
	mls_wipe(joiner, sizeof joiner);
	return err;
}

int mls_welcome_secret(uint8_t out[MLS_HASH], const uint8_t joiner[MLS_HASH], const uint8_t *psk)
{
	uint8_t middle[MLS_HASH];
	int err = derive_intermediate(middle, joiner, psk);

	if (!err)
		err = mls_derive_secret(out, hash_slice(middle), "welcome");
	mls_wipe(middle, sizeof middle);
	return err;
}

int mls_welcome_key(uint8_t key[MLS_KEY], uint8_t nonce[MLS_NONCE], const uint8_t welcome[MLS_HASH])
{
	int err = mls_expand_label(key, MLS_KEY, hash_slice(welcome), "key", (struct slice){0});

	return err ? err
		   : mls_expand_label(nonce, MLS_NONCE, hash_slice(welcome), "nonce",
				      (struct slice){0});
}

int mls_confirmed(uint8_t out[MLS_HASH], struct slice interim_old, struct slice input)
{
	const struct slice parts[] = {interim_old, input};

	return mls_hash(out, parts, 2);
}

int mls_interim(uint8_t out[MLS_HASH], struct slice confirmed, const uint8_t tag[MLS_HASH])
{
	static const uint8_t length =
		MLS_HASH; /* the V of a tag: below 64 the length is its own form */
	const struct slice parts[] = {confirmed, mls_slice(&length, 1), hash_slice(tag)};

	return mls_hash(out, parts, 3);
}

int mls_confirmation_tag(uint8_t out[MLS_HASH], const struct mls_epoch *e, struct slice confirmed)
{
	return mls_hmac(out, hash_slice(e->confirm), &confirmed, 1);
}

int mls_export(uint8_t *out, size_t n, const uint8_t exporter[MLS_HASH], const char *label,
	       struct slice context)
{
	uint8_t secret[MLS_HASH], hash[MLS_HASH];
	int err;

	err = mls_derive_secret(secret, hash_slice(exporter), label);
	if (!err)
		err = mls_hash(hash, &context, 1);
	if (!err)
		err = mls_expand_label(out, n, hash_slice(secret), "exported", hash_slice(hash));
	mls_wipe(secret, sizeof secret);
	return err;
}
