/* HTTP/1.1 server on an env's loop (RFC 9110, RFC 9112): requests, bodies both ways, event streams.
 *
 * proto/http/head.h parses heads and refuses ambiguous ones; the server supports HTTP/1.1 only. It
 * keeps connections alive and accepts pipelined requests; one exchange of a connection runs at a
 * time. While a handler has an exchange the server reads nothing from its connection, so a client
 * cannot make it buffer further requests.
 *
 * The handlers get inputs of the env (requests with their heads, parts of bodies, ends of
 * connections), so a journal replays them. How fast a client reads is no input, except for the step
 * in which an event stream's reader has missed events. On replay the server has no sockets. A
 * journal holds heads as received; register long-lived tokens with env_secret, and let hide_cookies
 * keep the values of cookies out of it.
 *
 * Ownership: the server owns an exchange. Its pointer is valid until it was answered (http_reply,
 * http_reply_end, http_events_join, http_upgrade) or its gone handler was called. A caller that
 * keeps it beyond the handler of the request must have set a gone handler. The server may not be
 * freed inside its handlers. */
#ifndef IPC_HTTP_SERVER_H
#define IPC_HTTP_SERVER_H

#include "proto/http/head.h"
#include "proto/http/ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct env;
struct http_server;
struct http_exchange;
struct http_events;

/* Handles a request's head; its body follows. head is borrowed until return. The response may be
 * sent here, or later. */
typedef void(http_request_h)(struct http_exchange *x, const struct http_head *head, void *arg);
/* Handles a part of a body: data is borrowed until return; `last` marks the end. */
typedef void(http_body_h)(struct http_exchange *x, const uint8_t *data, size_t n, bool last,
			  void *arg);
/* The client left, or was disconnected, before the response was complete. */
typedef void(http_gone_h)(struct http_exchange *x, void *arg);
/* True if this Host (with its port, as sent) is one of ours; refuses pages of other names (DNS
 * rebinding). */
typedef bool(http_host_h)(struct http_text host, void *arg);
/* Looks at a head as it was received. Handlers get it without the secrets of the env when there is
 * a journal, and by then anybody's text that holds one looks the same. Returns 0, or the status
 * that refuses it. Not called on replay. */
typedef int(http_check_h)(const struct http_head *head, void *arg);

/* True if this numeric address is a proxy's: its clients share it, and no limit holds for them. */
typedef bool(http_proxy_h)(const char *address, void *arg);

struct http_server_conf {
	const char *host;	  /* numeric address; NULL = "127.0.0.1" */
	uint16_t port;		  /* 0 = any */
	const char *path;	  /* a Unix socket instead, mode 0660; a stale one is replaced */
	unsigned max_connections; /* in all; 0 = 1024. One that sends no head gives way to a new one
				   */
	unsigned max_per_address; /* 0 = 32; of IPv6 addresses the first 64 bits count. Not for a
				     Unix socket */
	/* ms; 0 = the value given */
	uint32_t head_ms;      /* 10000: from a head's first byte, or the connection, to its end */
	uint32_t body_ms;      /* 10000, and a second for each 64 KiB that came */
	uint32_t idle_ms;      /* 60000: a kept connection without a request */
	uint32_t write_ms;     /* 30000: a client that takes neither all bytes that wait for it nor
				  16 KiB of them, whether they wait here or in its socket */
	uint32_t heartbeat_ms; /* 15000: comments in event streams */
	http_host_h *hosth;    /* NULL: every Host */
	http_proxy_h *proxyh;  /* NULL: there is none */
	http_check_h *checkh;  /* NULL: none is refused */
	/* Handlers and a journal get as many asterisks in the place of each Cookie field's value;
	 * checkh alone sees it. */
	bool hide_cookies;
	/* All other work of the loop goes first (ENV_LAST): requests wait while a room is busy. */
	bool last;
	http_request_h *h;
	void *arg; /* of all */
};

struct http_server_counts {
	unsigned connections; /* open now */
	uint64_t requests;    /* valid heads */
	uint64_t refused;     /* by the server itself: malformed, late, too large */
	uint64_t turned_away; /* connections over a limit */
};

/* EINVAL, ENOMEM, EADDRINUSE and others of bind. Caller owns *out; texts of conf are copied. */
int http_server_alloc(struct http_server **out, struct env *env,
		      const struct http_server_conf *conf);
/* Ends every connection at once; no handler is called. */
struct http_server *http_server_free(struct http_server *s);
/* The port; 0 for a Unix socket. */
uint16_t http_server_port(const struct http_server *s);
void http_server_counts(const struct http_server *s, struct http_server_counts *counts);
/* Accepts no new connection; ends idle ones and event streams at once, the others after their
 * response. Calls h in a step when no connection is left. */
void http_server_drain(struct http_server *s, void (*h)(void *arg), void *arg);

/* ---- an exchange: inside the server's handlers, or later ---- */

/* The limits of one route's body. */
struct http_body_limits {
	size_t max;  /* bytes; a longer body is refused with 413 */
	uint32_t ms; /* until it is complete, and a second for each 64 KiB; 0: the server's body_ms
		      */
	bool parts;  /* h gets parts as they arrive; else the whole body in one call */
};
/* Takes the body. Without a body h is called before this returns. A body beyond its limits ends the
 * exchange: EMSGSIZE, or the gone handler. limits is copied. */
int http_take_body(struct http_exchange *x, const struct http_body_limits *limits, http_body_h *h,
		   void *arg);
/* The head of the request, also when its body is there; borrowed until the exchange was answered or
 * its client is gone. */
const struct http_head *http_request_head(const struct http_exchange *x);
/* Stops and continues the delivery of a body taken in parts: its handler cannot use more now. What
 * the client sends meanwhile waits with the client, and the time limit of the body does not run. */
void http_hold_body(struct http_exchange *x, bool on);
void http_on_gone(struct http_exchange *x, http_gone_h *h, void *arg);
/* A number of the caller's that stays with the exchange until it was answered; 0 at first. */
void http_set_tag(struct http_exchange *x, uint64_t tag);
uint64_t http_tag(const struct http_exchange *x);
/* How many readers of event streams the server has with the tag of this exchange. */
unsigned http_tag_readers(const struct http_exchange *x);
/* The numeric address of the client, "" for a Unix socket. */
void http_client_address(const struct http_exchange *x, char *buf, size_t size);

/* Adds a field to the response, before it begins. Cache-Control, Content-Security-Policy,
 * X-Content-Type-Options, X-Frame-Options and Referrer-Policy have strict values unless set.
 * EINVAL: the value would end the line. ENOSPC. */
int http_reply_field(struct http_exchange *x, const char *name, const char *value);
/* Adds a Set-Cookie field whose value is a secret: the digests get as many asterisks in its place.
 * At most one for each response; attributes: "; Path=/" …. EINVAL, ENOSPC, ENOMEM. */
enum { HTTP_COOKIE_MAX = 128 };
int http_reply_cookie(struct http_exchange *x, const char *name, const char *secret,
		      const char *attributes);
/* Sends the whole response. type may be NULL without a body. data is copied. */
void http_reply(struct http_exchange *x, int status, const char *type, const void *data, size_t n);
/* Sends a response in parts, each copied. ENOBUFS: 16 MiB are queued already. The gone handler
 * reports a client that left. */
void http_reply_begin(struct http_exchange *x, int status, const char *type);
int http_reply_write(struct http_exchange *x, const void *data, size_t n);
void http_reply_end(struct http_exchange *x);

/* Hands the connection over after the step: its socket, and a head equivalent to the request's,
 * followed by the bytes that the client sent after it. h owns fd. Not called on replay, nor if the
 * client left meanwhile. */
typedef void(http_upgrade_h)(int fd, const char *head, size_t n, void *arg);
void http_upgrade(struct http_exchange *x, http_upgrade_h *h, void *arg);

/* ---- event streams ---- */

/* Writes the present state for a new reader, by http_events_tell. */
typedef void(http_snapshot_h)(struct http_exchange *x, void *arg);

/* A ring of the last events (proto/http/ring.h) and its readers. ENOMEM. Caller owns *out and frees
 * it before the server. */
int http_events_alloc(struct http_events **out, struct env *env, http_snapshot_h *h, void *arg);
/* Ends the streams of its readers. */
struct http_events *http_events_free(struct http_events *e);
/* Ends the streams of those readers of whom h says so. */
typedef bool(http_reader_h)(const struct http_exchange *x, void *arg);
void http_events_end(struct http_events *e, http_reader_h *h, void *arg);
/* Makes the exchange a reader. A reader that names a known Last-Event-ID gets the events after it;
 * any other gets a snapshot, after an event `gap` if it named one. A reader so slow that it missed
 * events gets `gap` and a snapshot, too. filter: which events it gets, copied; NULL for all. The
 * gone handler is still called when the reader leaves. */
void http_events_join(struct http_events *e, struct http_exchange *x, const struct http_head *head,
		      const struct sse_filter *filter);
/* Sends an event to this reader only, inside the snapshot handler. EINVAL, EMSGSIZE, ENOMEM. */
int http_events_tell(struct http_exchange *x, const char *name, const char *data, size_t n);
/* Sends an event to the readers whose filter lets this topic through (NULL: type 0 without a key).
 * The name is one line; data may have several. EINVAL, EMSGSIZE. */
int http_events_publish(struct http_events *e, const struct sse_topic *topic, const char *name,
			const char *data, size_t n);
/* The same for what soon is no longer true: it takes no place from the events that a reader may
 * come back to, has no id, and a slow reader misses it in silence. ENOMEM, too. */
int http_events_publish_fleeting(struct http_events *e, const struct sse_topic *topic,
				 const char *name, const char *data, size_t n);
unsigned http_events_readers(const struct http_events *e);
/* The keys of the readers' filters, each once, 0 for readers of all. Returns how many, at most max.
 */
unsigned http_events_keys(const struct http_events *e, uint64_t *keys, unsigned max);
/* The key of this reader's filter. */
uint64_t http_events_key(const struct http_exchange *x);
/* The number of `gap` events so far. */
uint64_t http_events_gaps(const struct http_events *e);

#endif
