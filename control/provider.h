/* A service that is asked by HTTP: where it is, and the key that goes there and nowhere else, in a header.
 *
 * Everything runs on env's loop thread. http is borrowed. */
#ifndef CONTROL_PROVIDER_H
#define CONTROL_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/http.h"

struct provider;

struct provider_call {
	const char *endpoint; /* after the base */
	const char *type;     /* the whole line "Content-Type: …" */
	const void *body;
	size_t n, sound_at;   /* as in struct http_call */
	uint32_t ms;	      /* for all of it */
	size_t max_body;
	http_resp_h *parth; /* or NULL */
	http_resp_h *h;
	void *arg;
};

/* Texts are copied; key "" sends none. EINVAL, ENOMEM. Caller owns *out. */
int provider_alloc(struct provider **out, struct http *http, const char *base, const char *key);
/* What is under way goes on, and belongs to who asked for it. */
struct provider *provider_free(struct provider *p);
/* A POST. ENOMEM, EINVAL (the base is no address). No handler is called inside. */
int provider_post(struct provider *p, const struct provider_call *call, struct http_req **out);
/* Why an answer is none: one line, without anything secret. */
void provider_why(const struct http_resp *resp, char *why, size_t size);

#endif
