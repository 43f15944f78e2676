/* Reads pages of the web for models: fetched past the guard (ipc/http_guard.h), as readable text.
 *
 * A page gets WEB_PAGE_MS with its redirects, WEB_PAGE_MAX bytes after unpacking (the rest is cut),
 * and WEB_PAGE_REDIRECTS redirects, each of which is judged like a URL of its own. A host is asked
 * for one page at a time; one that answers 429 gets no request for as long as it says, and reading
 * its pages fails at once meanwhile. Everything runs on env's loop thread. */
#ifndef CONTROL_TOOLS_BUILTIN_WEB_PAGE_H
#define CONTROL_TOOLS_BUILTIN_WEB_PAGE_H

#include <stdbool.h>
#include <stddef.h>

struct env;
struct http;
struct http_guard;
struct web_pages;
struct web_page_read;

enum {
	WEB_PAGE_MS = 8000,
	WEB_PAGE_CONNECT_MS = 3000,
	WEB_PAGE_MAX = 1 << 20,
	WEB_PAGE_REDIRECTS = 5,
	WEB_URL_MAX = 2048,
	WEB_HOST_MAX = 256,
};

/* Texts are borrowed until the handler returns. */
struct web_page {
	const char *why; /* NULL; else why there is no page: a clause for the model */
	const char *url; /* after redirects */
	const char *title, *text;
	bool cut; /* there is more text */
};
typedef void(web_page_h)(const struct web_page *page, void *arg);

/* http comes from http_alloc_guarded with the same guard; both are borrowed. Without a guard every
 * URL is read, which only measurements of the guard may want. ENOMEM. Caller owns *out. */
int web_pages_alloc(struct web_pages **out, struct env *env, struct http *http,
		    const struct http_guard *guard);
/* Ends all reads without calling a handler. Not inside a handler. */
struct web_pages *web_pages_free(struct web_pages *w);
/* The handler is called once, perhaps from inside: *out is NULL then, otherwise valid until the
 * handler is called. ENOMEM, ENAMETOOLONG: it is not called. */
int web_page_read(struct web_page_read **out, struct web_pages *w, const char *url, web_page_h *h,
		  void *arg);
/* No handler is called afterwards. */
void web_page_cancel(struct web_page_read *r);

#endif
