#include "control/engine/endpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/openai_http.h"
#include "control/dialect/text.h"
#include "ipc/log.h"
#include "proto/http/retry_after.h"

enum { NOTIFY_MS = 2000 };

struct endpoint {
	struct http *http;
	char *base, *header;
	char *key_header;
	char *auth; /* the whole line; NULL: no key */
};

/* A secret, to be wiped before it is freed. NULL without memory. */
static char *print_auth(const char *header, const char *key)
{
	size_t size = strlen(header) + strlen(key) + 3;
	char *auth = malloc(size);

	if (auth)
		snprintf(auth, size, "%s%s%s", header,
			 header[strlen(header) - 1] == ' ' ? "" : ": ", key);
	return auth;
}

int endpoint_alloc(struct endpoint **out, const struct endpoint_conf *conf)
{
	struct endpoint *p;

	if (!out || !conf->http || !conf->base || !*conf->base)
		return EINVAL;
	p = calloc(1, sizeof *p);
	if (!p)
		return ENOMEM;
	p->http = conf->http;
	p->base = strdup(conf->base);
	p->header = conf->header ? strdup(conf->header) : NULL;
	p->key_header = strdup(conf->key_header ? conf->key_header : "Authorization: Bearer ");
	if (!p->base || !p->key_header || (conf->header && !p->header) ||
	    endpoint_rekey(p, conf->key ? conf->key : "")) {
		endpoint_free(p);
		return ENOMEM;
	}
	*out = p;
	return 0;
}

int endpoint_of_text(struct endpoint **out, struct http *http, const struct text_dialect *d,
		     const struct text_options *o, const char *base, const char *key)
{
	char header[96] = "";

	if (d->version)
		snprintf(header, sizeof header, "%s: %s", d->version,
			 *o->version ? o->version : d->version_now);
	return endpoint_alloc(
		out, &(struct endpoint_conf){.http = http,
					     .base = base,
					     .key = key,
					     .key_header = o->bearer ? NULL : d->key_header,
					     .header = d->version ? header : NULL});
}

static void wipe_auth(struct endpoint *p)
{
	if (p->auth)
		explicit_bzero(p->auth, strlen(p->auth));
	free(p->auth);
}

struct endpoint *endpoint_free(struct endpoint *p)
{
	if (!p)
		return NULL;
	wipe_auth(p);
	free(p->key_header);
	free(p->header);
	free(p->base);
	free(p);
	return NULL;
}

int endpoint_rekey(struct endpoint *p, const char *key)
{
	char *auth = *key ? print_auth(p->key_header, key) : NULL;

	if (*key && !auth)
		return ENOMEM;
	wipe_auth(p);
	p->auth = auth;
	return 0;
}

static void put_headers(const struct endpoint *p, const char *type, const char **headers)
{
	size_t n = 0;

	headers[n++] = "User-Agent: Parley/" PARLEY_VERSION;
	if (type)
		headers[n++] = type;
	if (p->auth)
		headers[n++] = p->auth;
	if (p->header)
		headers[n++] = p->header;
	headers[n] = NULL;
}

int endpoint_post(struct endpoint *p, const struct endpoint_call *call, struct http_req **out)
{
	const char *headers[5];
	struct http_call c = {.method = call->method ? call->method : "POST",
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
	put_headers(p, call->type, headers);
	c.url = url;
	err = http_request(out, p->http, &c, call->h, call->arg);
	free(url);
	return err;
}

static void end_notify(const struct http_resp *resp, void *arg)
{
	(void)arg;
	log_debug("provider_notified", "status=%d error=\"%s\"", resp->status, resp->errtext);
}

void endpoint_notify(struct endpoint *p, const char *method, const char *path)
{
	static const char version[] = "/v1";
	const char *headers[5];
	char url[1024];
	size_t n = strlen(p->base);

	while (n && p->base[n - 1] == '/')
		n--;
	if (n > strlen(version) && memcmp(p->base + n - strlen(version), version, 3) == 0)
		n -= strlen(version);
	if ((size_t)snprintf(url, sizeof url, "%.*s/%s", (int)n, p->base, path) >= sizeof url)
		return;
	put_headers(p, NULL, headers);
	if (http_request(NULL, p->http,
			 &(struct http_call){.method = method,
					     .url = url,
					     .headers = headers,
					     .timeout_ms = NOTIFY_MS},
			 end_notify, NULL))
		log_debug("provider_not_notified", "method=%s path=%s", method, path);
}

void endpoint_why(const struct http_resp *resp, char *why, size_t size)
{
	struct retry_after_fields f = {0};
	char wait[RETRY_AFTER_TEXT_MAX] = "";

	if (resp->err) {
		snprintf(why, size, "%s", *resp->errtext ? resp->errtext : strerror(resp->err));
		return;
	}
	if (resp->status == 429 || resp->status == 503 || resp->status == 529) {
		http_header(resp, "retry-after", f.after, sizeof f.after);
		http_header(resp, "retry-after-ms", f.after_ms, sizeof f.after_ms);
		http_header(resp, "date", f.date, sizeof f.date);
		retry_after_print(retry_after_read(&f), wait);
	}
	openai_refusal(resp->status, resp->body.p, resp->body.n, wait, why, size);
}
