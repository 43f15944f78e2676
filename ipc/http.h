/* HTTP client on an env's loop (libcurl multi).
 *
 * Requests use HTTP/1.1, so that http_req_cancel reaches the server at once. Every address of a
 * host is tried, both families in a race (curl's happy eyeballs); the C library's resolver reads
 * resolv.conf again when it has changed; the environment selects a proxy as curl documents it. Each
 * request gets one response, complete or an error. A caller that wants the body while it arrives
 * (audio, text) gets it in parts before the response, the first of them with the headers. */
#ifndef IPC_HTTP_H
#define IPC_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct env;
struct http;
struct http_guard;
struct http_req;

struct http_resp;
typedef void(http_resp_h)(const struct http_resp *resp, void *arg);

struct http_call {
	const char *method; /* "GET", "POST", … */
	const char *url;
	/* NULL-terminated "Name: value" lines, "Name;" for one without a value, or NULL */
	const char *const *headers;
	const void *body; /* copied; NULL for none */
	size_t body_len;
	uint32_t timeout_ms; /* whole request; 0 = 15000 */
	uint32_t connect_ms; /* of that: name, TCP, proxy and TLS; 0 = 5000 */
	size_t max_body;     /* of the response; 0 = 4 MiB; longer fails with EMSGSIZE */
	bool cut;	     /* a longer body is cut at max_body instead */
	size_t sound_at;     /* offset in the body of audio that a codec made; 0: none */
	/* Gets the body of a 2xx in parts; the response then has none. The body of any other status
	 * comes with the response and is at most 4 MiB, whatever max_body says. */
	http_resp_h *parth;
};

struct http_resp {
	int err; /* 0, ETIMEDOUT, ECONNREFUSED, EHOSTUNREACH, EPROTO (TLS), EKEYEXPIRED (a
		  certificate is not valid at the time that the clock shows), EMSGSIZE, EACCES
		  (the guard refused the address), EIO */
	const char *errtext; /* if err != 0: curl's message, behind the words of ipc/unreachable.h
				where the server was not reached; else "" */
	int status;	     /* 200 …; 0 when err */
	struct slice_ {
		const char *p;
		size_t n;
	} body, headers; /* headers: raw lines of the last response */
};

/* Wipes what curl frees from now on, because bodies hold pictures and headers hold keys.
 * Process-wide; called once, before the first http. False without memory. */
bool http_wipe_on_free(void);
/* ca_file: extra CA or NULL. user_agent copied. Caller owns *out. */
int http_alloc(struct http **out, struct env *env, const char *ca_file, const char *user_agent);
/* The same for URLs of strangers: every request goes past the guard (ipc/http_guard.h), which is
 * borrowed, and shares no connection with another http. Bodies may be compressed; max_body counts
 * what they unpack to. */
int http_alloc_guarded(struct http **out, struct env *env, const char *ca_file,
		       const char *user_agent, const struct http_guard *guard);
/* Cancels all requests without calling a handler. */
struct http *http_free(struct http *h);

/* Starts a request. The handle is valid until the handler of the response returns; out may be NULL.
 */
int http_request(struct http_req **out, struct http *h, const struct http_call *call,
		 http_resp_h *rh, void *arg);
/* Cancels a request, also inside a handler; no handler is called afterwards. Not needed after the
 * response's handler ran. */
void http_req_cancel(struct http_req *req);
/* Value of a response header (case-insensitive) copied to buf; NULL when absent. */
const char *http_header(const struct http_resp *resp, const char *name, char *buf, size_t size);
/* The errno of a response or of http_request as a clause for people. */
const char *http_explain(int err);

#endif
