/* libwebsockets' libuv loop nested in libevent (docs/decisions/0002). */
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/proxy.h"
#include "ipc/resolver.h"
#include "ipc/ws_inside.h"

#include <errno.h>
#include <malloc.h>
#include <openssl/ssl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { FDS = 1024, SERVICE_BUF = 65536, RX_BUF = 8192 /* of each connection */ };

const struct lws_protocols ws_protocols[] = {
	{.name = "parley", .callback = ws_callback, .rx_buffer_size = RX_BUF},
	/* The subprotocol that browser-like clients of realtime sessions ask for. */
	{.name = "realtime", .callback = ws_callback, .rx_buffer_size = RX_BUF},
	{0},
};

/* libuv applies changes only when it runs; while changes are pending its timeout is 0, so the timer
 * fires at once. */
void ws_kick(struct ws_ctx *ctx)
{
	int ms;

	if (!ctx->uv_open || !ctx->timer)
		return;
	ms = uv_backend_timeout(&ctx->uv);
	if (ms < 0) {
		event_del(ctx->timer);
	} else {
		struct timeval tv = {ms / 1000, ms % 1000 * 1000};

		event_add(ctx->timer, &tv);
	}
}

/* ---- what lws leaves in memory ---- */

static _Thread_local struct ws_scratch biggest; /* allocation of lws on this thread */

/* lws's memory holds messages, and messages hold tokens. Not malloc: the tests make that fail, and
 * lws does not survive it. */
static void *allocate_for_lws(void *p, size_t size, const char *reason)
{
	void *more = NULL;

	(void)reason;
	if (size && posix_memalign(&more, sizeof(max_align_t), size))
		more = NULL;
	if (more && size > biggest.block_n)
		biggest = (struct ws_scratch){.block = more, .block_n = size};
	if (p && (more || !size)) {
		size_t had = malloc_usable_size(p);

		if (more)
			memcpy(more, p, had < size ? had : size);
		explicit_bzero(p, had);
		free(p);
	}
	return more;
}

void ws_found_scratch(struct ws_ctx *ctx, uint8_t *end)
{
	enum { ENDS = 12, BEGINS = LWS_PRE };
	struct ws_scratch *s = &ctx->scratch;
	uint8_t *from = s->block, *to = s->block + s->block_n;

	/* lws keeps ENDS bytes of its SERVICE_BUF for itself, and uses none of the first LWS_PRE.
	 */
	if (from && end > from && end <= to && (size_t)(end - from) >= SERVICE_BUF - ENDS) {
		s->p = end - SERVICE_BUF + BEGINS;
		s->n = SERVICE_BUF - BEGINS;
	}
	s->used = true;
}

static void wipe_scratch(struct ws_ctx *ctx)
{
	struct ws_scratch *s = &ctx->scratch;

	if (s->p && s->used)
		explicit_bzero(s->p, s->n);
	s->used = false;
}

/* ---- the loop ---- */

static void pump(evutil_socket_t fd, short what, void *arg)
{
	struct ws_ctx *ctx = arg;

	(void)fd;
	(void)what;
	uv_update_time(&ctx->uv);
	uv_run(&ctx->uv, UV_RUN_NOWAIT);
	wipe_scratch(ctx);
	ws_kick(ctx);
}

static void lws_log(int level, const char *line)
{
	log_debug("lws", "level=%d text=\"%.*s\"", level, (int)strcspn(line, "\n"), line);
}

static int start_lws(struct ws_ctx *ctx, const char *ca_file)
{
	void *loops[1] = {&ctx->uv};
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
			   LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT,
		.foreign_loops = loops,
		.protocols = ws_protocols,
		.gid = (gid_t)-1,
		.uid = (uid_t)-1,
		.fd_limit_per_thread = FDS,
		.pt_serv_buf_size = SERVICE_BUF,
		.user = ctx,
		/* Without this, lws reads http_proxy and applies it to every host. */
		.http_proxy_address = "",
		/* Otherwise the last bytes received stay in OpenSSL's buffer. */
		.ssl_options_set = SSL_OP_CLEANSE_PLAINTEXT,
		.ssl_client_options_set = SSL_OP_CLEANSE_PLAINTEXT,
	};

	lws_set_allocator(allocate_for_lws);
	biggest = (struct ws_scratch){0};

	lws_set_log_level(LLL_ERR | LLL_WARN, lws_log);
	ctx->lws = lws_create_context(&info);
	ctx->scratch = biggest;
	if (!ctx->lws)
		return ENOMEM;
	info.vhost_name = "client";
	info.client_ssl_ca_filepath = ca_file;
	ctx->client = lws_create_vhost(ctx->lws, &info);
	return ctx->client ? 0 : EINVAL;
}

/* Credentials go to the proxy alone, outside of every step. Should they come back in an input, the
 * journal hides them. */
static void hide_proxy_credentials(struct env *env)
{
	for (int tls = 0; tls < 2; tls++) {
		struct proxy p = {0};
		const char *password;

		if (proxy_choose(&p, tls, "", 0))
			continue;
		password = strchr(p.credentials, ':');
		/* Ignores a full table, because no step sees the password. */
		if (password)
			env_secret(env, password + 1);
		proxy_wipe(&p);
	}
}

static int start(struct ws_ctx *ctx, const char *ca_file)
{
	struct event_base *base = env_base(ctx->env);
	int err;

	if (uv_loop_init(&ctx->uv))
		return ENOMEM;
	ctx->uv_open = true;
	err = start_lws(ctx, ca_file);
	if (err)
		return err;
	ctx->readable = event_new(base, uv_backend_fd(&ctx->uv), EV_READ | EV_PERSIST, pump, ctx);
	ctx->timer = evtimer_new(base, pump, ctx);
	if (!ctx->readable || !ctx->timer)
		return ENOMEM;
	err = resolver_alloc(&ctx->resolver, base);
	if (!err)
		err = ws_anchor_open(&ctx->anchor);
	if (err)
		return err;
	hide_proxy_credentials(ctx->env);
	event_priority_set(ctx->readable, ENV_USUAL);
	event_priority_set(ctx->timer, ENV_USUAL);
	if (event_add(ctx->readable, NULL))
		return ENOMEM;
	ws_kick(ctx);
	return 0;
}

int ws_ctx_set_resolv_conf(struct ws_ctx *ctx, const char *path)
{
	return ctx->resolver ? resolver_set_conf(ctx->resolver, path) : 0;
}

int ws_ctx_alloc(struct ws_ctx **out, struct env *env, const char *ca_file)
{
	struct ws_ctx *ctx;
	int err;

	if (!out || !env)
		return EINVAL;
	ctx = calloc(1, sizeof *ctx);
	if (!ctx)
		return ENOMEM;
	ctx->env = env;
	err = env_replaying(env) ? 0 : start(ctx, ca_file);
	if (err) {
		ws_ctx_free(ctx);
		return err;
	}
	*out = ctx;
	return 0;
}

static bool closes_wait(const struct ws_ctx *ctx)
{
	for (const struct ws *ws = ctx->all; ws; ws = ws->next)
		if (ws->wsi && ws->open && !ws->sent_close)
			return true;
	return false;
}

/* Writes what can be written at once of the close frames of sockets that were freed just now. */
static void write_closes(struct ws_ctx *ctx)
{
	for (int i = 0; i < 100 && closes_wait(ctx); i++)
		uv_run(&ctx->uv, UV_RUN_NOWAIT);
}

/* With a foreign loop, lws must be destroyed twice, and the loop must run in between. */
static void stop_lws(struct ws_ctx *ctx)
{
	if (!ctx->lws)
		return;
	write_closes(ctx);
	lws_context_destroy(ctx->lws);
	for (int i = 0; i < 100 && uv_run(&ctx->uv, UV_RUN_NOWAIT); i++)
		;
	lws_context_destroy(ctx->lws);
	ctx->lws = NULL;
	for (int i = 0; i < 100 && uv_run(&ctx->uv, UV_RUN_NOWAIT); i++)
		;
}

struct ws_ctx *ws_ctx_free(struct ws_ctx *ctx)
{
	if (!ctx)
		return NULL;
	stop_lws(ctx);
	while (ctx->all) {
		/* lws has released every socket; the remaining ones were released by their owners,
		 * too. */
		struct ws *ws = ctx->all;

		ws->wsi = NULL;
		ws_free(ws);
		if (ctx->all == ws)
			ws_bury(ws);
	}
	ws_servers_clear(ctx);
	resolver_free(ctx->resolver);
	ws_anchor_close(&ctx->anchor);
	if (ctx->readable)
		event_free(ctx->readable);
	if (ctx->timer)
		event_free(ctx->timer);
	if (ctx->uv_open)
		uv_loop_close(&ctx->uv);
	free(ctx);
	return NULL;
}
