/* Heads, bodies and the ring of events, without a server. The hostile heads are in
 * ipc/http_server_test.c. */
#include "proto/http/body.h"
#include "proto/http/head.h"
#include "proto/http/ring.h"
#include "tests/test.h"

static int parse(struct http_head *h, const char *text)
{
	return http_head_parse(h, text, strlen(text));
}

TEST(http_head_is_found_at_any_cut)
{
	static const char text[] = "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nGET";
	size_t whole = sizeof text - 1 - 3, seen = 0;

	for (size_t n = 0; n < whole; n++)
		CHECK_INT(http_head_find(text, n, &seen), 0);
	CHECK_INT(http_head_find(text, whole, &seen), (long)whole);
	seen = 0;
	CHECK_INT(http_head_find(text, sizeof text - 1, &seen), (long)whole);
	seen = 0;
	CHECK_INT(http_head_find("GET / HTTP/1.1\n", 15, &seen), -1);
	seen = 0;
	CHECK_INT(http_head_find("GET\r", 4, &seen), 0);
	CHECK_INT(http_head_find("GET\rX", 5, &seen), -1);
}

TEST(http_head_tells_what_was_sent)
{
	static const char text[] = "PUT /r%c3%a4/x?a=1&b=%26+%3d&c&a=2 HTTP/1.1\r\n"
				   "hOST: Example.org:80\r\n"
				   "Content-Length: 12\r\n"
				   "X-Long:\t a, b \t\r\n"
				   "Connection: Keep-Alive\r\n"
				   "connection: close\r\n"
				   "Expect: 100-Continue\r\n\r\n";
	struct http_head h;
	char buf[8];

	CHECK_INT(parse(&h, text), 0);
	CHECK_INT(h.method, HTTP_PUT);
	CHECK_STR(http_method_name(h.method), "PUT");
	CHECK_STR(h.path, "/r\xc3\xa4/x");
	CHECK(http_text_is(h.query, "a=1&b=%26+%3d&c&a=2"));
	CHECK(http_text_is(h.host, "Example.org:80"));
	CHECK(h.has_length && h.length == 12 && !h.chunked && h.close && h.expects && !h.websocket);
	CHECK(http_text_is(http_head_field(&h, "x-long"), "a, b"));
	CHECK(!http_head_field(&h, "x").p);
	CHECK(http_head_copy(&h, "x-long", buf, sizeof buf));
	CHECK_STR(buf, "a, b");
	CHECK(!http_head_copy(&h, "host", buf, sizeof buf));
	CHECK_STR(buf, "");
	CHECK(http_head_query(&h, "a", buf, sizeof buf));
	CHECK_STR(buf, "1");
	CHECK(http_head_query(&h, "b", buf, sizeof buf));
	CHECK_STR(buf, "& =");
	CHECK(http_head_query(&h, "c", buf, sizeof buf));
	CHECK_STR(buf, "");
	CHECK(!http_head_query(&h, "d", buf, sizeof buf));
	CHECK(!http_head_query(&h, "b", buf, 3));
	CHECK_STR(buf, "");
}

TEST(http_head_knows_upgrades)
{
	struct http_head h;

	CHECK_INT(parse(&h, "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: x, "
			    "upgrade\r\n\r\n"),
		  0);
	CHECK(h.websocket);
	CHECK_INT(parse(&h, "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n"), 0);
	CHECK(!h.websocket);
	CHECK_INT(parse(&h, "POST / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: "
			    "upgrade\r\n\r\n"),
		  0);
	CHECK(!h.websocket);
}

TEST(http_fields_end_no_line)
{
	CHECK(http_name_valid("X-A") && !http_name_valid("") && !http_name_valid("X:") &&
	      !http_name_valid("X\n"));
	CHECK(http_value_valid("") && http_value_valid("a b\t\xc3\xa4") &&
	      !http_value_valid("a\r\nb"));
}

/* Feeds in pieces of this size; the body goes to buf. Its length, or -1. */
static long feed(struct http_body *b, const char *text, size_t len, size_t step, char *buf,
		 size_t *left)
{
	size_t at = 0, n_body = 0;

	while (at < len && !http_body_ended(b)) {
		size_t n = len - at < step ? len - at : step, k_data;
		const uint8_t *data;
		long k = http_body_feed(b, (const uint8_t *)text + at, n, &data, &k_data);

		if (k < 0)
			return -1;
		memcpy(buf + n_body, data, k_data);
		n_body += k_data;
		at += (size_t)k;
	}
	*left = len - at;
	return (long)n_body;
}

TEST(http_body_is_the_same_at_any_cut)
{
	static const char chunks[] = "1\r\na\r\n0A ;x\r\n",
			  fine[] = "1\r\na\r\nA;x=y\r\n0123456789\r\n000\r\nX: y\r\n\r\nGET";
	struct http_body b;
	char buf[64];
	size_t left;

	for (size_t step = 1; step < sizeof fine; step++) {
		http_body_init(&b, true, 0);
		CHECK_INT(feed(&b, fine, sizeof fine - 1, step, buf, &left), 11);
		CHECK(http_body_ended(&b) && left == 3);
		CHECK_MEM(buf, 11, "a0123456789", 11);
		http_body_init(&b, true, 0);
		CHECK_INT(feed(&b, chunks, sizeof chunks - 1, step, buf, &left), -1);
		http_body_init(&b, false, 5);
		CHECK_INT(feed(&b, "abcdefg", 7, step, buf, &left), 5);
		CHECK(http_body_ended(&b) && left == 2);
	}
	http_body_init(&b, false, 0);
	CHECK(http_body_ended(&b));
}

TEST(http_body_limits_what_is_no_body)
{
	static char extra[HTTP_BODY_EXTRA + 16] = "0\r\nX:";
	struct http_body b;
	char buf[8];
	size_t left;

	memset(extra + 5, 'x', sizeof extra - 5);
	http_body_init(&b, true, 0);
	CHECK_INT(feed(&b, extra, HTTP_BODY_EXTRA, 100, buf, &left), 0);
	http_body_init(&b, true, 0);
	CHECK_INT(feed(&b, extra, sizeof extra, 100, buf, &left), -1);
}

TEST(sse_ring_keeps_the_last_events)
{
	struct sse_ring *r;
	const char *text;
	char buf[256];
	size_t n;
	uint64_t cursor;

	CHECK_INT(sse_ring_alloc(&r, 0xabc), 0);
	CHECK_INT(sse_ring_next(r), 1);
	CHECK_INT(sse_ring_add(r, NULL, "turn", "a\r\nb\rc\nd", 8, &text, &n), 0);
	CHECK_MEM(text, n, "id: 00000abc-1\nevent: turn\ndata: a\ndata: b\ndata: c\ndata: d\n\n",
		  60);
	CHECK_INT(sse_ring_add(r, NULL, "", "a", 1, &text, &n), EINVAL);
	CHECK_INT(sse_ring_add(r, NULL, "a\nb", "a", 1, &text, &n), EINVAL);
	CHECK_INT(sse_ring_add(r, NULL, "a\rb", "a", 1, &text, &n), EINVAL);
	CHECK_INT(sse_ring_next(r), 2);
	n = sse_ring_format(r, buf, sizeof buf, "gap", "", 0);
	CHECK_MEM(buf, n, "id: 00000abc-1\nevent: gap\ndata: \n\n", 34);
	CHECK_INT(sse_ring_format(r, buf, 20, "gap", "", 0), 0);
	CHECK(sse_ring_resume(r, "00000abc-1", 10, &cursor) && cursor == 2);
	CHECK(sse_ring_resume(r, "00000abc-0", 10, &cursor) && cursor == 1);
	CHECK(!sse_ring_get(r, 2, &text, &n));
	for (unsigned i = 0; i < SSE_RING_EVENTS; i++)
		CHECK_INT(sse_ring_add(r, NULL, "x", "", 0, &text, &n), 0);
	CHECK(sse_ring_missed(r, 1) && !sse_ring_missed(r, 2));
	CHECK(sse_ring_get(r, 2, &text, &n) && !sse_ring_get(r, 1, &text, &n));
	CHECK(!sse_ring_resume(r, "00000abc-0", 10, &cursor));
	CHECK(sse_ring_resume(r, "00000abc-1", 10, &cursor));
	r = sse_ring_free(r);
}

TEST(sse_ring_knows_its_own_ids_only)
{
	static const char *const strange[] = {"",
					      "-",
					      "00000abc",
					      "00000abc-",
					      "abc-1",
					      "00000abc-2",
					      "00000abc-01",
					      "00000abd-1",
					      "00000ABC-1",
					      "00000abc-1 ",
					      " 00000abc-1",
					      "00000abc--1",
					      "00000abc-1\n",
					      "00000abc-+1",
					      "0x000abc-1",
					      "00000abc-99999999999999999999999999999999999"};
	struct sse_ring *r;
	const char *text;
	size_t n;
	uint64_t cursor = 77;

	CHECK_INT(sse_ring_alloc(&r, 0xabc), 0);
	CHECK_INT(sse_ring_add(r, NULL, "x", "", 0, &text, &n), 0);
	for (unsigned i = 0; i < sizeof strange / sizeof strange[0]; i++)
		if (sse_ring_resume(r, strange[i], strlen(strange[i]), &cursor))
			test_fail(__FILE__, __LINE__, "%s is known", strange[i]);
	CHECK(!sse_ring_resume(r, "00000abc-1\0", 11, &cursor));
	CHECK_INT(cursor, 77);
	CHECK(sse_ring_resume(r, "00000abc-1", 10, &cursor));
	r = sse_ring_free(r);
}

TEST(sse_ring_holds_a_megabyte)
{
	static char data[SSE_EVENT_MAX];
	struct sse_ring *r;
	const char *text;
	size_t n, held;

	memset(data, 'd', sizeof data);
	CHECK_INT(sse_ring_alloc(&r, 1), 0);
	CHECK_INT(sse_ring_add(r, NULL, "x", data, sizeof data, &text, &n), EMSGSIZE);
	for (unsigned i = 0; i < 300; i++) {
		size_t size = i * 7919u % 60000;

		data[0] = (char)('a' + i % 26);
		CHECK_INT(sse_ring_add(r, NULL, "x", data, size, &text, &n), 0);
		held = 0;
		for (uint64_t at = sse_ring_next(r) - 1; sse_ring_get(r, at, &text, &n); at--) {
			const char *body = memmem(text, n, "data: ", 6);

			held += n;
			/* None is written over by a newer one. */
			CHECK(body && (n < 60 || body[6] == (char)('a' + (at - 1) % 26)));
			CHECK_MEM(text + n - 2, 2, "\n\n", 2);
		}
		CHECK(held <= SSE_RING_BYTES);
	}
	CHECK(held > SSE_RING_BYTES - 3 * SSE_EVENT_MAX);
	r = sse_ring_free(r);
}

TEST_OOM(sse_ring_survives_no_memory)
{
	struct sse_ring *r = NULL;

	CHECK_OOM(sse_ring_alloc(&r, 1), (void)0);
	r = sse_ring_free(r);
}
