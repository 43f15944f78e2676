/* Web search services: one query, one shape of result, and a codec for each service. Pure; needs
 * jansson.h for nothing but its own file.
 *
 * A service gets one request and gives one JSON document. The key stands in a header, or, where a
 * service knows nothing else, in the URL: then `shown` is the URL without it, for logs. */
#ifndef CONTROL_DIALECT_SEARCH_H
#define CONTROL_DIALECT_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/cursor.h"

/* X(NAME, name, base, needs_key): base is the service's own address, "" where there is none. */
#define SEARCH_SERVICES(X)                                                                         \
	X(SEARXNG, searxng, "", false)                                                             \
	X(BRAVE, brave, "https://api.search.brave.com", true)                                      \
	X(SERPAPI, serpapi, "https://serpapi.com", true)                                           \
	X(TAVILY, tavily, "https://api.tavily.com", true)

enum search_service {
#define X(NAME, name, base, needs_key) SEARCH_##NAME,
	SEARCH_SERVICES(X)
#undef X
		SEARCH_SERVICE_COUNT
};
const char *search_name(enum search_service service);
const char *search_base(enum search_service service);
bool search_needs_key(enum search_service service);

enum { SEARCH_QUERY_MAX = 400, SEARCH_HITS_MAX = 10 };

enum search_safe { SEARCH_SAFE_OFF, SEARCH_SAFE_MODERATE, SEARCH_SAFE_STRICT };

struct search_query {
	const char *words; /* cut after SEARCH_QUERY_MAX characters */
	unsigned count;	   /* of results, at most SEARCH_HITS_MAX; 0: that many */
	unsigned days;	   /* no older than this, as nearly as the service can; 0: any age */
	enum search_safe safe;
};

/* Texts are the request's own. */
struct search_request {
	const char *method;
	char *url, *shown; /* shown: without the key */
	char *header;	   /* a line with the key, or NULL */
	char *body;	   /* JSON, or NULL */
};

/* base without a slash at its end; key may be "". ENOMEM. search_request_clear wipes and frees. */
int search_build(struct search_request *out, enum search_service service, const char *base,
		 const char *key, const struct search_query *query);
void search_request_clear(struct search_request *r);

struct search_hit {
	char title[200], url[600], text[600], date[40];
};

struct search_results {
	unsigned n;
	struct search_hit hits[SEARCH_HITS_MAX];
	char answer[600]; /* a direct answer of the service, or "" */
};

/* Reads an answer. EACCES: the service refused the key or the form; EAGAIN: too many requests;
 * EDQUOT: the account is used up; EBADMSG: no answer of this service; EIO: another status. */
int search_read(struct search_results *out, enum search_service service, int status,
		struct slice body);

#endif
