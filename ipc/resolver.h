/* Resolves host names on an env's loop by evdns, A and AAAA at once, and reads resolv.conf again
 * when it has changed.
 *
 * The hosts file is read once, when the resolver is made. A lookup's owner frees it before the
 * resolver. Sources: resolv.conf(5); RFC 8305 §3 (both queries go out together, each is answered by
 * itself). */
#ifndef IPC_RESOLVER_H
#define IPC_RESOLVER_H

#include <stdint.h>
#include <sys/socket.h>

struct event_base;
struct resolver;
struct lookup;

/* Addresses that are kept of each family. */
enum { LOOKUP_MAX = 8 };

/* One family (AF_INET6 or AF_INET) is answered; n = 0: it has no address. Comes once a family, also
 * from inside lookup_start when the hosts file has the name. It may free the lookup. */
typedef void(lookup_h)(int family, const struct sockaddr_storage *addrs, unsigned n, void *arg);

/* ENOMEM. Caller owns *out. */
int resolver_alloc(struct resolver **out, struct event_base *base);
struct resolver *resolver_free(struct resolver *r);
/* Replaces /etc/resolv.conf (tests); path is copied. EINVAL, ENOMEM. */
int resolver_set_conf(struct resolver *r, const char *path);

/* Ports of the addresses are `port`. EINVAL, ENOMEM; *out is set before a handler is called. */
int lookup_start(struct lookup **out, struct resolver *r, const char *name, uint16_t port,
		 lookup_h *h, void *arg);
/* No handler is called any more. */
struct lookup *lookup_free(struct lookup *l);

#endif
