/* The retired XSalsa20 modes, proven against libsodium's secretbox itself: packets are made and
 * opened here by hand. */
#include "tests/test.h"

#include <sodium.h>

#include "mediad/transport/rtpsize.h"

static const uint8_t key[RTPSIZE_KEY] = "an ordinary key of 32 bytes 1234";
static const enum rtpsize_mode modes[] = {RTPSIZE_XSALSA20, RTPSIZE_XSALSA20_SUFFIX,
					  RTPSIZE_XSALSA20_LITE, RTPSIZE_XSALSA20_LITE_RTPSIZE};
enum { MODES = 4, EXT = 8 };

/* What a mode appends, and where its nonce comes from. */
static size_t appended(enum rtpsize_mode mode)
{
	return mode == RTPSIZE_XSALSA20 ? 0 : mode == RTPSIZE_XSALSA20_SUFFIX ? 24 : 4;
}

static void nonce_of(uint8_t nonce[24], enum rtpsize_mode mode, const uint8_t *packet, size_t n,
		     size_t clear)
{
	memset(nonce, 0, 24);
	if (mode == RTPSIZE_XSALSA20)
		memcpy(nonce, packet, clear < 12 ? clear : 12);
	else
		memcpy(nonce, packet + n - appended(mode), appended(mode));
}

/* A packet with a CSRC, an extension and padding, as a server would send it. Returns its length. */
static size_t build(uint8_t *out, enum rtpsize_mode mode)
{
	static const uint8_t head[] = {0xb1, 120, 0, 9, 0, 0, 3, 0xc0, 0, 0, 0, 77, 0, 0, 0, 5};
	static const uint8_t ext[] = {0xbe, 0xde, 0, 2, 0x10, 0x85, 0, 0, 0, 0, 0, 0};
	static const uint8_t body[] = {'o', 'p', 'u', 's', 0, 0, 3};
	size_t clear = sizeof head + (mode == RTPSIZE_XSALSA20_LITE_RTPSIZE ? 4 : 0), n;
	uint8_t plain[64], nonce[24];

	memcpy(out, head, sizeof head);
	memcpy(out + sizeof head, ext, clear - sizeof head);
	n = sizeof ext - (clear - sizeof head);
	memcpy(plain, ext + (clear - sizeof head), n);
	memcpy(plain + n, body, sizeof body);
	n += sizeof body;
	for (size_t i = 0; i < appended(mode); i++)
		out[clear + 16 + n + i] = (uint8_t)(i + 3);
	nonce_of(nonce, mode, out, clear + 16 + n + appended(mode), clear);
	crypto_secretbox_easy(out + clear, plain, n, nonce, key);
	return clear + 16 + n + appended(mode);
}

TEST(retired_opens_what_secretbox_sealed)
{
	for (int m = 0; m < MODES; m++) {
		uint8_t packet[128], buf[128];
		struct rtpsize_rtp got = {0};
		struct rtpsize *x = NULL;
		size_t n = build(packet, modes[m]);
		int errs = 0;

		CHECK_INT(rtpsize_alloc(&x, modes[m], key), 0);
		for (int in_place = 0; in_place < 2; in_place++) {
			errs += rtpsize_open(x, packet, n, in_place ? NULL : buf, sizeof buf,
					     &got) != 0;
			errs += got.payload.n != 4 || memcmp(got.payload.p, "opus", 4) != 0;
			errs += got.h.seq != 9 || got.h.ssrc != 77 || got.h.ext_words != 2 ||
				got.ext.n != EXT;
			errs += rtp_audio_level(got.h.ext_profile, got.ext.p, got.ext.n) != 5;
		}
		rtpsize_free(x);
		CHECK_INT(errs, 0);
	}
}

TEST(retired_seals_what_secretbox_opens)
{
	const struct rtp_header h = {.pt = RTP_PT_OPUS, .seq = 9, .ts = 960, .ssrc = 77};

	for (int m = 0; m < MODES; m++) {
		uint8_t packet[128], nonce[24], before[24] = {0}, plain[64];
		struct rtpsize *x = NULL;
		size_t n = 0;
		int errs = 0;

		CHECK_INT(rtpsize_alloc(&x, modes[m], key), 0);
		for (int i = 0; i < 3; i++) {
			struct rtp_header next = h;

			next.seq = (uint16_t)(h.seq + i);
			errs += rtpsize_seal(x, &next, (const uint8_t *)"opus", 4, packet,
					     sizeof packet, &n) != 0;
			errs += n != 12 + 16 + 4 + appended(modes[m]);
			nonce_of(nonce, modes[m], packet, n, 12);
			errs += crypto_secretbox_open_easy(plain, packet + 12, 20, nonce, key) != 0;
			errs += memcmp(plain, "opus", 4) != 0 || packet[0] != 0x80 ||
				packet[3] != 9 + i;
			errs += i && memcmp(nonce, before, sizeof nonce) == 0;
			memcpy(before, nonce, sizeof before);
		}
		errs += rtpsize_seal(x, &h, (const uint8_t *)"opus", 4, packet, n - 1, &n) !=
			EMSGSIZE;
		rtpsize_free(x);
		CHECK_INT(errs, 0);
	}
}

TEST(retired_rtcp)
{
	static const uint8_t report[] = {0x80, 201, 0, 1, 0, 0, 0, 7, 1, 2, 3, 4};

	for (int m = 0; m < MODES; m++) {
		uint8_t packet[128], buf[128];
		struct rtpsize *x = NULL;
		size_t n = 0, len = 0;
		int err, errs = 0;

		CHECK_INT(rtpsize_alloc(&x, modes[m], key), 0);
		err = rtpsize_seal_rtcp(x, report, sizeof report, packet, sizeof packet, &n);
		if (modes[m] == RTPSIZE_XSALSA20) { /* the nonce would be the same each time */
			errs += err != ENOTSUP;
		} else {
			errs += err != 0 || n != sizeof report + 16 + appended(modes[m]);
			errs += rtpsize_open_rtcp(x, packet, n, buf, sizeof buf, &len) != 0;
			errs += len != sizeof report || memcmp(buf, report, sizeof report) != 0;
			packet[n - 1 - appended(modes[m])] ^= 1;
			errs += rtpsize_open_rtcp(x, packet, n, buf, sizeof buf, &len) != EACCES;
		}
		rtpsize_free(x);
		CHECK_INT(errs, 0);
	}
}

TEST(retired_refuses)
{
	for (int m = 0; m < MODES; m++) {
		uint8_t good[128], packet[128], buf[128];
		struct rtpsize_rtp got = {0};
		struct rtpsize *x = NULL;
		size_t n = build(good, modes[m]);
		int errs = 0, opened = 0;

		CHECK_INT(rtpsize_alloc(&x, modes[m], key), 0);
		for (size_t cut = 0; cut < n; cut++)
			errs += rtpsize_open(x, memcpy(packet, good, n), cut, buf, sizeof buf,
					     &got) == 0;
		/* The header is not authenticated, but all that was sealed is. */
		for (size_t at = 20; at < n; at++) {
			memcpy(packet, good, n);
			packet[at] ^= 0x40;
			opened += rtpsize_open(x, packet, n, buf, sizeof buf, &got) == 0;
		}
		errs += rtpsize_open(x, memcpy(packet, good, n), n, buf, 3, &got) != EMSGSIZE;
		rtpsize_free(x);
		CHECK_INT(errs, 0);
		CHECK_INT(opened, 0);
	}
}

TEST(retired_modes_are_known_by_name_only)
{
	CHECK_INT(rtpsize_by_name("xsalsa20_poly1305_lite", 22), RTPSIZE_XSALSA20_LITE);
	CHECK_STR(rtpsize_name(RTPSIZE_XSALSA20), "xsalsa20_poly1305");
	CHECK_INT(rtpsize_by_name("xsalsa20_poly1305_lite_", 23), RTPSIZE_NONE);
}
