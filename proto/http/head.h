/* The head of an HTTP/1.1 request (RFC 9112 sections 2 to 7, RFC 9110 sections 5 and 7.2),
 * strictly.
 *
 * Whatever two programs could read in two ways is refused, because a proxy in front may read it the
 * other way: lines end in CRLF only, no folded lines, no space before a colon, one length and no
 * coding beside it, no control character in the target, raw or percent-encoded, no dot segment, no
 * encoded slash. Only HTTP/1.1 is spoken.
 *
 * Nothing is allocated. All texts of a struct http_head but `path` are borrowed from the bytes that
 * were parsed. */
#ifndef PROTO_HTTP_HEAD_H
#define PROTO_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HTTP_HEAD_MAX = 16384,	/* bytes of a whole head */
	HTTP_TARGET_MAX = 4096, /* bytes of the request target */
	HTTP_PATH_SIZE = 1024,	/* decoded, with NUL */
	HTTP_FIELDS_MAX = 64,	/* field lines */
};

enum http_method {
	HTTP_GET,
	HTTP_HEAD,
	HTTP_POST,
	HTTP_PUT,
	HTTP_PATCH,
	HTTP_DELETE,
	HTTP_OPTIONS,
};

struct http_text {
	const char *p;
	size_t n;
};

struct http_field {
	struct http_text name, value; /* value: without the white space around it */
};

struct http_head {
	enum http_method method;
	struct http_text target; /* as it was sent */
	struct http_text query;	 /* what follows the '?', not decoded; n 0 without one */
	char path[HTTP_PATH_SIZE];
	struct http_text host; /* Host, which is the authority of an absolute target, too */
	struct http_field fields[HTTP_FIELDS_MAX];
	unsigned n_fields;
	uint64_t length; /* Content-Length; 0 without one */
	bool has_length;
	bool chunked;	/* Transfer-Encoding: chunked */
	bool close;	/* Connection: close */
	bool expects;	/* Expect: 100-continue */
	bool websocket; /* asks for an upgrade to a WebSocket */
};

/* Looks for the end of a head in the n bytes that came so far. Returns its length, 0 when more is
 * needed, or -1 when a line ends in a bare LF, or a CR does not end a line. `seen` keeps what was
 * looked at, 0 at first; an empty line before the head belongs to it (RFC 9112 section 2.2). */
long http_head_find(const char *p, size_t n, size_t *seen);
/* Parses a whole head as http_head_find found it. 0, or the status that refuses it: 400, 414, 417,
 * 431, 501, 505. */
int http_head_parse(struct http_head *h, const char *p, size_t n);

/* The value of the first field of this name, compared without case; p NULL when absent. */
struct http_text http_head_field(const struct http_head *h, const char *name);
/* The same, copied with NUL; false, and "" in buf, when absent or too long. */
bool http_head_copy(const struct http_head *h, const char *name, char *buf, size_t size);
/* The decoded value of a query parameter, '+' is a space; false, and "" in buf, when absent or too
 * long. */
bool http_head_query(const struct http_head *h, const char *name, char *buf, size_t size);
/* True if the query has a parameter of this name, with or without a value. */
bool http_head_has_query(const struct http_head *h, const char *name);
/* The decoded name of the parameter of the query at *at, which is 0 at first and moves on; "" for a
 * name that cannot be decoded or is too long. False: there are no more. */
bool http_head_next_query(const struct http_head *h, size_t *at, char *name, size_t size);

bool http_text_is(struct http_text t, const char *s);
/* The same without regard to ASCII case. */
bool http_text_like(struct http_text t, const char *s);
/* "GET" … */
const char *http_method_name(enum http_method method);
/* A field name, or a value, that may be sent: nothing in it ends a line. */
bool http_name_valid(const char *name);
bool http_value_valid(const char *value);

#endif
