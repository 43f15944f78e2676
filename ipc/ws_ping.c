/* Finds dead peers: pings a silent peer and closes the connection if the peer stays silent (RFC
 * 6455 §5.5.2). It does the same to one that does not answer our close (§7.1.1). */
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/ws_inside.h"
#include "proto/base/time.h"

#include <errno.h>
#include <sys/socket.h>

/* The clock of the loop that lws runs on, in milliseconds. */
static uint64_t now_ms(struct ws *ws)
{
	return uv_now(&ws->ctx->uv);
}

void ws_ping_heard(struct ws *ws)
{
	ws->ping.heard_ms = now_ms(ws);
	ws->ping.asked = false;
}

static void arm_timer(struct ws *ws, uint64_t ms)
{
	struct timeval tv = {(time_t)(ms / MS_PER_S), (suseconds_t)(ms % MS_PER_S * US_PER_MS)};

	event_add(ws->ping.timer, &tv);
}

/* A delayed loop may not yet have read a pong that arrived in time. */
static bool has_unread_bytes(struct ws *ws)
{
	char byte;

	return recv(lws_get_socket_fd(ws->wsi), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

static void end_close(struct ws *ws)
{
	uint16_t code = ws->sent_close ? ws->close_code : 1006;

	log_debug("ws_close_unanswered", "code=%u", code);
	ws_drop(ws);
	ws_tell_closed(ws, code, ws->close_reason);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct ws *ws = arg;
	uint64_t silent;

	(void)fd;
	(void)what;
	if (!ws->wsi || !ws->open)
		return;
	if (ws->close_code) {
		end_close(ws);
		return;
	}
	uv_update_time(&ws->ctx->uv);
	if (ws->ping.asked && has_unread_bytes(ws))
		ws_ping_heard(ws);
	silent = now_ms(ws) - ws->ping.heard_ms;
	if (silent < ws->ping.interval_ms) {
		arm_timer(ws, ws->ping.interval_ms - silent);
	} else if (!ws->ping.asked) {
		ws->ping.asked = ws->ping.due = true;
		arm_timer(ws, ws->ping.interval_ms);
		lws_callback_on_writable(ws->wsi);
		ws_kick(ws->ctx);
	} else {
		log_info("ws_dead_peer", "silent_ms=%llu", (unsigned long long)silent);
		ws_drop(ws);
		ws_tell_closed(ws, 1006, "no answer to a ping");
	}
}

int ws_ping_alloc(struct ws *ws, uint32_t interval_ms)
{
	ws->ping.interval_ms = interval_ms ? interval_ms : WS_PING_MS;
	ws->ping.timer = evtimer_new(env_base(ws->ctx->env), on_timer, ws);
	return ws->ping.timer ? 0 : ENOMEM;
}

void ws_ping_start(struct ws *ws)
{
	uv_update_time(&ws->ctx->uv);
	ws_ping_heard(ws);
	arm_timer(ws, ws->ping.interval_ms);
}

int ws_ping_write(struct ws *ws)
{
	uint8_t b[LWS_PRE + 4] = {0};

	ws->ping.due = false;
	return lws_write(ws->wsi, b + LWS_PRE, sizeof b - LWS_PRE, LWS_WRITE_PING) < 0 ? -1 : 0;
}

void ws_ping_await_close(struct ws *ws)
{
	arm_timer(ws, WS_CLOSE_MS);
}

void ws_ping_clear(struct ws *ws)
{
	if (ws->ping.timer)
		event_free(ws->ping.timer);
	ws->ping.timer = NULL;
}
