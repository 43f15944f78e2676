/* What browsers send: cookies and queries of lists. */
#include "tests/test.h"

#include "control/web/cookies.h"
#include "control/web/list_query.h"

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
