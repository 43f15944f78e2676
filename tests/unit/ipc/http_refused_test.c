/* Requests that the HTTP server refuses: RFC 9112 sections 2.2, 3, 5, 6.1, 6.3, 7.1, 11. */
#include "tests/unit/ipc/http_server_fixture.h"

static const struct {
	const char *bytes;
	int status;
} hostile[] = {
	/* two lengths, and lengths that are none */
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: "
	 "chunked\r\n\r\nabc",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: "
	 "3\r\n\r\nabc",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 5\r\n\r\nabc", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 3x\r\n\r\nabc", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\nabc", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\nabc", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\nabc", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length : 3\r\n\r\nabc", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
	 "x\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", 501},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n", 501},
	/* odd chunks */
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n "
	 "3\r\nabc\r\n0\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3 "
	 "\r\nabc\r\n0\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
	 "chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
	 "chunked\r\n\r\n-3\r\nabc\r\n0\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
	 "chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
	 "chunked\r\n\r\n3;a\nb\r\nabc\r\n0\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
	 "chunked\r\n\r\n100000003\r\nabc\r\n0\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
	 "chunked\r\n\r\n3\r\nabc\r\n0\r\nX\n\r\n",
	 400},
	/* control characters in the target, raw and encoded */
	{"GET /a%0aX-Csrf:%201 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a%0D%0AX:1 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /?a%0a HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /?a=%0d HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /?a=%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /%7f HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a\tb HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /%c3 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /%g0 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	/* out of the folder */
	{"GET /../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a/.. HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a/./b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /%2e%2e/etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /.%2e/etc HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a%2f..%2fb HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /..\\b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a%5c..%5cb HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	/* lines and fields */
	{"GET / HTTP/1.1\nHost: a\n\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\n\tX: a\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\nX : a\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\n: a\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\nX: a\x01\r\n\r\n", 400},
	{"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
	{" GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
	{"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 501},
	{"get / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
	/* versions */
	{"GET / HTTP/1.0\r\nHost: a\r\n\r\n", 505},
	{"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
	{"GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505},
	{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
	{"GET / HTTP/1.11\r\nHost: a\r\n\r\n", 400},
	{"GET / http/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /\r\n\r\n", 400},
	/* hosts */
	{"GET / HTTP/1.1\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost:\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a,  b\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
	{"GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421},
	/* two of what counts once */
	{"GET / HTTP/1.1\r\nHost: a\r\nCookie: a=b\r\nCookie: a=c\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: more\r\n\r\na", 417},
};

TEST(http_server_refuses_what_can_be_read_in_two_ways)
{
	struct http_server_counts counts;

	CHECK_INT(begin(), 0);
	for (unsigned i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
		int status = ask(hostile[i].bytes);

		if (status != hostile[i].status || !await("") || count("HTTP/1.1") != 1) {
			test_fail(__FILE__, __LINE__, "%s: status %d, want %d", hostile[i].bytes,
				  status, hostile[i].status);
			break;
		}
	}
	CHECK_INT(ask("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 421);
	CHECK(await("does not answer"));
	CHECK_INT(ask("HEAD / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 421);
	CHECK(await("") && count("does not answer") == 0);
	/* Only the broken chunks were requested at all. */
	CHECK_INT(fx.requests, 10);
	CHECK_INT(fx.bodies, 0);
	http_server_counts(fx.server, &counts);
	CHECK_INT(counts.refused, sizeof hostile / sizeof hostile[0] + 2);
	CHECK(counts.connections <= 1);
	end();
}

TEST(http_server_refuses_zero_bytes_and_what_follows_them)
{
	static const char target[] = "GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n";
	static const char value[] = "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n";
	static const char name[] = "GET / HTTP/1.1\r\nHost: a\r\nX\0: b\r\n\r\n";

	CHECK_INT(begin(), 0);
	CHECK_INT(ask_bytes(target, sizeof target - 1), 400);
	CHECK_INT(ask_bytes(value, sizeof value - 1), 400);
	CHECK_INT(ask_bytes(name, sizeof name - 1), 400);
	CHECK_INT(fx.requests, 0);
	end();
}

TEST(http_server_cuts_heads_of_ten_megabytes)
{
	static char head[10 << 20];

	memset(head, 'x', sizeof head);
	memcpy(head, "GET / HTTP/1.1\r\nHost: a\r\nX: ", 28);
	CHECK_INT(begin(), 0);
	CHECK_INT(ask_bytes(head, sizeof head), 431);
	/* A target as long, and more fields than anybody needs. */
	memset(head, 'x', sizeof head);
	memcpy(head, "GET /", 5);
	CHECK_INT(ask_bytes(head, sizeof head), 431);
	memcpy(head + 5000, " HTTP/1.1\r\nHost: a\r\n\r\n", 22);
	CHECK_INT(ask_bytes(head, 5022), 414);
	strcpy(head, "GET / HTTP/1.1\r\nHost: a\r\n");
	for (unsigned i = 0; i < HTTP_FIELDS_MAX; i++)
		strcat(head, "X: y\r\n");
	strcat(head, "\r\n");
	CHECK_INT(ask(head), 431);
	CHECK_INT(fx.requests, 0);
	end();
}
