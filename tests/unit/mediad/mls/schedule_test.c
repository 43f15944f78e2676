#include "tests/test.h"

#include "mediad/mls/hpke.h"
#include "mediad/mls/schedule.h"
#include "tests/unit/mediad/mls/vectors.h"

static bool is(const uint8_t *got, size_t n, const char *hex)
{
	return mls_equal(mls_slice(got, n), vectors_hex(hex));
}

static bool got(const uint8_t secret[MLS_HASH], const json_t *v, const char *key)
{
	return mls_equal(mls_slice(secret, MLS_HASH), vectors_get(v, key));
}

static void known(struct mls_epoch *e)
{
	uint8_t init[MLS_HASH], commit[MLS_HASH];

	for (unsigned i = 0; i < MLS_HASH; i++) {
		init[i] = (uint8_t)i;
		commit[i] = (uint8_t)(50 + i);
	}
	memset(e, 0, sizeof *e);
	mls_schedule(e, init, commit, NULL, mls_slice("context", 7));
}

/* Values from another implementation. */
TEST(mls_schedule_known_answers)
{
	struct mls_epoch e;
	uint8_t key[MLS_KEY], nonce[MLS_NONCE], out[MLS_HASH];

	known(&e);
	CHECK(is(e.joiner, MLS_HASH, "6b0dbb2f2a5d212fbdf1d26ea5d37ea7161aa09eea2caabe5d3609b8eeca5538"));
	CHECK(is(e.welcome, MLS_HASH, "4a8127cebfb1e75693dd7b8124fa857f5a764cacae05761537964f184d58cec3"));
	CHECK(is(e.sender_data, MLS_HASH, "e6c7bed037581b838a48a1272a5f72081a48c2577e96cd85aa2c01d2c80b2e6e"));
	CHECK(is(e.encryption, MLS_HASH, "61d779e21300191e04698606340ad259018bde3397e02febc927296ea90c12d6"));
	CHECK(is(e.exporter, MLS_HASH, "1681c2f11a0d98d8b2e64c36498c8a891a1a12f9bc85ef0955855f52ac774899"));
	CHECK(is(e.external, MLS_HASH, "ffa59bb5f9388c307a858ffcac21ecd9aef46f8104967396ef987d2ecaa4c763"));
	CHECK(is(e.confirm, MLS_HASH, "ff7fdf389af07cf249ebd91fa749e395262b8a75202577cb03eb7216a97e6567"));
	CHECK(is(e.membership, MLS_HASH, "85ef7be4ad62a107e7193aea97145760dd87173d05a8f07f1de9e6b4739f8f81"));
	CHECK(is(e.resumption, MLS_HASH, "1846d531a8cf6e6cfb06cb0053a99c86faee1b3186ad44f13501b334826ad053"));
	CHECK(is(e.authenticator, MLS_HASH, "68873f9a496f31a91d8c89d8fd51cb246876649db3fb838467c05ca16b008e59"));
	CHECK(is(e.init, MLS_HASH, "0124adc2d65e3d274523d6c036a0c53eb9d819e4c2bd5368a77e36e93e524a17"));
	CHECK_INT(mls_welcome_key(key, nonce, e.welcome), 0);
	CHECK(is(key, sizeof key, "7b1ef218c08d489de8f073ae07b6ebdc"));
	CHECK(is(nonce, sizeof nonce, "717e2e2da6bd7388c7d325e4"));
	CHECK_INT(mls_export(out, 16, e.exporter, "some label", mls_slice("ctx", 3)), 0);
	CHECK(is(out, 16, "cef782f37162065b5f947d881d157a2c"));
	vectors_end();
}

TEST(mls_transcript_known_answers)
{
	struct mls_epoch e;
	uint8_t confirmed[MLS_HASH], tag[MLS_HASH], interim[MLS_HASH];
	struct slice c = mls_slice(confirmed, sizeof confirmed);

	known(&e);
	CHECK_INT(mls_confirmed(confirmed, mls_slice("interim", 7), mls_slice("input", 5)), 0);
	CHECK(is(confirmed, MLS_HASH, "70c6a9e18ab7bddb0b81480f06c16ed016a7fec9d650a03399ca46c173a7327a"));
	CHECK_INT(mls_confirmation_tag(tag, &e, c), 0);
	CHECK(is(tag, MLS_HASH, "a5cb0b0f6f99e0f08098dcff63e15f28dda566e844270f009f51f7ad28e4fc04"));
	CHECK_INT(mls_interim(interim, c, tag), 0);
	CHECK(is(interim, MLS_HASH, "b263c8bf3c64bb55816ad4cbcde17f67d1b2eff9b66952e53e3e0d983e1fa0eb"));
	/* nothing went before the first commit */
	CHECK_INT(mls_confirmed(confirmed, (struct slice){0}, mls_slice("abc", 3)), 0);
	CHECK(is(confirmed, MLS_HASH, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
	vectors_end();
}

TEST(mls_schedule_of_a_joiner_is_that_of_the_group)
{
	static const uint8_t psk[MLS_HASH] = {1}, zero[MLS_HASH];
	struct mls_epoch e, joined;
	uint8_t welcome[MLS_HASH];

	known(&e);
	CHECK_INT(mls_schedule_join(&joined, e.joiner, NULL, mls_slice("context", 7)), 0);
	CHECK_MEM(&joined, sizeof joined, &e, sizeof e);
	CHECK_INT(mls_welcome_secret(welcome, e.joiner, NULL), 0);
	CHECK_MEM(welcome, sizeof welcome, e.welcome, MLS_HASH);
	/* no key is the zero key, another is another epoch */
	CHECK_INT(mls_schedule_join(&joined, e.joiner, zero, mls_slice("context", 7)), 0);
	CHECK_MEM(&joined, sizeof joined, &e, sizeof e);
	CHECK_INT(mls_schedule_join(&joined, e.joiner, psk, mls_slice("context", 7)), 0);
	CHECK(memcmp(joined.welcome, e.welcome, MLS_HASH) != 0 && memcmp(joined.init, e.init, MLS_HASH) != 0);
	/* the context is part of the epoch's secrets, not of what opens the Welcome */
	CHECK_INT(mls_schedule_join(&joined, e.joiner, NULL, mls_slice("contexu", 7)), 0);
	CHECK(memcmp(joined.welcome, e.welcome, MLS_HASH) == 0 && memcmp(joined.init, e.init, MLS_HASH) != 0);
	vectors_end();
}

TEST(mls_schedule_of_a_first_epoch)
{
	static const uint8_t secret[MLS_HASH] = {3}, zero[MLS_HASH];
	struct mls_epoch e;
	uint8_t want[MLS_HASH];

	CHECK_INT(mls_schedule_first(&e, secret), 0);
	CHECK_MEM(e.joiner, MLS_HASH, zero, MLS_HASH);
	CHECK_MEM(e.welcome, MLS_HASH, zero, MLS_HASH);
	CHECK_INT(mls_derive_secret(want, mls_slice(secret, MLS_HASH), "init"), 0);
	CHECK_MEM(e.init, MLS_HASH, want, MLS_HASH);
}

/* ---- ../shared/vectors/mls ---- */

static void check_epoch(const json_t *v, uint8_t init[MLS_HASH])
{
	static const struct {
		const char *key;
		size_t at;
	} secrets[] = {
		{"joiner_secret", offsetof(struct mls_epoch, joiner)},
		{"welcome_secret", offsetof(struct mls_epoch, welcome)},
		{"sender_data_secret", offsetof(struct mls_epoch, sender_data)},
		{"encryption_secret", offsetof(struct mls_epoch, encryption)},
		{"exporter_secret", offsetof(struct mls_epoch, exporter)},
		{"external_secret", offsetof(struct mls_epoch, external)},
		{"confirmation_key", offsetof(struct mls_epoch, confirm)},
		{"membership_key", offsetof(struct mls_epoch, membership)},
		{"resumption_psk", offsetof(struct mls_epoch, resumption)},
		{"epoch_authenticator", offsetof(struct mls_epoch, authenticator)},
		{"init_secret", offsetof(struct mls_epoch, init)},
	};
	const json_t *x = json_object_get(v, "exporter");
	size_t n = (size_t)json_integer_value(json_object_get(x, "length"));
	struct p256_pair external;
	struct mls_epoch e;
	uint8_t out[255];

	CHECK_INT(mls_schedule(&e, init, vectors_get(v, "commit_secret").p, vectors_get(v, "psk_secret").p,
			       vectors_get(v, "group_context")),
		  0);
	for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
		if (!got((const uint8_t *)&e + secrets[i].at, v, secrets[i].key))
			test_fail(__FILE__, __LINE__, "%s differs", secrets[i].key);
	CHECK_INT(hpke_derive_pair(&external, mls_slice(e.external, MLS_HASH)), 0);
	CHECK(mls_equal(mls_slice(external.pub, MLS_POINT), vectors_get(v, "external_pub")));
	CHECK(n <= sizeof out);
	CHECK_INT(mls_export(out, n, e.exporter, json_string_value(json_object_get(x, "label")),
			     vectors_get(x, "context")),
		  0);
	CHECK(mls_equal(mls_slice(out, n), vectors_get(x, "secret")));
	memcpy(init, e.init, MLS_HASH);
}

TEST(mls_shared_key_schedule)
{
	json_t *all = vectors_load("key-schedule.suite2.json"), *group, *epoch;
	size_t i, j, ran = 0;

	if (!all)
		return;
	json_array_foreach (all, i, group) {
		struct slice first = vectors_get(group, "initial_init_secret");
		uint8_t init[MLS_HASH];

		CHECK_INT(first.n, MLS_HASH);
		memcpy(init, first.p, MLS_HASH);
		json_array_foreach (json_object_get(group, "epochs"), j, epoch) {
			check_epoch(epoch, init);
			ran++;
		}
	}
	vectors_end();
	CHECK_INT(ran, 5);
}

TEST(mls_shared_transcript_hashes)
{
	enum { TAG = 1 + MLS_HASH };
	json_t *all = vectors_load("transcript-hashes.suite2.json"), *v;
	uint8_t confirmed[MLS_HASH], interim[MLS_HASH], tag[MLS_HASH];
	struct mls_epoch e = {0};
	struct slice content;
	size_t i, ran = 0;

	if (!all)
		return;
	json_array_foreach (all, i, v) {
		content = vectors_get(v, "authenticated_content");
		CHECK(content.n > TAG);
		memcpy(e.confirm, vectors_get(v, "confirmation_key").p, MLS_HASH);
		/* the tag, which the hash leaves out, comes last */
		CHECK_INT(mls_confirmed(confirmed, vectors_get(v, "interim_transcript_hash_before"),
					mls_slice(content.p, content.n - TAG)),
			  0);
		CHECK(got(confirmed, v, "confirmed_transcript_hash_after"));
		CHECK_INT(mls_confirmation_tag(tag, &e, mls_slice(confirmed, MLS_HASH)), 0);
		CHECK_MEM(tag, MLS_HASH, content.p + content.n - MLS_HASH, MLS_HASH);
		CHECK_INT(mls_interim(interim, mls_slice(confirmed, MLS_HASH), tag), 0);
		CHECK(got(interim, v, "interim_transcript_hash_after"));
		ran++;
	}
	vectors_end();
	CHECK_INT(ran, 1);
}
