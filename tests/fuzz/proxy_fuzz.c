/* Parsers of proxy URLs, of no_proxy and of replies to CONNECT. No input may crash them or make
 * them pass a bound; an accepted proxy has a host and a port; a reply is accepted at one length
 * only. The first byte picks the parser. */
#include "ipc/proxy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse_url(const char *text)
{
	char request[PROXY_REQUEST_MAX];
	struct proxy p;
	size_t n;

	if (proxy_parse(&p, text))
		return;
	if (!p.host[0] || !p.port || !memchr(p.host, '\0', sizeof p.host) ||
	    !memchr(p.credentials, '\0', sizeof p.credentials))
		abort();
	if (proxy_request(&p, "far.test", 443, request, &n) == 0 &&
	    (strlen(request) != n || strcmp(request + n - 4, "\r\n\r\n") != 0))
		abort();
}

static void parse_reply(const uint8_t *data, size_t size)
{
	unsigned status = 0;
	size_t done = 0;

	for (size_t n = 0; n <= size; n++) {
		int err = proxy_reply((const char *)data, n, &status);

		if (err == 0 && (done || status > 999))
			abort();
		if (err == 0)
			done = n;
		if (done && n > done && err != EBADMSG)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size)
		return 0;
	text = strndup((const char *)data + 1, size - 1);
	if (!text)
		return 0;
	switch (data[0] % 3) {
	case 0:
		parse_url(text);
		break;
	case 1:
		if (strcmp(text, "*") == 0 && !proxy_exempts(text, "a.b.test", 443))
			abort();
		proxy_exempts(text, "a.b.test", 443);
		proxy_exempts(text, "10.1.2.3", 443);
		proxy_exempts(text, "fd12::1", 443);
		break;
	default:
		parse_reply(data + 1, size - 1 < 600 ? size - 1 : 600);
		break;
	}
	free(text);
	return 0;
}
