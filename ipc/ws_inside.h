/* Shared by ws.c and ws_*.c only. */
#ifndef IPC_WS_INSIDE_H
#define IPC_WS_INSIDE_H

#include "ipc/ws.h"

#include <event2/event.h>
#include <libwebsockets.h>
#include <uv.h>

enum {
	WS_MAX_MESSAGE = 1 << 20,
	WS_MAX_QUEUED = 16 << 20,
	WS_CONNECT_MS = 5000,
	WS_OPEN_MS = 5000, /* TLS and upgrade, after connecting */
	WS_PING_MS = 10000,
	WS_CLOSE_MS = 1500, /* from our close to the peer's */
	WS_HOST_MAX = 256,
};

struct proxy;
struct resolver;
struct tcp_dial;
struct tunnel;

/* A bound port of the loopback interface: see ws_adopt.c. port 0: not open. */
struct ws_anchor {
	int fd;
	uint16_t port;
};

struct ws_ctx {
	struct env *env;
	struct lws_context *lws; /* NULL on replay */
	struct lws_vhost *client;
	uv_loop_t uv;
	bool uv_open;
	struct event *readable, *timer;
	struct resolver *resolver;
	struct ws_anchor anchor;
	struct ws_scratch {
		uint8_t *block; /* lws's allocation that contains it */
		size_t block_n;
		uint8_t *p; /* NULL: not known yet */
		size_t n;
		bool used;	/* since it was wiped */
	} scratch;		/* where lws reads into and composes requests */
	struct ws *all;		/* every socket that lws or an owner still uses */
	struct ws_server *gone; /* freed servers: lws reads their names until it is destroyed */
};

struct out_msg {
	struct out_msg *next;
	size_t n;
	bool text;
	uint8_t bytes[]; /* LWS_PRE of room, then the message */
};

struct ws {
	struct ws_ctx *ctx;
	struct ws *next, **at; /* in ctx->all */
	struct lws *wsi;       /* NULL before connecting and after closing */
	uint32_t source;
	ws_h *h;
	void *arg;
	bool open, over, orphan,
		sent_close;  /* over: WS_CLOSED was told. orphan: the owner let go */
	bool failed;	     /* a deadline or a bad message: closes without a frame */
	unsigned busy;	     /* the number of running deliveries */
	uint16_t close_code; /* passed to ws_close; 0 = none */
	char close_reason[124];
	uint16_t got_code;
	char got_reason[128];
	struct out_msg *first, **end;
	size_t queued;
	uint8_t *in;
	size_t n_in, cap_in, max_message;
	/* dialling */
	struct ws_dial_state {
		char host[WS_HOST_MAX], *path, **headers;
		uint16_t port;
		bool tls;
		bool six, verified;		    /* an IPv6 literal; its certificate is for it */
		struct event *connect_by, *open_by; /* the two deadlines */
		const char *why;     /* what the deadline says; NULL: that it is late */
		struct proxy *proxy; /* NULL: none */
		struct tcp_dial *tcp;
		struct tunnel *tunnel;
	} dial;
	struct ws_ping {
		struct event *timer;
		uint32_t interval_ms;
		uint64_t heard_ms; /* the last bytes of the peer */
		bool asked;	   /* a ping was sent since */
		bool due;	   /* it is to be written */
	} ping;
};

/* ws.c */
int ws_new(struct ws **out, struct ws_ctx *ctx, size_t max_message);
/* Calls the owner's handler, and frees the socket if it is no longer needed. Returns false if *ws
 * is freed or must be closed. */
bool ws_tell(struct ws *ws, enum ws_event ev, const void *data, size_t len);
void ws_tell_closed(struct ws *ws, uint16_t code, const char *reason);
/* Detaches the connection from lws and closes it without a frame or an event. */
void ws_drop(struct ws *ws);
/* Frees an orphan that lws no longer knows and that has no delivery running. */
void ws_bury(struct ws *ws);
/* The one callback of all our lws protocols. */
int ws_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
		size_t len);
/* ws_loop.c: call it after every call into lws from outside its callbacks. */
void ws_kick(struct ws_ctx *ctx);
/* lws's scratch buffer, whose end is known while a request is composed, is wiped after this turn.
 */
void ws_found_scratch(struct ws_ctx *ctx, uint8_t *end);
/* ws_dial.c */
void ws_dial_clear(struct ws *ws);
int ws_dial_headers(struct ws *ws, struct lws *wsi, uint8_t **p, uint8_t *end);
/* Handles ws_close before the connection is open: WS_CLOSED follows in the next turn. */
void ws_dial_close(struct ws *ws);
/* ws_adopt.c */
int ws_anchor_open(struct ws_anchor *a);
void ws_anchor_close(struct ws_anchor *a);
/* Takes the connected fd, also on failure; lws continues with TLS and upgrade. */
int ws_adopt(struct ws *ws, int fd);
void ws_tls_prepare(void *ssl_ctx);
/* Non-zero refuses the certificate. */
int ws_tls_verify(struct ws *ws, void *x509_store_ctx, bool chain_ok);
/* ws_ping.c. interval_ms 0: WS_PING_MS. */
int ws_ping_alloc(struct ws *ws, uint32_t interval_ms);
/* The connection is open. */
void ws_ping_start(struct ws *ws);
/* Bytes of the peer arrived. */
void ws_ping_heard(struct ws *ws);
/* Inside a writeable callback, when ping.due. */
int ws_ping_write(struct ws *ws);
/* Our close was requested: ends the connection WS_CLOSE_MS later in any case. */
void ws_ping_await_close(struct ws *ws);
void ws_ping_clear(struct ws *ws);
/* ws_server.c: a connection was established; 0 to go on. */
int ws_server_accept(struct lws *wsi);
void ws_servers_clear(struct ws_ctx *ctx);

extern const struct lws_protocols ws_protocols[];

#endif
