/* Fetches what people show: files that are attached to messages, from Discord's own hosts, and
 * pictures of the web, past the guard (ipc/http_guard.h), each redirect judged like an address of
 * its own. The bytes stay in memory. Everything runs on env's loop thread. */
#ifndef CONTROL_ATTACHMENTS_FETCH_H
#define CONTROL_ATTACHMENTS_FETCH_H

#include <stdbool.h>
#include <stddef.h>

struct env;
struct fetch;
struct fetcher;
struct settings;

enum {
	FETCH_MS = 12000,
	FETCH_CONNECT_MS = 3000,
	FETCH_REDIRECTS = 5, /* of the web; an attachment has none */
	FETCH_URL_MAX = 2048,
};

enum fetch_from { FETCH_ATTACHMENT, FETCH_WEB };

struct fetch_call {
	enum fetch_from from;
	const char *url; /* copied */
	size_t most;	 /* bytes; more fails, or is cut */
	bool cut;
};

struct fetched {
	const char *why; /* NULL; else a clause: why there is nothing */
	const char *p;	 /* borrowed until return */
	size_t n;
	bool cut;
};
typedef void(fetch_h)(const struct fetched *got, void *arg);

/* settings are borrowed. ENOMEM. Caller owns *out. */
int fetcher_alloc(struct fetcher **out, struct env *env, const struct settings *settings);
/* Ends what is under way without calling a handler. */
struct fetcher *fetcher_free(struct fetcher *f);

/* The handler is called once, perhaps from inside: *out is NULL then. ENOMEM: it is not called. */
int fetch_begin(struct fetch **out, struct fetcher *f, const struct fetch_call *call, fetch_h *h,
		void *arg);
/* No handler is called afterwards. NULL accepted. */
void fetch_cancel(struct fetch *x);

#endif
