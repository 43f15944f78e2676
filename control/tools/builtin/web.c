#include "control/tools/builtin/web.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <sodium.h>

#include "control/dialect/search.h"
#include "control/settings/settings.h"
#include "control/tools/builtin/inside.h"
#include "control/tools/builtin/web_page.h"
#include "control/tools/html.h"
#include "control/tools/untrusted.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/http_guard.h"
#include "ipc/log.h"
#include "proto/base/utf8.h"
#include "proto/media.h"

#define AGENT "Parley/" PARLEY_VERSION

enum {
	SEARCH_MS = 8000,
	SEARCH_BODY_MAX = 1 << 20,
	HITS = 5,	 /* unless the model asks for more */
	TEXT_MAX = 3500, /* of an output, with its fence less than the rows' max_output */
	LINK_MAX = 300,
	KNOWN_MAX = 64, /* addresses that searches returned */
	HASH_SIZE = 32,
};

struct web_call {
	struct builtin_web *w;
	struct web_call *next;
	uint32_t id, turn;
	enum search_service service;
	struct http_req *search;
	struct web_page_read *page;
	size_t from; /* of the page's text */
};

struct builtin_web {
	const struct tool_host *host;
	struct web_call *calls;
	/* Made for the first page. */
	struct http_guard *guard;
	struct http *http;
	struct web_pages *pages;
	uint8_t known[KNOWN_MAX][HASH_SIZE]; /* a ring */
	unsigned n_known;
};

/* ---- calls ---- */
static struct web_call *begin_call(struct builtin_web *w, const struct tool_start *call)
{
	struct web_call *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->w = w;
	c->id = call->id;
	c->turn = call->turn;
	c->next = w->calls;
	w->calls = c;
	return c;
}

static void free_call(struct web_call *c)
{
	struct web_call **at = &c->w->calls;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	http_req_cancel(c->search);
	web_page_cancel(c->page);
	free(c);
}

static void end_call(struct web_call *c, bool ok, const char *text)
{
	const struct tool_host *host = c->w->host;
	uint32_t id = c->id;

	c->search = NULL;
	c->page = NULL;
	free_call(c);
	host->outputh(id, ok, slice_str(text), host->arg);
}

/* Gives text of strangers, in its fence, and a remark of ours behind it. */
static void give_fenced(struct web_call *c, const char *origin, const char *text,
			const char *remark)
{
	uint8_t mark[UNTRUSTED_MARK];
	char *fenced = NULL, whole[TEXT_MAX + 600];

	env_random(c->w->host->env, mark, sizeof mark);
	if (untrusted_wrap(&fenced, mark, origin, text)) {
		end_call(c, false, strerror(ENOMEM));
		return;
	}
	snprintf(whole, sizeof whole, "%s%s", fenced, remark);
	free(fenced);
	end_call(c, true, whole);
}

/* ---- addresses ---- */
/* Of the URL without its fragment. Nobody finds another address with the same one. */
static void hash_url(uint8_t hash[HASH_SIZE], const char *url)
{
	(void)crypto_generichash(hash, HASH_SIZE, (const uint8_t *)url, strcspn(url, "#"), NULL, 0);
}

static bool is_known(const struct builtin_web *w, const char *url)
{
	unsigned n = w->n_known < KNOWN_MAX ? w->n_known : KNOWN_MAX;
	uint8_t hash[HASH_SIZE];

	hash_url(hash, url);
	for (unsigned i = 0; i < n; i++)
		if (memcmp(w->known[i], hash, HASH_SIZE) == 0)
			return true;
	return false;
}

static struct slice strip_scheme(const char *text, size_t n)
{
	static const char *const schemes[] = {"http://", "https://"};

	for (unsigned i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
		size_t scheme = strlen(schemes[i]);

		if (n >= scheme && strncasecmp(text, schemes[i], scheme) == 0)
			return (struct slice){(const uint8_t *)text + scheme, n - scheme};
	}
	return (struct slice){(const uint8_t *)text, n};
}

static struct slice strip_slash(struct slice s)
{
	s.n -= s.n && s.p[s.n - 1] == '/';
	return s;
}

/* Those of the sentence, and the address's last slash before them. */
static struct slice strip_marks(struct slice s)
{
	while (s.n && strchr(".,;:!?/", s.p[s.n - 1]))
		s.n--;
	return s;
}

/* People write a host in any case, and sentences begin with a capital. A model that is free to
 * choose the case of each letter could carry words in it. */
static bool is_same_host(const uint8_t *said, const uint8_t *url, size_t n)
{
	if (memcmp(said, url, n) == 0)
		return true;
	for (size_t i = 0; i < n; i++)
		if (tolower(said[i]) != url[i])
			return false;
	return true;
}

static bool is_same_address(struct slice said, struct slice url)
{
	size_t host = 0;

	while (host < url.n && !strchr("/?", url.p[host]))
		host++;
	return said.n && said.n == url.n && is_same_host(said.p, url.p, host) &&
	       memcmp(said.p + host, url.p + host, url.n - host) == 0;
}

/* The asker said the whole address in this turn. Marks behind it may be those of the sentence; what
 * the model adds to it is nobody's but the model's. */
static bool is_said(const char *words, const char *url)
{
	static const char blanks[] = " \t\n";
	struct slice address = strip_slash(strip_scheme(url, strcspn(url, "#")));

	for (const char *p = words ? words : ""; *(p += strspn(p, blanks));
	     p += strcspn(p, blanks)) {
		struct slice said = strip_scheme(p, strcspn(p, blanks));

		if (is_same_address(strip_slash(said), address) ||
		    is_same_address(strip_marks(said), address))
			return true;
	}
	return false;
}

/* ---- web_search ---- */
bool builtin_web_service(const struct settings *s, unsigned *service)
{
	if (s->search >= SETTINGS_SEARCH_FIRST) {
		*service = s->search - SETTINGS_SEARCH_FIRST;
		return *s->search_url || *search_base(*service);
	}
	*service = *s->search_key ? SEARCH_BRAVE : SEARCH_SEARXNG;
	return s->search == SETTINGS_SEARCH_AUTO && (*s->search_key || *s->search_url);
}

static const char *explain_search(int err)
{
	switch (err) {
	case EACCES:
		return "the search service refused the key, or JSON is switched off there";
	case EAGAIN:
		return "the search service had too many requests";
	case EDQUOT:
		return "the account of the search service is used up";
	case ETIMEDOUT:
		return "the search service took too long";
	default:
		return "the search service gave no usable answer";
	}
}

/* Appends a result whole, or not at all. */
static void add_hit(char text[TEXT_MAX], unsigned number, const struct search_hit *hit)
{
	size_t n = strlen(text);
	char host[WEB_HOST_MAX], title[200], date[40], about[600];
	int added;

	if (!http_guard_host(hit->url, host, sizeof host))
		return;
	utf8_copy(title, sizeof title, hit->title);
	utf8_copy(date, sizeof date, hit->date);
	utf8_copy(about, sizeof about, hit->text);
	untrusted_clean_line(title);
	untrusted_clean_line(date);
	untrusted_clean_line(about);
	added = snprintf(text + n, TEXT_MAX - n, "%s%u. %s (%s%s%s)\n%s\n%s\n", n ? "\n" : "",
			 number, title, host, *date ? ", " : "", date, hit->url, about);
	if (added < 0 || (size_t)added >= TEXT_MAX - n)
		text[n] = '\0';
}

/* Readers see where the answer is from; the model never reads an address out. */
void builtin_web_link(const struct tool_host *host, uint32_t turn, const char *name,
		      const char *url)
{
	char title[100];

	if (strlen(url) > LINK_MAX || strpbrk(url, " <>\"\\\t\r\n") ||
	    !http_guard_host(url, title, sizeof title))
		return;
	if (*name)
		utf8_copy(title, sizeof title, name);
	untrusted_clean_line(title);
	host->linkh(turn, title, url, host->arg);
}

static void give_results(struct web_call *c, const struct search_results *r)
{
	struct builtin_web *w = c->w;
	char text[TEXT_MAX] = "", origin[64];

	if (*r->answer)
		snprintf(text, sizeof text, "answer of the service: %s\n", r->answer);
	for (unsigned i = 0; i < r->n; i++) {
		hash_url(w->known[w->n_known++ % KNOWN_MAX], r->hits[i].url);
		add_hit(text, i + 1, &r->hits[i]);
		if (i < w->host->settings->search_links)
			builtin_web_link(w->host, c->turn, r->hits[i].title, r->hits[i].url);
	}
	snprintf(origin, sizeof origin, "web search by %s", search_name(c->service));
	give_fenced(c, origin, *text ? text : "nothing was found", "");
}

static void tell_cost(const struct web_call *c)
{
	const struct tool_host *host = c->w->host;

	if (host->costh && c->service != SEARCH_SEARXNG)
		host->costh(c->id, &(struct tool_cost){.service = search_name(c->service)},
			    host->arg);
}

static void on_results(const struct http_resp *resp, void *arg)
{
	struct web_call *c = arg;
	struct search_results *r = malloc(sizeof *r);
	int err = resp->err;

	c->search = NULL;
	if (!err && !r)
		err = ENOMEM;
	if (!err)
		err = search_read(r, c->service, resp->status,
				  (struct slice){(const uint8_t *)resp->body.p, resp->body.n});
	if (err) {
		log_warn("web_search_failed", "service=%s status=%d error=%s",
			 search_name(c->service), resp->status, strerror(err));
		end_call(c, false, explain_search(err));
	} else {
		tell_cost(c);
		give_results(c, r);
	}
	free(r);
}

static unsigned read_number(const json_t *arguments, const char *key, unsigned otherwise)
{
	const json_t *v = json_object_get(arguments, key);

	return json_is_number(v) ? (unsigned)json_number_value(v) : otherwise;
}

static int send_search(struct web_call *c, const json_t *arguments)
{
	const struct settings *s = c->w->host->settings;
	const struct search_query q = {
		.words = json_string_value(json_object_get(arguments, "query")),
		.count = read_number(arguments, "count", HITS),
		.days = read_number(arguments, "days", 0),
		.safe = (enum search_safe)s->search_safe};
	struct search_request r = {0};
	/* Ends with NULL. */
	const char *headers[5] = {"Accept: application/json", "User-Agent: " AGENT};
	struct http_call call = {
		.headers = headers, .timeout_ms = SEARCH_MS, .max_body = SEARCH_BODY_MAX};
	unsigned n = 2;
	int err = search_build(&r, c->service,
			       *s->search_url ? s->search_url : search_base(c->service),
			       s->search_key, &q);

	if (err)
		return err;
	if (r.header)
		headers[n++] = r.header;
	if (r.body)
		headers[n++] = "Content-Type: application/json";
	call.method = r.method;
	call.url = r.url;
	call.body = r.body;
	call.body_len = r.body ? strlen(r.body) : 0;
	err = http_request(&c->search, c->w->host->http, &call, on_results, c);
	search_request_clear(&r);
	return err;
}

int builtin_web_search(struct builtins *b, const struct tool_start *call, const json_t *arguments)
{
	unsigned service;
	struct web_call *c;
	int err;

	if (!builtin_web_service(b->host.settings, &service))
		return ENOTSUP;
	c = begin_call(b->web, call);
	if (!c)
		return ENOMEM;
	c->service = service;
	err = send_search(c, arguments);
	if (err)
		free_call(c);
	return err;
}

/* ---- web_read ---- */
/* A part of the page's text that begins and ends with whole characters. */
static void give_page(struct web_call *c, const struct web_page *page)
{
	size_t n = strlen(page->text), from = c->from < n ? c->from : n, size;
	char text[TEXT_MAX + HTML_TITLE_MAX + 2], remark[120] = "";

	while (from && from < n && ((unsigned char)page->text[from] & 0xc0) == 0x80)
		from--;
	size = n - from < TEXT_MAX - HTML_TITLE_MAX
		       ? n - from
		       : utf8_whole(page->text + from, TEXT_MAX - HTML_TITLE_MAX);
	snprintf(text, sizeof text, "%s\n%.*s", page->title, (int)size, page->text + from);
	if (from + size < n)
		snprintf(remark, sizeof remark,
			 "\nThe page goes on: call web_read again with \"from\": %zu", from + size);
	give_fenced(c, page->url, text, remark);
}

static void on_page(const struct web_page *page, void *arg)
{
	struct web_call *c = arg;
	char why[256];

	c->page = NULL;
	if (!page->why) {
		give_page(c, page);
		return;
	}
	snprintf(why, sizeof why, "the page cannot be read: %s", page->why);
	end_call(c, false, why);
}

static bool is_reading(const struct builtin_web *w)
{
	for (const struct web_call *c = w->calls; c; c = c->next)
		if (c->page)
			return true;
	return false;
}

static void close_pages(struct builtin_web *w)
{
	w->pages = web_pages_free(w->pages);
	w->http = http_free(w->http);
	w->guard = http_guard_free(w->guard);
}

/* The list of addresses may have changed since the last page. */
static int open_pages(struct builtin_web *w)
{
	int err = 0;

	/* An address that is allowed no more is read no more, nor over a connection that is kept.
	 */
	if (w->guard && !http_guard_is_of(w->guard, w->host->settings->web_read_allowed)) {
		if (is_reading(w))
			return EBUSY;
		close_pages(w);
	}
	if (w->pages)
		return 0;
	if (!w->guard)
		err = http_guard_alloc(&w->guard, w->host->settings->web_read_allowed);
	if (!err && !w->http)
		err = http_alloc_guarded(&w->http, w->host->env, NULL, AGENT, w->guard);
	return err ? err : web_pages_alloc(&w->pages, w->host->env, w->http, w->guard);
}

bool builtin_web_may_open(const struct builtins *b, const struct tool_start *call, const char *url)
{
	const struct builtin_web *w = b->web;

	return (!call->tainted && !call->quoted && !call->titled) || is_known(w, url) ||
	       is_said(call->words, url) ||
	       (w->host->writtenh && w->host->writtenh(url, w->host->arg));
}

int builtin_web_read(struct builtins *b, const struct tool_start *call, const json_t *arguments)
{
	const char *url = json_string_value(json_object_get(arguments, "url"));
	struct builtin_web *w = b->web;
	struct web_page_read *page = NULL;
	struct web_call *c;
	int err = open_pages(w);

	if (err)
		return err;
	c = begin_call(w, call);
	if (!c)
		return ENOMEM;
	c->from = read_number(arguments, "from", 0);
	if (!builtin_web_may_open(b, call, url)) {
		end_call(
			c, false,
			"after words of others only addresses that web_search returned or a person "
			"gave are read");
		return 0;
	}
	err = web_page_read(&page, w->pages, url, on_page, c);
	if (err)
		free_call(c);
	else if (page)
		c->page = page; /* otherwise the call is over */
	return err;
}

/* ---- coming and going ---- */
void builtin_web_cancel(struct builtin_web *w, uint32_t id)
{
	for (struct web_call *c = w->calls; c; c = c->next)
		if (c->id == id) {
			free_call(c);
			return;
		}
}

int builtin_web_alloc(struct builtin_web **out, const struct tool_host *host)
{
	struct builtin_web *w = calloc(1, sizeof *w);

	if (!w)
		return ENOMEM;
	w->host = host;
	*out = w;
	return 0;
}

struct builtin_web *builtin_web_free(struct builtin_web *w)
{
	if (!w)
		return NULL;
	for (struct web_call *c = w->calls, *next; c; c = next) {
		next = c->next;
		free_call(c);
	}
	close_pages(w);
	free(w);
	return NULL;
}
