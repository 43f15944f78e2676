#include "control/dialect/search.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/dialect/build.h"
#include "proto/base/utf8.h"

const char *search_name(enum search_service service)
{
	static const char *const names[] = {
#define X(NAME, name, base, needs_key) #name,
		SEARCH_SERVICES(X)
#undef X
	};
	return names[service];
}

const char *search_base(enum search_service service)
{
	static const char *const bases[] = {
#define X(NAME, name, base, needs_key) base,
		SEARCH_SERVICES(X)
#undef X
	};
	return bases[service];
}

bool search_needs_key(enum search_service service)
{
	static const bool needs[] = {
#define X(NAME, name, base, needs_key) needs_key,
		SEARCH_SERVICES(X)
#undef X
	};
	return needs[service];
}

/* ---- requests ---- */
enum age { AGE_ANY, AGE_DAY, AGE_WEEK, AGE_MONTH, AGE_YEAR };

static enum age read_age(unsigned days)
{
	if (!days)
		return AGE_ANY;
	return days <= 1 ? AGE_DAY : days <= 7 ? AGE_WEEK : days <= 31 ? AGE_MONTH : AGE_YEAR;
}

/* The query's first characters. */
static void copy_words(char to[4 * SEARCH_QUERY_MAX + 1], const char *words)
{
	size_t i = 0, chars = 0;

	for (; words[i] && i < 4 * SEARCH_QUERY_MAX; i++)
		if (((unsigned char)words[i] & 0xc0) != 0x80 && ++chars > SEARCH_QUERY_MAX)
			break;
	memcpy(to, words, i);
	to[i] = '\0';
}

static char *join(const char *base, const char *path)
{
	size_t n = strlen(base), m = strlen(path) + 1;
	char *url;

	while (n && base[n - 1] == '/')
		n--;
	url = malloc(n + m);
	if (url) {
		memcpy(url, base, n);
		memcpy(url + n, path, m);
	}
	return url;
}

/* "Authorization: Bearer KEY"; NULL without memory. */
static char *build_bearer(const char *key)
{
	char text[600], *line;

	snprintf(text, sizeof text, "Bearer %s", key);
	line = build_header("Authorization", text);
	explicit_bzero(text, sizeof text);
	return line;
}

static void add_count(char **url, const char *name, unsigned count)
{
	char text[12];

	snprintf(text, sizeof text, "%u", count);
	build_query(url, name, text);
}

/* Time ranges are days, months and years. */
static void build_searxng(struct search_request *r, const char *base, const char *key,
			  const struct search_query *q)
{
	static const char *const ages[] = {NULL, "day", "month", "month", "year"};
	static const char *const safe[] = {"0", "1", "2"};
	const char *age = ages[read_age(q->days)];

	r->url = join(base, "/search");
	build_query(&r->url, "q", q->words);
	build_query(&r->url, "format", "json");
	build_query(&r->url, "safesearch", safe[q->safe]);
	if (age)
		build_query(&r->url, "time_range", age);
	if (*key)
		r->header = build_bearer(key);
}

static void build_brave(struct search_request *r, const char *base, const char *key,
			const struct search_query *q)
{
	static const char *const ages[] = {NULL, "pd", "pw", "pm", "py"};
	static const char *const safe[] = {"off", "moderate", "strict"};
	const char *age = ages[read_age(q->days)];

	r->url = join(base, "/res/v1/web/search");
	build_query(&r->url, "q", q->words);
	add_count(&r->url, "count", q->count);
	build_query(&r->url, "safesearch", safe[q->safe]);
	build_query(&r->url, "text_decorations", "false");
	if (age)
		build_query(&r->url, "freshness", age);
	r->header = build_header("X-Subscription-Token", key);
}

/* Safe search is on or off; a key cannot stand in a header. */
static void build_serpapi(struct search_request *r, const char *base, const char *key,
			  const struct search_query *q)
{
	static const char *const ages[] = {NULL, "qdr:d", "qdr:w", "qdr:m", "qdr:y"};
	const char *age = ages[read_age(q->days)];

	r->url = join(base, "/search.json");
	build_query(&r->url, "engine", "google");
	build_query(&r->url, "q", q->words);
	add_count(&r->url, "num", q->count);
	build_query(&r->url, "safe", q->safe == SEARCH_SAFE_OFF ? "off" : "active");
	if (age)
		build_query(&r->url, "tbs", age);
	r->shown = r->url ? strdup(r->url) : NULL;
	build_query(&r->url, "api_key", key);
}

/* There is no safe search. */
static void build_tavily(struct search_request *r, const char *base, const char *key,
			 const struct search_query *q)
{
	static const char *const ages[] = {NULL, "day", "week", "month", "year"};
	const char *age = ages[read_age(q->days)];
	json_t *root = json_pack("{s:s,s:i,s:b}", "query", q->words, "max_results", (int)q->count,
				 "include_answer", 0);

	if (age && root && json_object_set_new(root, "time_range", json_string(age))) {
		json_decref(root);
		root = NULL;
	}
	r->method = "POST";
	r->url = join(base, "/search");
	r->header = build_bearer(key);
	r->body = build_text(root);
	if (!r->body) {
		free(r->url);
		r->url = NULL;
	}
}

int search_build(struct search_request *out, enum search_service service, const char *base,
		 const char *key, const struct search_query *query)
{
	static void (*const build[])(struct search_request *, const char *, const char *,
				     const struct search_query *) = {build_searxng, build_brave,
								     build_serpapi, build_tavily};
	struct search_request r = {.method = "GET"};
	struct search_query q = *query;
	char words[4 * SEARCH_QUERY_MAX + 1];

	copy_words(words, query->words);
	q.words = words;
	if (!q.count || q.count > SEARCH_HITS_MAX)
		q.count = SEARCH_HITS_MAX;
	build[service](&r, base, key, &q);
	if (r.url && !r.shown && service != SEARCH_SERPAPI)
		r.shown = strdup(r.url);
	if (!r.url || !r.shown || (*key && service != SEARCH_SERPAPI && !r.header)) {
		search_request_clear(&r);
		return ENOMEM;
	}
	*out = r;
	return 0;
}

static void wipe_text(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void search_request_clear(struct search_request *r)
{
	wipe_text(r->url);
	wipe_text(r->header);
	free(r->shown);
	free(r->body);
	*r = (struct search_request){0};
}

/* ---- answers ---- */
/* Where the results of a service stand, and the names of their fields. */
static const struct shape {
	const char *inside, *list, *url, *text, *date;
} shapes[] = {
	[SEARCH_SEARXNG] = {NULL, "results", "url", "content", "publishedDate"},
	[SEARCH_BRAVE] = {"web", "results", "url", "description", "age"},
	[SEARCH_SERPAPI] = {NULL, "organic_results", "link", "snippet", "date"},
	[SEARCH_TAVILY] = {NULL, "results", "url", "content", "published_date"},
};

static void copy_field(char *to, size_t size, const json_t *item, const char *name)
{
	const char *text = json_string_value(json_object_get(item, name));

	utf8_copy(to, size, text ? text : "");
}

static bool is_web(const char *url, size_t size)
{
	return strlen(url) < size - 1 &&
	       (strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0);
}

static bool has_url(const struct search_results *r, const char *url)
{
	for (unsigned i = 0; i < r->n; i++)
		if (strcmp(r->hits[i].url, url) == 0)
			return true;
	return false;
}

/* Results without a usable address, and those that were there before, are left out. */
static void read_hits(struct search_results *out, const json_t *list, const struct shape *shape)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		struct search_hit *h = &out->hits[out->n];

		copy_field(h->url, sizeof h->url, item, shape->url);
		if (!is_web(h->url, sizeof h->url) || has_url(out, h->url))
			continue;
		copy_field(h->title, sizeof h->title, item, "title");
		copy_field(h->text, sizeof h->text, item, shape->text);
		copy_field(h->date, sizeof h->date, item, shape->date);
		if (++out->n == SEARCH_HITS_MAX)
			return;
	}
}

/* SearXNG: a list of texts, or, in later versions, of objects; SerpAPI: an answer box. */
static void read_answer(struct search_results *out, const json_t *root)
{
	const json_t *first = json_array_get(json_object_get(root, "answers"), 0),
		     *box = json_object_get(root, "answer_box");

	copy_field(out->answer, sizeof out->answer, root, "answer");
	if (json_is_string(first))
		utf8_copy(out->answer, sizeof out->answer, json_string_value(first));
	else if (json_is_object(first))
		copy_field(out->answer, sizeof out->answer, first, "answer");
	if (json_is_object(box)) {
		copy_field(out->answer, sizeof out->answer, box, "answer");
		if (!*out->answer)
			copy_field(out->answer, sizeof out->answer, box, "snippet");
	}
}

static int read_status(int status)
{
	switch (status) {
	case 200:
		return 0;
	case 401:
	case 403:
		return EACCES;
	case 429:
		return EAGAIN;
	case 402:
	case 432: /* Tavily: the plan's limit */
	case 433:
		return EDQUOT;
	default:
		return EIO;
	}
}

int search_read(struct search_results *out, enum search_service service, int status,
		struct slice body)
{
	const struct shape *shape = &shapes[service];
	const json_t *inside, *list;
	int err = read_status(status);
	json_t *root;

	if (err)
		return err;
	root = json_loadb((const char *)body.p, body.n, 0, NULL);
	inside = shape->inside ? json_object_get(root, shape->inside) : root;
	list = json_object_get(inside, shape->list);
	/* A service that found nothing may leave the list out. */
	if (!json_is_object(root) || (list && !json_is_array(list)) ||
	    (!list && service == SEARCH_SEARXNG)) {
		json_decref(root);
		return EBADMSG;
	}
	memset(out, 0, sizeof *out);
	read_hits(out, list, shape);
	read_answer(out, root);
	json_decref(root);
	return 0;
}
