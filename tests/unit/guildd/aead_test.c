#include "tests/guildd/aead.h"
#include "tests/test.h"

/* Two packets of real traffic, as published in the test data of @discordjs/voice. */
static const struct sample {
	enum gd_mode mode;
	size_t head;
	const char *key, *packet, *plain;
} samples[] = {
	{GD_MODE_XCHACHA, 16, "69d96d1bf76547314797ac555b0bc9172bf29351603c9d323fc885ae6c90fb6e",
	 "90785666bff334300000bf19bede0002d31d674c496625a2412927fc1a555ae4f1a970415fb7ec0457cfd7c3"
	 "b4273ce0dd5920bbd0e491fc84bd67d0b4b7d9324656141c8e42fb7ad61107adcb7594e876670888e388f9f3"
	 "87291f67920f010000",
	 "3264e66210e390027807d62f5223209aab2ccc1c888ecbd94de5337a4b2beda7af5f8db259997536f288f5c7"
	 "9f47af925a963bd89f3ab413ce2fae0a37"},
	{GD_MODE_AES, 12, "6d4dc31b6f32e754b3ffd9d922e3136ac31496ed260465d2055a08f13adf1818",
	 "8078a39c9f0b83f00000c5b7af5b6665c306c88f75486c2ca57b79316f26030000005a", "f8fffe"},
};

static size_t unhex(const char *s, uint8_t *out)
{
	size_t n = strlen(s) / 2;

	for (size_t i = 0; i < n; i++) {
		unsigned v;

		sscanf(s + 2 * i, "%2x", &v);
		out[i] = (uint8_t)v;
	}
	return n;
}

TEST(guildd_aead_opens_real_packets)
{
	for (size_t i = 0; i < 2; i++) {
		uint8_t key[GD_KEY], pkt[256], want[256], got[256];
		size_t len = unhex(samples[i].packet, pkt), n = 0;
		struct gd_aead *a;

		unhex(samples[i].key, key);
		CHECK_INT(gd_aead_alloc(&a, samples[i].mode, key), 0);
		CHECK_INT(gd_aead_open(a, pkt, len, samples[i].head, got, &n), 0);
		CHECK_MEM(got, n, want, unhex(samples[i].plain, want));
		gd_aead_free(a);
	}
}

TEST(guildd_aead_refuses_every_changed_byte_and_every_length)
{
	for (size_t i = 0; i < 2; i++) {
		uint8_t key[GD_KEY], pkt[256], got[256];
		size_t len = unhex(samples[i].packet, pkt), n;
		struct gd_aead *a;

		unhex(samples[i].key, key);
		CHECK_INT(gd_aead_alloc(&a, samples[i].mode, key), 0);
		for (size_t k = 0; k < len; k++) {
			pkt[k] ^= 1;
			CHECK_INT(gd_aead_open(a, pkt, len, samples[i].head, got, &n), EBADMSG);
			pkt[k] ^= 1;
		}
		for (size_t k = 0; k < len; k++)
			CHECK_INT(gd_aead_open(a, pkt, k, samples[i].head, got, &n), EBADMSG);
		gd_aead_free(a);
	}
}

TEST(guildd_aead_opens_what_it_sealed)
{
	static const uint8_t key[GD_KEY] = {1, 2, 3}, head[12] = {0x80, 0x78}, body[] = "sound";

	for (enum gd_mode m = GD_MODE_AES; m <= GD_MODE_XCHACHA; m++) {
		uint8_t pkt[64], got[64];
		size_t len, n;
		struct gd_aead *a;

		CHECK_INT(gd_aead_alloc(&a, m, key), 0);
		CHECK_INT(gd_aead_seal(a, 0x01020304, head, 12, body, 5, pkt, sizeof(pkt), &len),
			  0);
		CHECK_INT(len, 12 + 5 + 16 + 4);
		CHECK_MEM(pkt + len - 4, 4, "\1\2\3\4", 4);
		CHECK_INT(gd_aead_open(a, pkt, len, 12, got, &n), 0);
		CHECK_MEM(got, n, body, 5);
		CHECK_INT(gd_aead_seal(a, 1, head, 12, body, 5, pkt, 36, &len), ENOBUFS);
		gd_aead_free(a);
	}
}

TEST(guildd_aead_knows_its_modes)
{
	static const uint8_t key[GD_KEY];
	struct gd_aead *a = NULL;

	CHECK_INT(gd_mode_parse("aead_aes256_gcm_rtpsize"), GD_MODE_AES);
	CHECK_INT(gd_mode_parse("aead_xchacha20_poly1305_rtpsize"), GD_MODE_XCHACHA);
	CHECK_INT(gd_mode_parse("xsalsa20_poly1305"), GD_MODE_NONE);
	CHECK_INT(gd_mode_parse(""), GD_MODE_NONE);
	CHECK_INT(gd_aead_alloc(&a, GD_MODE_NONE, key), EINVAL);
	CHECK(a == NULL);
}

TEST_OOM(guildd_aead_survives_no_memory)
{
	static const uint8_t key[GD_KEY];
	struct gd_aead *a = NULL;

	CHECK_OOM(gd_aead_alloc(&a, GD_MODE_AES, key), (void)0);
	gd_aead_free(a);
}
