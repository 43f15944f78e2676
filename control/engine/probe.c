#include "control/engine/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/openai.h"
#include "control/dialect/openai_http.h"

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

int probe_models(struct http *http, const char *base, const char *key, uint32_t ms, http_resp_h *h,
		 void *arg)
{
	char *url = openai_http_url(base, "models"), *auth = openai_auth(key);
	const char *const headers[] = {auth, NULL};
	const struct http_call call = {
		.method = "GET", .url = url, .headers = auth ? headers : NULL, .timeout_ms = ms};
	int err = url ? http_request(NULL, http, &call, h, arg) : ENOMEM;

	wipe(auth);
	free(url);
	return err;
}
