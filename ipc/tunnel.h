/* Opens a tunnel through an HTTP proxy: CONNECT on a TCP connection to the proxy that already
 * stands.
 *
 * The handler is called once, in a later turn of the loop. The owner frees the tunnel, inside the
 * handler or after it. There is no deadline in here: the owner has one. */
#ifndef IPC_TUNNEL_H
#define IPC_TUNNEL_H

#include <stdint.h>

struct event_base;
struct proxy;
struct tunnel;

/* fd: the same connection, now to the host behind the proxy, owned by the handler. -1: why says
 * what failed; it never holds the credentials. */
typedef void(tunnel_h)(int fd, const char *why, void *arg);

/* Where to; borrowed until tunnel_alloc returns. */
struct tunnel_target {
	const struct proxy *proxy;
	const char *host; /* behind the proxy */
	uint16_t port;
};

/* Takes fd (non-blocking), also when it fails. EMSGSIZE, ENOMEM. */
int tunnel_alloc(struct tunnel **out, struct event_base *base, int fd,
		 const struct tunnel_target *to, tunnel_h *h, void *arg);
struct tunnel *tunnel_free(struct tunnel *t);

#endif
