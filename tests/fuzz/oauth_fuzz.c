/* Challenges of servers, metadata and tokens of authorization servers: no input may crash or pass a
 * bound, and none may break a header or an address. The first byte chooses what it is. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/oauth.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void read_address(const char *text)
{
	char out[OAUTH_URL_MAX];

	for (unsigned i = 0; i < OAUTH_PLACES; i++) {
		if (!oauth_issuer_place(text, i, out, sizeof out))
			require(strlen(out) < sizeof out && !strpbrk(out, "\r\n "));
		if (!oauth_resource_place(text, i, out, sizeof out))
			require(strlen(out) < sizeof out && !strpbrk(out, "\r\n "));
	}
}

static void require_plain(const char *text)
{
	require(!strpbrk(text, "\r\n \""));
}

static void read_metadata(const char *text, bool of_issuer)
{
	struct oauth_resource r;
	struct oauth_issuer o;

	if (of_issuer) {
		if (oauth_read_issuer(text, strlen(text), "https://as.org", &o))
			return;
		require(*o.token);
		require_plain(o.token);
		require_plain(o.authorize);
		require_plain(o.registration);
	} else if (!oauth_read_resource(text, strlen(text), "https://a.org/mcp", "", &r)) {
		require(oauth_may_send(r.issuer) && oauth_same_host(r.resource, "https://a.org"));
		require(!strpbrk(r.scope, "\r\n\"\\"));
	}
}

static void read_token(const char *text)
{
	struct oauth_token token;
	struct oauth_client client;
	char error[64];

	if (!oauth_read_token(text, strlen(text), &token)) {
		require(*token.access);
		require_plain(token.access);
	}
	if (!oauth_read_client(text, strlen(text), &client))
		require(*client.id);
	oauth_read_error(text, strlen(text), error, sizeof error);
}

static void read_challenge(const char *text)
{
	struct oauth_challenge c;
	struct oauth_sign_in s = {.authorize = "https://as.org/a",
				  .client_id = text,
				  .redirect = text,
				  .scope = text,
				  .resource = text,
				  .state = text,
				  .challenge = text};
	char link[OAUTH_LINK_MAX];

	oauth_read_challenge(text, &c);
	require(!*c.metadata || oauth_may_send(c.metadata));
	require(!strpbrk(c.scope, "\r\n\"\\") && !strpbrk(c.error, "\r\n\"\\"));
	if (!oauth_sign_in_link(&s, link, sizeof link))
		require_plain(link);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size)
		return 0;
	text = strndup((const char *)data + 1, size - 1);
	if (!text)
		return 0;
	switch (data[0]) {
	case 'r':
	case 'i':
		read_metadata(text, data[0] == 'i');
		break;
	case 't':
		read_token(text);
		break;
	case 'c':
		read_challenge(text);
		break;
	default:
		read_address(text);
		break;
	}
	free(text);
	return 0;
}
