/* A server of a provider's HTTP side that does what a test tells it, on the same loop. */
#ifndef TESTS_FAKE_HTTP_H
#define TESTS_FAKE_HTTP_H

#include <event2/http.h>
#include <stdbool.h>
#include <stddef.h>

#include "ipc/env.h"
#include "ipc/http.h"

enum { FAKE_HTTP_OPEN = 32 };

struct fake_http;
struct tmr;

/* A request came whole; f->body holds it. It answers by fake_http_answer, or begins to. */
typedef void(fake_http_h)(struct fake_http *f, struct evhttp_request *req);

struct fake_http {
	struct env *env;
	struct http *http; /* a client on the same loop */
	struct evhttp *server;
	char base[64];
	char path[128], auth[128], type[160], agent[64];
	char method[8], key[64], version[32]; /* the headers x-api-key and anthropic-version */
	unsigned char body[400000];
	size_t n;
	unsigned requests, gone; /* gone: connections that the client closed while an answer ran */
	fake_http_h *h;
	void *arg;
	struct evhttp_request *open[FAKE_HTTP_OPEN]; /* whose answer goes on */
	struct tmr *deadline;
	bool timed_out, ending;
};

/* False when it cannot listen. The loop stops after 10 s at the latest and sets timed_out then. */
bool fake_http_begin(struct fake_http *f, fake_http_h *h, void *arg);
/* A port of loopback for a server of one's own; base: its address. */
bool fake_http_listen(struct evhttp *server, char *base, size_t size);
/* What uses f->http goes before. */
void fake_http_end(struct fake_http *f);
void fake_http_answer(struct evhttp_request *req, int status, const char *type, const void *body,
		      size_t n);
/* Closes the connection without an answer. */
void fake_http_drop(struct evhttp_request *req);
/* An answer in pieces: first, then any number, last. */
void fake_http_open(struct fake_http *f, struct evhttp_request *req, const char *type);
void fake_http_piece(struct evhttp_request *req, const void *data, size_t n);

#endif
