/* Connects a TCP socket to a host by happy eyeballs (RFC 8305): A and AAAA are queried together,
 * IPv6 goes first, the next address starts 250 ms after the last one or as soon as it has failed,
 * and the first to connect wins.
 *
 * The handler is called once, in a later turn of the loop, never from inside tcp_dial_alloc. The
 * owner frees the dial, inside the handler or after it; freeing it before gives up. There is no
 * deadline in here: the owner has one. */
#ifndef IPC_TCP_DIAL_H
#define IPC_TCP_DIAL_H

#include <stdint.h>

struct event_base;
struct resolver;
struct tcp_dial;

/* At most so many addresses of a host are tried. */
enum { TCP_DIAL_ADDRESSES = 8, TCP_DIAL_STAGGER_MS = 250, TCP_DIAL_RESOLUTION_MS = 50 };

/* fd: connected, non-blocking, close-on-exec, without Nagle's delay; the handler owns it. -1: why
 * says what failed. */
typedef void(tcp_dial_h)(int fd, const char *why, void *arg);

/* host: name, IPv4 or IPv6 literal without brackets, or localhost (both loopback addresses, never
 * looked up). */
int tcp_dial_alloc(struct tcp_dial **out, struct event_base *base, struct resolver *r,
		   const char *host, uint16_t port, tcp_dial_h *h, void *arg);
struct tcp_dial *tcp_dial_free(struct tcp_dial *d);

#endif
