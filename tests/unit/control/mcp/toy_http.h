/* A server of MCP over HTTP, of the legacy era, for fake_http_begin. It has one tool, "say", which
 * answers with a stream. */
#ifndef TESTS_UNIT_CONTROL_MCP_TOY_HTTP_H
#define TESTS_UNIT_CONTROL_MCP_TOY_HTTP_H

#include "tests/unit/control/fake_http.h"

enum { TOY_HTTP_LONG = 20000 };

struct toy_http {
	unsigned sessions, listens, calls;
	bool forgets;	  /* the session, once, at the next call */
	bool redescribes; /* lists its tool with another description */
	unsigned rejects; /* so many calls get the status 400 */
	bool speaks_long; /* answers with TOY_HTTP_LONG bytes of text */
	bool progresses;  /* tells progress with a message, without one, and without a total */
	bool fails;	  /* answers with an error of the tool */
	/* Of the newest list, and of the newest request. */
	char session[64], revision[32], secret[64];
};
/* The test wipes it. */
extern struct toy_http toy_http;

void toy_http_serve(struct fake_http *f, struct evhttp_request *req);

#endif
