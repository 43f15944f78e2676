/* Inside the main gateway: sessions and connections. Only gateway*.c include this. */
#ifndef GUILDD_GATEWAY_SESSION_H
#define GUILDD_GATEWAY_SESSION_H

#include "tests/guildd/gateway.h"

#include "ipc/ws.h"

#include <zlib.h>

enum { GD_PAYLOAD_MAX = 4096, GD_SESSION_LOG = 1000, GD_RATE_WINDOW_S = 60 };

struct tmr;
struct gsession;

struct gconn {
	struct gd_gateway *gw;
	struct ws *ws;
	struct gsession *s;
	uint64_t user; /* of the last session, for the counters */
	bool closing, deflating;
	z_stream z;
	struct tmr *watch;     /* heartbeats */
	uint64_t window_start; /* of the event limit */
	unsigned events;
};

struct gevent {
	int seq;
	char *text;
};

struct gsession {
	struct gd_gateway *gw;
	struct gd_bot *bot;
	char id[GD_SECRET];
	uint64_t intents;
	int seq;
	struct gd_vec log;  /* struct gevent, oldest first */
	struct gconn *conn; /* NULL while it may be resumed */
	struct tmr *expiry;
};

struct gd_gateway {
	struct guildd *g;
	struct ws_server *server;
	char url[48];
	struct gd_vec conns, sessions;
	uint64_t last_identify;
	unsigned identifies;
};

/* One JSON text, through the connection's deflate stream when it has one. */
void gconn_text(struct gconn *c, const char *text);
/* An operation that is no dispatch. Steals d. */
void gconn_send(struct gconn *c, int op, json_t *d);
void gconn_close(struct gconn *c, uint16_t code, const char *reason);
void gconn_message(struct gconn *c, const uint8_t *data, size_t len);
/* (Re)starts the watch over heartbeats. */
void gconn_beat(struct gconn *c);

int gsession_alloc(struct gsession **out, struct gd_gateway *gw, struct gd_bot *bot,
		   uint64_t intents);
struct gsession *gsession_free(struct gsession *s);
/* op 0, numbered and kept; d is borrowed. */
void gsession_dispatch(struct gsession *s, const char *name, const json_t *d);
/* The bot leaves its voice channels; the session cannot be resumed any more. */
void gsession_end(struct gsession *s);
/* The WebSocket is gone; the session waits for a Resume. */
void gsession_lost(struct gsession *s);
/* Sends what came after seq; false when it is not all there (nothing is sent then). */
bool gsession_replay(struct gsession *s, int seq);
struct gsession *gsession_find(const struct gd_gateway *gw, uint64_t user);

#endif
