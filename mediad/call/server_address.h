/* Where a voice server may want sound to be sent.
 *
 * READY names an address and a port, and we send datagrams there for as long as the call lasts. A
 * server that could choose freely would have us send into the network that we run in. So it may
 * name a public address only, unless the voice gateway itself is a host of our own network, as in
 * tests: its endpoint comes from Discord's main gateway and is proved by TLS. Pure. */
#ifndef MEDIAD_CALL_SERVER_ADDRESS_H
#define MEDIAD_CALL_SERVER_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

/* ip: numeric, IPv4 or IPv6. endpoint: of the voice gateway, host[:port] or [IPv6][:port]. */
bool server_address_is_allowed(const char *ip, uint16_t port, const char *endpoint);

#endif
