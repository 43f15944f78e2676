#include "control/settings/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int listen_parse(struct listen_address *out, const char *text)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	struct listen_address a = {0};
	struct in6_addr binary; /* of either family */
	char *end;
	unsigned long port;
	bool v6;

	if (!n || n >= LISTEN_MAX || colon[1] < '0' || colon[1] > '9')
		return EINVAL;
	port = strtoul(colon + 1, &end, 10);
	if (*end || port > UINT16_MAX)
		return EINVAL;
	v6 = n > 2 && text[0] == '[' && text[n - 1] == ']';
	snprintf(a.host, sizeof a.host, "%.*s", (int)n, text);
	snprintf(a.address, sizeof a.address, "%.*s", (int)n - 2 * v6, text + v6);
	if (inet_pton(v6 ? AF_INET6 : AF_INET, a.address, &binary) != 1)
		return EINVAL;
	a.port = (uint16_t)port;
	*out = a;
	return 0;
}
