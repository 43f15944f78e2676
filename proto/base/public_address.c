#include "proto/base/public_address.h"

#include <netinet/in.h>
#include <string.h>
#include <strings.h>

/* A block of IPv4 addresses, in host order. */
struct block4 {
	uint32_t net;
	unsigned bits;
};

#define NET4(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))
static const struct block4 special4[] = {
	{NET4(0, 0, 0, 0), 8},	     /* this network */
	{NET4(10, 0, 0, 0), 8},	     /* private */
	{NET4(100, 64, 0, 0), 10},   /* shared by carriers */
	{NET4(127, 0, 0, 0), 8},     /* loopback */
	{NET4(169, 254, 0, 0), 16},  /* link local, metadata services */
	{NET4(172, 16, 0, 0), 12},   /* private */
	{NET4(192, 0, 0, 0), 24},    /* protocol assignments */
	{NET4(192, 0, 2, 0), 24},    /* documentation */
	{NET4(192, 88, 99, 0), 24},  /* 6to4 relays */
	{NET4(192, 168, 0, 0), 16},  /* private */
	{NET4(198, 18, 0, 0), 15},   /* benchmarks */
	{NET4(198, 51, 100, 0), 24}, /* documentation */
	{NET4(203, 0, 113, 0), 24},  /* documentation */
	{NET4(224, 0, 0, 0), 3},     /* multicast, reserved, broadcast */
};

struct block6 {
	uint8_t net[4]; /* the first bytes */
	unsigned bits;
};

static const struct block6 global6 = {{0x20}, 3};
static const struct block6 special6[] = {
	{{0x20, 0x01, 0x00, 0x00}, 23}, /* protocol assignments, Teredo */
	{{0x20, 0x01, 0x0d, 0xb8}, 32}, /* documentation */
	{{0x20, 0x02}, 16},		/* 6to4: embeds any IPv4 address */
	{{0x3f, 0xff}, 20},		/* documentation */
};

static bool is_public4(uint32_t addr)
{
	for (size_t i = 0; i < sizeof special4 / sizeof *special4; i++)
		if ((addr ^ special4[i].net) >> (32 - special4[i].bits) == 0)
			return false;
	return true;
}

static bool is_in6(const uint8_t addr[16], const struct block6 *block)
{
	uint32_t a = NET4(addr[0], addr[1], addr[2], addr[3]),
		 b = NET4(block->net[0], block->net[1], block->net[2], block->net[3]);

	return (a ^ b) >> (32 - block->bits) == 0;
}

static bool is_public6(const uint8_t addr[16])
{
	if (!is_in6(addr, &global6))
		return false;
	for (size_t i = 0; i < sizeof special6 / sizeof *special6; i++)
		if (is_in6(addr, &special6[i]))
			return false;
	return true;
}

bool public_address(const struct sockaddr *sa, size_t len)
{
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;

	if (len >= sizeof in4 && sa->sa_family == AF_INET) {
		memcpy(&in4, sa, sizeof in4);
		return is_public4(ntohl(in4.sin_addr.s_addr));
	}
	if (len >= sizeof in6 && sa->sa_family == AF_INET6) {
		memcpy(&in6, sa, sizeof in6);
		return in6.sin6_scope_id == 0 && is_public6(in6.sin6_addr.s6_addr);
	}
	return false;
}

bool public_port(const struct sockaddr *sa, size_t len)
{
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;
	uint16_t port = 0;

	if (len >= sizeof in4 && sa->sa_family == AF_INET) {
		memcpy(&in4, sa, sizeof in4);
		port = ntohs(in4.sin_port);
	} else if (len >= sizeof in6 && sa->sa_family == AF_INET6) {
		memcpy(&in6, sa, sizeof in6);
		port = ntohs(in6.sin6_port);
	}
	return port == 80 || port == 443;
}

/* RFC 6761, 8375 and what networks use without any standard. */
static const char *const local_names[] = {"internal", "intranet", "private",   "corp",
					  "local",    "lan",	  "localhost", "localdomain",
					  "home",     "home.arpa"};

bool public_host(const char *host)
{
	size_t n = strlen(host);

	if (*host == '[')
		return true;
	if (n && host[n - 1] == '.')
		n--;
	if (!n || !memchr(host, '.', n))
		return false;
	for (size_t i = 0; i < sizeof local_names / sizeof *local_names; i++) {
		size_t m = strlen(local_names[i]);

		if (n > m && host[n - m - 1] == '.' &&
		    strncasecmp(host + n - m, local_names[i], m) == 0)
			return false;
	}
	return true;
}
