#include "tests/unit/control/engine/fake_realtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/base64.h"
#include "ipc/tmr.h"

static void came(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		 void *arg)
{
	struct fake *f = arg;
	unsigned conn = 0;
	const char *type;
	json_t *root;
	size_t n;

	(void)code;
	if (ev == WS_BINARY)
		f->binary += len;
	if (ev != WS_TEXT)
		return;
	while (conn < f->conns && f->ws[conn] != ws)
		conn++;
	root = json_loadb((const char *)data, len, 0, NULL);
	type = json_string_value(json_object_get(root, "type"));
	if (!type)
		type = json_string_value(json_object_get(root, "message_type"));
	if (!type && json_is_object(root))
		type = "";
	if (type) {
		n = strlen(f->types);
		snprintf(f->types + n, sizeof f->types - n, "%s ", type);
		f->h(f, conn, type, root);
	}
	json_decref(root);
}

static void accepted(struct ws *ws, const char *path, void *arg)
{
	struct fake *f = arg;

	if (f->conns == FAKE_CONNS) {
		ws_free(ws);
		return;
	}
	snprintf(f->path[f->conns], sizeof f->path[0], "%s", path);
	snprintf(f->auth[f->conns], sizeof f->auth[0], "%s", ws_header(ws, "authorization"));
	if (!f->auth[f->conns][0])
		snprintf(f->auth[f->conns], sizeof f->auth[0], "%s", ws_header(ws, "xi-api-key"));
	ws_set_handler(ws, came, f);
	f->ws[f->conns++] = ws;
	fake_send(f, f->conns - 1, "{\"type\":\"session.created\",\"session\":{}}");
}

static void too_late(void *arg)
{
	struct fake *f = arg;

	f->timed_out = true;
	env_stop(f->env);
}

bool fake_begin(struct fake *f, fake_h *h, void *arg)
{
	struct ws_listen_conf conf = {.host = "127.0.0.1"};

	memset(f, 0, sizeof *f);
	f->h = h;
	f->arg = arg;
	if (env_alloc(&f->env, &(struct env_conf){.loop = true}) ||
	    ws_ctx_alloc(&f->ctx, f->env, NULL) ||
	    ws_listen(&f->server, f->ctx, &conf, accepted, f) ||
	    tmr_alloc(&f->deadline, f->env, too_late, f))
		return false;
	snprintf(f->url, sizeof f->url, "ws://127.0.0.1:%u/v1/realtime", ws_server_port(f->server));
	tmr_start(f->deadline, 60000000000ull);
	return true;
}

void fake_end(struct fake *f)
{
	for (unsigned i = 0; i < f->conns; i++)
		ws_free(f->ws[i]);
	tmr_free(f->deadline);
	ws_server_free(f->server);
	ws_ctx_free(f->ctx);
	env_free(f->env);
}

void fake_send(struct fake *f, unsigned conn, const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	ws_send(f->ws[conn], true, text, strlen(text));
}

void fake_audio(struct fake *f, unsigned conn, const char *response, const char *item, int v,
		unsigned samples)
{
	uint8_t *pcm = malloc(samples * 2);
	char *b64 = calloc(1, base64_encoded(samples * 2) + 1);
	char *text = malloc(base64_encoded(samples * 2) + 512);

	if (pcm && b64 && text) {
		for (unsigned i = 0; i < samples; i++) {
			pcm[2 * i] = (uint8_t)(v & 0xff);
			pcm[2 * i + 1] = (uint8_t)(v >> 8 & 0xff);
		}
		base64_encode(pcm, samples * 2, b64);
		sprintf(text,
			"{\"type\":\"response.output_audio.delta\",\"response_id\":\"%s\","
			"\"item_id\":\"%s\",\"output_index\":0,\"content_index\":0,\"delta\":\"%"
			"s\"}",
			response, item, b64);
		ws_send(f->ws[conn], true, text, strlen(text));
	}
	free(pcm);
	free(b64);
	free(text);
}
