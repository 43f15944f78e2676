#include "mediad/call/server_address.h"

#include <netinet/in.h>
#include <string.h>

#include "proto/base/numeric_address.h"
#include "proto/base/public_address.h"

/* True unless it is unspecified, multicast, reserved or IPv4 in disguise. */
static bool is_unicast(const struct sockaddr_storage *a)
{
	uint32_t four = ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24;
	const struct in6_addr *six = &((const struct sockaddr_in6 *)a)->sin6_addr;

	if (a->ss_family == AF_INET)
		return four > 0 && four < 224;
	return !IN6_IS_ADDR_UNSPECIFIED(six) && !IN6_IS_ADDR_MULTICAST(six) &&
	       !IN6_IS_ADDR_V4MAPPED(six) && !IN6_IS_ADDR_V4COMPAT(six);
}

/* True if the endpoint's host is of our own network: by its address, or by a name that no public
 * host has. */
static bool is_local_endpoint(const char *endpoint)
{
	char host[264];
	struct sockaddr_storage a;
	bool bracket = *endpoint == '[';
	size_t len, n = strcspn(endpoint + bracket, bracket ? "]" : ":");

	if (n >= sizeof host)
		return false;
	memcpy(host, endpoint + bracket, n);
	host[n] = '\0';
	len = numeric_address(&a, host, 0);
	return len ? !public_address((struct sockaddr *)&a, len) : !public_host(host);
}

bool server_address_is_allowed(const char *ip, uint16_t port, const char *endpoint)
{
	struct sockaddr_storage a;
	size_t len = numeric_address(&a, ip, port);

	if (!port || !len)
		return false;
	return public_address((struct sockaddr *)&a, len) ||
	       (is_unicast(&a) && is_local_endpoint(endpoint));
}
