#include "control/settings/provider.h"

#include <errno.h>

#include "control/settings/settings.h"
#include "tests/test.h"

static struct settings *with(const char *name, const char *value)
{
	struct settings *s = NULL;

	settings_alloc(&s);
	settings_set(s, name, value);
	return s;
}

TEST(services_are_beside_the_brain)
{
	static const struct {
		const char *brain, *base;
	} table[] = {{"ws://127.0.0.1:8080/v1/realtime", "http://127.0.0.1:8080/v1"},
		     {"wss://h.example/v1/realtime/?model=x", "https://h.example/v1"},
		     {"ws://h/realtime", "http://h"},
		     {"ws://h", "http://h"},
		     {"ws:///realtime", NULL},
		     {"ftp://h/v1", NULL},
		     {"ws://", NULL}};
	struct settings_provider p;

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct settings *s = with("brain_url", table[i].brain);
		int err = settings_provider(s, SETTINGS_SERVICE_TEXT, &p);

		settings_free(s);
		CHECK_INT(err, table[i].base ? 0 : EINVAL);
		if (table[i].base)
			CHECK_STR(p.base, table[i].base);
	}
}

TEST(a_key_goes_where_it_belongs)
{
	struct settings *s = with("openai_api_key", "the-key");
	struct settings_provider p;

	CHECK_INT(settings_provider(s, SETTINGS_SERVICE_ASR, &p), 0);
	CHECK_STR(p.base, "https://api.openai.com/v1");
	CHECK_STR(p.key, "the-key");
	CHECK_STR(p.key_name, "OPENAI_API_KEY");
	settings_set(s, "speech_url", "http://127.0.0.1:8880/v1/");
	CHECK_INT(settings_provider(s, SETTINGS_SERVICE_SPEECH, &p), 0);
	CHECK_STR(p.base, "http://127.0.0.1:8880/v1");
	CHECK_STR(p.key, "");
	CHECK_STR(p.key_name, "PARLEY_SPEECH_KEY");
	settings_set(s, "speech_key", "another");
	CHECK_INT(settings_provider(s, SETTINGS_SERVICE_SPEECH, &p), 0);
	CHECK_STR(p.key, "another");
	settings_free(s);
	s = with("language", "en");
	CHECK_INT(settings_provider(s, SETTINGS_SERVICE_TEXT, &p), ENOENT);
	settings_free(s);
}

TEST(what_settings_ask_for)
{
	struct settings *s = with("language", "en");

	CHECK(!settings_asks(s, SETTINGS_SERVICE_ASR) && !settings_asks(s, SETTINGS_SERVICE_TEXT) &&
	      !settings_asks(s, SETTINGS_SERVICE_SPEECH));
	settings_set(s, "admission", "classifier");
	CHECK(settings_asks(s, SETTINGS_SERVICE_TEXT) &&
	      !settings_asks(s, SETTINGS_SERVICE_SPEECH));
	settings_set(s, "admission", "floor");
	settings_set(s, "reply_path", "brain");
	settings_set(s, "asr_sessions", "file");
	CHECK(settings_asks(s, SETTINGS_SERVICE_ASR) && settings_asks(s, SETTINGS_SERVICE_TEXT) &&
	      settings_asks(s, SETTINGS_SERVICE_SPEECH));
	settings_free(s);
}
