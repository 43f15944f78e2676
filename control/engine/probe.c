#include "control/engine/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/realtime.h"
#include "control/dialect/text.h"
#include "control/engine/endpoint.h"
#include "control/engine/core/describe.h"
#include "control/engine/engine.h"
#include "ipc/ws.h"

struct probe {
	const struct realtime_dialect *wire;
	void *codec;
	struct ws *ws;
	probe_h *h;
	void *arg;
};

static void wipe(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}

static int send_message(bool text, const void *data, size_t n, void *arg)
{
	const struct probe *p = arg;

	return ws_send(p->ws, text, data, n);
}

/* Some wait for the client to speak first. */
static void describe_session(struct probe *p)
{
	const struct realtime_command cmd = {.type = REALTIME_DESCRIBE, .instructions = ""};

	if (p->wire->describes_first && p->wire->encode(p->codec, &cmd, send_message, p))
		p->h(PROBE_CLOSED, "", p->arg);
}

/* True: it was told, and the probe may be gone. */
static bool tell_fact(const struct probe *p, const struct realtime_fact *f)
{
	char why[160];

	describe_error("", f->text, why, sizeof why);
	if (f->type == REALTIME_SESSION)
		p->h(PROBE_CREATED, "", p->arg);
	else if (f->type == REALTIME_ERROR)
		p->h(PROBE_REFUSED, why, p->arg);
	return f->type == REALTIME_SESSION || f->type == REALTIME_ERROR;
}

static void read_message(struct probe *p, bool text, const uint8_t *data, size_t len)
{
	struct realtime_facts *facts = malloc(sizeof *facts);

	if (facts && !p->wire->decode(p->codec, text, data, len, facts)) {
		for (size_t i = 0; i < facts->n; i++)
			if (tell_fact(p, &facts->v[i]))
				break;
		realtime_facts_clear(facts);
	}
	free(facts);
}

static void take_socket(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
			size_t len, void *arg)
{
	struct probe *p = arg;
	char why[160];

	(void)ws;
	(void)code;
	switch (ev) {
	case WS_OPEN:
		describe_session(p);
		break;
	case WS_TEXT:
	case WS_BINARY:
		read_message(p, ev == WS_TEXT, data, len);
		break;
	case WS_CLOSED:
		describe_error("", (struct slice){data, len}, why, sizeof why);
		p->h(PROBE_CLOSED, why, p->arg);
		break;
	}
}

static int dial(struct probe *p, struct ws_ctx *ctx, const char *key)
{
	char *url = p->wire->url(p->codec), *auth = p->wire->auth(key);
	const char *const headers[] = {auth ? auth : p->wire->header, auth ? p->wire->header : NULL,
				       NULL};
	const struct ws_dial to = {.url = url,
				   .headers = *headers ? headers : NULL,
				   .max_message = REALTIME_MESSAGE_MAX};
	int err = url ? ws_connect(&p->ws, ctx, &to, take_socket, p) : ENOMEM;

	wipe(auth);
	free(url);
	return err;
}

int probe_session(struct probe **out, struct ws_ctx *ctx, const struct probe_conf *conf, probe_h *h,
		  void *arg)
{
	const struct engine_caps *caps = engine_caps(conf->dialect, ROLE_VOICE);
	struct realtime_conf codec = {.url = conf->url, .model = conf->model};
	struct probe *p;
	int err;

	if (!caps || !engine_wire(conf->dialect))
		return EINVAL;
	codec.rate_in = caps->rate_in;
	codec.rate_out = caps->rate_out;
	p = calloc(1, sizeof *p);
	if (!p)
		return ENOMEM;
	p->wire = engine_wire(conf->dialect);
	p->h = h;
	p->arg = arg;
	err = p->wire->alloc(&p->codec, &codec);
	if (!err)
		err = dial(p, ctx, conf->key);
	if (err) {
		probe_free(p);
		return err;
	}
	*out = p;
	return 0;
}

struct probe *probe_free(struct probe *p)
{
	if (!p)
		return NULL;
	ws_free(p->ws);
	if (p->codec)
		p->wire->free(p->codec);
	free(p);
	return NULL;
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
