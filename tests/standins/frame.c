#include "tests/standins/frame.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>

enum { FIN = 0x80, RESERVED = 0x70, MASKED = 0x80, SHORT = 126, LONG = 127, CONTROL_MAX = 125 };

static bool opcode_known(unsigned opcode)
{
	return opcode <= SI_BINARY || (opcode >= SI_CLOSE && opcode <= SI_PONG);
}

int si_frame_parse(struct si_frame *f, const uint8_t *p, size_t n)
{
	struct si_frame got = {.head = 6};
	uint64_t length;
	unsigned extra = 0;

	if (n < 2)
		return EAGAIN;
	got.fin = p[0] & FIN;
	got.opcode = (enum si_opcode)(p[0] & 0x0f);
	length = p[1] & 0x7f;
	if ((p[0] & RESERVED) || !opcode_known(got.opcode) || !(p[1] & MASKED))
		return EPROTO;
	if (got.opcode >= SI_CLOSE && (!got.fin || length > CONTROL_MAX))
		return EPROTO;
	if (length == SHORT)
		extra = 2;
	else if (length == LONG)
		extra = 8;
	got.head += extra;
	if (n < got.head)
		return EAGAIN;
	if (extra) {
		length = 0;
		for (unsigned i = 0; i < extra; i++)
			length = length << 8 | p[2 + i];
	}
	if (length > SI_FRAME_MAX)
		return EMSGSIZE;
	got.length = (size_t)length;
	memcpy(got.mask, p + got.head - 4, 4);
	if (n - got.head < got.length)
		return EAGAIN;
	*f = got;
	return 0;
}

void si_frame_unmask(const struct si_frame *f, uint8_t *payload)
{
	for (size_t i = 0; i < f->length; i++)
		payload[i] ^= f->mask[i & 3];
}

size_t si_frame_head(uint8_t head[SI_FRAME_HEAD], enum si_opcode opcode, bool fin, size_t n)
{
	unsigned extra = n > UINT16_MAX ? 8 : n > CONTROL_MAX ? 2 : 0;

	head[0] = (uint8_t)((fin ? FIN : 0) | (unsigned)opcode);
	head[1] = extra == 8 ? LONG : extra == 2 ? SHORT : (uint8_t)n;
	for (unsigned i = 0; i < extra; i++)
		head[2 + i] = (uint8_t)((uint64_t)n >> 8 * (extra - 1 - i));
	return 2 + extra;
}

void si_frame_accept(const char *key, char out[SI_FRAME_ACCEPT])
{
	static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
	uint8_t digest[SHA_DIGEST_LENGTH];
	char text[128];
	int n = snprintf(text, sizeof text, "%.64s%s", key, guid);

	SHA1((const uint8_t *)text, (size_t)n, digest);
	EVP_EncodeBlock((uint8_t *)out, digest, sizeof digest);
}
