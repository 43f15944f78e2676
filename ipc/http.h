/* HTTP client on an env's loop (libcurl multi).
 *
 * A request is cancelled by http_req_free; it uses HTTP/1.1 so that a cancel reaches the server at once.
 * The response, whole or an error, comes once. */
#ifndef IPC_HTTP_H
#define IPC_HTTP_H

#include <stddef.h>
#include <stdint.h>

struct env;
struct http;
struct http_req;

struct http_call {
	const char *method;	    /* "GET", "POST", … */
	const char *url;
	const char *const *headers; /* NULL-terminated "Name: value" lines, or NULL */
	const void *body;	    /* copied; NULL for none */
	size_t body_len;
	uint32_t timeout_ms;	    /* whole request; 0 = 15000 */
	size_t max_body;	    /* of the response; 0 = 4 MiB; longer fails with EMSGSIZE */
};

struct http_resp {
	int err;	     /* 0, ETIMEDOUT, ECONNREFUSED, EHOSTUNREACH, EPROTO (TLS), EMSGSIZE, EIO */
	const char *errtext; /* curl's words when err != 0, else "" */
	int status;	     /* 200 …; 0 when err */
	struct slice_ {
		const char *p;
		size_t n;
	} body, headers;     /* headers: raw lines of the last response */
};

typedef void(http_resp_h)(const struct http_resp *resp, void *arg);

/* ca_file: extra CA or NULL. user_agent copied. Caller owns *out. */
int http_alloc(struct http **out, struct env *env, const char *ca_file, const char *user_agent);
/* Cancels what runs; no handler is called. */
struct http *http_free(struct http *h);

/* Starts a request. The handle is valid until the handler returns; out may be NULL. */
int http_request(struct http_req **out, struct http *h, const struct http_call *call, http_resp_h *rh,
		 void *arg);
/* Cancels; the handler is not called. Not needed after the handler ran. */
void http_req_cancel(struct http_req *req);
/* Value of a response header (case-insensitive) copied to buf; NULL when absent. */
const char *http_header(const struct http_resp *resp, const char *name, char *buf, size_t size);

#endif
