#include "control/web/throttle.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/time.h"

static void copy_network(const char *address, char out[46])
{
	struct in6_addr in;

	snprintf(out, 46, "%s", address);
	if (inet_pton(AF_INET6, address, &in) != 1 || IN6_IS_ADDR_V4MAPPED(&in))
		return;
	memset(&in.s6_addr[8], 0, 8);
	inet_ntop(AF_INET6, &in, out, 46);
}

/* The place of this address; now: made if need be, where the address stood that was quiet for
 * longest. 0: NULL if there is none. */
static struct throttled *find_place(struct throttle *t, const char *network, uint64_t now)
{
	struct throttled *place = &t->v[0];

	for (unsigned i = 0; i < THROTTLE_ADDRESSES; i++) {
		if (strcmp(t->v[i].address, network) == 0)
			return &t->v[i];
		if (t->v[i].used_at < place->used_at)
			place = &t->v[i];
	}
	if (!now)
		return NULL;
	*place = (struct throttled){.limit = {.spent_at = now}};
	snprintf(place->address, sizeof place->address, "%s", network);
	return place;
}

bool throttle_take_address(struct throttle *t, const char *address, uint64_t now)
{
	struct throttled *place;
	char network[46];

	copy_network(address, network);
	place = find_place(t, network, now);
	place->used_at = now;
	return rate_limit_take(&place->limit, THROTTLE_TRIES, THROTTLE_EVERY_S * NS_PER_S, now);
}

bool throttle_take_common(struct throttle *t, uint64_t now)
{
	if (!rate_limit_take(&t->all, THROTTLE_ALL_TRIES, THROTTLE_ALL_EVERY_S * NS_PER_S, now))
		return false;
	t->told = false;
	return true;
}

bool throttle_take(struct throttle *t, const char *address, uint64_t now)
{
	return throttle_take_address(t, address, now) && throttle_take_common(t, now);
}

bool throttle_is_news(struct throttle *t)
{
	bool news = !t->told;

	t->told = true;
	return news;
}

void throttle_give_back(struct throttle *t, const char *address)
{
	struct throttled *place;
	char network[46];

	copy_network(address, network);
	place = find_place(t, network, 0);
	if (place && place->limit.spent)
		place->limit.spent--;
}

void throttle_give_back_common(struct throttle *t)
{
	if (t->all.spent)
		t->all.spent--;
}
