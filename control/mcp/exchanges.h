/* Streamable HTTP as the client of MCP uses it: a POST for each message, whose response is one
 * message or a stream of them, the session's id, and the stream that a GET opens (MCP 2025-11-25
 * and 2026-07-28, Transports). Everything runs on env's thread. */
#ifndef CONTROL_MCP_EXCHANGES_H
#define CONTROL_MCP_EXCHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exchanges;
struct http;
struct mcp_message;

enum { EXCHANGES_MAX = 40 }; /* at a time */
#define EXCHANGES_LISTEN_NS (30 * UINT64_C(1000000000))

struct exchanges_conf {
	struct http *http; /* borrowed */
	const char *url;   /* copied */
	/* "NAME: value" of every request, NULL-terminated, or NULL; copied, wiped at the end. */
	const char *const *headers;
	/* So many bytes of a body came, before the messages in them. May be NULL. */
	void (*readh)(size_t n, void *arg);
	/* A message of the server. Borrowed until return. */
	void (*messageh)(const char *text, size_t n, void *arg);
	/* The server answered with 401 or 403 and this WWW-Authenticate; endh follows. May be NULL.
	 */
	void (*challengeh)(unsigned status, const char *field, void *arg);
	/* The server refused a request with 401. True: a new token is on its way, and the request
	 * waits for exchanges_authorize, which sends it once more, or exchanges_give_up. Either may
	 * be called before this returns. May be NULL: requests are sent once. */
	bool (*renewh)(void *arg);
	/* The exchange of request `id` has ended, with or without an answer; status 0: it failed.
	 * 0: of a message that is not answered, or the stream. */
	void (*endh)(uint32_t id, unsigned status, void *arg);
	void *arg;
};

/* ENOMEM. Caller owns *out. */
int exchanges_alloc(struct exchanges **out, const struct exchanges_conf *conf);
/* Drops what runs and ends the session. No handler is called. NULL accepted. */
struct exchanges *exchanges_free(struct exchanges *x);

/* This header, "NAME: value", goes with every request from now on, instead of the last one so
 * given. Copied, wiped at the end. Requests that wait for it are sent once more. ENOMEM. */
int exchanges_authorize(struct exchanges *x, const char *header);
/* There is no new token: requests that wait for one end with the status 401. */
void exchanges_give_up(struct exchanges *x);

/* endh tells what became of it, also when it could not be sent. */
void exchanges_send(struct exchanges *x, const struct mcp_message *message);
/* Closes the exchange of this request; its handler is not called. */
void exchanges_drop(struct exchanges *x, uint32_t id);
/* Opens the stream on which a server of the legacy era tells of changes, unless it is open, was
 * opened less than EXCHANGES_LISTEN_NS ago, or was refused since the last reset. Returns when it
 * may be opened the next time; UINT64_MAX while it is open, and after a refusal. */
uint64_t exchanges_listen(struct exchanges *x, const char *revision, uint64_t now);
/* Drops what runs, and forgets the session. */
void exchanges_reset(struct exchanges *x);
/* True if the server gave a session's id. */
bool exchanges_in_session(const struct exchanges *x);

#endif
