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

struct endpoint_call {
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

/* Texts are copied; key "" sends none. EINVAL, ENOMEM. Caller owns *out. */
int endpoint_alloc(struct endpoint **out, struct http *http, const char *base, const char *key);
/* Requests under way go on; their owners cancel them. */
struct endpoint *endpoint_free(struct endpoint *p);
/* Sets another key for requests from now on. ENOMEM. */
int endpoint_rekey(struct endpoint *p, const char *key);
/* A POST. ENOMEM, EINVAL (the base is no address). No handler is called inside. */
int endpoint_post(struct endpoint *p, const struct endpoint_call *call, struct http_req **out);
/* Why a response is a failure: one line, without secrets. */
void endpoint_why(const struct http_resp *resp, char *why, size_t size);

#endif
