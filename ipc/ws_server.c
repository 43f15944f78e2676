/* Listening for WebSockets. Servers are for programs that are
 * not replayed. */
#include "ipc/env.h"
#include "ipc/ws_inside.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_MAX_ = 2048, HEADER_MAX = 2048 };

struct ws_server {
	struct ws_ctx *ctx;
	struct ws_server *next; /* in ctx->gone */
	struct lws_vhost *vhost;
	uint32_t source;
	ws_accept_h *h;
	void *arg;
	size_t max_message;
	uint32_t ping_ms;
	struct lws *accepting;
	char name[32], host[WS_HOST_MAX];
};

/* Copies the request's path with its query, as sent. */
static void request_path(struct lws *wsi, char *buf, size_t size)
{
	int n = lws_hdr_copy(wsi, buf, (int)size, WSI_TOKEN_GET_URI);
	size_t at = n > 0 ? (size_t)n : 0;
	char piece[512];

	buf[at] = '\0';
	for (int i = 0;
	     lws_hdr_copy_fragment(wsi, piece, sizeof piece, WSI_TOKEN_HTTP_URI_ARGS, i) >= 0; i++)
		if (at < size)
			at += (size_t)snprintf(buf + at, size - at, "%c%s", i ? '&' : '?', piece);
}

static void accepted(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct ws_server *s = arg;
	struct ws *ws;

	(void)kind;
	(void)len;
	if (ws_new(&ws, s->ctx, s->max_message))
		return;
	if (ws_ping_alloc(ws, s->ping_ms)) {
		ws_free(ws);
		return;
	}
	ws->wsi = s->accepting;
	ws->open = true;
	ws_ping_start(ws);
	lws_set_opaque_user_data(ws->wsi, ws);
	ws->busy++;
	s->h(ws, (const char *)data, s->arg);
	ws->busy--;
}

int ws_server_accept(struct lws *wsi)
{
	struct ws_server *s = lws_vhost_user(lws_get_vhost(wsi));
	char path[PATH_MAX_];

	request_path(wsi, path, sizeof path);
	s->accepting = wsi;
	env_deliver(s->ctx->env, s->source, 0, path, strlen(path) + 1);
	s->accepting = NULL;
	return lws_get_opaque_user_data(wsi) ? 0 : -1;
}

const char *ws_header(struct ws *ws, const char *name)
{
	static const struct {
		const char *name;
		enum lws_token_indexes token;
	} known[] = {
		{"authorization", WSI_TOKEN_HTTP_AUTHORIZATION},
		{"host", WSI_TOKEN_HOST},
		{"origin", WSI_TOKEN_ORIGIN},
		{"user-agent", WSI_TOKEN_HTTP_USER_AGENT},
	};
	static char value[HEADER_MAX];
	char key[128];
	int n = -1;

	value[0] = '\0';
	if (!ws->wsi)
		return value;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(name, known[i].name) == 0)
			n = lws_hdr_copy(ws->wsi, value, sizeof value, known[i].token);
	if (n < 0) {
		/* lws keeps headers that it does not know under their name with its colon. */
		snprintf(key, sizeof key, "%s:", name);
		n = lws_hdr_custom_copy(ws->wsi, value, sizeof value, key, (int)strlen(key));
	}
	if (n < 0)
		value[0] = '\0';
	return value;
}

int ws_listen(struct ws_server **out, struct ws_ctx *ctx, const struct ws_listen_conf *conf,
	      ws_accept_h *h, void *arg)
{
	static unsigned count;
	struct ws_server *s;
	int err;

	if (!out || !ctx || !ctx->lws || !conf || !h || !conf->cert_file != !conf->key_file)
		return EINVAL;
	s = calloc(1, sizeof *s);
	if (!s)
		return ENOMEM;
	s->ctx = ctx;
	s->h = h;
	s->arg = arg;
	s->max_message = conf->max_message;
	s->ping_ms = conf->ping_ms;
	snprintf(s->name, sizeof s->name, "server-%u", count++);
	if (conf->host)
		snprintf(s->host, sizeof s->host, "%s", conf->host);
	err = env_source_add(ctx->env, &s->source, accepted, s);
	if (!err) {
		struct lws_context_creation_info info = {
			.port = conf->host ? conf->port : CONTEXT_PORT_NO_LISTEN_SERVER,
			.iface = conf->host ? s->host : NULL,
			.vhost_name = s->name,
			.protocols = ws_protocols,
			.ssl_cert_filepath = conf->cert_file,
			.ssl_private_key_filepath = conf->key_file,
			.alpn = "http/1.1",
			.user = s,
			.ssl_options_set = SSL_OP_CLEANSE_PLAINTEXT,
			.options = (strchr(s->host, ':') ? 0 : LWS_SERVER_OPTION_DISABLE_IPV6) |
				   LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT,
		};

		s->vhost = lws_create_vhost(ctx->lws, &info);
		ws_kick(ctx);
		if (!s->vhost)
			err = EADDRNOTAVAIL;
	}
	if (err) {
		ws_server_free(s);
		return err;
	}
	*out = s;
	return 0;
}

uint16_t ws_server_port(const struct ws_server *s)
{
	return (uint16_t)lws_get_vhost_listen_port(s->vhost);
}

void ws_server_adopt(struct ws_server *s, int fd, const char *head, size_t n)
{
	if (s->source == ENV_SOURCE_NONE) {
		close(fd);
		return;
	}
	/* lws closes the socket when it cannot take it. */
	lws_adopt_socket_vhost_readbuf(s->vhost, fd, head, n);
	ws_kick(s->ctx);
}

/* lws closes a virtual host in later turns of the loop and reads our strings until then. */
struct ws_server *ws_server_free(struct ws_server *s)
{
	if (!s)
		return NULL;
	env_source_del(s->ctx->env, s->source);
	s->source = ENV_SOURCE_NONE;
	if (s->vhost) {
		lws_vhost_destroy(s->vhost);
		ws_kick(s->ctx);
	}
	s->next = s->ctx->gone;
	s->ctx->gone = s;
	return NULL;
}

void ws_servers_clear(struct ws_ctx *ctx)
{
	while (ctx->gone) {
		struct ws_server *s = ctx->gone;

		ctx->gone = s->next;
		free(s);
	}
}
