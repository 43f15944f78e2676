#include "mediad/transport/retired.h"

#include <errno.h>

#include <sodium.h>

enum { NONCE = crypto_secretbox_NONCEBYTES };

bool retired_mode(enum rtpsize_mode mode)
{
	return mode >= RTPSIZE_XSALSA20_LITE_RTPSIZE && mode <= RTPSIZE_XSALSA20;
}

size_t retired_appended(enum rtpsize_mode mode)
{
	switch (mode) {
	case RTPSIZE_XSALSA20:
		return 0;
	case RTPSIZE_XSALSA20_SUFFIX:
		return NONCE;
	default:
		return RTPSIZE_COUNTER;
	}
}

/* Makes the nonce, which must be used once only. In the suffix mode it is a counter too: random
 * nonces would do, but this folder has no randomness; twenty bytes derived from the key keep ours
 * apart from the server's. */
static void own_nonce(uint8_t nonce[NONCE], enum rtpsize_mode mode, const uint8_t *key,
		      uint32_t counter, const uint8_t *header, size_t clear)
{
	struct wr w = wr_of(nonce, NONCE);

	memset(nonce, 0, NONCE);
	if (mode == RTPSIZE_XSALSA20) {
		memcpy(nonce, header, clear < RTP_HEADER ? clear : RTP_HEADER);
		return;
	}
	wr_be(&w, counter, RTPSIZE_COUNTER);
	if (mode == RTPSIZE_XSALSA20_SUFFIX)
		crypto_generichash(nonce + RTPSIZE_COUNTER, NONCE - RTPSIZE_COUNTER, key,
				   RTPSIZE_KEY, NULL, 0);
}

int retired_seal(enum rtpsize_mode mode, const uint8_t key[RTPSIZE_KEY], uint32_t counter,
		 size_t clear, struct slice rest, uint8_t *out, size_t *len)
{
	uint8_t nonce[NONCE];

	own_nonce(nonce, mode, key, counter, out, clear);
	if (crypto_secretbox_easy(out + clear, rest.p, rest.n, nonce, key))
		return EINVAL;
	memcpy(out + clear + RTPSIZE_TAG + rest.n, nonce, retired_appended(mode));
	*len = clear + RTPSIZE_TAG + rest.n + retired_appended(mode);
	return 0;
}

int retired_open(enum rtpsize_mode mode, const uint8_t key[RTPSIZE_KEY], const uint8_t *packet,
		 size_t n, size_t clear, uint8_t *to, size_t *plain)
{
	size_t appended = retired_appended(mode), sealed;
	uint8_t nonce[NONCE] = {0};

	if (n < clear + RTPSIZE_TAG + appended)
		return EBADMSG;
	sealed = n - clear - appended;
	if (mode == RTPSIZE_XSALSA20)
		memcpy(nonce, packet, clear < RTP_HEADER ? clear : RTP_HEADER);
	else
		memcpy(nonce, packet + n - appended, appended);
	if (crypto_secretbox_open_easy(to, packet + clear, sealed, nonce, key))
		return EACCES;
	*plain = sealed - RTPSIZE_TAG;
	return 0;
}
