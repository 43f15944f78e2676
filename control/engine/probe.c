#include "control/engine/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/openai.h"
#include "control/dialect/text.h"
#include "control/engine/endpoint.h"
#include "control/engine/engine.h"

static void wipe(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}

int probe_session(struct ws **out, struct ws_ctx *ctx, const char *url, const char *model,
		  const char *key, ws_h *h, void *arg)
{
	char *full = openai_url_voice(url, model), *auth = openai_auth(key);
	const char *const headers[] = {auth, NULL};
	const struct ws_dial dial = {
		.url = full, .headers = auth ? headers : NULL, .max_message = OPENAI_MAX_MESSAGE};
	int err = full ? ws_connect(out, ctx, &dial, h, arg) : ENOMEM;

	wipe(auth);
	free(full);
	return err;
}

enum probe_answer probe_read(const uint8_t *data, size_t len, char *why, size_t size)
{
	enum probe_answer answer = PROBE_NOTHING;
	struct openai_fact f;

	*why = '\0';
	if (openai_parse(&f, data, len))
		return answer;
	if (f.type == OPENAI_SESSION)
		answer = PROBE_CREATED;
	else if (f.type == OPENAI_ERROR)
		answer = PROBE_REFUSED;
	if (answer == PROBE_REFUSED)
		snprintf(why, size, "%.*s", (int)f.text.n, (const char *)f.text.p);
	openai_fact_clear(&f);
	return answer;
}

int probe_models(struct http *http, const struct provider_record *p, uint32_t ms, http_resp_h *h,
		 void *arg)
{
	const struct text_dialect *d = engine_text_dialect((enum dialect)p->dialect);
	char base[PROVIDER_URL_MAX];
	struct endpoint_call call = {
		.method = "GET", .endpoint = "models", .ms = ms, .h = h, .arg = arg};
	struct endpoint *endpoint;
	struct http_req *req;
	struct text_options o;
	int err = provider_http_url(p, base, sizeof base);

	if (err)
		return err;
	text_options_parse(&o, p->options);
	err = endpoint_of_text(&endpoint, http, d ? d : &text_dialect_chat, &o, base, p->key);
	if (err)
		return err;
	err = endpoint_post(endpoint, &call, &req);
	endpoint_free(endpoint);
	return err;
}
