/* What http_server.c, http_conn.c, http_exchange.c and http_events.c share. Nobody else includes
 * this.
 *
 * Of an exchange one part is changed inside steps alone and is the same on replay; the other, the
 * connection, is changed by the shell and does not exist on replay. A step never closes or frees:
 * the shell looks after each step. */
#ifndef IPC_HTTP_INSIDE_H
#define IPC_HTTP_INSIDE_H

#include "ipc/http_server.h"
#include "proto/http/body.h"

#include <event2/event.h>

enum {
	HTTP_READ_MAX = 32 << 10, /* bytes of a connection that wait to be understood */
	HTTP_OUT_HIGH =
		64 << 10,	 /* beyond this no further request of the connection is looked at */
	HTTP_OUT_MAX = 16 << 20, /* of an answer in parts */
	HTTP_FIELDS_SIZE = 4096, /* of an answer's own fields */
	HTTP_REQUESTS_A_TURN = 16, /* of one connection */
	HTTP_READERS_A_TURN = 64,  /* of an event stream */
};

/* Inputs. Each begins with the u32 number of the connection's slot. */
enum http_input {
	HTTP_IN_REQUEST = 1, /* u8 length of the address, the address, the head */
	HTTP_IN_BODY,	     /* u8 last, bytes */
	HTTP_IN_GONE,
	HTTP_IN_REFUSED, /* u16 status */
	HTTP_IN_MISSED,	 /* a reader of events missed some */
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

struct http_exchange {
	struct http_server *s;
	uint32_t slot;
	/* ---- of steps ---- */
	bool active;	 /* between the request and the end of its answer */
	bool begun;	 /* the head of the answer was made */
	bool parts;	 /* the answer is in parts */
	bool body_whole; /* all of the request's body was told */
	bool last;	 /* the connection ends with this answer */
	bool head_only;	 /* HEAD */
	bool in_parts;	 /* the request's body is told as it comes */
	bool expects;
	bool chunked;
	uint64_t length, body_max;
	uint32_t body_ms;	      /* of the route; 0: the server's */
	const struct http_head *head; /* of the request, while it is active */
	struct http_kept_head *kept;  /* where it lies when its step is over */
	http_body_h *bodyh;
	http_gone_h *goneh;
	http_upgrade_h *upgradeh;
	void *body_arg, *gone_arg, *upgrade_arg;
	struct http_bytes fields;   /* of the answer */
	struct http_bytes whole;    /* of the request's body, not told yet */
	struct http_bytes handover; /* the head of an upgrade */
	struct http_events *events;
	struct http_exchange *next_reader, **at_reader;
	char address[46];
	/* ---- of the shell ---- */
	int fd;
	enum http_conn_state state;
	struct event *in_ev, *out_ev;
	short watching;
	bool broken; /* no memory for what had to be sent */
	bool read_any;
	bool dirty;
	bool half_closed;
	bool out_waits;	  /* out_ev is added */
	bool more_events; /* a reader of events has not got all, though its socket took what there
			     was */
	struct http_exchange *next_dirty;
	struct http_bytes in, out;
	size_t seen, out_at;
	struct http_body decoder;
	uint64_t body_came, body_earned /* ms */, lingered;
	uint64_t deadline, out_deadline; /* monotonic ns; 0 = none */
	uint64_t cursor;		 /* of a reader */
	uint8_t source_address[16];
};

struct http_server {
	struct env *env;
	struct http_server_conf conf; /* with the values given for 0; texts are not kept */
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

/* Appends; false without memory. */
bool http_bytes_add(struct http_bytes *b, const void *p, size_t n);
void http_bytes_free(struct http_bytes *b);

/* http_server.c */
uint64_t http_clock(void);
/* The server's own next look at deadlines is no later than this. */
void http_server_wake_at(struct http_server *s, uint64_t when);
/* The shell looks at this connection when the running step is over. */
void http_mark_dirty(struct http_exchange *x);
struct http_exchange *http_exchange_new(struct http_server *s, uint32_t slot);
void http_exchange_free(struct http_exchange *x);

/* http_conn.c */
int http_conn_open(struct http_exchange *x, int fd);
/* After a step, or when there may be something to do. May free x. */
void http_conn_turn(struct http_exchange *x);
/* A deadline passed at `now`. May free x. */
void http_conn_late(struct http_exchange *x, uint64_t now);
void http_conn_close(struct http_exchange *x);
/* Sends what waits. False when the connection is broken. */
bool http_conn_flush(struct http_exchange *x);
/* One input: the slot, what is given. */
void http_conn_deliver(struct http_exchange *x, enum http_input kind, struct http_text head,
		       const void *p, size_t n);

/* http_exchange.c: what the inputs do. */
void http_exchange_input(uint8_t kind, const uint8_t *data, size_t len, void *arg);
size_t http_exchange_shape(uint8_t kind, const uint8_t *data, size_t len, char *text, size_t size);
void http_exchange_drop_head(struct http_exchange *x);
/* Ends the exchange without an answer of its own: tells who has it. */
void http_exchange_lose(struct http_exchange *x);
/* The head of an answer whose end is that of its connection. */
void http_reply_stream_head(struct http_exchange *x, const char *type);
/* Sends bytes of an answer: they are told to the env, and wait for the shell. */
void http_exchange_send(struct http_exchange *x, const void *p, size_t n);

/* http_events.c */
void http_events_leave(struct http_exchange *x);
/* In a step: tells a reader that it missed something. */
void http_events_missed(struct http_exchange *x);
/* Sends a reader what it may have by now. False when its connection is broken. */
bool http_events_flush(struct http_exchange *x);

#endif
