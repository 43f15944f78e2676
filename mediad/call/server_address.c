#include "mediad/call/server_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "proto/base/public_address.h"

union address {
	struct sockaddr sa;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

/* Returns false if the text is no numeric address. */
static bool parse_address(const char *text, union address *out)
{
	memset(out, 0, sizeof *out);
	if (inet_pton(AF_INET, text, &out->four.sin_addr) == 1) {
		out->sa.sa_family = AF_INET;
		return true;
	}
	out->sa.sa_family = AF_INET6;
	return inet_pton(AF_INET6, text, &out->six.sin6_addr) == 1;
}

/* True unless it is unspecified, multicast, reserved or IPv4 in disguise. */
static bool is_unicast(const union address *a)
{
	uint8_t first = (uint8_t)(ntohl(a->four.sin_addr.s_addr) >> 24);
	const struct in6_addr *six = &a->six.sin6_addr;

	if (a->sa.sa_family == AF_INET)
		return first > 0 && first < 224;
	return !IN6_IS_ADDR_UNSPECIFIED(six) && !IN6_IS_ADDR_MULTICAST(six) &&
	       !IN6_IS_ADDR_V4MAPPED(six) && !IN6_IS_ADDR_V4COMPAT(six);
}

/* True if the endpoint's host is of our own network: by its address, or by a name that no public
 * host has. */
static bool is_local_endpoint(const char *endpoint)
{
	char host[264];
	union address a;
	bool bracket = *endpoint == '[';
	size_t n = strcspn(endpoint + bracket, bracket ? "]" : ":");

	if (n >= sizeof host)
		return false;
	memcpy(host, endpoint + bracket, n);
	host[n] = '\0';
	return parse_address(host, &a) ? !public_address(&a.sa, sizeof a) : !public_host(host);
}

bool server_address_is_allowed(const char *ip, uint16_t port, const char *endpoint)
{
	union address a;

	if (!port || !parse_address(ip, &a))
		return false;
	return public_address(&a.sa, sizeof a) || (is_unicast(&a) && is_local_endpoint(endpoint));
}
