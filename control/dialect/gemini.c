/* The codec of Gemini Live sessions (realtime.h, gemini.h). */
#include "control/dialect/gemini.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/build.h"

static const char service[] =
	"/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

static void codec_free(void *codec)
{
	struct gemini_codec *c = codec;

	if (!c)
		return;
	json_decref(c->turns);
	free(c->url);
	free(c->model);
	free(c->voice);
	free(c);
}

static char *copy_text(const char *text)
{
	return strdup(text ? text : "");
}

static int codec_alloc(void **out, const struct realtime_conf *conf)
{
	struct gemini_codec *c;

	if (!conf->url)
		return EINVAL;
	c = calloc(1, sizeof *c);
	if (!c)
		return ENOMEM;
	c->rate_in = conf->rate_in;
	c->text_only = conf->text_only;
	c->url = copy_text(conf->url);
	c->model = copy_text(conf->model);
	c->voice = copy_text(conf->voice);
	c->turns = json_array();
	if (!c->url || !c->model || !c->voice || !c->turns) {
		codec_free(c);
		return ENOMEM;
	}
	*out = c;
	return 0;
}

static void codec_reset(void *codec)
{
	struct gemini_codec *c = codec;

	json_array_clear(c->turns);
	c->state = (struct gemini_state){0};
}

/* The settings know the address of the service; an address of a method is taken as it is. */
static char *codec_url(const void *codec)
{
	static const char realtime[] = "/realtime";
	const struct gemini_codec *c = codec;
	size_t n = strcspn(c->url, "?#"), k = sizeof realtime - 1;
	char *base, *url;

	if (strstr(c->url, "BidiGenerateContent"))
		return build_socket_url(c->url, "");
	if (n > k && memcmp(c->url + n - k, realtime, k) == 0)
		n -= k;
	while (n && c->url[n - 1] == '/')
		n--;
	base = strndup(c->url, n);
	url = base ? build_socket_url(base, service) : NULL;
	free(base);
	return url;
}

static char *codec_auth(const char *key)
{
	return build_header("x-goog-api-key", key);
}

void gemini_await(struct gemini_codec *c, uint32_t ask, bool drop)
{
	struct gemini_state *s = &c->state;

	if (s->n_asked == GEMINI_ASKED)
		return;
	s->asked[s->n_asked].ask = ask;
	s->asked[s->n_asked++].drop = drop;
}

static bool has(const uint8_t *why, size_t n, const char *words)
{
	return n && memmem(why, n, words, strlen(words));
}

enum trouble gemini_trouble(const uint8_t *why, size_t n)
{
	static const struct {
		const char *words;
		enum trouble trouble;
	} table[] = {{"unauthorized", TROUBLE_KEY}, /* of the handshake */
		     {"API key", TROUBLE_KEY},
		     {"API_KEY_INVALID", TROUBLE_KEY},
		     {"UNAUTHENTICATED", TROUBLE_KEY},
		     {"PERMISSION_DENIED", TROUBLE_KEY},
		     {"invalid_api_key", TROUBLE_KEY},
		     {"exceeded your current quota", TROUBLE_CREDIT},
		     {"billing", TROUBLE_CREDIT},
		     {"insufficient_quota", TROUBLE_CREDIT},
		     {"RESOURCE_EXHAUSTED", TROUBLE_BUSY},
		     {"has been exhausted", TROUBLE_BUSY},
		     {"rate_limit_exceeded", TROUBLE_BUSY}};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (has(why, n, table[i].words))
			return table[i].trouble;
	return TROUBLE_OTHER;
}

const struct realtime_dialect realtime_gemini = {.describes_first = true,
						 .answers_results = true,
						 .commit_answers = true,
						 .alloc = codec_alloc,
						 .free = codec_free,
						 .reset = codec_reset,
						 .url = codec_url,
						 .auth = codec_auth,
						 .encode = gemini_encode,
						 .decode = gemini_decode,
						 .trouble = gemini_trouble};
