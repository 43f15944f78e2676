#include "tests/test.h"

#include "mediad/mls/schedule.h"
#include "tests/unit/mediad/mls/hex.h"

static bool is(const uint8_t *got, size_t n, const char *hex)
{
	return mls_equal(mls_slice(got, n), hex_bytes(hex));
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
	CHECK(is(e.joiner, MLS_HASH,
		 "6b0dbb2f2a5d212fbdf1d26ea5d37ea7161aa09eea2caabe5d3609b8eeca5538"));
	CHECK(is(e.welcome, MLS_HASH,
		 "4a8127cebfb1e75693dd7b8124fa857f5a764cacae05761537964f184d58cec3"));
	CHECK(is(e.sender_data, MLS_HASH,
		 "e6c7bed037581b838a48a1272a5f72081a48c2577e96cd85aa2c01d2c80b2e6e"));
	CHECK(is(e.encryption, MLS_HASH,
		 "61d779e21300191e04698606340ad259018bde3397e02febc927296ea90c12d6"));
	CHECK(is(e.exporter, MLS_HASH,
		 "1681c2f11a0d98d8b2e64c36498c8a891a1a12f9bc85ef0955855f52ac774899"));
	CHECK(is(e.external, MLS_HASH,
		 "ffa59bb5f9388c307a858ffcac21ecd9aef46f8104967396ef987d2ecaa4c763"));
	CHECK(is(e.confirm, MLS_HASH,
		 "ff7fdf389af07cf249ebd91fa749e395262b8a75202577cb03eb7216a97e6567"));
	CHECK(is(e.membership, MLS_HASH,
		 "85ef7be4ad62a107e7193aea97145760dd87173d05a8f07f1de9e6b4739f8f81"));
	CHECK(is(e.resumption, MLS_HASH,
		 "1846d531a8cf6e6cfb06cb0053a99c86faee1b3186ad44f13501b334826ad053"));
	CHECK(is(e.authenticator, MLS_HASH,
		 "68873f9a496f31a91d8c89d8fd51cb246876649db3fb838467c05ca16b008e59"));
	CHECK(is(e.init, MLS_HASH,
		 "0124adc2d65e3d274523d6c036a0c53eb9d819e4c2bd5368a77e36e93e524a17"));
	CHECK_INT(mls_welcome_key(key, nonce, e.welcome), 0);
	CHECK(is(key, sizeof key, "7b1ef218c08d489de8f073ae07b6ebdc"));
	CHECK(is(nonce, sizeof nonce, "717e2e2da6bd7388c7d325e4"));
	CHECK_INT(mls_export(out, 16, e.exporter, "some label", mls_slice("ctx", 3)), 0);
	CHECK(is(out, 16, "cef782f37162065b5f947d881d157a2c"));
	hex_end();
}

TEST(mls_transcript_known_answers)
{
	struct mls_epoch e;
	uint8_t confirmed[MLS_HASH], tag[MLS_HASH], interim[MLS_HASH];
	struct slice c = mls_slice(confirmed, sizeof confirmed);

	known(&e);
	CHECK_INT(mls_confirmed(confirmed, mls_slice("interim", 7), mls_slice("input", 5)), 0);
	CHECK(is(confirmed, MLS_HASH,
		 "70c6a9e18ab7bddb0b81480f06c16ed016a7fec9d650a03399ca46c173a7327a"));
	CHECK_INT(mls_confirmation_tag(tag, &e, c), 0);
	CHECK(is(tag, MLS_HASH,
		 "a5cb0b0f6f99e0f08098dcff63e15f28dda566e844270f009f51f7ad28e4fc04"));
	CHECK_INT(mls_interim(interim, c, tag), 0);
	CHECK(is(interim, MLS_HASH,
		 "b263c8bf3c64bb55816ad4cbcde17f67d1b2eff9b66952e53e3e0d983e1fa0eb"));
	/* what went before may be empty */
	CHECK_INT(mls_confirmed(confirmed, (struct slice){0}, mls_slice("abc", 3)), 0);
	CHECK(is(confirmed, MLS_HASH,
		 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
	hex_end();
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
	CHECK(memcmp(joined.welcome, e.welcome, MLS_HASH) != 0 &&
	      memcmp(joined.init, e.init, MLS_HASH) != 0);
	/* the context is part of the epoch's secrets, not of what opens the Welcome */
	CHECK_INT(mls_schedule_join(&joined, e.joiner, NULL, mls_slice("contexu", 7)), 0);
	CHECK(memcmp(joined.welcome, e.welcome, MLS_HASH) == 0 &&
	      memcmp(joined.init, e.init, MLS_HASH) != 0);
	hex_end();
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
