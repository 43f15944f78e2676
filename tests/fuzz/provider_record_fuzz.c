/* Records and roles of a settings file: every provider that is taken has good names and addresses
 * that can be computed, and all of it survives as text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void copy(const char *name, const char *value, bool secret, void *arg)
{
	if (!secret && *value && settings_set(arg, name, value))
		abort();
}

static void differs(const char *name, const char *value, bool secret, void *arg)
{
	(void)name;
	(void)value;
	(void)secret;
	(void)arg;
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const members[] = {"providers", "mcp_servers", "prices",
					      "profiles",  "roles",	  "purposes"};
	struct settings *s = NULL, *again = NULL;
	char *text = malloc(size + 1), url[PROVIDER_URL_MAX];

	if (!text || settings_alloc(&s) || settings_alloc(&again))
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	/* The first byte chooses the member. */
	if (size)
		settings_set(s, members[data[0] % 6], text + 1);
	settings_check(s, NULL, NULL);
	for (unsigned i = 0; i < s->records.n_known; i++) {
		const struct provider_record *p = &s->records.known[i];

		if (!*p->name || memchr(p->name, '\0', sizeof p->name) == NULL)
			abort();
		provider_http_url(p, url, sizeof url);
		provider_socket_url(p, url, sizeof url);
		provider_shown(p, url, sizeof url);
	}
	settings_each(s, copy, again);
	settings_changes(s, again, differs, NULL);
	settings_free(again);
	settings_free(s);
	free(text);
	return 0;
}
