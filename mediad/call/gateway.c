#include "mediad/call/gateway_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mediad/call/gateway_wire.h"
#include "proto/base/time.h"

#define JOIN_LIMIT (20 * NS_PER_S) /* for all steps of joining together */

enum {
	CONNECT_TRIES = 3, /* connections with an unused lease */
	STEP_TRIES = 3,	   /* sessions in a row that fail in joining */
	FAIL_CAP = 8,	   /* sessions in a row that fail for any reason */
	RESUME_TRIES = 5,
	CLOSE_GOING = 1000,	/* the session is given up */
	CLOSE_RETURNING = 4200, /* any code except 1000 and 1001 keeps the session for a resume */
};

static const uint32_t resume_wait_ms[RESUME_TRIES] = {1000, 2000, 4000, 8000, 10000};
static const uint32_t fail_wait_ms[FAIL_CAP] = {0, 1000, 2000, 5000, 10000, 10000, 10000, 10000};

void vgw_emit(struct vgw *g, const struct vgw_action *act)
{
	g->conf.acth(act, g->conf.arg);
}

void vgw_set_phase(struct vgw *g, enum media_phase phase, enum media_reason reason, uint16_t code,
		   bool wants)
{
	g->phase = phase;
	g->reason = reason;
	vgw_emit(
		g,
		&(struct vgw_action){
			.kind = VGW_STATE,
			.state = {.phase = phase, .reason = reason, .code = code, .wants = wants}});
}

int vgw_alloc(struct vgw **out, const struct vgw_conf *conf)
{
	struct vgw *g;

	if (!out || !conf || !conf->acth || !conf->modes)
		return EINVAL;
	g = calloc(1, sizeof *g);
	if (!g)
		return ENOMEM;
	g->conf = *conf;
	g->phase = MEDIA_PHASE_WAITING;
	seq_tracker_reset(&g->numbers);
	g->next_beat = g->ack_by = g->step_by = g->join_by = g->cool_until = g->stable_at = NEVER;
	*out = g;
	return 0;
}

struct vgw *vgw_free(struct vgw *g)
{
	if (g) {
		explicit_bzero(g, sizeof *g);
		free(g);
	}
	return NULL;
}

enum media_phase vgw_phase(const struct vgw *g)
{
	return g->phase;
}

uint64_t vgw_malformed(const struct vgw *g)
{
	return g->malformed;
}

uint64_t vgw_deadline(const struct vgw *g)
{
	const uint64_t all[] = {g->next_beat, g->ack_by,     g->step_by,
				g->join_by,   g->cool_until, g->stable_at};
	uint64_t min = NEVER;

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (all[i] < min)
			min = all[i];
	return min;
}

void vgw_send_text(struct vgw *g, const char *text, size_t len)
{
	if (g->open)
		vgw_emit(g, &(struct vgw_action){.kind = VGW_SEND, .send = {text, len}});
}

/* Forgets the socket, whichever side closed it. */
static void forget_socket(struct vgw *g)
{
	g->socket = g->open = false;
	g->next_beat = g->ack_by = g->step_by = NEVER;
	g->unacked = 0;
}

static void close_socket(struct vgw *g, uint16_t code)
{
	if (g->socket)
		vgw_emit(g, &(struct vgw_action){.kind = VGW_CLOSE, .close_code = code});
	forget_socket(g);
}

/* Ends the session and its media, and wipes the lease, which nothing needs any more. */
static void end_session(struct vgw *g)
{
	close_socket(g, CLOSE_GOING);
	if (g->media)
		vgw_emit(g, &(struct vgw_action){.kind = VGW_DROP_MEDIA});
	/* The next session is told again when we speak. */
	g->video_ssrc = 0;
	g->media = g->established = g->speaking = g->speaking_sent = g->resumed_once = false;
	explicit_bzero(g->key, sizeof g->key);
	explicit_bzero(g->session, sizeof g->session);
	explicit_bzero(g->token, sizeof g->token);
	explicit_bzero(g->endpoint, sizeof g->endpoint);
	g->join_by = g->stable_at = g->cool_until = NEVER;
	g->resume_tries = g->connect_tries = 0;
	seq_tracker_reset(&g->numbers);
}

static void connect_socket(struct vgw *g, uint64_t now)
{
	char url[sizeof g->endpoint + 16];

	snprintf(url, sizeof url, "wss://%s/?v=%d", g->endpoint, VOICE_VERSION);
	g->conn++;
	g->socket = true;
	g->open = false;
	g->step_by = now + STEP_LIMIT;
	vgw_emit(g, &(struct vgw_action){.kind = VGW_CONNECT, .connect = {g->conn, url}});
}

static void begin_join(struct vgw *g, uint64_t now)
{
	if (g->join_by == NEVER)
		g->join_by = now + JOIN_LIMIT;
	g->cool_until = NEVER;
	vgw_set_phase(g, MEDIA_PHASE_CONNECTING, MEDIA_REASON_NONE, 0, false);
	connect_socket(g, now);
}

void vgw_fail(struct vgw *g, enum media_reason reason, uint16_t code)
{
	end_session(g);
	g->lease_unused = false;
	vgw_set_phase(g, MEDIA_PHASE_FAILED, reason, code, false);
}

/* Ends the session and asks for another one. `tries` sessions may fail in a row, then the call has
 * failed. */
static void end_and_rejoin(struct vgw *g, uint64_t now, enum media_reason reason, uint16_t code,
			   uint32_t cool_ms, unsigned tries)
{
	uint32_t wait;

	end_session(g);
	g->lease_unused = false;
	if (g->fails >= FAIL_CAP || (tries && g->fails >= tries)) {
		vgw_set_phase(g, MEDIA_PHASE_FAILED, reason, code, false);
		return;
	}
	wait = fail_wait_ms[g->fails++];
	if (wait < cool_ms)
		wait = cool_ms;
	if (!wait) {
		vgw_set_phase(g, MEDIA_PHASE_WAITING, reason, code, true);
		return;
	}
	g->cool_until = now + wait * NS_PER_MS;
	vgw_set_phase(g, MEDIA_PHASE_COOLING, reason, code, false);
}

void vgw_fail_step(struct vgw *g, uint64_t now, enum media_reason reason)
{
	end_and_rejoin(g, now, reason, 0, 1000, STEP_TRIES);
}

static void schedule_resume(struct vgw *g, uint64_t now, enum media_reason reason, uint16_t code)
{
	if (g->resume_tries >= RESUME_TRIES) {
		end_and_rejoin(g, now, reason, code, 0, 0);
		return;
	}
	g->stable_at = NEVER;
	g->cool_until = now + resume_wait_ms[g->resume_tries++] * NS_PER_MS;
	vgw_set_phase(g, MEDIA_PHASE_RESUMING, reason, code, false);
}

/* The server was not reached before Identify. The lease is still unused, so the same endpoint is
 * tried again. */
static void retry_connect(struct vgw *g, uint64_t now, enum media_reason reason)
{
	if (++g->connect_tries >= CONNECT_TRIES) {
		vgw_fail_step(g, now, reason);
		return;
	}
	g->cool_until = now + NS_PER_S;
	vgw_set_phase(g, MEDIA_PHASE_COOLING, reason, 0, false);
}

static bool is_valid_endpoint(const char *s)
{
	static const char ok[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";

	return s[strspn(s, ok)] == '\0';
}

void vgw_set_guild(struct vgw *g, uint64_t guild)
{
	g->conf.guild = guild;
}

void vgw_credentials(struct vgw *g, uint64_t now, const struct vgw_lease *lease)
{
	uint64_t cool = g->phase == MEDIA_PHASE_COOLING ? g->cool_until : NEVER;

	if (g->phase == MEDIA_PHASE_CLOSED)
		return;
	end_session(g);
	g->lease_unused = false;
	if (!lease->endpoint[0]) {
		vgw_set_phase(g, MEDIA_PHASE_WAITING, MEDIA_REASON_SERVER_GONE, 0, false);
		return;
	}
	if (strlen(lease->session) >= sizeof g->session ||
	    strlen(lease->token) >= sizeof g->token ||
	    strlen(lease->endpoint) >= sizeof g->endpoint || !is_valid_endpoint(lease->endpoint)) {
		vgw_fail_step(g, now, MEDIA_REASON_BAD_REQUEST);
		return;
	}
	snprintf(g->session, sizeof g->session, "%s", lease->session);
	snprintf(g->token, sizeof g->token, "%s", lease->token);
	snprintf(g->endpoint, sizeof g->endpoint, "%s", lease->endpoint);
	g->rng ^= lease->entropy;
	g->lease_unused = true;
	/* A cool-down also holds for a lease that was not requested. */
	if (cool != NEVER && cool > now) {
		g->cool_until = cool;
		return;
	}
	begin_join(g, now);
}

void vgw_ws_open(struct vgw *g, uint64_t now, uint32_t conn)
{
	char text[VGW_TEXT_MAX];

	if (conn != g->conn || !g->socket || g->open)
		return;
	g->open = true;
	g->step_by = now + STEP_LIMIT;
	if (g->phase == MEDIA_PHASE_RESUMING) {
		seq_tracker_request(&g->numbers);
		vgw_send_text(g, text,
			      vgw_put_resume(text, sizeof text, g->conf.guild, g->session, g->token,
					     seq_tracker_ack(&g->numbers)));
	} else {
		g->lease_unused = false;
		seq_tracker_reset(&g->numbers);
		vgw_set_phase(g, MEDIA_PHASE_IDENTIFYING, MEDIA_REASON_NONE, 0, false);
		vgw_send_text(g, text,
			      vgw_put_identify(text, sizeof text, g->conf.guild, g->conf.user,
					       g->session, g->token, g->conf.stream));
	}
	explicit_bzero(text, sizeof text);
}

uint16_t vgw_code_of_failure(const struct vgw *g, uint16_t code)
{
	bool resumes = g->established && voice_close_of(code)->action == VOICE_CLOSE_RESUME;

	return resumes ? CLOSE_RETURNING : CLOSE_GOING;
}

void vgw_ws_closed(struct vgw *g, uint64_t now, uint32_t conn, uint16_t code, enum media_reason why)
{
	const struct voice_close *c = voice_close_of(code);
	enum voice_close_action action = c->action;
	bool opened = g->open;

	if (conn != g->conn || !g->socket)
		return;
	forget_socket(g);
	if (g->phase == MEDIA_PHASE_CONNECTING && !opened && code < 4000) {
		retry_connect(g, now, why != MEDIA_REASON_NONE ? why : MEDIA_REASON_UNREACHABLE);
		return;
	}
	if (action == VOICE_CLOSE_ONCE) {
		action = g->resumed_once ? VOICE_CLOSE_FRESH : VOICE_CLOSE_RESUME;
		g->resumed_once = true;
	}
	if (action == VOICE_CLOSE_RESUME && !g->established)
		action = VOICE_CLOSE_FRESH;
	switch (action) {
	case VOICE_CLOSE_RESUME:
		schedule_resume(g, now, c->reason, code);
		return;
	case VOICE_CLOSE_WAIT:
		end_session(g);
		vgw_set_phase(g, MEDIA_PHASE_WAITING, c->reason, code, false);
		return;
	case VOICE_CLOSE_FATAL:
		vgw_fail(g, c->reason, code);
		return;
	default:
		end_and_rejoin(g, now, c->reason, code, c->cool_ms, c->tries);
		return;
	}
}

void vgw_discovered(struct vgw *g, uint64_t now, const char *ip, uint16_t port)
{
	char text[VGW_TEXT_MAX];
	const char *encode = NULL;

	if (g->phase != MEDIA_PHASE_DISCOVERING)
		return;
	g->step_by = now + STEP_LIMIT;
	vgw_set_phase(g, MEDIA_PHASE_SELECTING, MEDIA_REASON_NONE, 0, false);
	if (g->conf.stream)
		encode = g->video_codec ? g->video_codec : "";
	vgw_send_text(g, text, vgw_put_select(text, sizeof text, ip, port, g->mode, encode));
}

void vgw_udp_failed(struct vgw *g, uint64_t now)
{
	if (g->phase == MEDIA_PHASE_DISCOVERING)
		vgw_fail_step(g, now, MEDIA_REASON_UDP_BLOCKED);
	else if (g->established)
		end_and_rejoin(g, now, MEDIA_REASON_UDP_BLOCKED, 0, 0, 0);
}

bool vgw_has_missed(const struct vgw *g)
{
	return seq_tracker_has_missing(&g->numbers);
}

void vgw_resume_now(struct vgw *g, uint64_t now, enum media_reason why)
{
	if (g->phase != MEDIA_PHASE_UP)
		return;
	close_socket(g, CLOSE_RETURNING);
	g->stable_at = NEVER;
	vgw_set_phase(g, MEDIA_PHASE_RESUMING, why, 0, false);
	connect_socket(g, now);
}

void vgw_rejoin(struct vgw *g, uint64_t now, enum media_reason why)
{
	if (g->established)
		end_and_rejoin(g, now, why, 0, 0, 0);
	else if (g->phase >= MEDIA_PHASE_IDENTIFYING && g->phase <= MEDIA_PHASE_SELECTING)
		vgw_fail_step(g, now, why); /* counts as a session that failed in joining */
}

void vgw_require_encryption(struct vgw *g, bool required)
{
	g->encrypted = required;
}

void vgw_refuse_clear(struct vgw *g)
{
	if (g->phase != MEDIA_PHASE_CLOSED && g->phase != MEDIA_PHASE_FAILED)
		vgw_fail(g, MEDIA_REASON_NOT_ENCRYPTED, 0);
}

void vgw_leave(struct vgw *g, uint64_t now)
{
	(void)now;
	if (g->phase == MEDIA_PHASE_CLOSED)
		return;
	end_session(g);
	g->lease_unused = false;
	vgw_set_phase(g, MEDIA_PHASE_CLOSED, MEDIA_REASON_ASKED, 0, false);
}

/* A step of joining timed out. */
static void on_step_timeout(struct vgw *g, uint64_t now)
{
	enum media_phase phase = g->phase;

	close_socket(g, phase == MEDIA_PHASE_RESUMING ? CLOSE_RETURNING : CLOSE_GOING);
	switch (phase) {
	case MEDIA_PHASE_CONNECTING:
		retry_connect(g, now, MEDIA_REASON_UNREACHABLE);
		return;
	case MEDIA_PHASE_RESUMING:
		schedule_resume(g, now, MEDIA_REASON_CONNECTION_LOST, 0);
		return;
	case MEDIA_PHASE_DISCOVERING:
		vgw_fail_step(g, now, MEDIA_REASON_UDP_BLOCKED);
		return;
	case MEDIA_PHASE_SELECTING:
		vgw_fail_step(g, now, MEDIA_REASON_NO_DESCRIPTION);
		return;
	default:
		vgw_fail_step(g, now, MEDIA_REASON_NO_READY);
		return;
	}
}

static void on_cooldown_end(struct vgw *g, uint64_t now)
{
	g->cool_until = NEVER;
	if (g->phase == MEDIA_PHASE_RESUMING)
		connect_socket(g, now);
	else if (g->lease_unused)
		begin_join(g, now);
	else
		vgw_set_phase(g, MEDIA_PHASE_WAITING, g->reason, 0, true);
}

void vgw_timer(struct vgw *g, uint64_t now)
{
	if (now >= g->join_by) {
		g->join_by = NEVER;
		vgw_fail_step(g, now, MEDIA_REASON_DEADLINE);
	}
	if (now >= g->step_by) {
		g->step_by = NEVER;
		on_step_timeout(g, now);
	}
	if (now >= g->cool_until)
		on_cooldown_end(g, now);
	if (now >= g->ack_by) {
		close_socket(g, CLOSE_RETURNING);
		if (g->established)
			schedule_resume(g, now, MEDIA_REASON_CONNECTION_LOST, 0);
		else
			vgw_fail_step(g, now, MEDIA_REASON_CONNECTION_LOST);
	}
	if (now >= g->next_beat) {
		vgw_send_heartbeat(g, now);
		g->next_beat += g->interval;
		if (g->next_beat <= now)
			g->next_beat = now + g->interval;
	}
	if (now >= g->stable_at) {
		g->stable_at = NEVER;
		g->fails = g->resume_tries = 0;
		g->resumed_once = false;
	}
}
