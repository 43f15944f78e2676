#include "control/settings/provider.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/settings/settings.h"

/* The HTTP side of a server whose address is told, of its WebSocket or of that itself. */
static int base_of(const char *url, char *base, size_t size)
{
	static const char realtime[] = "/realtime";
	static const struct {
		const char *from, *to;
	} schemes[] = {{"wss://", "https://"},
		       {"ws://", "http://"},
		       {"https://", "https://"},
		       {"http://", "http://"}};

	for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
		size_t k = strlen(schemes[i].from), n;

		if (strncmp(url, schemes[i].from, k) != 0)
			continue;
		url += k;
		n = strcspn(url, "?#");
		while (n && url[n - 1] == '/')
			n--;
		k = sizeof realtime - 1;
		if (n > k && memcmp(url + n - k, realtime, k) == 0)
			n -= k;
		if (!n || *url == '/' ||
		    (size_t)snprintf(base, size, "%s%.*s", schemes[i].to, (int)n, url) >= size)
			return EINVAL;
		return 0;
	}
	return EINVAL;
}

int settings_provider(const struct settings *s, enum settings_service which,
		      struct settings_provider *out)
{
	const struct {
		const char *url, *key, *key_name;
	} services[] = {
		[SETTINGS_SERVICE_ASR] = {s->asr_url, s->asr_key, "PARLEY_ASR_KEY"},
		[SETTINGS_SERVICE_TEXT] = {s->text_url, s->text_key, "PARLEY_TEXT_KEY"},
		[SETTINGS_SERVICE_SPEECH] = {s->speech_url, s->speech_key, "PARLEY_SPEECH_KEY"},
	};
	const char *brain = settings_brain_url(s);
	struct settings_provider p = {.key = services[which].key,
				      .key_name = services[which].key_name};
	int err;

	if (!*services[which].url && !brain)
		return ENOENT;
	err = base_of(*services[which].url ? services[which].url : brain, p.base, sizeof p.base);
	if (!err && !*services[which].url && !*p.key) {
		p.key = s->openai_api_key;
		p.key_name = "OPENAI_API_KEY";
	}
	if (!err)
		*out = p;
	return err;
}

bool settings_asks(const struct settings *s, enum settings_service which)
{
	bool written = s->reply_path == SETTINGS_REPLY_BRAIN;

	switch (which) {
	case SETTINGS_SERVICE_ASR:
		return s->asr_sessions == SETTINGS_ASR_FILE;
	case SETTINGS_SERVICE_TEXT:
		return written || s->admission == SETTINGS_ADMISSION_CLASSIFIER;
	case SETTINGS_SERVICE_SPEECH:
		return written;
	}
	return false;
}
