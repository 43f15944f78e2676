#include "ipc/ws.h"

#include "ipc/env.h"
#include "ipc/shape.h"
#include "ipc/unreachable.h"
#include "ipc/ws_inside.h"
#include "proto/base/cursor.h"
#include "proto/http/retry_after.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* FRAME_CLOSE: the number that enum lws_write_protocol leaves out between HTTP and PING; inside lws
 * it is the close frame. */
enum { FRAME_CLOSE = 4 };

/* ---- life ---- */
static void input(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct ws *ws = arg;
	struct rd r = rd_of(data, len);
	uint16_t code = 0;

	if (kind == WS_CLOSED) {
		code = (uint16_t)rd_be(&r, 2);
		ws->over = true;
		ws->open = false;
	} else if (kind == WS_OPEN) {
		ws->open = true;
	}
	if (ws->h)
		ws->h(ws, (enum ws_event)kind, code, r.p + r.pos, rd_left(&r), ws->arg);
}

/* Records the three bytes of a binary message before its encrypted part: number and opcode. */
static size_t shape(uint8_t kind, const uint8_t *data, size_t len, char *text, size_t size)
{
	size_t n = 0;

	switch (kind) {
	case WS_OPEN:
		n = (size_t)snprintf(text, size, "ws open");
		break;
	case WS_TEXT:
		n = (size_t)snprintf(text, size, "ws text ");
		n += shape_json((const char *)data, len, text + n, size - n);
		break;
	case WS_BINARY:
		n = (size_t)snprintf(text, size, "ws binary");
		if (len >= 3)
			n += (size_t)snprintf(text + n, size - n, " seq=%u op=%u",
					      data[0] << 8 | data[1], data[2]);
		break;
	case WS_CLOSED:
		n = (size_t)snprintf(text, size, "ws closed code=%u",
				     len >= 2 ? data[0] << 8 | data[1] : 0);
		break;
	default:
		break;
	}
	return n;
}

int ws_new(struct ws **out, struct ws_ctx *ctx, size_t max_message)
{
	struct ws *ws = calloc(1, sizeof *ws);
	int err;

	if (!ws)
		return ENOMEM;
	ws->ctx = ctx;
	ws->end = &ws->first;
	ws->max_message = max_message ? max_message : WS_MAX_MESSAGE;
	err = env_source_add(ctx->env, &ws->source, input, ws);
	if (err) {
		free(ws);
		return err;
	}
	env_source_shape(ctx->env, ws->source, shape);
	ws->next = ctx->all;
	ws->at = &ctx->all;
	if (ctx->all)
		ctx->all->at = &ws->next;
	ctx->all = ws;
	*out = ws;
	return 0;
}

/* A message may hold a token. */
static void free_message(struct out_msg *m)
{
	explicit_bzero(m->bytes, LWS_PRE + m->n);
	free(m);
}

static void drop_queue(struct ws *ws)
{
	while (ws->first) {
		struct out_msg *m = ws->first;

		ws->first = m->next;
		free_message(m);
	}
	ws->end = &ws->first;
	ws->queued = 0;
}

static void really_free(struct ws *ws)
{
	ws_dial_clear(ws);
	ws_ping_clear(ws);
	drop_queue(ws);
	*ws->at = ws->next;
	if (ws->next)
		ws->next->at = ws->at;
	if (ws->in)
		explicit_bzero(ws->in, ws->cap_in);
	free(ws->in);
	free(ws);
}

void ws_drop(struct ws *ws)
{
	if (!ws->wsi)
		return;
	lws_set_opaque_user_data(ws->wsi, NULL);
	shutdown(lws_get_socket_fd(ws->wsi), SHUT_RDWR);
	lws_set_timeout(ws->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
	ws->wsi = NULL;
	ws->open = false;
	ws_kick(ws->ctx);
}

/* Frees an orphan that lws no longer knows and that has no delivery running. */
void ws_bury(struct ws *ws)
{
	if (ws->orphan && !ws->wsi && !ws->busy)
		really_free(ws);
}

bool ws_tell(struct ws *ws, enum ws_event ev, const void *data, size_t len)
{
	bool wanted;

	if (ws->over || ws->orphan)
		return !ws->orphan;
	ws->busy++;
	env_deliver(ws->ctx->env, ws->source, ev, data, len);
	ws->busy--;
	wanted = !ws->orphan;
	ws_bury(ws);
	return wanted;
}

void ws_tell_closed(struct ws *ws, uint16_t code, const char *reason)
{
	uint8_t b[2 + 256];
	struct wr w = wr_of(b, sizeof b);
	size_t n = reason ? strlen(reason) : 0;

	wr_be(&w, code, 2);
	wr_bytes(&w, reason, n < 256 ? n : 256);
	ws_dial_clear(ws);
	ws_ping_clear(ws);
	drop_queue(ws);
	if (!ws->orphan)
		ws_tell(ws, WS_CLOSED, b, w.pos);
	else
		ws_bury(ws);
}

struct ws *ws_free(struct ws *ws)
{
	if (!ws || ws->orphan)
		return NULL;
	env_source_del(ws->ctx->env, ws->source);
	ws->source = ENV_SOURCE_NONE;
	ws->orphan = true;
	ws->h = NULL;
	if (ws->wsi && !ws->open)
		lws_set_timeout(ws->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
	else if (ws->wsi)
		ws_close(ws, 1000, NULL);
	if (ws->wsi)
		ws_kick(ws->ctx);
	ws_bury(ws);
	return NULL;
}

void ws_set_handler(struct ws *ws, ws_h *h, void *arg)
{
	ws->h = h;
	ws->arg = arg;
}

/* ---- sending ---- */
static void want_write(struct ws *ws)
{
	if (ws->wsi && ws->open) {
		lws_callback_on_writable(ws->wsi);
		ws_kick(ws->ctx);
	}
}

static int enqueue(struct ws *ws, bool text, const void *data, size_t len)
{
	struct out_msg *m;

	if (len > WS_MAX_QUEUED - ws->queued)
		return ENOBUFS;
	m = malloc(sizeof *m + LWS_PRE + len);
	if (!m)
		return ENOMEM;
	m->next = NULL;
	m->n = len;
	m->text = text;
	if (len)
		memcpy(m->bytes + LWS_PRE, data, len);
	*ws->end = m;
	ws->end = &m->next;
	ws->queued += len;
	want_write(ws);
	return 0;
}

int ws_send(struct ws *ws, bool text, const void *data, size_t len)
{
	struct env *env = ws->ctx->env;
	int err;

	if (ws->over || !ws->open || ws->close_code)
		return ENOTCONN;
	/* The queue's length depends on the network, so whether the message fits is recorded as an
	 * answer of the system. */
	err = (int)env_answer(env, env_replaying(env) ? 0 : enqueue(ws, text, data, len));
	if (!err)
		env_output(env, ENV_OUT_WS, ws->source, data, len);
	return err;
}

size_t ws_pending(const struct ws *ws)
{
	return ws->queued;
}

void ws_close(struct ws *ws, uint16_t code, const char *reason)
{
	if (ws->over || ws->close_code)
		return;
	ws->close_code = code ? code : 1000;
	snprintf(ws->close_reason, sizeof ws->close_reason, "%s", reason ? reason : "");
	if (ws->wsi && !ws->open)
		lws_set_timeout(ws->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
	else if (ws->wsi)
		ws_ping_await_close(ws);
	want_write(ws);
	if (ws->wsi)
		ws_kick(ws->ctx);
	else
		ws_dial_close(ws);
}

void ws_abort(struct ws *ws)
{
	if (!ws->wsi)
		return;
	ws->failed = true;
	shutdown(lws_get_socket_fd(ws->wsi), SHUT_RDWR);
}

/* Writes the close frame like a message: with its libuv loop, lws 4.1 drops the connection before a
 * close frame that lws_close_reason requested. The peer answers with a close frame of its own, or
 * ws_ping_await_close ends the connection. */
static int send_close(struct ws *ws)
{
	uint8_t b[LWS_PRE + 2 + sizeof ws->close_reason];
	struct wr w = wr_of(b + LWS_PRE, sizeof b - LWS_PRE);

	ws->sent_close = true;
	wr_be(&w, ws->close_code, 2);
	wr_bytes(&w, ws->close_reason, strlen(ws->close_reason));
	return lws_write(ws->wsi, b + LWS_PRE, w.pos, (enum lws_write_protocol)FRAME_CLOSE) < 0 ? -1
												: 0;
}

/* Writes a ping or one message per call, then the close frame. Non-zero closes. */
static int on_writable(struct ws *ws)
{
	struct out_msg *m = ws->first;
	int k;

	if (ws->ping.due && !ws->sent_close) {
		if (ws->first || ws->close_code)
			lws_callback_on_writable(ws->wsi);
		return ws_ping_write(ws);
	}
	if (m) {
		k = lws_write(ws->wsi, m->bytes + LWS_PRE, m->n,
			      m->text ? LWS_WRITE_TEXT : LWS_WRITE_BINARY);
		ws->first = m->next;
		if (!ws->first)
			ws->end = &ws->first;
		ws->queued -= m->n;
		free_message(m);
		if (k < 0)
			return -1;
		if (ws->first || ws->close_code)
			lws_callback_on_writable(ws->wsi);
		return 0;
	}
	return ws->close_code && !ws->sent_close ? send_close(ws) : 0;
}

/* ---- receiving ---- */
static int grow(struct ws *ws, size_t want)
{
	size_t cap = ws->cap_in ? ws->cap_in : 4096;
	uint8_t *more;

	if (want <= ws->cap_in)
		return 0;
	while (cap < want)
		cap *= 2;
	more = malloc(cap);
	if (!more)
		return ENOMEM;
	if (ws->in) {
		memcpy(more, ws->in, ws->n_in);
		explicit_bzero(ws->in, ws->n_in);
	}
	free(ws->in);
	ws->in = more;
	ws->cap_in = cap;
	return 0;
}

static int take_fragment(struct ws *ws, const void *p, size_t n)
{
	bool whole = lws_is_final_fragment(ws->wsi) && !lws_remaining_packet_payload(ws->wsi);
	bool binary = lws_frame_is_binary(ws->wsi);
	size_t len;

	/* Ignores messages after our close, or after a message that was too long. */
	if (ws->orphan || ws->close_code)
		return 0;
	if (n > ws->max_message - ws->n_in || grow(ws, ws->n_in + n)) {
		drop_queue(ws);
		ws_close(ws, 1009, "message too big");
		return 0;
	}
	if (n)
		memcpy(ws->in + ws->n_in, p, n);
	ws->n_in += n;
	if (!whole)
		return 0;
	len = ws->n_in;
	ws->n_in = 0;
	/* An orphan sends its close frame when it is writable, and reads nothing more. */
	ws->busy++;
	ws_tell(ws, binary ? WS_BINARY : WS_TEXT, ws->in, len);
	ws->busy--;
	if (len)
		explicit_bzero(ws->in, len);
	ws_bury(ws);
	return 0;
}

/* A message may hold a token: our copy, lws's and what lws read it into are wiped. */
static int on_receive(struct ws *ws, void *in, size_t len)
{
	int k;

	ws_ping_heard(ws);
	ws->ctx->scratch.used = true;
	k = take_fragment(ws, in, len);
	if (len)
		explicit_bzero(in, len);
	return k;
}

static void on_peer_close(struct ws *ws, const uint8_t *p, size_t n)
{
	struct rd r = rd_of(p, n);

	if (n < 2)
		return;
	ws->got_code = (uint16_t)rd_be(&r, 2);
	snprintf(ws->got_reason, sizeof ws->got_reason, "%.*s", (int)rd_left(&r),
		 (const char *)p + 2);
}

static void on_closed(struct ws *ws)
{
	uint16_t code = ws->got_code;

	if (!code && ws->sent_close && !ws->failed)
		code = ws->close_code;
	ws->wsi = NULL;
	ws->open = false;
	ws_tell_closed(ws, code ? code : 1006,
		       ws->got_reason[0] ? ws->got_reason : ws->close_reason);
}

static void copy_field(struct lws *wsi, enum lws_token_indexes field, char *buf, int size)
{
	if (lws_hdr_total_length(wsi, field) <= 0 || lws_hdr_copy(wsi, buf, size, field) <= 0)
		buf[0] = '\0';
}

/* True: the server answered, with another status than 101 and 401, which lws has words for. */
static bool explain_refusal(struct lws *wsi, char *why, size_t size)
{
	static const char ms[] = "retry-after-ms:";
	struct retry_after_fields f = {0};
	unsigned status = lws_http_client_http_response(wsi);
	char wait[RETRY_AFTER_TEXT_MAX];

	if (status < 200 || status == 401)
		return false;
	copy_field(wsi, WSI_TOKEN_HTTP_RETRY_AFTER, f.after, sizeof f.after);
	copy_field(wsi, WSI_TOKEN_HTTP_DATE, f.date, sizeof f.date);
	if (lws_hdr_custom_copy(wsi, f.after_ms, sizeof f.after_ms, ms, sizeof ms - 1) < 0)
		f.after_ms[0] = '\0';
	retry_after_print(retry_after_read(&f), wait);
	snprintf(why, size, "refused with status %u%s%s", status,
		 status == 429 ? " rate_limit_exceeded" : "", wait);
	return true;
}

/* lws reports only that TLS failed; its log says what is wrong with the certificate. */
static void explain_error(struct lws *wsi, const char *text, char *why, size_t size)
{
	if (explain_refusal(wsi, why, size))
		return;
	if (!text)
		unreachable_print(UNREACHABLE_CONNECT, "", why, size);
	else if (strstr(text, "SSL") || strstr(text, "tls"))
		unreachable_print(UNREACHABLE_TLS, "the certificate was not accepted", why, size);
	else
		snprintf(why, size, "%s", text);
}

static int on_established(struct ws *ws, struct lws *wsi)
{
	if (ws->dial.tls && ws->dial.six && !ws->dial.verified)
		return -1;
	ws->wsi = wsi;
	ws_dial_clear(ws);
	ws->open = true;
	ws_ping_start(ws);
	if (!ws_tell(ws, WS_OPEN, NULL, 0))
		return -1;
	if (ws->close_code || ws->first)
		lws_callback_on_writable(wsi);
	return 0;
}

int ws_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len)
{
	struct ws *ws = wsi ? lws_get_opaque_user_data(wsi) : NULL;
	uint8_t **p = in;
	char why[160];

	/* In these two, user is an object of OpenSSL and not our session data. */
	if (reason == LWS_CALLBACK_OPENSSL_LOAD_EXTRA_CLIENT_VERIFY_CERTS) {
		ws_tls_prepare(user);
		return 0;
	}
	if (reason == LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION)
		return ws ? ws_tls_verify(ws, user, len != 0) : 0;
	if (reason == LWS_CALLBACK_ESTABLISHED)
		return ws_server_accept(wsi);
	/* Plain requests are not answered here: ipc/http_server.h. */
	if (!ws)
		return lws_callback_http_dummy(wsi, reason, user, in, len);
	switch (reason) {
	case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
		ws_found_scratch(ws->ctx, *p + len);
		return ws_dial_headers(ws, wsi, p, *p + len);
	case LWS_CALLBACK_CLIENT_ESTABLISHED:
		return on_established(ws, wsi);
	case LWS_CALLBACK_CLIENT_RECEIVE:
	case LWS_CALLBACK_RECEIVE:
		return on_receive(ws, in, len);
	case LWS_CALLBACK_CLIENT_RECEIVE_PONG:
	case LWS_CALLBACK_RECEIVE_PONG:
		ws_ping_heard(ws);
		return 0;
	case LWS_CALLBACK_CLIENT_WRITEABLE:
	case LWS_CALLBACK_SERVER_WRITEABLE:
		return on_writable(ws);
	case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
		on_peer_close(ws, in, len);
		return 0;
	case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
		explain_error(wsi, in, why, sizeof why);
		lws_set_opaque_user_data(wsi, NULL);
		ws->wsi = NULL;
		ws_tell_closed(ws, 1006, why);
		return 0;
	case LWS_CALLBACK_CLIENT_CLOSED:
	case LWS_CALLBACK_CLOSED:
		lws_set_opaque_user_data(wsi, NULL);
		on_closed(ws);
		return 0;
	case LWS_CALLBACK_WSI_DESTROY:
		/* A dial that was aborted had none of the events above. */
		lws_set_opaque_user_data(wsi, NULL);
		ws->wsi = NULL;
		ws_tell_closed(ws, 1006, "closed");
		return 0;
	default:
		return 0;
	}
}
