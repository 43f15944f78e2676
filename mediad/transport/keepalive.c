#include "mediad/transport/keepalive.h"

void keepalive_start(struct keepalive *k, uint32_t number, uint64_t now)
{
	*k = (struct keepalive){.on = true, .number = number, .next = now};
}

uint64_t keepalive_next(const struct keepalive *k)
{
	return k->on ? k->next : UINT64_MAX;
}

bool keepalive_tick(struct keepalive *k, uint64_t now, uint8_t buf[KEEPALIVE_SIZE])
{
	if (!k->on || now < k->next)
		return false;
	k->number++;
	k->sent = now;
	k->awaited = true;
	k->next = now + KEEPALIVE_EVERY_NS;
	keepalive_build(buf, k->number);
	return true;
}

bool keepalive_input(struct keepalive *k, const uint8_t *p, size_t n, uint64_t now)
{
	uint32_t number;

	if (!k->awaited || keepalive_parse(p, n, &number) || number != k->number)
		return false;
	k->awaited = false;
	k->rtt_us = (uint32_t)((now - k->sent) / 1000);
	return true;
}
