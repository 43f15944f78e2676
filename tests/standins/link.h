/* A connection to a stand-in: HTTP/1.1 requests, streamed answers, WebSockets, and faults.
 *
 * What goes out is planned with a delay, so that an answer can be slow, late or cancelled. A link
 * that has ended swallows what is sent, and frees its session in a later turn of the loop, so a
 * session may send in any state.
 *
 * The program owns a link; a session that was given to it ends with it. */
#ifndef STANDINS_LINK_H
#define STANDINS_LINK_H

#include <event2/util.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/http/head.h"
#include "tests/standins/script.h"

struct si_link;
struct si_provider;
struct si_standin;

enum { SI_LINK_ACTS = 16 };

/* What has a link besides the request: a WebSocket's session, or an answer that is being made. */
struct si_session_ops {
	/* NULL for an answer. data ends with a NUL that is not counted. */
	void (*message)(void *session, bool text, const char *data, size_t n);
	/* An action that only the session knows: EXPIRE, GOAWAY, ERROR. NULL: none. */
	void (*act)(void *session, const struct si_act *act);
	void (*free)(void *session);
};

/* Takes over an accepted connection. */
void si_link_start(struct si_standin *st, const struct si_provider *provider, evutil_socket_t fd);
/* Ends all of them. */
void si_links_close(void);

struct si_standin *si_link_standin(const struct si_link *l);
/* Of the running request; borrowed. The body ends with a NUL that is not counted. */
const struct http_head *si_link_head(const struct si_link *l);
const char *si_link_body(const struct si_link *l, size_t *n);
/* The number of the connection, for the record. */
uint32_t si_link_number(const struct si_link *l);

/* The key of the request: as a bearer, or as this header or query parameter (NULL: none of these).
 * True when the stand-in wants none, or this one. */
bool si_link_key(const struct si_link *l, const char *header, const char *parameter);

/* ---- answers ---- */
void si_reply(struct si_link *l, int status, const char *type, const void *data, size_t n);
/* Steals root. */
void si_reply_json(struct si_link *l, int status, json_t *root);
/* Begins a streamed answer, whose chunks are planned and which SI_OUT_END ends. */
void si_stream(struct si_link *l, int status, const char *type);
/* Accepts the upgrade, or (of an answer) only keeps the session until the client is gone or
 * the answer has ended. */
void si_link_take(struct si_link *l, const struct si_session_ops *ops, void *session);

/* ---- what goes out ---- */
enum si_out {
	SI_OUT_TEXT,   /* a message */
	SI_OUT_BINARY, /* a binary message */
	SI_OUT_CHUNK,  /* of a streamed answer */
	SI_OUT_END,    /* of a streamed answer */
	SI_OUT_CLOSE,  /* closes the socket with `code` and the text in data */
	SI_OUT_CALL,   /* calls h */
};
struct si_plan {
	enum si_out out;
	uint32_t after_ms;
	uint32_t tag; /* what it belongs to, for si_plan_drop; 0: nothing */
	bool piece;   /* of sound or text: counts for the trigger `audio` */
	uint16_t code;
	const void *data; /* copied */
	size_t n;
	void (*h)(void *arg);
	void *arg;
};
/* Sends it at its time; what has the same time keeps its order. Now means before it returns. */
void si_plan(struct si_link *l, const struct si_plan *plan);
/* The same with a JSON text in data's place. Steals root. */
void si_plan_json(struct si_link *l, const struct si_plan *plan, json_t *root);
/* Forgets what belongs to the tag, except the next `keep` pieces. Returns the pieces forgotten. */
size_t si_plan_drop(struct si_link *l, uint32_t tag, size_t keep);

/* ---- the script ---- */
/* What the lines for a trigger say about an answer. */
struct si_acts {
	uint32_t delay_ms, gap_ms, late, retry_after_s;
	bool silent, nodone;
	/* NULL: not said */
	const struct si_act *say, *call, *error, *fail, *transcript, *status, *reason;
	const struct si_act *all[SI_LINK_ACTS];
	size_t n;
};
/* Counts the trigger, does what concerns the connection at once, and tells the rest. */
void si_link_fire(struct si_link *l, enum si_trigger t, struct si_acts *acts);
/* Fires SI_OPEN, and plans the lines with `at`. */
void si_link_opened(struct si_link *l);
bool si_link_extra(const struct si_link *l);

#endif
