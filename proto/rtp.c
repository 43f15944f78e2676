#include "proto/rtp.h"

#include <errno.h>

enum { DISCOVERY_REQUEST = 1, DISCOVERY_ANSWER = 2, DISCOVERY_LENGTH = 70, DISCOVERY_TEXT = 64 };
static const uint32_t keepalive_magic = 0x1337cafe, keepalive_answer = 0x1337f00d;

enum udp_kind udp_classify(const uint8_t *p, size_t n)
{
	if (n == KEEPALIVE_SIZE)
		return UDP_KEEPALIVE;
	if (n < KEEPALIVE_SIZE || n > UDP_MAX_PACKET)
		return UDP_OTHER;
	if (p[0] >> 6 == 2) {
		if (p[1] >= 200 && p[1] <= 207)
			return UDP_RTCP;
		return n >= RTP_HEADER ? UDP_RTP : UDP_OTHER;
	}
	if (n == DISCOVERY_SIZE && p[0] == 0 &&
	    (p[1] == DISCOVERY_REQUEST || p[1] == DISCOVERY_ANSWER))
		return UDP_DISCOVERY;
	return UDP_OTHER;
}

int rtp_parse(struct rtp_header *h, const uint8_t *p, size_t n)
{
	struct rd r = rd_of(p, n);
	uint8_t b0 = (uint8_t)rd_be(&r, 1), b1 = (uint8_t)rd_be(&r, 1);
	struct rtp_header got = {0};

	got.padding = b0 & 0x20;
	got.extension = b0 & 0x10;
	got.cc = b0 & 0x0f;
	got.marker = b1 & 0x80;
	got.pt = b1 & 0x7f;
	got.seq = (uint16_t)rd_be(&r, 2);
	got.ts = (uint32_t)rd_be(&r, 4);
	got.ssrc = (uint32_t)rd_be(&r, 4);
	rd_bytes(&r, 4u * got.cc);
	if (got.extension) {
		got.ext_profile = (uint16_t)rd_be(&r, 2);
		got.ext_words = (uint16_t)rd_be(&r, 2);
	}
	if (!r.ok || b0 >> 6 != 2)
		return EBADMSG;
	got.size = r.pos;
	*h = got;
	return 0;
}

int rtp_build(const struct rtp_header *h, uint8_t *buf, size_t cap, size_t *len)
{
	struct wr w = wr_of(buf, cap);

	if (h->cc || h->pt > 127)
		return EINVAL;
	wr_be(&w, 0x80u | (h->padding ? 0x20u : 0) | (h->extension ? 0x10u : 0), 1);
	wr_be(&w, (h->marker ? 0x80u : 0) | h->pt, 1);
	wr_be(&w, h->seq, 2);
	wr_be(&w, h->ts, 4);
	wr_be(&w, h->ssrc, 4);
	if (h->extension) {
		wr_be(&w, h->ext_profile, 2);
		wr_be(&w, h->ext_words, 2);
	}
	if (!w.ok)
		return EMSGSIZE;
	*len = w.pos;
	return 0;
}

bool rtp_ext_next(struct rd *r, uint8_t *id, struct slice *data)
{
	while (rd_left(r)) {
		uint8_t b = (uint8_t)rd_be(r, 1);
		const uint8_t *p;

		if (b == 0) /* padding between elements */
			continue;
		if (b >> 4 == 15 || b >> 4 == 0) /* 15 and a padding with a length end the walk */
			return false;
		p = rd_bytes(r, (b & 0x0fu) + 1);
		if (!p)
			return false;
		*id = b >> 4;
		*data = (struct slice){.p = p, .n = (b & 0x0fu) + 1};
		return true;
	}
	return false;
}

uint8_t rtp_audio_level(uint16_t profile, const uint8_t *body, size_t n)
{
	struct rd r = rd_of(body, n);
	struct slice data;
	uint8_t id;

	if (profile != RTP_EXT_ONE_BYTE)
		return RTP_LEVEL_NONE;
	while (rtp_ext_next(&r, &id, &data))
		if (id == RTP_EXT_AUDIO_LEVEL)
			return data.p[0] &
			       0x7f; /* the top bit is the sender's own voice detection */
	return RTP_LEVEL_NONE;
}

void discovery_build(uint8_t buf[DISCOVERY_SIZE], uint32_t ssrc)
{
	struct wr w = wr_of(buf, DISCOVERY_SIZE);

	memset(buf, 0, DISCOVERY_SIZE);
	wr_be(&w, DISCOVERY_REQUEST, 2);
	wr_be(&w, DISCOVERY_LENGTH, 2);
	wr_be(&w, ssrc, 4);
}

static bool is_address(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool hex = (p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f') ||
			   (p[i] >= 'A' && p[i] <= 'F');

		if (!hex && p[i] != '.' && p[i] != ':')
			return false;
	}
	return n > 0;
}

int discovery_parse(const uint8_t *p, size_t n, uint32_t ssrc, char ip[64], uint16_t *port)
{
	struct rd r = rd_of(p, n);
	const uint8_t *text, *nul;
	uint16_t got;

	if (n != DISCOVERY_SIZE || rd_be(&r, 2) != DISCOVERY_ANSWER ||
	    rd_be(&r, 2) != DISCOVERY_LENGTH || rd_be(&r, 4) != ssrc)
		return EBADMSG;
	text = rd_bytes(&r, DISCOVERY_TEXT);
	got = (uint16_t)rd_be(&r, 2);
	nul = text ? memchr(text, 0, DISCOVERY_TEXT) : NULL;
	if (!nul || !is_address(text, (size_t)(nul - text)) || got == 0)
		return EBADMSG;
	memcpy(ip, text, (size_t)(nul - text) + 1);
	*port = got;
	return 0;
}

void keepalive_build(uint8_t buf[KEEPALIVE_SIZE], uint32_t number)
{
	struct wr w = wr_of(buf, KEEPALIVE_SIZE);

	wr_be(&w, keepalive_magic, 4);
	wr_be(&w, number, 4);
}

int keepalive_parse(const uint8_t *p, size_t n, uint32_t *number)
{
	struct rd r = rd_of(p, n);
	uint32_t magic = (uint32_t)rd_be(&r, 4), got = (uint32_t)rd_be(&r, 4);

	if (!r.ok || n != KEEPALIVE_SIZE || (magic != keepalive_magic && magic != keepalive_answer))
		return EBADMSG;
	*number = got;
	return 0;
}

bool opus_is_silence(const uint8_t *p, size_t n)
{
	return n == OPUS_SILENCE_SIZE && memcmp(p, OPUS_SILENCE, OPUS_SILENCE_SIZE) == 0;
}
