/* WebSockets, client and server, on an env's loop: libwebsockets with its libuv loop nested in
 * libevent.
 *
 * lws and its two rules (kick the loop after every call from outside a callback; one write per
 * writeable) stay inside ws*.c. Messages are complete: fragments are joined up to `max_message`,
 * beyond which the connection is closed with 1009. evdns resolves names, never lws, and every
 * address of a host is tried (RFC 8305); TLS verifies the requested name or literal address. The
 * environment selects a proxy as for curl (ipc/proxy.h). A silent peer is pinged, and closed with
 * 1006 if it stays silent.
 *
 * Ownership: the caller owns a struct ws from ws_connect until ws_free; the owner of an accept
 * handler owns the struct that the handler gets. ws_free inside the socket's own handler is
 * allowed. After WS_CLOSED there are no further events, and sends return ENOTCONN; the struct still
 * needs ws_free. */
#ifndef IPC_WS_H
#define IPC_WS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct env;
struct ws;
struct ws_ctx;
struct ws_server;

enum ws_event {
	WS_OPEN,   /* handshake done */
	WS_TEXT,   /* a whole text message */
	WS_BINARY, /* a whole binary message */
	WS_CLOSED, /* ended: code = close code received, 1006 when none; data = reason text */
};

/* data borrowed until return; not NUL-terminated. */
typedef void(ws_h)(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		   void *arg);

/* ca_file: extra trusted CA in PEM or NULL. One context an env. Caller owns *out, frees it after
 * its sockets. */
int ws_ctx_alloc(struct ws_ctx **out, struct env *env, const char *ca_file);
struct ws_ctx *ws_ctx_free(struct ws_ctx *ctx);
/* Reads this file in place of /etc/resolv.conf (tests). EINVAL, ENOMEM. */
int ws_ctx_set_resolv_conf(struct ws_ctx *ctx, const char *path);

struct ws_dial {
	const char
		*url; /* ws:// or wss://, host[:port] or [IPv6][:port], path and query verbatim */
	const char *const *headers; /* NULL-terminated "Name: value" lines, or NULL */
	uint32_t connect_ms;	    /* until TCP, and the proxy's tunnel, are connected; 0 = 5000 */
	uint32_t total_ms;	    /* until WS_OPEN; 0 = 5000 more than connect_ms */
	uint32_t ping_ms;   /* silence before a ping, and after it before the close; 0 = 10000 */
	size_t max_message; /* 0 = 1 MiB */
};

/* Starts connecting; WS_OPEN or WS_CLOSED reports the outcome. EINVAL for a bad URL, ENOMEM. Copies
 * dial. */
int ws_connect(struct ws **out, struct ws_ctx *ctx, const struct ws_dial *dial, ws_h *h, void *arg);
/* Queues one message (copied). ENOTCONN, ENOBUFS if 16 MiB are queued already, ENOMEM. */
int ws_send(struct ws *ws, bool text, const void *data, size_t len);
/* The bytes that are queued and not yet written to the kernel. */
size_t ws_pending(const struct ws *ws);
/* Sends a close frame after the queued messages; WS_CLOSED follows, after 1.5 s at the latest.
 * reason may be NULL. */
void ws_close(struct ws *ws, uint16_t code, const char *reason);
/* Drops the TCP connection without a close frame (tests of half-open sockets); WS_CLOSED 1006
 * follows. */
void ws_abort(struct ws *ws);
/* Detaches the handler at once, closes with 1000 if open, and frees when lws has released the
 * socket. NULL accepted. */
struct ws *ws_free(struct ws *ws);
void ws_set_handler(struct ws *ws, ws_h *h, void *arg);

/* Handles a new open connection; path includes the query ("/?v=8"). Request headers can be read
 * inside the handler only. Call ws_set_handler before returning, or ws_free to refuse. */
typedef void(ws_accept_h)(struct ws *ws, const char *path, void *arg);
/* Request header of an accepted connection, valid inside ws_accept_h only; "" when absent. Name in
 * lower case. */
const char *ws_header(struct ws *ws, const char *name);

struct ws_listen_conf {
	const char
		*host; /* "127.0.0.1", "::1"; NULL = nowhere: connections come by ws_server_adopt */
	uint16_t port; /* 0 = any */
	const char *cert_file; /* PEM; NULL = plain ws */
	const char *key_file;
	uint32_t ping_ms;   /* as in struct ws_dial */
	size_t max_message; /* 0 = 1 MiB */
};
int ws_listen(struct ws_server **out, struct ws_ctx *ctx, const struct ws_listen_conf *conf,
	      ws_accept_h *h, void *arg);
uint16_t ws_server_port(const struct ws_server *s);
/* Takes over a connection whose request was read elsewhere (http_upgrade in ipc/http_server.h):
 * head is the request for the upgrade and what came behind it. Owns fd. Not inside a step. */
void ws_server_adopt(struct ws_server *s, int fd, const char *head, size_t n);
struct ws_server *ws_server_free(struct ws_server *s);

#endif
