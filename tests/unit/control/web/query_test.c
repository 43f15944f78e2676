/* What browsers send: cookies and queries of lists. */
#include "tests/test.h"

#include "control/web/cookies.h"
#include "control/web/list_query.h"
#include "control/web/queries.def"
#include "control/web/queries.h"
#include "control/web/routes.def"

#include <string.h>

static struct http_text text_of(const char *s)
{
	return (struct http_text){s, strlen(s)};
}

TEST(a_cookie_is_found_among_others)
{
	char v[8];

	CHECK(cookie_find(text_of("a=1; b=22; c=3"), "b", v, sizeof v));
	CHECK_STR(v, "22");
	CHECK(cookie_find(text_of("a=1;b=x=y"), "b", v, sizeof v));
	CHECK_STR(v, "x=y");
	CHECK(cookie_find(text_of(" b = 7 "), "b", v, sizeof v));
	CHECK_STR(v, "7");
	CHECK(!cookie_find(text_of("ab=1; B=2"), "b", v, sizeof v));
	CHECK_STR(v, "");
	CHECK(!cookie_find(text_of("b=12345678"), "b", v, sizeof v));
	CHECK(!cookie_find(text_of(""), "b", v, sizeof v));
	CHECK(!cookie_find(text_of(";;=;"), "b", v, sizeof v));
}

static bool read_query(struct list_query *q, const char *query)
{
	static char head[512];
	static struct http_head h;

	snprintf(head, sizeof head, "GET /api/turns%s HTTP/1.1\r\nHost: a\r\n\r\n", query);
	return http_head_parse(&h, head, strlen(head)) == 0 && list_query_read(q, &h);
}

TEST(a_list_is_asked_for_strictly)
{
	struct list_query q;

	CHECK(read_query(&q, ""));
	CHECK_INT(q.limit, LIST_LIMIT);
	CHECK(!q.guild && !q.user && !q.cursor && !q.since_ms && !*q.reason);
	CHECK(read_query(&q, "?guild=41771983423143937&limit=100&cursor=7&reason=not_addressed"));
	CHECK(q.guild == UINT64_C(41771983423143937) && q.cursor == 7);
	CHECK_INT(q.limit, 100);
	CHECK_STR(q.reason, "not_addressed");
	CHECK(read_query(&q, "?since=5&before=1760000000000"));
	CHECK(q.since_ms == 5 && q.before_ms == UINT64_C(1760000000000));
	CHECK(!read_query(&q, "?before=yesterday"));
	CHECK(!read_query(&q, "?limit=101"));
	CHECK(!read_query(&q, "?limit=0"));
	CHECK(!read_query(&q, "?limit=-1"));
	CHECK(!read_query(&q, "?cursor=9223372036854775808"));
	CHECK(!read_query(&q, "?guild="));
	CHECK(!read_query(&q, "?guild=x"));
	CHECK(!read_query(&q, "?since=1e9"));
	CHECK(!read_query(&q, "?reason=a%27%20OR%201"));
	CHECK(!read_query(&q, "?reason="));
}

static enum query_fault check_query(const char *query, const char *text)
{
	static char head[512];
	static struct http_head h;
	json_t *reasons = json_pack("{s:s,s:s}", "answered", "", "muted", "");
	enum query_fault fault = QUERY_UNKNOWN_NAME;

	snprintf(head, sizeof head, "GET /api/turns%s HTTP/1.1\r\nHost: a\r\n\r\n", query);
	if (http_head_parse(&h, head, strlen(head)) == 0)
		fault = query_check(&h, text, reasons);
	json_decref(reasons);
	return fault;
}

TEST(a_query_has_no_parameter_and_no_name_that_is_not_known)
{
	static const char text[] = "Turns; ?guild, ?reason, ?kinds=a,b, ?limit.";
	static const struct {
		const char *query;
		enum query_fault fault;
	} rows[] = {{"", QUERY_FINE},
		    {"?", QUERY_FINE},
		    {"?guild=1&&limit=3&", QUERY_FINE},
		    {"?%67uild=1", QUERY_FINE},
		    {"?limt=3", QUERY_UNKNOWN_NAME},
		    {"?guild=1&limi=3", QUERY_UNKNOWN_NAME},
		    {"?limits=3", QUERY_UNKNOWN_NAME},
		    {"?Guild=1", QUERY_UNKNOWN_NAME},
		    {"?user=1", QUERY_UNKNOWN_NAME},
		    {"?=1", QUERY_UNKNOWN_NAME},
		    {"?%ff=1", QUERY_UNKNOWN_NAME},
		    {"?a,b=1", QUERY_UNKNOWN_NAME},
		    {"?reason=muted", QUERY_FINE},
		    {"?reason=foo", QUERY_UNKNOWN_REASON},
		    {"?reason=", QUERY_UNKNOWN_REASON},
		    {"?kinds=sent_message,reply_skipped", QUERY_FINE},
		    {"?kinds=screen", QUERY_UNKNOWN_KIND},
		    {"?kinds=fault,", QUERY_UNKNOWN_KIND},
		    {"?kinds=,fault", QUERY_UNKNOWN_KIND}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (check_query(rows[i].query, text) != rows[i].fault)
			test_fail(__FILE__, __LINE__, "%s", rows[i].query);
}

/* What a text names, the table knows: a misspelt name would be refused to everybody. */
TEST(routes_name_parameters_of_the_table_alone)
{
	static const char *const texts[] = {
#define ROUTE(METHOD, path, role, seen, handler, n, ms, text) text,
		WEB_ROUTES(ROUTE)
#undef ROUTE
	};
	static const char *const names[] = {
#define QUERY_(name, form) #name,
		WEB_QUERIES(QUERY_)
#undef QUERY_
	};
	unsigned seen = 0;

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		size_t n = 0, k = 0;

		for (const char *p = texts[i]; (p = query_name(p, &n)); p += n, seen++) {
			for (k = 0; k < sizeof names / sizeof names[0]; k++)
				if (strlen(names[k]) == n && strncmp(names[k], p, n) == 0)
					break;
			if (k == sizeof names / sizeof names[0])
				test_fail(__FILE__, __LINE__, "?%.*s", (int)n, p);
		}
	}
	CHECK(seen > 40);
}
