/* The addresses under which browsers know this server, and whom it believes who a client is: the
 * address at which it listens, the origin of a reverse proxy (setting web_origin), and an origin at
 * which the public share routes alone are served (web_share_origin). Pure. */
#ifndef CONTROL_WEB_ORIGINS_H
#define CONTROL_WEB_ORIGINS_H

#include <stdbool.h>

#include "proto/http/head.h"

enum { ORIGIN_MAX = 256, PROXIES_MAX = 8, ADDRESS_MAX = 46 };

struct origins {
	char listen[64];      /* "127.0.0.1", "[::1]", "0.0.0.0" */
	char own[ORIGIN_MAX]; /* "parley.example.org": what follows https://; "" for none */
	char share[ORIGIN_MAX];
	char proxies[PROXIES_MAX][ADDRESS_MAX]; /* numeric addresses */
	unsigned n_proxies;
};

/* Of the settings. False: an origin is not https://NAME or https://NAME:PORT, both have one name,
 * or a proxy is no numeric address. */
bool origins_read(struct origins *o, const char *own, const char *share, const char *proxies);

enum place {
	PLACE_FOREIGN, /* a page of another name that resolves to this address (DNS rebinding) */
	PLACE_LISTEN,
	PLACE_OWN,   /* behind the proxy */
	PLACE_SHARE, /* public routes alone */
};
enum place origins_place(const struct origins *o, struct http_text host);
/* The field Origin names the page that this Host serves. */
bool origins_match(const struct origins *o, struct http_text origin, struct http_text host);
/* Browsers keep a Secure cookie that came without TLS for loopback addresses alone. */
bool origins_private(const struct origins *o, struct http_text host);
bool origins_is_proxy(const struct origins *o, const char *address);
/* The address of the client: the peer's, or, of one of the proxies, the right-most address of
 * X-Forwarded-For that is no proxy's. out has ADDRESS_MAX bytes, and has the peer's at first. */
void origins_client(const struct origins *o, const struct http_head *head, char *out);
/* True if a proxy (peer, a numeric address) forwards this for the address at which control listens,
 * although web_origin or web_share_origin names it: that would open the dashboard at the address of
 * the shares. */
bool origins_misdirected(const struct origins *o, const struct http_head *head, const char *peer);

#endif
