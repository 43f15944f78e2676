#include "control/settings/provider.h"

#include <errno.h>
#include <string.h>

#include "control/settings/settings.h"

/* Where the provider's key comes from, for people. */
static const char *key_name(const struct provider_record *p)
{
	static const char *const implied[][2] = {{"asr", "PARLEY_ASR_KEY"},
						 {"text", "PARLEY_TEXT_KEY"},
						 {"speech", "PARLEY_SPEECH_KEY"}};

	if (*p->key_file)
		return p->key_file;
	for (size_t i = 0; i < sizeof implied / sizeof implied[0]; i++)
		if (strcmp(implied[i][0], p->name) == 0)
			return implied[i][1];
	return SETTINGS_KEY_NAME;
}

int settings_provider(const struct settings *s, enum settings_service which,
		      struct settings_provider *out)
{
	static const enum role roles[] = {[SETTINGS_SERVICE_ASR] = ROLE_TRANSCRIBE,
					  [SETTINGS_SERVICE_TEXT] = ROLE_TEXT,
					  [SETTINGS_SERVICE_SPEECH] = ROLE_SPEECH};
	const struct provider_record *p = settings_role(s, roles[which], 0);
	struct settings_provider found = {.base = ""};
	int err = p ? provider_http_url(p, found.base, sizeof found.base) : ENOENT;

	if (err)
		return err;
	found.key = p->key;
	found.key_name = key_name(p);
	*out = found;
	return 0;
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
