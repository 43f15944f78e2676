/* Performs what the gateway machine of a call asks for: its WebSocket, UDP socket, key and timers.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "mediad/call/call_internal.h"
#include "mediad/engine/overflow.h"
#include "proto/base/numeric_address.h"
#include "proto/base/time.h"

/* Time after a session came up after which members that it did not name count as gone. */
#define SETTLE_NS (2 * NS_PER_S)

enum { DSCP_EF = 0xb8, UDP_BUFFER = 1 << 20, HANDSHAKE_MS = 5000 };

static void on_ws_event(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
			size_t len, void *arg);

static void open_ws(struct call *c, uint32_t conn, const char *url)
{
	struct ws_dial dial = {.url = url, .connect_ms = HANDSHAKE_MS};

	c->ws = ws_free(c->ws);
	c->conn = conn;
	if (ws_connect(&c->ws, c->conf.ws, &dial, on_ws_event, c))
		c->pending_close = 1006;
}

/* Opens a connected socket, which receives datagrams from the voice server only. */
static int open_udp(int *out, const char *ip, uint16_t port)
{
	struct sockaddr_storage to;
	size_t len = numeric_address(&to, ip, port);
	bool v4 = to.ss_family == AF_INET;
	int fd, tos = DSCP_EF, buffer = UDP_BUFFER, err = 0;

	if (!len)
		return EINVAL;
	fd = socket(to.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	/* Both are optional; errors are ignored. */
	setsockopt(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_TOS : IPV6_TCLASS, &tos, sizeof tos);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
	overflow_watch(fd);
	if (connect(fd, (struct sockaddr *)&to, (socklen_t)len) < 0)
		err = errno;
	if (err)
		close(fd);
	else
		*out = fd;
	return err;
}

static void start_discovery(struct call *c, const char *ip, uint16_t port, uint32_t ssrc)
{
	struct cmd cmd = {.type = CMD_LINK};
	struct env *env = c->conf.env;
	int fd = -1, err = 0;

	if (!env_replaying(env))
		err = open_udp(&fd, ip, port);
	err = (int)env_answer(env, err);
	if (err) {
		log_warn("udp_socket", "call=%u error=\"%s\"", c->id, strerror(err));
		c->udp_failed = true;
		return;
	}
	cmd.link.fd = fd;
	cmd.link.link = ++c->link;
	cmd.link.ssrc = c->state.ssrc = ssrc;
	env_random(env, &cmd.link.seq, sizeof cmd.link.seq);
	env_random(env, &cmd.link.ts, sizeof cmd.link.ts);
	env_random(env, &cmd.link.ping, sizeof cmd.link.ping);
	if (call_command(c, &cmd))
		call_forget_owed(c, CMD_UNLINK); /* a session ends the one before it */
}

static void log_key_again(const struct call *c)
{
	log_warn("transport_key",
		 "call=%u error=\"the voice server handed out a key for the second time\" "
		 "hint=\"the session ends\"",
		 c->id);
}

/* Whatever was recorded under a key that returns would be new again. */
bool call_may_use_key(const uint8_t *key, void *arg)
{
	struct call *c = arg;

	if (c->state.mode.n) /* packets of this session may be on their way to us */
		key_marks_used(&c->keys, c->keys.number);
	if (key_marks_begin(&c->keys, key))
		return true;
	log_key_again(c);
	return false;
}

void call_note_key(struct call *c, uint32_t number)
{
	if (key_marks_used(&c->keys, number))
		return;
	log_key_again(c);
	c->pending_close = 4006; /* another session may have another key */
	call_finish_step(c);
}

static void set_key(struct call *c, const char *mode, const uint8_t *key)
{
	struct cmd cmd = {.type = CMD_KEY};

	cmd.key_number = c->keys.number;
	if (rtpsize_alloc(&cmd.key, rtpsize_by_name(mode, strlen(mode)), key)) {
		c->pending_close = 4006; /* this session cannot be used; another one may work */
		return;
	}
	c->state.mode = slice_str(rtpsize_name(rtpsize_by_name(mode, strlen(mode))));
	call_command(c, &cmd);
}

/* A connection that was lost is the best sign that our address is another one now. */
static void on_resumed(struct call *c)
{
	struct cmd cmd = {.type = CMD_ASK_ADDRESS};

	call_command(c, &cmd);
	secure_resumed(c);
}

static void on_state(struct call *c, const struct vgw_action *act)
{
	const enum media_phase phase = act->state.phase;

	c->state.phase = (uint8_t)phase;
	c->state.reason = (uint16_t)act->state.reason;
	c->state.code = act->state.code;
	c->state.wants_credentials = act->state.wants;
	log_info("call_state", "call=%u gen=%u phase=%s reason=%s code=%u wants_credentials=%d",
		 c->id, c->gen, media_phase_name(phase), media_reason_name(act->state.reason),
		 act->state.code, act->state.wants);
	switch (phase) {
	case MEDIA_PHASE_IDENTIFYING:
		secure_begin(c);
		break;
	case MEDIA_PHASE_DISCOVERING:
	case MEDIA_PHASE_SELECTING:
		break;
	case MEDIA_PHASE_UP:
		tmr_start(c->settle, SETTLE_NS);
		if (act->state.reason == MEDIA_REASON_RESUMED)
			on_resumed(c);
		else
			unmapped_begin(&c->unmapped, env_now(c->conf.env));
		call_video_up(c);
		break;
	case MEDIA_PHASE_RESUMING:
		secure_offline(c);
		break;
	default:
		secure_end(c);
		break;
	}
	/* CLOSED is sent when the stream has returned. */
	if (phase != MEDIA_PHASE_CLOSED)
		call_send_state(c);
}

static void drop_media(struct call *c)
{
	struct cmd cmd = {.type = CMD_UNLINK};

	tmr_stop(c->settle);
	c->state.ssrc = 0;
	c->state.mode = slice_str("");
	c->speaking_pending = false;
	call_video_end_session(c);
	hear_end_session(c);
	call_command(c, &cmd);
}

static void close_ws(struct call *c, uint16_t code)
{
	if (c->ws)
		ws_close(c->ws, code, NULL);
	c->ws = ws_free(c->ws);
}

/* The server and we would count on a message that was not sent: others would be left without keys
 * after a commit, and without our SSRC after op 5. So the session is resumed, and the message is
 * made anew. A text without length found no memory before. */
static void send_message(struct call *c, bool text, const void *p, size_t n)
{
	int err = c->ws ? n ? ws_send(c->ws, text, p, n) : ENOMEM : ENOTCONN;

	if (err && err != ENOTCONN) /* the close event is under way */
		c->pending_close = 1006;
}

static void on_member(struct call *c, uint64_t user, bool present)
{
	hear_member(c, user, present);
	secure_member(c, user, present);
	if (!present)
		call_video_left(c, user);
}

void call_perform_action(const struct vgw_action *act, void *arg)
{
	struct call *c = arg;

	switch (act->kind) {
	case VGW_CONNECT:
		open_ws(c, act->connect.conn, act->connect.url);
		break;
	case VGW_SEND:
		send_message(c, true, act->send.text, act->send.len);
		break;
	case VGW_SEND_BINARY:
		send_message(c, false, act->binary.p, act->binary.n);
		break;
	case VGW_CLOSE:
		close_ws(c, act->close_code);
		break;
	case VGW_DISCOVER:
		start_discovery(c, act->discover.ip, act->discover.port, act->discover.ssrc);
		break;
	case VGW_KEY:
		set_key(c, act->key.mode, act->key.key);
		break;
	case VGW_DROP_MEDIA:
		drop_media(c);
		break;
	case VGW_STATE:
		on_state(c, act);
		break;
	case VGW_SSRC:
		hear_ssrc(c, act->ssrc.user, act->ssrc.ssrc);
		unmapped_resolved(&c->unmapped, act->ssrc.ssrc);
		break;
	case VGW_MEMBER:
		on_member(c, act->member.user, act->member.present);
		break;
	case VGW_VIDEO_OURS:
	case VGW_VIDEO_SOURCE:
	case VGW_VIDEO_WANTED:
		call_video_perform_action(c, act);
		break;
	case VGW_RTT:
		c->gateway_rtt_us = (uint32_t)(act->rtt_ns / 1000);
		break;
	case VGW_GAP:
		secure_gap(c);
		break;
	case VGW_DAVE_START:
		secure_start(c, act->dave.version);
		break;
	case VGW_DAVE_TEXT:
		secure_text(c, act->dave.op, act->dave.transition, act->dave.version,
			    act->dave.epoch);
		break;
	case VGW_DAVE_BINARY:
		secure_binary(c, act->binary.op, act->binary.p, act->binary.n);
		break;
	}
}

/* ---- steps ---- */

void call_finish_step(struct call *c)
{
	uint64_t now = env_now(c->conf.env), at;
	struct cmd sent = {.type = CMD_SPEAKING_SENT};

	while (c->pending_close || c->udp_failed || secure_has_deferred(c)) {
		uint16_t code = c->pending_close;
		bool udp = c->udp_failed;

		c->pending_close = 0;
		c->udp_failed = false;
		if (code) {
			close_ws(c, vgw_code_of_failure(c->gw, code));
			vgw_ws_closed(c->gw, now, c->conn, code, MEDIA_REASON_NONE);
		}
		if (udp)
			vgw_udp_failed(c->gw, now);
		secure_run_deferred(c);
	}
	if (c->speaking_pending && vgw_phase(c->gw) == MEDIA_PHASE_UP) {
		c->speaking_pending = false;
		call_command(c, &sent);
	}
	at = vgw_deadline(c->gw);
	if (at == UINT64_MAX)
		tmr_stop(c->gw_timer);
	else
		tmr_start_at(c->gw_timer, at);
	secure_finish_step(c);
}

void call_on_gateway_timer(void *arg)
{
	struct call *c = arg;

	vgw_timer(c->gw, env_now(c->conf.env));
	call_finish_step(c);
}

void call_on_settle(void *arg)
{
	hear_drop_unconfirmed(arg);
}

/* Finds the reason of a failed handshake, which libwebsockets gives in words. */
static enum media_reason close_reason(const uint8_t *text, size_t n)
{
	static const char *const words[] = {"cert", "tls", "ssl"};

	for (unsigned w = 0; w < sizeof words / sizeof words[0]; w++) {
		size_t k = strlen(words[w]);

		for (size_t i = 0; i + k <= n; i++)
			if (strncasecmp((const char *)text + i, words[w], k) == 0)
				return MEDIA_REASON_TLS_FAILED;
	}
	return MEDIA_REASON_NONE;
}

static void on_ws_event(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
			size_t len, void *arg)
{
	struct call *c = arg;
	uint64_t now = env_now(c->conf.env);

	switch (ev) {
	case WS_OPEN:
		vgw_ws_open(c->gw, now, c->conn);
		break;
	case WS_TEXT:
		vgw_ws_text(c->gw, now, c->conn, (const char *)data, len);
		break;
	case WS_BINARY:
		vgw_ws_binary(c->gw, now, c->conn, data, len);
		break;
	case WS_CLOSED:
		log_info("gateway_closed", "call=%u code=%u malformed=%llu text=\"%.*s\"", c->id,
			 code, (unsigned long long)vgw_malformed(c->gw),
			 (int)(len < 100 ? len : 100), (const char *)data);
		ws_free(ws);
		c->ws = NULL;
		vgw_ws_closed(c->gw, now, c->conn, code,
			      code == 1006 ? close_reason(data, len) : MEDIA_REASON_NONE);
		break;
	}
	call_finish_step(c);
}
