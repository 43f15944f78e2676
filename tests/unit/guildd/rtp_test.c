#include "tests/guildd/rtp.h"
#include "tests/test.h"

static const uint8_t key[GD_KEY] = {7};
static const uint8_t voice[] = {0x78, 1, 2, 3, 4};

/* A client: seals what a test hands it, so the server's look at it can be tried. */
static size_t packet(struct gd_aead *a, uint32_t nonce, uint8_t b0, uint8_t b1, const void *tail,
		     size_t tail_len, const void *body, size_t body_len, uint8_t *out)
{
	uint8_t head[64] = {b0, b1, 0x12, 0x34, 0, 0, 3, 0xc0, 0, 0, 0, 9};
	size_t len = 0;

	memcpy(head + 12, tail, tail_len);
	if (gd_aead_seal(a, nonce, head, 12 + tail_len, body, body_len, out, GD_PACKET_BUF, &len))
		return 0;
	return len;
}

static enum gd_verdict look(struct gd_aead *a, struct gd_nonce *n, const uint8_t *p, size_t len,
			    struct gd_rtp *in)
{
	static uint8_t plain[GD_PACKET_BUF];
	bool rtcp;
	uint32_t ssrc;
	enum gd_verdict v = gd_rtp_peek(p, len, &rtcp, &ssrc);

	if (v != GD_RX_OK)
		return v;
	return rtcp ? gd_rtcp_open(a, n, p, len, &(struct gd_told){0})
		    : gd_rtp_open(a, n, p, len, plain, in);
}

TEST(guildd_rtp_takes_a_plain_packet)
{
	uint8_t p[GD_PACKET_BUF];
	struct gd_nonce n = {0};
	struct gd_rtp in;
	struct gd_aead *a;
	size_t len;

	CHECK_INT(gd_aead_alloc(&a, GD_MODE_AES, key), 0);
	len = packet(a, 1, 0x80, 0xf8, "", 0, voice, 5, p);
	CHECK_INT(look(a, &n, p, len, &in), GD_RX_OK);
	CHECK_INT(in.seq, 0x1234);
	CHECK_INT(in.ts, 960);
	CHECK_INT(in.ssrc, 9);
	CHECK(in.marker);
	CHECK_MEM(in.payload.p, in.payload.n, voice, 5);
	len = packet(a, 2, 0x80, 0x78, "", 0, "\xf8\xff\xfe", 3, p);
	CHECK_INT(look(a, &n, p, len, &in), GD_RX_SILENCE);
	gd_aead_free(a);
}

TEST(guildd_rtp_is_strict_about_what_is_clear)
{
	uint8_t p[GD_PACKET_BUF];
	struct gd_nonce n = {0};
	struct gd_rtp in;
	struct gd_aead *a;
	size_t len;

	CHECK_INT(gd_aead_alloc(&a, GD_MODE_XCHACHA, key), 0);
	len = packet(a, 1, 0x40, 0x78, "", 0, voice, 5, p);
	CHECK_INT(look(a, &n, p, len, &in), GD_RX_BAD_VERSION);
	len = packet(a, 1, 0x80, 0x6f, "", 0, voice, 5, p);
	CHECK_INT(look(a, &n, p, len, &in), GD_RX_BAD_TYPE);
	len = packet(a, 1, 0x80, 0x78, "", 0, voice, 5, p);
	CHECK_INT(look(a, &n, p, 12 + GD_AEAD_EXTRA, &in), GD_RX_BAD_SIZE);
	CHECK_INT(look(a, &n, p, 1, &in), GD_RX_BAD_SIZE);
	CHECK_INT(look(a, &n, p, GD_PACKET_MAX + 1, &in), GD_RX_BAD_SIZE);
	p[11] ^= 1; /* another SSRC: the clear part is authenticated */
	CHECK_INT(look(a, &n, p, len, &in), GD_RX_BAD_AUTH);
	CHECK(!n.any);
	gd_aead_free(a);
}

TEST(guildd_rtp_reads_csrc_extension_and_padding_in_order)
{
	/* 2 CSRC, one word of extension: the words are clear, the body is sealed before the
	 * payload. */
	static const uint8_t tail[] = {1, 1, 1, 1, 2, 2, 2, 2, 0xbe, 0xde, 0, 1};
	static const uint8_t body[] = {0x10, 0x85, 0, 0, 0x78, 9, 0, 0, 3};
	uint8_t p[GD_PACKET_BUF];
	struct gd_nonce n = {0};
	struct gd_rtp in;
	struct gd_aead *a;
	size_t len;

	CHECK_INT(gd_aead_alloc(&a, GD_MODE_AES, key), 0);
	len = packet(a, 1, 0xb2, 0x78, tail, sizeof(tail), body, sizeof(body), p);
	CHECK_INT(look(a, &n, p, len, &in), GD_RX_OK);
	CHECK_INT(in.csrc, 2);
	CHECK_MEM(in.ext.p, in.ext.n, body, 4);
	CHECK_MEM(in.payload.p, in.payload.n, "\x78\x09", 2);
	CHECK_INT(gd_rtp_level(&in), 5);

	len = packet(a, 2, 0x90, 0x78, "\xbe\xde\0\x09", 4, body, sizeof(body), p);
	CHECK_INT(look(a, &n, p, len, &in), GD_RX_BAD_EXT);
	gd_aead_free(a);
}

TEST(guildd_rtp_padding_must_be_true)
{
	static const struct {
		const char *body;
		size_t n;
		enum gd_verdict want;
	} cases[] = {
		{"\x78\x01\x00\x02", 4, GD_RX_OK},
		{"\x78\x01\x00\x00", 4, GD_RX_BAD_PADDING},
		{"\x78\x01\x00\x05", 4, GD_RX_BAD_PADDING},
		{"\x00\x00\x00\x04", 4, GD_RX_PADDING_ONLY},
		{"\x01", 1, GD_RX_PADDING_ONLY},
	};
	struct gd_nonce n = {0};
	struct gd_rtp in;
	struct gd_aead *a;

	CHECK_INT(gd_aead_alloc(&a, GD_MODE_AES, key), 0);
	for (uint32_t i = 0; i < 5; i++) {
		uint8_t p[GD_PACKET_BUF];
		size_t len = packet(a, i + 1, 0xa0, 0x78, "", 0, cases[i].body, cases[i].n, p);

		CHECK_INT(look(a, &n, p, len, &in), cases[i].want);
	}
	gd_aead_free(a);
}

TEST(guildd_nonce_rises_in_the_order_of_the_clients_choice)
{
	struct gd_nonce be = {0}, le = {0};

	for (uint32_t i = 250; i < 600; i++) {
		uint8_t b[4] = {0, 0, (uint8_t)(i >> 8), (uint8_t)i},
			l[4] = {(uint8_t)i, (uint8_t)(i >> 8), 0, 0};

		CHECK(gd_nonce_rises(&be, b));
		CHECK(gd_nonce_rises(&le, l));
	}
	CHECK(be.be && !be.le && le.le && !le.be);
	CHECK(!gd_nonce_rises(&be, (uint8_t[]){0, 0, 2, 0x57})); /* the last one again */
	CHECK(!gd_nonce_rises(&be, (uint8_t[]){0, 0, 0, 1}));
	CHECK(gd_nonce_rises(&be, (uint8_t[]){0, 0, 2, 0x58}));
}

TEST(guildd_rtp_refuses_a_replay)
{
	uint8_t p[GD_PACKET_BUF];
	struct gd_nonce n = {0};
	struct gd_rtp in;
	struct gd_aead *a;
	size_t len;

	CHECK_INT(gd_aead_alloc(&a, GD_MODE_AES, key), 0);
	len = packet(a, 5, 0x80, 0x78, "", 0, voice, 5, p);
	CHECK_INT(look(a, &n, p, len, &in), GD_RX_OK);
	CHECK_INT(look(a, &n, p, len, &in), GD_RX_BAD_NONCE);
	len = packet(a, 4, 0x80, 0x78, "", 0, voice, 5, p);
	CHECK_INT(look(a, &n, p, len, &in), GD_RX_BAD_NONCE);
	gd_aead_free(a);
}

TEST(guildd_rtp_forwards_under_the_receivers_key)
{
	static const uint8_t other[GD_KEY] = {8};
	struct gd_rtp in = {.marker = true,
			    .seq = 65535,
			    .ts = 1920,
			    .ssrc = 9,
			    .payload = {voice, sizeof(voice)}};
	struct gd_aead *to;
	struct gd_nonce n = {0};

	CHECK_INT(gd_aead_alloc(&to, GD_MODE_XCHACHA, other), 0);
	for (unsigned i = 0; i < 4; i++) {
		struct gd_tx tx = {.ext = i & 1, .pad = i & 2 ? 7 : 0};
		uint8_t p[GD_PACKET_BUF];
		struct gd_rtp got;
		size_t len;

		CHECK_INT(gd_rtp_forward(to, i, &in, &tx, p, sizeof(p), &len), 0);
		CHECK_INT(look(to, &n, p, len, &got), GD_RX_OK);
		CHECK(got.marker && got.seq == 65535 && got.ts == 1920 && got.ssrc == 9);
		CHECK_MEM(got.payload.p, got.payload.n, voice, sizeof(voice));
		CHECK_INT(got.ext.n, tx.ext ? 4 : 0);
		CHECK_INT(got.padded, tx.pad > 0);
		CHECK_INT(gd_rtp_level(&got), tx.ext ? 30 : 127);
	}
	gd_aead_free(to);
}

TEST(guildd_rtp_forwards_silence_and_padding_alone)
{
	struct gd_rtp in = {.ssrc = 9, .payload = {(const uint8_t *)"\xf8\xff\xfe", 3}}, got;
	struct gd_tx tx = {.ext = true};
	struct gd_nonce n = {0};
	uint8_t p[GD_PACKET_BUF];
	struct gd_aead *to;
	size_t len;

	CHECK_INT(gd_aead_alloc(&to, GD_MODE_AES, key), 0);
	CHECK_INT(gd_rtp_forward(to, 0, &in, &tx, p, sizeof(p), &len), 0);
	CHECK_INT(look(to, &n, p, len, &got), GD_RX_SILENCE);
	CHECK_MEM(got.ext.p, got.ext.n, "\x10\xff\x90\x00",
		  4); /* as Discord's own clients mark it */
	tx = (struct gd_tx){.pad_only = true, .pad = 200};
	CHECK_INT(gd_rtp_forward(to, 1, &in, &tx, p, sizeof(p), &len), 0);
	CHECK_INT(look(to, &n, p, len, &got), GD_RX_PADDING_ONLY);
	CHECK_INT(len, 12 + 200 + GD_AEAD_EXTRA);
	gd_aead_free(to);
}

TEST(guildd_rtcp_report_opens)
{
	struct gd_report r = {.ssrc = 9, .lost = 3, .ext_seq = 70000};
	struct gd_nonce n = {0};
	uint8_t p[GD_PACKET_BUF], plain[GD_PACKET_BUF];
	struct gd_aead *a;
	size_t len, plain_len;

	CHECK_INT(gd_aead_alloc(&a, GD_MODE_AES, key), 0);
	CHECK_INT(gd_rtcp_report(a, 0, &r, p, sizeof(p), &len), 0);
	CHECK_INT(look(a, &n, p, len, NULL), GD_RX_BAD_RTCP); /* the server's own has no SDES */
	CHECK_MEM(p, 8, "\x81\xc9\0\7\0\0\0\1", 8);
	CHECK_INT(gd_aead_open(a, p, len, 8, plain, &plain_len), 0);
	CHECK_MEM(plain, plain_len, "\0\0\0\x09\0\0\0\3\0\1\x11\x70\0\0\0\0\0\0\0\0\0\0\0\0", 24);
	gd_aead_free(a);
}
