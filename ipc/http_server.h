/* HTTP/1.1 server on an env's loop (RFC 9110, RFC 9112): requests, bodies both ways, event streams.
 *
 * Heads are parsed by proto/http/head.h, which refuses what could be read in two ways; nothing but
 * HTTP/1.1 is spoken. Connections are kept and requests may be pipelined; one exchange of a
 * connection runs at a time. While its handler has an exchange nothing is read, so a client cannot
 * make the server keep what it sends ahead.
 *
 * What the handlers get are inputs of the env (requests with their heads, parts of bodies, ends of
 * connections), so a journal replays them; how fast a client reads is not, but for the step in
 * which an event stream's reader has missed something. On replay nothing listens and no socket
 * exists. A journal holds heads as they came,
 * cookies too; tokens that last are to be told to env_secret.
 *
 * Ownership: an exchange belongs to the server. Its pointer is good until it was answered
 * (http_reply, http_reply_end, http_events_join, http_upgrade) or its gone handler was called. Who
 * keeps it beyond the handler of the request must have set a gone handler. The server may not be
 * freed inside its handlers. */
#ifndef IPC_HTTP_SERVER_H
#define IPC_HTTP_SERVER_H

#include "proto/http/head.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct env;
struct http_server;
struct http_exchange;
struct http_events;

/* A request's head came; its body is yet to come. head is borrowed until return. To be answered
 * here, or later. */
typedef void(http_request_h)(struct http_exchange *x, const struct http_head *head, void *arg);
/* Of a body: data is borrowed until return; `last` with its end. */
typedef void(http_body_h)(struct http_exchange *x, const uint8_t *data, size_t n, bool last,
			  void *arg);
/* The client went, or was cut off, before the answer was complete. */
typedef void(http_gone_h)(struct http_exchange *x, void *arg);
/* Whether this Host (with its port, as sent) is one of ours: what keeps pages of other names out
 * (DNS rebinding). */
typedef bool(http_host_h)(struct http_text host, void *arg);

struct http_server_conf {
	const char *host; /* numeric address; NULL = "127.0.0.1" */
	uint16_t port;	  /* 0 = any */
	const char *
		path; /* a Unix socket instead, mode 0660; one that nobody listens on is replaced */
	unsigned max_connections; /* in all; 0 = 1024 */
	unsigned max_per_address; /* 0 = 32; of IPv6 addresses the first 64 bits count. Not for a
				     Unix socket */
	/* ms; 0 = the value given */
	uint32_t head_ms;      /* 10000: from a head's first byte, or the connection, to its end */
	uint32_t body_ms;      /* 10000, and a second for each 64 KiB that came */
	uint32_t idle_ms;      /* 60000: a kept connection without a request */
	uint32_t write_ms;     /* 30000: a client that reads nothing of what waits for it */
	uint32_t heartbeat_ms; /* 15000: comments in event streams */
	http_host_h *hosth;    /* NULL: every Host */
	http_request_h *h;
	void *arg; /* of both */
};

struct http_server_counts {
	unsigned connections; /* now */
	uint64_t requests;    /* heads that were understood */
	uint64_t refused;     /* by the server itself: malformed, late, too large */
	uint64_t turned_away; /* connections over a limit */
};

/* EINVAL, ENOMEM, EADDRINUSE and others of bind. Caller owns *out; texts of conf are copied. */
int http_server_alloc(struct http_server **out, struct env *env,
		      const struct http_server_conf *conf);
/* Ends every connection at once; no handler is called. */
struct http_server *http_server_free(struct http_server *s);
/* Where it listens; 0 for a Unix socket. */
uint16_t http_server_port(const struct http_server *s);
void http_server_counts(const struct http_server *s, struct http_server_counts *counts);
/* No new connection is taken, idle ones and event streams end, the others after their answer. h is
 * called in a step when none is left. */
void http_server_drain(struct http_server *s, void (*h)(void *arg), void *arg);

/* ---- of an exchange: inside the server's handlers, or later ---- */

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
void http_on_gone(struct http_exchange *x, http_gone_h *h, void *arg);
/* The numeric address of the client, "" for a Unix socket. */
void http_client_address(const struct http_exchange *x, char *buf, size_t size);

/* A field of the answer, before it begins. Cache-Control, Content-Security-Policy,
 * X-Content-Type-Options, X-Frame-Options and Referrer-Policy have strict values unless set.
 * EINVAL: it would end a line. ENOSPC. */
int http_reply_field(struct http_exchange *x, const char *name, const char *value);
/* The whole answer. type may be NULL without a body. data is copied. */
void http_reply(struct http_exchange *x, int status, const char *type, const void *data, size_t n);
/* An answer in parts, each copied. ENOBUFS: 16 MiB wait already. The client that went is told by
 * the gone handler. */
void http_reply_begin(struct http_exchange *x, int status, const char *type);
int http_reply_write(struct http_exchange *x, const void *data, size_t n);
void http_reply_end(struct http_exchange *x);

/* Gives the connection away when the step is over: its socket, and a head that says what the
 * request said, followed by what the client sent behind it. h owns fd. Not called on replay, nor
 * when the client went meanwhile. */
typedef void(http_upgrade_h)(int fd, const char *head, size_t n, void *arg);
void http_upgrade(struct http_exchange *x, http_upgrade_h *h, void *arg);

/* ---- event streams ---- */

/* Writes what somebody who knows nothing has to know, by http_events_tell. */
typedef void(http_snapshot_h)(struct http_exchange *x, void *arg);

/* A ring of the last events (proto/http/ring.h) and its readers. ENOMEM. Caller owns *out and frees
 * it before the server. */
int http_events_alloc(struct http_events **out, struct env *env, http_snapshot_h *h, void *arg);
/* Ends the streams of its readers. */
struct http_events *http_events_free(struct http_events *e);
/* The exchange becomes a reader. One that names a known Last-Event-ID gets what followed it; any
 * other gets a snapshot, behind an event `gap` when it named one. A reader so slow that it missed
 * events gets `gap` and a snapshot, too. */
void http_events_join(struct http_events *e, struct http_exchange *x, const struct http_head *head);
/* To this reader alone, inside the snapshot handler. EINVAL, EMSGSIZE, ENOMEM. */
int http_events_tell(struct http_exchange *x, const char *name, const char *data, size_t n);
/* To all. The name is one line; data may have several. EINVAL, EMSGSIZE. */
int http_events_publish(struct http_events *e, const char *name, const char *data, size_t n);
unsigned http_events_readers(const struct http_events *e);
/* How often a reader was told that it missed something. */
uint64_t http_events_gaps(const struct http_events *e);

#endif
