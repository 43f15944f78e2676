#include "control/tools/builtin/web_page.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tools/builtin/page_text.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/http_guard.h"
#include "proto/base/time.h"

enum { HOSTS = 32, WHY_MAX = 200, REST_S = 60, REST_MAX_S = 3600 };

struct host {
	char name[WEB_HOST_MAX];
	bool busy;
	uint64_t used, until; /* env time; until: nobody asks it before */
};

struct web_pages {
	struct env *env;
	struct http *http;
	const struct http_guard *guard;
	struct web_page_read *reads;
	struct host hosts[HOSTS];
};

struct web_page_read {
	struct web_pages *w;
	struct web_page_read *next, **at;
	char url[WEB_URL_MAX];
	char host[WEB_HOST_MAX];
	bool waiting;	   /* for another read of the host */
	bool holds;	   /* the host is busy with this read */
	uint64_t deadline; /* 0: not begun */
	unsigned redirects;
	struct http_req *req;
	web_page_h *h;
	void *arg;
	bool *gone; /* set when the read ends inside web_page_read; or NULL */
};

/* ---- hosts ---- */
static struct host *find_host(struct web_pages *w, const char *name)
{
	for (unsigned i = 0; i < HOSTS; i++)
		if (strcmp(w->hosts[i].name, name) == 0)
			return &w->hosts[i];
	return NULL;
}

/* The host, in the place of the one that was used longest ago if it is new. NULL: all are busy. */
static struct host *keep_host(struct web_pages *w, const char *name)
{
	struct host *h = find_host(w, name), *oldest = NULL;

	for (unsigned i = 0; !h && i < HOSTS; i++)
		if (!w->hosts[i].busy && (!oldest || w->hosts[i].used < oldest->used))
			oldest = &w->hosts[i];
	if (!h && oldest) {
		*oldest = (struct host){0};
		snprintf(oldest->name, sizeof oldest->name, "%s", name);
		h = oldest;
	}
	if (h)
		h->used = env_now(w->env);
	return h;
}

/* Retry-After in seconds; as a date it counts as its default (RFC 9110 10.2.3). */
static void rest_host(struct web_pages *w, const char *name, const struct http_resp *resp)
{
	struct host *h = find_host(w, name);
	char text[32], *end;
	unsigned long s = REST_S;

	if (http_header(resp, "Retry-After", text, sizeof text) && *text >= '0' && *text <= '9') {
		s = strtoul(text, &end, 10);
		if (*end)
			s = REST_S;
	}
	if (h)
		h->until = env_now(w->env) + (s < REST_MAX_S ? s : REST_MAX_S) * NS_PER_S;
}

/* ---- reads ---- */
static void free_read(struct web_page_read *r)
{
	struct host *h = r->holds ? find_host(r->w, r->host) : NULL;

	if (h)
		h->busy = false;
	http_req_cancel(r->req);
	*r->at = r->next;
	if (r->next)
		r->next->at = r->at;
	if (r->gone)
		*r->gone = true;
	free(r);
}

static void advance(struct web_page_read *r);

/* Lets the next read of the host begin. */
static void wake_next(struct web_pages *w, const char *name)
{
	struct web_page_read *r = w->reads, *oldest = NULL;
	struct host *h = find_host(w, name);

	if (h && h->busy)
		return;
	for (; r; r = r->next)
		if (r->waiting && strcmp(r->host, name) == 0)
			oldest = r; /* the list is newest first */
	if (oldest)
		advance(oldest);
}

static void end_read(struct web_page_read *r, const struct web_page *page)
{
	struct web_pages *w = r->w;
	web_page_h *h = r->h;
	void *arg = r->arg;
	char host[WEB_HOST_MAX];
	struct web_page copy = *page;
	char url[WEB_URL_MAX];

	snprintf(host, sizeof host, "%s", r->host);
	snprintf(url, sizeof url, "%s", r->url);
	copy.url = url;
	free_read(r);
	h(&copy, arg);
	wake_next(w, host);
}

static void fail_read(struct web_page_read *r, const char *why)
{
	const struct web_page page = {.why = why};

	end_read(r, &page);
}

/* ---- answers ---- */
static void read_body(struct web_page_read *r, const struct http_resp *resp)
{
	char type[256];
	struct html_text text = {0};
	struct web_page page = {0};
	int err = page_text_read(&text, http_header(resp, "Content-Type", type, sizeof type),
				 resp->body.p ? resp->body.p : "", resp->body.n);

	if (err) {
		fail_read(r, http_explain(err));
		return;
	}
	page.title = text.title;
	page.text = text.text;
	page.cut = text.cut || resp->body.n == WEB_PAGE_MAX;
	end_read(r, &page);
	html_text_clear(&text);
}

static bool is_redirect(int status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static void follow_redirect(struct web_page_read *r, const struct http_resp *resp)
{
	struct web_pages *w = r->w;
	char to[WEB_URL_MAX], url[WEB_URL_MAX], host[WEB_HOST_MAX];
	struct host *h = find_host(w, r->host);

	if (!http_header(resp, "Location", to, sizeof to) ||
	    !http_guard_join(r->url, to, url, sizeof url)) {
		fail_read(r, "it leads nowhere");
	} else if (++r->redirects > WEB_PAGE_REDIRECTS) {
		fail_read(r, "it leads from one address to the next without end");
	} else {
		snprintf(host, sizeof host, "%s", r->host);
		if (h)
			h->busy = false;
		r->holds = false;
		memcpy(r->url, url, sizeof r->url);
		advance(r);
		wake_next(w, host);
	}
}

static void on_response(const struct http_resp *resp, void *arg)
{
	struct web_page_read *r = arg;
	char why[WHY_MAX];

	r->req = NULL;
	if (resp->err) {
		fail_read(r, http_explain(resp->err));
	} else if (is_redirect(resp->status)) {
		follow_redirect(r, resp);
	} else if (resp->status / 100 == 2) {
		read_body(r, resp);
	} else {
		if (resp->status == 429)
			rest_host(r->w, r->host, resp);
		snprintf(why, sizeof why, "the site answered with the status %d", resp->status);
		fail_read(r, why);
	}
}

/* ---- requests ---- */
static int send_request(struct web_page_read *r)
{
	static const char *const headers[] = {
		"Accept: text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5", NULL};
	uint64_t now = env_now(r->w->env);
	struct http_call call = {.method = "GET",
				 .url = r->url,
				 .headers = headers,
				 .connect_ms = WEB_PAGE_CONNECT_MS,
				 .max_body = WEB_PAGE_MAX,
				 .cut = true};

	if (!r->deadline)
		r->deadline = now + WEB_PAGE_MS * NS_PER_MS;
	if (now + NS_PER_MS > r->deadline)
		return ETIMEDOUT;
	call.timeout_ms = (uint32_t)((r->deadline - now) / NS_PER_MS);
	return http_request(&r->req, r->w->http, &call, on_response, r);
}

/* Names of hosts know no case. */
static bool read_host(struct web_page_read *r)
{
	if (!http_guard_host(r->url, r->host, sizeof r->host))
		return false;
	for (char *p = r->host; *p; p++)
		*p = (char)(*p >= 'A' && *p <= 'Z' ? *p | 0x20 : *p);
	return true;
}

/* Judges the read's URL, waits for its host, or asks. */
static void advance(struct web_page_read *r)
{
	struct web_pages *w = r->w;
	char why[WHY_MAX];
	struct host *h;
	int err;

	r->waiting = false;
	if (w->guard && !http_guard_url(w->guard, r->url, why, sizeof why)) {
		fail_read(r, why);
		return;
	}
	if (!read_host(r)) {
		fail_read(r, "its address is malformed");
		return;
	}
	h = keep_host(w, r->host);
	if (!h || env_now(w->env) < h->until) {
		fail_read(r, "the site asked for fewer requests; try again later");
		return;
	}
	if (h->busy) {
		r->waiting = true;
		return;
	}
	h->busy = r->holds = true;
	err = send_request(r);
	if (err)
		fail_read(r, http_explain(err));
}

int web_page_read(struct web_page_read **out, struct web_pages *w, const char *url, web_page_h *h,
		  void *arg)
{
	struct web_page_read *r;
	bool gone = false;

	if (strlen(url) >= WEB_URL_MAX)
		return ENAMETOOLONG;
	r = calloc(1, sizeof *r);
	if (!r)
		return ENOMEM;
	r->w = w;
	r->h = h;
	r->arg = arg;
	snprintf(r->url, sizeof r->url, "%s", url);
	r->next = w->reads;
	r->at = &w->reads;
	if (r->next)
		r->next->at = &r->next;
	w->reads = r;
	r->gone = &gone;
	advance(r);
	if (!gone)
		r->gone = NULL; /* NOLINT(clang-analyzer-unix.Malloc): not gone */
	*out = gone ? NULL : r;
	return 0;
}

void web_page_cancel(struct web_page_read *r)
{
	struct web_pages *w;
	char host[WEB_HOST_MAX];

	if (!r)
		return;
	w = r->w;
	snprintf(host, sizeof host, "%s", r->host);
	free_read(r);
	wake_next(w, host);
}

int web_pages_alloc(struct web_pages **out, struct env *env, struct http *http,
		    const struct http_guard *guard)
{
	struct web_pages *w = calloc(1, sizeof *w);

	if (!w)
		return ENOMEM;
	w->env = env;
	w->http = http;
	w->guard = guard;
	*out = w;
	return 0;
}

struct web_pages *web_pages_free(struct web_pages *w)
{
	if (!w)
		return NULL;
	for (struct web_page_read *r = w->reads, *next; r; r = next) {
		next = r->next;
		free_read(r);
	}
	free(w);
	return NULL;
}
