/* Shared by http_server.c, http_conn.c, http_exchange.c and http_events.c only.
 *
 * An exchange has two parts. Steps alone change the first, which is the same on replay. The shell
 * changes the second, the connection, which does not exist on replay. A step never closes or frees
 * a connection; the shell does so after the step. */
#ifndef IPC_HTTP_INSIDE_H
#define IPC_HTTP_INSIDE_H

#include "ipc/env.h"
#include "ipc/http_server.h"
#include "proto/http/body.h"

#include <event2/event.h>

enum {
	HTTP_READ_MAX = 32 << 10, /* received bytes of a connection that are not parsed yet */
	HTTP_OUT_HIGH =
		64 << 10, /* unsent bytes beyond which the connection reads no further request */
	HTTP_OUT_MAX = 16 << 20, /* unsent bytes of a response in parts */
	HTTP_OUT_MIN =
		16 << 10, /* bytes that a client reads at least in write_ms, while more wait */
	HTTP_FIELDS_SIZE = 4096,   /* fields that the handler adds to a response */
	HTTP_REQUESTS_A_TURN = 16, /* requests of one connection per turn of the loop */
	HTTP_READERS_A_TURN = 16,  /* readers of an event stream per turn of the loop */
};

/* Inputs. Each begins with the u32 number of the connection's slot. */
enum http_input {
	HTTP_IN_REQUEST = 1, /* u8 length of the address, the address, the head */
	HTTP_IN_BODY,	     /* u8 last, bytes */
	HTTP_IN_GONE,
	HTTP_IN_REFUSED, /* u16 status */
	HTTP_IN_MISSED,	 /* a reader of events missed at least one */
	HTTP_IN_DRAINED, /* slot 0 */
};

enum http_conn_state {
	HTTP_CONN_HEAD,	  /* a head is read */
	HTTP_CONN_BODY,	  /* a body is read */
	HTTP_CONN_BUSY,	  /* the answer is somebody's, or the connection will be; only the client's
			     end is watched */
	HTTP_CONN_STREAM, /* a reader of events; the same */
	HTTP_CONN_LINGER, /* answered for the last time; what still comes is thrown away */
};

struct http_bytes {
	uint8_t *p;
	size_t n, cap;
};

/* What a reader gets next, of each ring. */
struct http_place {
	uint64_t kept, fleeting;
};

struct http_exchange {
	struct http_server *s;
	uint32_t slot;
	/* ---- changed by steps ---- */
	bool active;	 /* between the request and the end of its answer */
	bool begun;	 /* the head of the response was composed */
	bool parts;	 /* the response is in parts */
	bool body_whole; /* the handler has the whole body of the request */
	bool last;	 /* the connection ends with this response */
	bool head_only;	 /* HEAD */
	bool in_parts;	 /* the handler gets the request's body in parts */
	bool held;	 /* the handler takes no further parts at present */
	bool expects;
	bool chunked;
	uint64_t length, body_max;
	uint32_t body_ms;	      /* of the route; 0: the server's */
	const struct http_head *head; /* of the request, while it is active */
	struct http_kept_head *kept;  /* its copy, used after the step */
	http_body_h *bodyh;
	http_gone_h *goneh;
	http_upgrade_h *upgradeh;
	void *body_arg, *gone_arg, *upgrade_arg;
	struct http_bytes fields; /* of the response */
	uint64_t tag;
	char cookie[HTTP_COOKIE_MAX]; /* the secret in its fields; "" without one */
	struct http_bytes whole;      /* the request's body, while it is incomplete */
	struct http_bytes handover;   /* the head of an upgrade */
	struct http_events *events;
	struct sse_filter filter; /* of a reader */
	struct http_exchange *next_reader, **at_reader;
	char address[46];
	/* ---- changed by the shell ---- */
	int fd;
	enum http_conn_state state;
	struct event *in_ev, *out_ev;
	short watching;
	bool broken; /* there was no memory for bytes to send */
	bool read_any;
	bool dirty;
	bool half_closed;
	bool out_waits;	  /* out_ev is added */
	bool more_events; /* more events wait for this reader, although its socket accepted all
			     bytes so far */
	struct http_exchange *next_dirty;
	struct http_bytes in, out;
	size_t seen, out_at;
	struct http_body decoder;
	uint64_t body_came, body_earned /* ms */, lingered;
	uint64_t deadline, out_deadline; /* monotonic ns; 0 = none */
	uint64_t waits_since;		 /* for a head: since when */
	uint64_t sent;			 /* bytes that the socket accepted */
	uint64_t taken_before; /* of those, what the client had when out_deadline was set */
	uint64_t taken_goal;   /* and what waited for it then */
	struct http_place at;  /* of a reader */
	uint8_t source_address[16];
};

struct http_server {
	struct env *env;
	struct http_server_conf conf; /* with the defaults in place of 0; its texts are not valid */
	char *path;
	uint32_t source;
	uint16_t port;
	int fd;
	struct event *accept_ev, *timer, *turn;
	uint64_t timer_at; /* 0: not set */
	struct http_exchange **slots;
	struct http_exchange *dirty, *delivering;
	struct http_server_counts counts;
	bool draining;
	void (*drainedh)(void *arg);
	void *drained_arg;
	uint64_t date_s;
	char date[32];
	uint8_t scratch[HTTP_READ_MAX];
	uint8_t record[64 + HTTP_READ_MAX];
};

static inline size_t http_out_waiting(const struct http_exchange *x)
{
	return x->out.n - x->out_at;
}

/* Of the server's events. */
static inline int http_priority(const struct http_server *s)
{
	return s->conf.last ? ENV_LAST : ENV_USUAL;
}

/* Appends; false without memory. */
bool http_bytes_add(struct http_bytes *b, const void *p, size_t n);
void http_bytes_free(struct http_bytes *b);

/* http_server.c */
uint64_t http_clock(void);
/* Sets the server's timer to this time or earlier. */
void http_server_wake_at(struct http_server *s, uint64_t when);
/* Makes the shell process this connection after the running step. */
void http_mark_dirty(struct http_exchange *x);
struct http_exchange *http_exchange_new(struct http_server *s, uint32_t slot);
void http_exchange_free(struct http_exchange *x);

/* http_conn.c */
int http_conn_open(struct http_exchange *x, int fd);
/* Processes the connection: after a step, or when there may be work. May free x. */
void http_conn_turn(struct http_exchange *x);
/* Handles a deadline that passed at `now`. May free x. */
void http_conn_late(struct http_exchange *x, uint64_t now);
void http_conn_close(struct http_exchange *x);
/* Sends the queued bytes. Returns false if the connection is broken. */
bool http_conn_flush(struct http_exchange *x);
/* Delivers one input of this kind: the slot, head and bytes. */
void http_conn_deliver(struct http_exchange *x, enum http_input kind, struct http_text head,
		       const void *p, size_t n);

/* http_exchange.c: the handlers of the inputs. */
void http_exchange_input(uint8_t kind, const uint8_t *data, size_t len, void *arg);
size_t http_exchange_shape(uint8_t kind, const uint8_t *data, size_t len, char *text, size_t size);
void http_exchange_drop_head(struct http_exchange *x);
/* Ends the exchange without a response and calls its gone handler. */
void http_exchange_lose(struct http_exchange *x);
/* Sends the head of a response that ends with its connection. */
void http_reply_stream_head(struct http_exchange *x, const char *type);
/* Queues bytes of a response for the shell, and records them as output of the env. */
void http_exchange_send(struct http_exchange *x, const void *p, size_t n);

/* http_events.c */
void http_events_leave(struct http_exchange *x);
/* In a step: tells a reader that it missed something. */
void http_events_missed(struct http_exchange *x);
/* Sends a reader what it may have by now. False when its connection is broken. */
bool http_events_flush(struct http_exchange *x);

#endif
