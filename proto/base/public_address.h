/* Which addresses a request made for a stranger's URL may connect to: public unicast ones, and only
 * the ports of the web. Everything else could be a service of this machine or of its network.
 *
 * The check judges the address of the socket itself. It is not enough to check a URL or a resolved
 * name: names can resolve differently the second time, and addresses have many spellings. */
#ifndef PROTO_BASE_PUBLIC_ADDRESS_H
#define PROTO_BASE_PUBLIC_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sockaddr;

/* IPv4: not one of IANA's special-purpose blocks, multicast or reserved (RFC 6890). IPv6: only
 * global unicast 2000::/3 without Teredo and other protocol assignments, documentation and 6to4;
 * addresses that embed IPv4 (mapped, NAT64) lie outside of it. len is the length of sa. */
bool public_address(const struct sockaddr *sa, size_t len);
/* 80 or 443. */
bool public_port(const struct sockaddr *sa, size_t len);
/* True if a host name may be resolved for a stranger's URL: it has a dot, and its last label is
 * none that local networks use ("internal", "local", "localhost", "lan", "home.arpa", …). An
 * address in brackets or as dotted numbers passes: public_address judges those. */
bool public_host(const char *host);

#endif
