#include "mediad/call/call.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "mediad/call/state.h"
#include "proto/base/time.h"

/* After a session is up, so long until those it did not name count as gone. */
#define SETTLE_NS (2 * NS_PER_S)

enum { DSCP_EF = 0xb8, UDP_BUFFER = 1 << 20, HANDSHAKE_MS = 5000 };

/* The retired ones come last: they are taken when a server offers nothing else. */
#define X(NAME, num, wire) wire,
static const char *const modes[] = {RTPSIZE_MODES(X) NULL};
static const char *const modes_and_retired[] = {RTPSIZE_MODES(X) RTPSIZE_RETIRED_MODES(X) NULL};
#undef X

void call_out(struct call *c, struct media_msg *msg, uint32_t flow)
{
	/* The head is the same in every message; any member will do. */
	msg->call_state.call = c->id;
	msg->call_state.gen = c->gen;
	c->conf.outh(msg, flow, c->conf.arg);
}

/* A line that was not told that plain sound is over, or has only keys that are no good, must not go
 * on. */
static void command_lost(struct call *c, enum cmd_type type)
{
	log_warn("engine_command_lost", "call=%u error=memory", c->id);
	if (type == CMD_DAVE_CLEAR || type == CMD_DAVE_SEND)
		c->secure.rejoin = true;
}

bool call_cmd(struct call *c, struct cmd *cmd)
{
	if (!c->line || c->leaving) {
		cmd_dispose(cmd); /* what it would have lent */
		return true;
	}
	if (!engine_send(c->conf.engine, c->line, cmd))
		return true;
	command_lost(c, cmd->type);
	return false;
}

static void tell_state(struct call *c)
{
	struct media_msg msg = {.type = MEDIA_CALL_STATE, .call_state = c->state};

	msg.call_state.guild = c->guild;
	msg.call_state.channel = c->channel;
	call_out(c, &msg, 0);
}

/* ---- what the machine wants done ---- */

static void on_ws(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		  void *arg);

static void open_ws(struct call *c, uint32_t conn, const char *url)
{
	struct ws_dial dial = {.url = url, .connect_ms = HANDSHAKE_MS};

	c->ws = ws_free(c->ws);
	c->conn = conn;
	if (ws_connect(&c->ws, c->conf.ws, &dial, on_ws, c))
		c->broken = 1006;
}

/* A connected socket takes datagrams from the voice server only. */
static int open_udp(int *out, const char *ip, uint16_t port)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
	bool v4 = inet_pton(AF_INET, ip, &four.sin_addr) == 1;
	int fd, tos = DSCP_EF, buffer = UDP_BUFFER, err = 0;

	if (!v4 && inet_pton(AF_INET6, ip, &six.sin6_addr) != 1)
		return EINVAL;
	fd = socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	/* Both only help; neither is needed. */
	setsockopt(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_TOS : IPV6_TCLASS, &tos, sizeof tos);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
	if (connect(fd, v4 ? (struct sockaddr *)&four : (struct sockaddr *)&six,
		    v4 ? sizeof four : sizeof six) < 0)
		err = errno;
	if (err)
		close(fd);
	else
		*out = fd;
	return err;
}

static void discover(struct call *c, const char *ip, uint16_t port, uint32_t ssrc)
{
	struct cmd cmd = {.type = CMD_LINK};
	struct env *env = c->conf.env;
	int fd = -1, err = 0;

	if (!env_replaying(env))
		err = open_udp(&fd, ip, port);
	err = (int)env_answer(env, err);
	if (err) {
		log_warn("udp_socket", "call=%u error=\"%s\"", c->id, strerror(err));
		c->udp_broken = true;
		return;
	}
	cmd.link.fd = fd;
	cmd.link.link = ++c->link;
	cmd.link.ssrc = c->state.ssrc = ssrc;
	env_random(env, &cmd.link.seq, sizeof cmd.link.seq);
	env_random(env, &cmd.link.ts, sizeof cmd.link.ts);
	call_cmd(c, &cmd);
}

static void set_key(struct call *c, const char *mode, const uint8_t *key)
{
	struct cmd cmd = {.type = CMD_KEY};

	if (rtpsize_alloc(&cmd.key, rtpsize_by_name(mode, strlen(mode)), key)) {
		c->broken = 4006; /* a session we cannot use; another one may do */
		return;
	}
	c->state.mode = slice_str(rtpsize_name(rtpsize_by_name(mode, strlen(mode))));
	call_cmd(c, &cmd);
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
			secure_resumed(c);
		else
			unnamed_begin(&c->unnamed, env_now(c->conf.env));
		break;
	case MEDIA_PHASE_RESUMING:
		secure_offline(c);
		break;
	default:
		secure_over(c);
		break;
	}
	/* That it is closed is told when all of it is. */
	if (phase != MEDIA_PHASE_CLOSED)
		tell_state(c);
}

static void drop_media(struct call *c)
{
	struct cmd cmd = {.type = CMD_UNLINK};

	tmr_stop(c->settle);
	c->state.ssrc = 0;
	c->state.mode = slice_str("");
	c->speaking_due = false;
	hear_session_over(c);
	call_cmd(c, &cmd);
}

static void close_ws(struct call *c, uint16_t code)
{
	if (c->ws)
		ws_close(c->ws, code, NULL);
	c->ws = ws_free(c->ws);
}

/* A commit that is not sent would leave others without keys: resume, and it is asked for again. */
static void send_binary(struct call *c, const uint8_t *p, size_t n)
{
	int err = c->ws ? ws_send(c->ws, false, p, n) : ENOTCONN;

	if (err && err != ENOTCONN) /* then its end is under way */
		c->broken = 1006;
}

static void on_action(const struct vgw_action *act, void *arg)
{
	struct call *c = arg;

	switch (act->kind) {
	case VGW_CONNECT:
		open_ws(c, act->connect.conn, act->connect.url);
		break;
	case VGW_SEND:
		if (c->ws)
			ws_send(c->ws, true, act->send.text, act->send.len);
		break;
	case VGW_SEND_BINARY:
		send_binary(c, act->binary.p, act->binary.n);
		break;
	case VGW_CLOSE:
		close_ws(c, act->close_code);
		break;
	case VGW_DISCOVER:
		discover(c, act->discover.ip, act->discover.port, act->discover.ssrc);
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
		unnamed_named(&c->unnamed, act->ssrc.ssrc);
		break;
	case VGW_MEMBER:
		hear_member(c, act->member.user, act->member.present);
		secure_member(c, act->member.user, act->member.present);
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

/* ---- steps of the machine ---- */

void call_stepped(struct call *c)
{
	uint64_t now = env_now(c->conf.env), at;
	struct cmd sent = {.type = CMD_SPEAKING_SENT};

	while (c->broken || c->udp_broken || secure_due(c)) {
		uint16_t code = c->broken;
		bool udp = c->udp_broken;

		c->broken = 0;
		c->udp_broken = false;
		if (code) {
			close_ws(c, 1000);
			vgw_ws_closed(c->gw, now, c->conn, code, MEDIA_REASON_NONE);
		}
		if (udp)
			vgw_udp_failed(c->gw, now);
		secure_do(c);
	}
	if (c->speaking_due && vgw_phase(c->gw) == MEDIA_PHASE_UP) {
		c->speaking_due = false;
		call_cmd(c, &sent);
	}
	at = vgw_deadline(c->gw);
	if (at == UINT64_MAX)
		tmr_stop(c->gw_timer);
	else
		tmr_start_at(c->gw_timer, at);
	secure_settle(c);
}

static void on_gw_timer(void *arg)
{
	struct call *c = arg;

	vgw_timer(c->gw, env_now(c->conf.env));
	call_stepped(c);
}

static void on_settle(void *arg)
{
	hear_settle(arg);
}

/* libwebsockets says why a handshake failed in words. */
static enum media_reason why_closed(const uint8_t *text, size_t n)
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

static void on_ws(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		  void *arg)
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
			      code == 1006 ? why_closed(data, len) : MEDIA_REASON_NONE);
		break;
	}
	call_stepped(c);
}

/* ---- the audio thread ---- */

/* Somebody speaks whom no op 5 named. What was missed may have been just that, and may have been
 * the last message, so that no gap shows it: a resume brings it, and what was held meanwhile is
 * heard then. */
static void on_unheard(struct call *c, uint32_t ssrc, bool goes_on)
{
	uint64_t now = env_now(c->conf.env);

	if (hear_unheard(c, ssrc) || !goes_on || vgw_phase(c->gw) != MEDIA_PHASE_UP ||
	    !unnamed_ask(&c->unnamed, ssrc, now))
		return;
	log_warn("speaker_unknown", "call=%u ssrc=%u missed=%d asks=%u", c->id, ssrc,
		 vgw_missed(c->gw), c->unnamed.asks);
	vgw_refresh(c->gw, now, MEDIA_REASON_CONNECTION_LOST);
	call_stepped(c);
}

static void on_stats(struct call *c, const struct line_stats *s)
{
	struct media_msg msg = {.type = MEDIA_CALL_STATS};
	struct media_call_stats *m = &msg.call_stats;

	m->sent = s->send.sent;
	m->send_failed = s->send.failed;
	m->received = s->received;
	m->malformed = s->malformed;
	m->replayed = s->replayed;
	m->unknown_ssrc = s->unknown_ssrc;
	m->late_frames = s->send.late;
	m->heard_dropped = c->heard_dropped;
	m->gateway_rtt_us = c->gateway_rtt_us;
	m->udp_rtt_us = s->rtt_us;
	m->reports = s->seen.reports;
	m->reported_lost = s->seen.lost > 0 ? (uint32_t)s->seen.lost : 0;
	m->reported_loss = (uint16_t)(s->seen.fraction * 1000 / 256);
	m->report_rtt_us = s->seen.rtt_us;
	m->untold = s->send.untold;
	m->expected_loss = (uint8_t)s->send.loss;
	m->complexity = (uint8_t)s->send.complexity;
	call_out(c, &msg, 0);
	say_check_starved(c);
}

static void on_user_stats(struct call *c, const struct slot_stats *s)
{
	struct media_msg msg = {.type = MEDIA_USER_STATS};
	struct media_user_stats *m = &msg.user_stats;

	m->user = s->user;
	m->packets = s->audio.packets;
	m->lost = s->audio.lost;
	m->late = s->audio.late;
	m->concealed_ms = s->audio.concealed_ms;
	m->undecryptable = s->undecryptable;
	m->jitter_us = s->audio.jitter_us;
	m->deaf = s->deaf;
	m->deaf_ms = s->deaf_ns / NS_PER_MS;
	m->deaf_spells = s->deaf_spells;
	m->not_sealed = s->not_sealed;
	m->excess = s->audio.excess;
	call_out(c, &msg, 0);
}

static void on_want_speaking(struct call *c, bool on)
{
	c->speaking_due = on;
	vgw_speaking(c->gw, env_now(c->conf.env), on);
	call_stepped(c);
}

static void on_line_gone(struct call *c)
{
	c->line = NULL;
	say_free(c);
	tell_state(c);
	c->conf.goneh(c, c->conf.arg);
}

void call_engine_event(const struct ev *ev, void *owner)
{
	struct call *c = owner;
	uint64_t now = env_now(c->conf.env);

	switch (ev->type) {
	case EV_LINE_GONE:
		on_line_gone(c);
		return;
	case EV_DISCOVERED:
		if (ev->found.link == c->link)
			vgw_discovered(c->gw, now, ev->found.ip, ev->found.port);
		call_stepped(c);
		return;
	case EV_UDP_FAILED:
		if (ev->found.link == c->link)
			vgw_udp_failed(c->gw, now);
		call_stepped(c);
		return;
	case EV_WANT_SPEAKING:
		on_want_speaking(c, ev->on);
		return;
	case EV_UNHEARD:
		on_unheard(c, ev->unheard.ssrc, ev->unheard.goes_on);
		return;
	case EV_SPEAKING:
	case EV_HEARD:
	case EV_HEARD_END:
	case EV_SLOT_GONE:
		hear_event(c, ev);
		return;
	case EV_LANE:
	case EV_LANE_PROGRESS:
		say_event(c, ev);
		return;
	case EV_DAVE_DEAF:
	case EV_DAVE_PROOF:
	case EV_DAVE_NEXT:
		secure_event(c, ev);
		call_stepped(c);
		return;
	case EV_CALL_STATS:
		on_stats(c, &ev->call);
		return;
	case EV_USER_STATS:
		on_user_stats(c, &ev->user);
		return;
	default: /* given back, and freed by the engine */
		return;
	}
}

bool call_job_done(struct call *c, struct dave_job *job, uint64_t owner)
{
	if (!secure_done(c, job, owner))
		return false;
	call_stepped(c);
	return true;
}

void call_verify(struct call *c, const struct media_verify *m)
{
	secure_verify(c, m->user);
	call_stepped(c);
}

/* ---- life ---- */

void call_send_set(struct call *c)
{
	struct cmd cmd = {.type = CMD_SET};

	cmd.set.bitrate = c->bitrate;
	cmd.set.complexity = c->complexity;
	cmd.set.mute = c->mute;
	cmd.set.deaf = c->deaf;
	cmd.set.hold = hear_anyone(c);
	call_cmd(c, &cmd);
}

static int lend_line(struct call *c)
{
	struct line *l;
	int err = line_alloc(&l, c, c->bitrate);

	if (err)
		return err;
	err = engine_line_add(c->conf.engine, l);
	if (err)
		line_free(l);
	else
		c->line = l;
	return err;
}

int call_alloc(struct call **out, const struct call_conf *conf, const struct media_call_open *open)
{
	struct vgw_conf gw = {.guild = open->guild, .user = open->user};
	struct call *c = calloc(1, sizeof *c);
	int err;

	if (!c)
		return ENOMEM;
	c->conf = *conf;
	c->id = open->call;
	c->gen = open->gen;
	c->guild = open->guild;
	c->channel = c->joined = open->channel;
	c->stage = open->stage;
	c->user = open->user;
	c->bitrate = open->bitrate;
	c->complexity = open->complexity;
	c->mute = open->mute;
	c->deaf = open->deaf;
	c->consent = open->consent;
	c->next_capture = 1;
	c->state.phase = MEDIA_PHASE_WAITING;
	c->state.reason = MEDIA_REASON_NEW_CALL;
	c->state.wants_credentials = true;
	c->state.mode = slice_str("");
	gw.modes = open->retired ? modes_and_retired : modes;
	gw.acth = on_action;
	gw.arg = c;
	err = vgw_alloc(&c->gw, &gw);
	if (!err)
		err = tmr_alloc(&c->gw_timer, conf->env, on_gw_timer, c);
	if (!err)
		err = tmr_alloc(&c->settle, conf->env, on_settle, c);
	if (!err)
		err = secure_init(c);
	/* Last: what is lent does not come back at once. */
	if (!err)
		err = lend_line(c);
	if (err) {
		call_free(c);
		return err;
	}
	call_send_set(c);
	tell_state(c);
	*out = c;
	return 0;
}

struct call *call_free(struct call *c)
{
	if (!c)
		return NULL;
	ws_free(c->ws);
	vgw_free(c->gw);
	tmr_free(c->gw_timer);
	tmr_free(c->settle);
	secure_free(c);
	say_free(c);
	hear_free(c);
	free(c);
	return NULL;
}

void call_leave(struct call *c)
{
	struct cmd cmd = {.type = CMD_LINE_REMOVE};

	if (c->leaving)
		return;
	vgw_leave(c->gw, env_now(c->conf.env));
	call_stepped(c);
	call_cmd(c, &cmd);
	c->leaving = true;
}

uint32_t call_id(const struct call *c)
{
	return c->id;
}

uint64_t call_guild(const struct call *c)
{
	return c->guild;
}

void call_tell_all(struct call *c)
{
	tell_state(c);
	secure_tell(c);
	hear_tell_all(c);
	say_tell_all(c);
}

void call_set(struct call *c, const struct media_call_set *m)
{
	c->channel = m->channel;
	c->stage = m->stage;
	c->bitrate = m->bitrate;
	c->complexity = m->complexity;
	c->mute = m->mute;
	c->deaf = m->deaf;
	call_send_set(c);
}

static bool copy_text(char *buf, size_t size, struct slice s)
{
	if (s.n >= size || memchr(s.p, '\0', s.n))
		return false;
	memcpy(buf, s.p, s.n);
	buf[s.n] = '\0';
	return true;
}

void call_credentials(struct call *c, const struct media_call_credentials *m)
{
	char session[132], token[260], endpoint[260];
	struct vgw_lease lease = {session, token, endpoint, 0};

	if (m->gen <= c->gen || c->leaving) {
		log_info("credentials_late", "call=%u gen=%u have=%u", c->id, m->gen, c->gen);
		return;
	}
	c->gen = m->gen;
	if (m->channel)
		c->channel = m->channel;
	c->joined = c->channel;
	/* What is no text is no endpoint: the machine refuses it and asks again. */
	if (!copy_text(session, sizeof session, m->session) ||
	    !copy_text(token, sizeof token, m->token) ||
	    !copy_text(endpoint, sizeof endpoint, m->endpoint))
		lease = (struct vgw_lease){"", "", "?", 0};
	/* The server may repeat them in what it gives as a reason, and that is logged. */
	log_secret(lease.session);
	log_secret(lease.token);
	env_random(c->conf.env, &lease.entropy, sizeof lease.entropy);
	vgw_credentials(c->gw, env_now(c->conf.env), &lease);
	explicit_bzero(token, sizeof token);
	explicit_bzero(session, sizeof session);
	call_stepped(c);
}
