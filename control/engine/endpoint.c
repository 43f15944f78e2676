#include "control/engine/endpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/openai.h"
#include "control/dialect/openai_http.h"

struct endpoint {
	struct http *http;
	char *base, *auth; /* auth NULL: no key */
};

int endpoint_alloc(struct endpoint **out, struct http *http, const char *base, const char *key)
{
	struct endpoint *p;

	if (!out || !http || !base || !*base)
		return EINVAL;
	p = calloc(1, sizeof *p);
	if (!p)
		return ENOMEM;
	p->http = http;
	p->base = strdup(base);
	if (key && *key)
		p->auth = openai_auth(key);
	if (!p->base || (key && *key && !p->auth)) {
		endpoint_free(p);
		return ENOMEM;
	}
	*out = p;
	return 0;
}

struct endpoint *endpoint_free(struct endpoint *p)
{
	if (!p)
		return NULL;
	if (p->auth)
		explicit_bzero(p->auth, strlen(p->auth));
	free(p->auth);
	free(p->base);
	free(p);
	return NULL;
}

int endpoint_rekey(struct endpoint *p, const char *key)
{
	return openai_auth_replace(&p->auth, key);
}

int endpoint_post(struct endpoint *p, const struct endpoint_call *call, struct http_req **out)
{
	const char *headers[4] = {"User-Agent: Parley/" PARLEY_VERSION, call->type, p->auth, NULL};
	struct http_call c = {.method = "POST",
			      .headers = headers,
			      .body = call->body,
			      .body_len = call->n,
			      .sound_at = call->sound_at,
			      .timeout_ms = call->ms,
			      .max_body = call->max_body,
			      .parth = call->parth};
	char *url = openai_http_url(p->base, call->endpoint);
	int err;

	if (!url)
		return ENOMEM;
	c.url = url;
	err = http_request(out, p->http, &c, call->h, call->arg);
	free(url);
	return err;
}

void endpoint_why(const struct http_resp *resp, char *why, size_t size)
{
	if (resp->err)
		snprintf(why, size, "%s", *resp->errtext ? resp->errtext : strerror(resp->err));
	else
		openai_refusal(resp->status, resp->body.p, resp->body.n, why, size);
}
