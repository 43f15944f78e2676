/* Which HTTP proxy a WebSocket takes, from the environment as curl reads it, and the words of
 * CONNECT. No I/O.
 *
 * Variables, the first that is set and not empty: ws_proxy, WS_PROXY, http_proxy for ws://;
 * wss_proxy, WSS_PROXY, https_proxy, HTTPS_PROXY for wss://; then all_proxy, ALL_PROXY. HTTP_PROXY
 * is never read: a CGI server sets it from a request's header. no_proxy or NO_PROXY exempts hosts.
 * Loopback hosts take no proxy, as in ipc/http.c. Sources: curl(1) ENVIRONMENT; RFC 9110 §9.3.6
 * (CONNECT); RFC 7617 (Basic). */
#ifndef IPC_PROXY_H
#define IPC_PROXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PROXY_HOST_MAX = 256,
	PROXY_SECRET_MAX = 256, /* user:password */
	PROXY_AUTH_MAX = 352,	/* the same in base64 */
	PROXY_REQUEST_MAX = 2048,
	PROXY_REPLY_MAX = 8192,
};

/* credentials is a secret: wiped by proxy_wipe, never told to anybody but the proxy. */
struct proxy {
	char host[PROXY_HOST_MAX]; /* without brackets; "" = connect directly */
	uint16_t port;
	char credentials[PROXY_SECRET_MAX]; /* "user:password", decoded; "" for none */
};

/* host: without brackets. EINVAL: the variable's value is malformed; EPROTONOSUPPORT: it is no
 * http:// proxy. */
int proxy_choose(struct proxy *out, bool tls, const char *host, uint16_t port);
void proxy_wipe(struct proxy *p);

/* [http://][user[:password]@]host[:port][/], port 1080 without one, percent-encoded credentials.
 * Errors as above. */
int proxy_parse(struct proxy *out, const char *url);
/* A list as in no_proxy: entries between commas or blanks; `*` alone exempts all; a name exempts
 * itself and its subdomains, with or without a leading dot; an address may have a prefix length; an
 * entry with :port counts for that port only. */
bool proxy_exempts(const char *list, const char *host, uint16_t port);
/* The request for a tunnel to host:port. EMSGSIZE. *n without the NUL. */
int proxy_request(const struct proxy *p, const char *host, uint16_t port,
		  char buf[PROXY_REQUEST_MAX], size_t *n);
/* Reads the head of the proxy's reply. EAGAIN until it is whole; EBADMSG: it is none, is too long,
 * or bytes follow it (the server behind the tunnel speaks second). */
int proxy_reply(const char *p, size_t n, unsigned *status);

#endif
