#include "tests/test.h"

#include <jansson.h>
#include <sodium.h>

#include "mediad/transport/rtpsize.h"

static size_t unhex(uint8_t *out, size_t cap, const char *hex)
{
	size_t n = 0;

	sodium_hex2bin(out, cap, hex, strlen(hex), NULL, &n, NULL);
	return n;
}

/* Which cipher, made by whom. */
static const struct {
	enum rtpsize_mode mode;
	enum rtpsize_maker maker;
} kinds[] = {
	{RTPSIZE_AES256_GCM, RTPSIZE_SODIUM},
	{RTPSIZE_AES256_GCM, RTPSIZE_MBEDTLS},
	{RTPSIZE_XCHACHA20_POLY1305, RTPSIZE_SODIUM},
};
enum { KINDS = 3 };

static const uint8_t key[RTPSIZE_KEY] = "an ordinary key of 32 bytes 1234";

/* NULL when the processor has no AES: then only mbedTLS is used, which is tested in any case. */
static struct rtpsize *make(int k, const uint8_t *with)
{
	struct rtpsize *x = NULL;

	(void)rtpsize_alloc_by(&x, kinds[k].mode, with, kinds[k].maker);
	return x;
}

/* Packets that real clients sent, as the two published samples have them. */
static const struct sample {
	enum rtpsize_mode mode;
	const char *key, *packet, *opus;
	uint16_t ext_words;
} samples[] = {
	{RTPSIZE_XCHACHA20_POLY1305,
	 "69d96d1bf76547314797ac555b0bc9172bf29351603c9d323fc885ae6c90fb6e",
	 "90785666bff334300000bf19bede0002d31d674c496625a2412927fc1a555ae4f1a970415fb7ec0457cfd7c3b"
	 "4273ce0"
	 "dd5920bbd0e491fc84bd67d0b4b7d9324656141c8e42fb7ad61107adcb7594e876670888e388f9f387291f679"
	 "20f0100"
	 "00",
	 "7807d62f5223209aab2ccc1c888ecbd94de5337a4b2beda7af5f8db259997536f288f5c79f47af925a963bd89"
	 "f3ab413"
	 "ce2fae0a37",
	 2},
	{RTPSIZE_AES256_GCM, "6d4dc31b6f32e754b3ffd9d922e3136ac31496ed260465d2055a08f13adf1818",
	 "8078a39c9f0b83f00000c5b7af5b6665c306c88f75486c2ca57b79316f26030000005a", "f8fffe", 0},
};

static void check_sample(enum rtpsize_mode mode, enum rtpsize_maker maker, const char *hex_key,
			 const char *hex_packet, const char *hex_opus, unsigned ext_words)
{
	uint8_t k[RTPSIZE_KEY], packet[300], opus[300], buf[300];
	struct rtpsize *x = NULL;
	struct rtpsize_rtp got = {0};
	size_t n = unhex(packet, sizeof packet, hex_packet), o = unhex(opus, sizeof opus, hex_opus);
	int err;

	unhex(k, sizeof k, hex_key);
	err = rtpsize_alloc_by(&x, mode, k, maker);
	if (err == ENOTSUP)
		return;
	CHECK_INT(err, 0);
	err = rtpsize_open(x, packet, n, buf, sizeof buf, &got);
	rtpsize_free(x);
	CHECK_INT(err, 0);
	CHECK_MEM(got.payload.p, got.payload.n, opus, o);
	CHECK_INT(got.h.ext_words, ext_words);
	CHECK_INT(got.h.pt, RTP_PT_OPUS);
}

TEST(rtpsize_opens_what_clients_sent)
{
	for (int i = 0; i < 2; i++)
		for (enum rtpsize_maker m = RTPSIZE_ANY; m <= RTPSIZE_MBEDTLS; m++)
			check_sample(samples[i].mode, m, samples[i].key, samples[i].packet,
				     samples[i].opus, samples[i].ext_words);
}

TEST(rtpsize_shared_vectors)
{
	const char *path = test_shared("vectors/discord/aead-rtpsize.jsonl");
	FILE *f = path ? fopen(path, "r") : NULL;
	static char line[4096];
	int ran = 0;

	if (!f) {
		test_skip("shared vectors not there");
		return;
	}
	while (fgets(line, sizeof line, f)) {
		json_t *v = json_loads(line, 0, NULL);
		const char *name = json_string_value(json_object_get(v, "name"));

		if (name)
			check_sample(strstr(name, "AES") ? RTPSIZE_AES256_GCM
							 : RTPSIZE_XCHACHA20_POLY1305,
				     RTPSIZE_ANY, json_string_value(json_object_get(v, "key")),
				     json_string_value(json_object_get(v, "packet")),
				     json_string_value(json_object_get(v, "opus")),
				     (unsigned)json_integer_value(json_object_get(v, "extWords")));
		ran += name != NULL;
		json_decref(v);
	}
	fclose(f);
	CHECK_INT(ran, 2);
}

TEST(rtpsize_seal_and_open)
{
	struct rtp_header h = {.pt = RTP_PT_OPUS, .seq = 9, .ts = 960, .ssrc = 77};
	uint8_t payload[1200], packet[1300], buf[1300];

	for (size_t i = 0; i < sizeof payload; i++)
		payload[i] = (uint8_t)(i * 7);
	for (int k = 0; k < KINDS; k++) {
		struct rtpsize *x = make(k, key), *y = make(k, key);
		struct rtpsize_rtp got = {0};
		size_t len = 0;
		int errs = 0;

		if (!x) {
			rtpsize_free(y);
			continue;
		}
		for (size_t n = 1; n <= sizeof payload; n += 37) {
			errs += rtpsize_seal(x, &h, payload, n, packet, sizeof packet, &len) != 0;
			errs += len != RTP_HEADER + n + RTPSIZE_OVERHEAD;
			/* into a buffer, then in place */
			errs += rtpsize_open(y, packet, len, buf, sizeof buf, &got) != 0;
			errs += got.payload.p != buf || got.payload.n != n ||
				memcmp(got.payload.p, payload, n) != 0;
			errs += rtpsize_open(y, packet, len, NULL, 0, &got) != 0;
			errs += got.payload.p != packet + RTP_HEADER || got.payload.n != n ||
				memcmp(got.payload.p, payload, n) != 0;
			errs += got.h.seq != 9 || got.h.ts != 960 || got.h.ssrc != 77;
		}
		rtpsize_free(x);
		rtpsize_free(y);
		CHECK_INT(errs, 0);
	}
}

/* Both makers of AES-GCM write the same bytes. */
TEST(rtpsize_makers_agree)
{
	struct rtp_header h = {.pt = RTP_PT_OPUS, .seq = 1};
	struct rtpsize *x = make(0, key), *y = make(1, key);
	uint8_t a[100], b[100];
	size_t n = 0, m = 1;

	if (x)
		rtpsize_seal(x, &h, (const uint8_t *)"hello", 5, a, sizeof a, &n);
	rtpsize_seal(y, &h, (const uint8_t *)"hello", 5, b, sizeof b, &m);
	CHECK_INT(rtpsize_mode_of(y), RTPSIZE_AES256_GCM);
	rtpsize_free(y);
	if (!x)
		return;
	rtpsize_free(x);
	CHECK_MEM(a, n, b, m);
}

TEST(rtpsize_counter)
{
	struct rtp_header h = {.pt = RTP_PT_OPUS};
	uint8_t p[64];
	size_t n = 0;

	for (int k = 0; k < KINDS; k++) {
		struct rtpsize *x = make(k, key);
		int errs = 0;

		if (!x)
			continue;
		errs += rtpsize_seal(x, &h, (const uint8_t *)"x", 1, p, sizeof p, &n) != 0;
		errs += memcmp(p + n - 4, "\0\0\0\0", 4) != 0;
		errs += rtpsize_seal_rtcp(x, (const uint8_t *)"\x80\xc9\0\1\0\0\0\7", 8, p,
					  sizeof p, &n) != 0;
		errs += n != 28 || memcmp(p + n - 4, "\0\0\0\1", 4) != 0; /* shared with RTP */
		errs += rtpsize_seal(x, &h, (const uint8_t *)"x", 1, p, 32, &n) != EMSGSIZE;
		rtpsize_set_counter(x, 0xfffffffe);
		errs += rtpsize_seal(x, &h, (const uint8_t *)"x", 1, p, sizeof p, &n) != 0;
		errs += rtpsize_seal(x, &h, (const uint8_t *)"x", 1, p, sizeof p, &n) != 0;
		errs += memcmp(p + n - 4, "\xff\xff\xff\xff", 4) != 0;
		errs += rtpsize_seal(x, &h, (const uint8_t *)"x", 1, p, sizeof p, &n) != EOVERFLOW;
		errs += rtpsize_seal_rtcp(x, (const uint8_t *)"\x80\xc9\0\1\0\0\0\7", 8, p,
					  sizeof p, &n) != EOVERFLOW;
		rtpsize_free(x);
		CHECK_INT(errs, 0);
	}
}

TEST(rtpsize_every_short_length_is_refused)
{
	uint8_t packet[64], buf[64];
	struct rtp_header h = {.pt = RTP_PT_OPUS};
	struct rtpsize_rtp got;

	for (int k = 0; k < KINDS; k++) {
		struct rtpsize *x = make(k, key);
		size_t len = 0, out;
		int bad = 0;

		if (!x)
			continue;
		rtpsize_seal(x, &h, (const uint8_t *)"y", 1, packet, sizeof packet, &len);
		for (size_t n = 0; n < len; n++) {
			int want = n < 12 + 20 + 1 ? EBADMSG : EACCES;
			uint8_t *exact = malloc(n ? n : 1);

			memcpy(exact, packet, n);
			bad += rtpsize_open(x, exact, n, buf, sizeof buf, &got) != want;
			bad += n < 28 &&
			       rtpsize_open_rtcp(x, exact, n, buf, sizeof buf, &out) != EBADMSG;
			free(exact);
		}
		rtpsize_free(x);
		CHECK_INT(bad, 0);
	}
}

TEST(rtpsize_any_changed_bit_is_refused)
{
	struct rtp_header h = {.pt = RTP_PT_OPUS, .seq = 3, .ts = 4, .ssrc = 5};
	uint8_t packet[64], copy[64], buf[64];
	struct rtpsize_rtp got;

	for (int k = 0; k < KINDS; k++) {
		struct rtpsize *x = make(k, key);
		size_t len = 0;
		int opened = 0;

		if (!x)
			continue;
		rtpsize_seal(x, &h, (const uint8_t *)"abc", 3, packet, sizeof packet, &len);
		for (size_t bit = 0; bit < len * 8; bit++) {
			memcpy(copy, packet, len);
			copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
			opened += rtpsize_open(x, copy, len, buf, sizeof buf, &got) == 0;
		}
		rtpsize_free(x);
		CHECK_INT(opened, 0);
	}
}

/* A packet as other clients make them: any first byte, clear part and plaintext. */
static size_t forge(uint8_t *out, uint8_t b0, unsigned words, const void *plain, size_t n)
{
	uint8_t nonce[24] = {0x0f, 1};
	unsigned long long sealed = 0;
	size_t clear = 12;

	memset(out, 0, 16);
	out[0] = b0;
	out[1] = RTP_PT_OPUS;
	if (b0 & 0x10) {
		memcpy(out + 12, "\xbe\xde\0", 3);
		out[15] = (uint8_t)words;
		clear = 16;
	}
	crypto_aead_xchacha20poly1305_ietf_encrypt(out + clear, &sealed, plain, n, out, clear, NULL,
						   nonce, key);
	memcpy(out + clear + sealed, nonce, 4);
	return clear + (size_t)sealed + 4;
}

TEST(rtpsize_padding)
{
	static const struct {
		const char *what;
		uint8_t b0;
		unsigned words;
		const char *plain;
		size_t n;
		int err;
		const char *payload;
	} cases[] = {
		{"a valid pad", 0xa0, 0, "opus\0\0\3", 7, 0, "opus"},
		{"the same without", 0x80, 0, "opus", 4, 0, "opus"},
		{"looks like a pad but has no P", 0x80, 0, "opu\1", 4, 0, "opu\1"},
		{"what is encrypted within stays as it is", 0xa0, 0, "\xfa\xfa\2\2", 4, 0,
		 "\xfa\xfa"},
		{"a count of zero", 0xa0, 0, "opus\0", 5, EBADMSG, NULL},
		{"a count beyond the payload", 0xa0, 0, "opus\x06", 5, EBADMSG, NULL},
		{"nothing but padding", 0xa0, 0, "\0\0\0\4", 4, ENODATA, NULL},
		{"extension and padding", 0xb0, 1, "\x10\xff\x90\0opus\0\2", 10, 0, "opus"},
		{"the pad may not reach into the extension", 0xb0, 1, "\x10\xff\x90\0ab\x04", 7,
		 EBADMSG, NULL},
		{"an extension alone", 0x90, 1, "\x10\xff\x90\0", 4, ENODATA, NULL},
		{"an extension that does not fit", 0x90, 2, "\x10\xff\x90\0abc", 7, EBADMSG, NULL},
		{"extension, padding and nothing", 0xb0, 1, "\x10\xff\x90\0\1", 5, ENODATA, NULL},
		{"extension, P and no byte for a count", 0xb0, 1, "\x10\xff\x90\0", 4, EBADMSG,
		 NULL},
	};
	struct rtpsize *x = make(2, key);

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint8_t packet[100];
		struct rtpsize_rtp got = {0};
		size_t n = forge(packet, cases[i].b0, cases[i].words, cases[i].plain, cases[i].n);
		int err = rtpsize_open(x, packet, n, NULL, 0, &got);
		bool ok = err == cases[i].err &&
			  (err || (got.payload.n == strlen(cases[i].payload) &&
				   memcmp(got.payload.p, cases[i].payload, got.payload.n) == 0));

		if (!ok)
			test_fail(__FILE__, __LINE__, "%s: err %d", cases[i].what, err);
		if (!err && cases[i].words &&
		    (got.ext.n != 4 * cases[i].words ||
		     memcmp(got.ext.p, cases[i].plain, got.ext.n)))
			test_fail(__FILE__, __LINE__, "%s: the extension is not there",
				  cases[i].what);
	}
	rtpsize_free(x);
}

/* A sender report that a desktop client of Discord's sent in 2024, with its key, as somebody
 * published them: eight bytes are in the clear, and they are what is authenticated besides. */
TEST(rtpsize_rtcp_of_a_client)
{
	static const char hex_key[] =
		"4405dfc5d83d86c231d3313a59cef41d6b780641acf007c9af841dc616b278a2";
	static const char hex[] = "80c800060005ec18"
				  "8af5b6fb63a15a19f519ab9b502e933c6ae101ae685f5e7f42b4fab783bb0eed"
				  "a73e70e994cbaea0fdb0652f91a52d69"
				  "5a000080";
	uint8_t secret[RTPSIZE_KEY], packet[64], out[64];
	size_t n = unhex(packet, sizeof packet, hex), len = 0;

	CHECK_INT(unhex(secret, sizeof secret, hex_key), sizeof secret);
	for (int k = 0; k < KINDS; k++) {
		struct rtpsize *x = kinds[k].mode == RTPSIZE_AES256_GCM ? make(k, secret) : NULL;
		int err;

		if (!x)
			continue;
		err = rtpsize_open_rtcp(x, packet, n, out, sizeof out, &len);
		rtpsize_free(x);
		CHECK_INT(err, 0);
		CHECK_INT(len, 40);
		CHECK_MEM(out + 8, 4, "\xe9\x57\xa5\x9b", 4); /* January 2024 */
	}
}

TEST(rtpsize_rtcp)
{
	/* A receiver report with one block. */
	uint8_t rr[32] = {0x81, 201, 0, 7, 0, 0, 0, 1, 0, 0, 0, 2, 64, 0, 0, 3}, packet[64],
		back[64];

	for (int k = 0; k < KINDS; k++) {
		struct rtpsize *x = make(k, key);
		size_t len = 0, n = 0;
		int err, err2, err3;
		bool clear;

		if (!x)
			continue;
		err = rtpsize_seal_rtcp(x, rr, sizeof rr, packet, sizeof packet, &len);
		clear = memcmp(packet, rr, 8) == 0 && memcmp(packet + 8, rr + 8, 8) != 0;
		err2 = rtpsize_open_rtcp(x, packet, len, back, sizeof back, &n);
		packet[4] ^= 1;
		err3 = rtpsize_open_rtcp(x, packet, len, packet, sizeof packet, &len);
		rtpsize_free(x);
		CHECK_INT(err, 0);
		CHECK(clear);
		CHECK_INT(err2, 0);
		CHECK_MEM(back, n, rr, sizeof rr);
		CHECK_INT(err3, EACCES);
	}
}

TEST(rtpsize_names)
{
	static const char aes[] = "aead_aes256_gcm_rtpsize",
			  xcc[] = "aead_xchacha20_poly1305_rtpsize";

	CHECK_STR(rtpsize_name(RTPSIZE_AES256_GCM), aes);
	CHECK_INT(rtpsize_by_name(aes, strlen(aes)), RTPSIZE_AES256_GCM);
	CHECK_INT(rtpsize_by_name(xcc, strlen(xcc)), RTPSIZE_XCHACHA20_POLY1305);
	CHECK_INT(rtpsize_by_name(xcc, strlen(xcc) - 1), RTPSIZE_NONE);
	CHECK_INT(rtpsize_by_name("aes256_gcm", 10), RTPSIZE_NONE);
	CHECK_STR(rtpsize_name(RTPSIZE_NONE), "");
}

TEST_OOM(rtpsize_without_memory)
{
	struct rtpsize *x = NULL;

	for (int k = 1; k < KINDS; k++) {
		CHECK_OOM(rtpsize_alloc_by(&x, kinds[k].mode, key, kinds[k].maker), );
		x = rtpsize_free(x);
	}
	CHECK_INT(rtpsize_alloc(&x, (enum rtpsize_mode)9, key), EINVAL);
	CHECK_INT(rtpsize_alloc_by(&x, RTPSIZE_XCHACHA20_POLY1305, key, RTPSIZE_MBEDTLS), ENOTSUP);
	CHECK(!rtpsize_free(NULL));
}
