#include "control/attachments/fetch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "control/text/attached.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/http_guard.h"
#include "proto/base/time.h"

#define AGENT "Parley/" PARLEY_VERSION

enum { WHY = 240, SOURCES = 2 };

struct fetcher {
	struct env *env;
	const struct settings *settings;
	/* Made when they are needed, by enum fetch_from. */
	struct http_guard *guard[SOURCES];
	struct http *http[SOURCES];
	struct fetch *first;
};

struct fetch {
	struct fetcher *f;
	struct fetch *next, **at;
	enum fetch_from from;
	char url[FETCH_URL_MAX];
	size_t most;
	bool cut;
	unsigned redirects;
	uint64_t deadline;
	struct http_req *req;
	fetch_h *h;
	void *arg;
	bool *gone; /* set when it ends inside fetch_begin; or NULL */
};

/* ---- the guards ---- */

/* Another Discord than the public one, such as a test's, is an address that is not public. */
static void allow_api(const char *api, char *buf, size_t size)
{
	size_t host, n = attached_origin(api, &host);

	if (attached_url_fits(api, api) && n)
		snprintf(buf, size, "%.*s", (int)(n - host), api + host);
	else
		*buf = '\0';
}

static bool is_fetching(const struct fetcher *f, enum fetch_from from)
{
	const struct fetch *x = f->first;

	while (x && (x->from != from || !x->req))
		x = x->next;
	return x != NULL;
}

static int open_source(struct fetcher *f, enum fetch_from from)
{
	char own[128];
	const char *allowed;
	int err = 0;

	allow_api(f->settings->discord_api, own, sizeof own);
	allowed = from == FETCH_WEB ? f->settings->web_read_allowed : own;
	/* An address that is allowed no more is read no more. */
	if (f->guard[from] && !http_guard_is_of(f->guard[from], allowed)) {
		if (is_fetching(f, from))
			return EBUSY;
		f->http[from] = http_free(f->http[from]);
		f->guard[from] = http_guard_free(f->guard[from]);
	}
	if (!f->guard[from])
		err = http_guard_alloc(&f->guard[from], allowed);
	if (!err && !f->http[from])
		err = http_alloc_guarded(&f->http[from], f->env, NULL, AGENT, f->guard[from]);
	return err;
}

/* ---- one file ---- */

static void free_fetch(struct fetch *x)
{
	http_req_cancel(x->req);
	*x->at = x->next;
	if (x->next)
		x->next->at = x->at;
	if (x->gone)
		*x->gone = true;
	free(x);
}

static void end_fetch(struct fetch *x, const struct fetched *got)
{
	fetch_h *h = x->h;
	void *arg = x->arg;

	free_fetch(x);
	h(got, arg);
}

static void fail(struct fetch *x, const char *why)
{
	const struct fetched got = {.why = why};

	end_fetch(x, &got);
}

/* Errors and reasons of the guard are clauses. */
static void fail_clause(struct fetch *x, const char *clause)
{
	char why[WHY];

	snprintf(why, sizeof why, "it could not be fetched: %s", clause);
	fail(x, why);
}

static void request(struct fetch *x);

static bool is_redirect(int status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static void follow(struct fetch *x, const struct http_resp *resp)
{
	char to[FETCH_URL_MAX], url[FETCH_URL_MAX];

	if (++x->redirects > FETCH_REDIRECTS || !http_header(resp, "Location", to, sizeof to) ||
	    !http_guard_join(x->url, to, url, sizeof url)) {
		fail_clause(x, "its address leads nowhere");
		return;
	}
	memcpy(x->url, url, sizeof url);
	request(x);
}

static void on_response(const struct http_resp *resp, void *arg)
{
	struct fetch *x = arg;
	const struct fetched got = {
		.p = resp->body.p, .n = resp->body.n, .cut = x->cut && resp->body.n == x->most};
	char clause[64];

	x->req = NULL;
	if (resp->err == EMSGSIZE) {
		fail(x, "it is too large");
	} else if (resp->err) {
		fail_clause(x, http_explain(resp->err));
	} else if (is_redirect(resp->status) && x->from == FETCH_WEB) {
		follow(x, resp);
	} else if (resp->status / 100 == 2) {
		end_fetch(x, &got);
	} else {
		snprintf(clause, sizeof clause, "the server answers with the status %d",
			 resp->status);
		fail_clause(x, clause);
	}
}

static void request(struct fetch *x)
{
	struct fetcher *f = x->f;
	uint64_t now = env_now(f->env);
	struct http_call call = {.method = "GET",
				 .url = x->url,
				 .connect_ms = FETCH_CONNECT_MS,
				 .max_body = x->most,
				 .cut = x->cut};
	char why[WHY];
	int err = open_source(f, x->from);

	if (!err && x->from == FETCH_ATTACHMENT &&
	    !attached_url_fits(x->url, f->settings->discord_api)) {
		fail(x, "it does not come from Discord");
		return;
	}
	if (!err && !http_guard_url(f->guard[x->from], x->url, why, sizeof why)) {
		fail_clause(x, why);
		return;
	}
	if (!err && now + NS_PER_MS > x->deadline)
		err = ETIMEDOUT;
	call.timeout_ms = err ? 0 : (uint32_t)((x->deadline - now) / NS_PER_MS);
	if (!err)
		err = http_request(&x->req, f->http[x->from], &call, on_response, x);
	if (err)
		fail_clause(x, http_explain(err));
}

int fetch_begin(struct fetch **out, struct fetcher *f, const struct fetch_call *call, fetch_h *h,
		void *arg)
{
	struct fetch *x = calloc(1, sizeof *x);
	bool gone = false;

	if (!x)
		return ENOMEM;
	*x = (struct fetch){.f = f,
			    .next = f->first,
			    .at = &f->first,
			    .from = call->from,
			    .most = call->most,
			    .cut = call->cut,
			    .deadline = env_now(f->env) + FETCH_MS * NS_PER_MS,
			    .h = h,
			    .arg = arg,
			    .gone = &gone};
	/* An address that is cut is none that the guard or Discord would know. */
	snprintf(x->url, sizeof x->url, "%s", strlen(call->url) < sizeof x->url ? call->url : "");
	if (x->next)
		x->next->at = &x->next;
	f->first = x;
	request(x);
	*out = NULL;
	if (gone)
		return 0;
	x->gone = NULL; /* NOLINT(clang-analyzer-unix.Malloc): not gone */
	*out = x;
	return 0;
}

void fetch_cancel(struct fetch *x)
{
	if (x)
		free_fetch(x);
}

int fetcher_alloc(struct fetcher **out, struct env *env, const struct settings *settings)
{
	*out = calloc(1, sizeof **out);
	if (!*out)
		return ENOMEM;
	(*out)->env = env;
	(*out)->settings = settings;
	return 0;
}

struct fetcher *fetcher_free(struct fetcher *f)
{
	struct fetch *next;

	for (struct fetch *x = f ? f->first : NULL; x; x = next) {
		next = x->next;
		free_fetch(x);
	}
	for (unsigned i = 0; f && i < SOURCES; i++) {
		http_free(f->http[i]);
		http_guard_free(f->guard[i]);
	}
	free(f);
	return NULL;
}
