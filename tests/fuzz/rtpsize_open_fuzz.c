/* Opening packets: as they come, and with a good seal around any clear part and plaintext, so that
 * what happens after authentication is reached too.
 *
 * Input: one byte of choices (1 AES-GCM, 2 sealed by us, 4 RTCP, 8 in place), then the packet;
 * sealed by us: the clear part as rtp_parse sees it, then the plaintext. */
#include <stdlib.h>

#include <sodium.h>

#include "mediad/transport/replay.h"
#include "mediad/transport/rtpsize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t key[RTPSIZE_KEY] = "the key is not a secret in here.";
static uint8_t packet[2048], buf[2048];

/* The sealed form of clear | plain. */
static size_t seal(const uint8_t *data, size_t n, size_t clear)
{
	static const uint8_t nonce[24] = {1, 2, 3, 4};
	unsigned long long sealed = 0;

	memcpy(packet, data, clear);
	crypto_aead_xchacha20poly1305_ietf_encrypt(packet + clear, &sealed, data + clear, n - clear,
						   packet, clear, NULL, nonce, key);
	memcpy(packet + clear + sealed, nonce, 4);
	return clear + (size_t)sealed + 4;
}

static void open_rtp(struct rtpsize *x, size_t n, bool in_place)
{
	struct rtpsize_rtp got;
	struct replay w = {0};
	const uint8_t *lo = in_place ? packet : buf, *hi = lo + sizeof packet;

	if (rtpsize_open(x, packet, n, in_place ? NULL : buf, sizeof buf, &got))
		return;
	if (got.payload.n == 0 || got.payload.p < lo || got.payload.p + got.payload.n > hi ||
	    got.ext.n + got.payload.n > n || (got.ext.n && got.ext.p + got.ext.n != got.payload.p))
		abort();
	(void)rtp_audio_level(got.h.ext_profile, got.ext.p, got.ext.n);
	if (replay_commit(&w, got.h.seq, 0) != REPLAY_FRESH ||
	    replay_commit(&w, got.h.seq, 0) != REPLAY_SEEN)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rtpsize *both[2];
	struct rtpsize *x;
	struct rtp_header h;
	size_t n, len;
	uint8_t how;

	if (!both[0] && (rtpsize_alloc(&both[0], RTPSIZE_XCHACHA20_POLY1305, key) ||
			 rtpsize_alloc_by(&both[1], RTPSIZE_AES256_GCM, key, RTPSIZE_MBEDTLS)))
		abort();
	if (size < 1 || size > UDP_MAX_PACKET)
		return 0;
	how = data[0];
	data++;
	size--;
	x = both[how & 1];
	if (how & 2) {
		x = both[0];
		if (how & 4 ? size < RTCP_CLEAR : rtp_parse(&h, data, size) != 0)
			return 0;
		n = seal(data, size, how & 4 ? RTCP_CLEAR : h.size);
	} else {
		memcpy(packet, data, size);
		n = size;
	}
	if (how & 4)
		(void)rtpsize_open_rtcp(x, packet, n, buf, sizeof buf, &len);
	else
		open_rtp(x, n, how & 8);
	return 0;
}
