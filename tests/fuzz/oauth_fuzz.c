/* Metadata and tokens of authorization servers: no input may crash or pass a bound, and no token
 * may break a header. The first byte chooses what it is. */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct oauth_token token = {0};
	char endpoint[OAUTH_URL_MAX] = "", error[64], *text;

	if (!size)
		return 0;
	text = strndup((const char *)data + 1, size - 1);
	if (!text)
		return 0;
	switch (data[0]) {
	case 'r':
		oauth_check_resource(text, strlen(text), "https://a.org/mcp", "https://as.org");
		break;
	case 'i':
		if (!oauth_read_issuer(text, strlen(text), "https://as.org", endpoint,
				       sizeof endpoint))
			require(*endpoint && !strpbrk(endpoint, "\r\n "));
		break;
	case 't':
		if (!oauth_read_token(text, strlen(text), &token))
			require(*token.access && !strpbrk(token.access, "\r\n "));
		oauth_read_error(text, strlen(text), error, sizeof error);
		break;
	default:
		read_address(text);
		break;
	}
	free(text);
	return 0;
}
