/* The HTTP side of one provider: its base address, and the key that goes to that address alone, in
 * a header.
 *
 * Everything runs on env's loop thread. http is borrowed. */
#ifndef CONTROL_ENGINE_ENDPOINT_H
#define CONTROL_ENGINE_ENDPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/http.h"

struct endpoint;

struct endpoint_conf {
	struct http *http;
	const char *base, *key; /* key "" sends none */
	const char *key_header; /* name of the header that holds the key; NULL: a bearer token */
	const char *header;	/* a whole further header line, or NULL */
};

struct endpoint_call {
	const char *method;   /* NULL: POST */
	const char *endpoint; /* after the base */
	const char *type;     /* the whole line "Content-Type: …" */
	const void *body;
	size_t n, sound_at; /* as in struct http_call */
	uint32_t ms;	    /* total timeout */
	size_t max_body;
	http_resp_h *parth; /* or NULL */
	http_resp_h *h;
	void *arg;
};

/* Texts are copied. EINVAL, ENOMEM. Caller owns *out. */
int endpoint_alloc(struct endpoint **out, const struct endpoint_conf *conf);
struct text_dialect;
struct text_options;
/* One with the headers of a text dialect. */
int endpoint_of_text(struct endpoint **out, struct http *http, const struct text_dialect *d,
		     const struct text_options *o, const char *base, const char *key);
/* Requests under way go on; their owners cancel them. */
struct endpoint *endpoint_free(struct endpoint *p);
/* Sets another key for requests from now on. ENOMEM. */
int endpoint_rekey(struct endpoint *p, const char *key);
/* A request. ENOMEM, EINVAL (the base is no address). No handler is called inside. */
int endpoint_post(struct endpoint *p, const struct endpoint_call *call, struct http_req **out);
/* A request without a body to a path beside the base, whose answer nobody waits for: the base less
 * its last part "/v1". */
void endpoint_notify(struct endpoint *p, const char *method, const char *path);
/* Why a response is a failure: one line, without secrets. */
void endpoint_why(const struct http_resp *resp, char *why, size_t size);

#endif
