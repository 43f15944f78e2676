/* Whatever a datagram may be before it is opened. */
#include <stdlib.h>

#include "proto/rtp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct rtp_header *h, const uint8_t *p, size_t n)
{
	struct rd r = rd_of(p, n);
	struct slice el;
	uint8_t id;

	while (rtp_ext_next(&r, &id, &el))
		if (id < 1 || id > 14 || el.n < 1 || el.n > 16 || el.p < p || el.p + el.n > p + n)
			abort();
	if (rtp_audio_level(h->ext_profile, p, n) > 127)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rtp_header h;
	uint8_t again[RTP_CLEAR_MAX];
	size_t n;
	char ip[64];
	uint16_t port;
	uint32_t number;

	(void)udp_classify(data, size);
	if (discovery_parse(data, size, 0x01020304, ip, &port) == 0 && (!port || strlen(ip) > 63))
		abort();
	(void)keepalive_parse(data, size, &number);
	(void)opus_is_silence(data, size);
	if (rtp_parse(&h, data, size))
		return 0;
	if (h.size > size || h.size > RTP_CLEAR_MAX)
		abort();
	walk(&h, data + h.size, size - h.size);
	if (h.cc == 0 &&
	    (rtp_build(&h, again, sizeof again, &n) || n != h.size || memcmp(again, data, n) != 0))
		abort();
	return 0;
}
