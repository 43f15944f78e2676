/* Keeps HTTP requests for URLs of strangers away from this machine and its network (server-side
 * request forgery).
 *
 * The addresses of sockets are judged (proto/base/public_address.h), once before curl connects and
 * once before it sends a request, since a connection that is used again is not opened again. No
 * proxy is used: it would be the only address that anybody judges. URLs may be http and https
 * without user and password, to the usual ports, and to names that are public. */
#ifndef IPC_HTTP_GUARD_H
#define IPC_HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/address_list.h"

struct http_guard;

enum {
	HTTP_GUARD_ALLOWED_MAX = ADDRESS_LIST_ENTRIES,
	HTTP_GUARD_PORTS_MAX = HTTP_GUARD_ALLOWED_MAX + 2
};

/* Reasons of http_guard_url: for a public host with another port, and for what is wrong with any.
 */
#define HTTP_GUARD_PORTS     "only the ports 80 and 443 are read"
#define HTTP_GUARD_MALFORMED "it is malformed"
#define HTTP_GUARD_SIGN_IN   "it holds a user name or a password"

/* allowed: addresses that may be reached although they are not public, or on another port, as the
 * operator's own list (proto/base/address_list.h); NULL or "": none. EINVAL: malformed or too
 * many, as address_list_fault tells. Caller owns *out. */
int http_guard_alloc(struct http_guard **out, const char *allowed);
struct http_guard *http_guard_free(struct http_guard *g);
/* True if it was made from this list. After a change of the list the owner makes a new guard, once
 * no request uses this one, and closes the connections that this one has judged. */
bool http_guard_is_of(const struct http_guard *g, const char *allowed);

/* Judges a URL before anything is resolved. False: `why` gets the reason, for the model: "this
 * address is not read: …". */
bool http_guard_url(const struct http_guard *g, const char *url, char *why, size_t size);

/* The same with a guard made from this list for one URL. Also false if the guard cannot be made. */
bool http_guard_allows(const char *list, const char *url, char *why, size_t size);

/* True if a connection there may be made, by its address alone. */
bool http_guard_connects(const struct http_guard *g, const struct address_entry *e);

/* Joins a base URL and a reference, as that of a redirect, without its fragment. False: malformed
 * or too long. */
bool http_guard_join(const char *base, const char *reference, char *to, size_t size);
/* The host of a URL, for people and for limits by host. False: malformed or too long. */
bool http_guard_host(const char *url, char *to, size_t size);

/* The ports of TCP that requests may go to. Returns how many. */
size_t http_guard_ports(const struct http_guard *g, uint16_t ports[HTTP_GUARD_PORTS_MAX]);

/* State of a request for curl's callbacks; belongs to ipc/http.c and outlives the handle. */
struct http_guard_watch {
	const struct http_guard *guard;
	bool refused; /* a socket was refused */
};
/* Sets the options of a curl handle. ENOMEM. */
int http_guard_set(struct http_guard_watch *w, void *easy);

#endif
