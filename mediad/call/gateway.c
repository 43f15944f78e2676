#include "mediad/call/gateway.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mediad/call/gateway_wire.h"

#define MS	    UINT64_C(1000000)
#define SECOND	    (1000 * MS)
#define NEVER	    UINT64_MAX
#define STEP_LIMIT  (5 * SECOND)  /* each step of joining: open, ready, discovery, description */
#define JOIN_LIMIT  (20 * SECOND) /* all of them */
#define ACK_GRACE   (5 * SECOND)  /* beyond one heartbeat interval */
#define STABLE_TIME (30 * SECOND) /* up for so long: earlier failures are forgotten */

enum {
	CONNECT_TRIES = 3, /* with a lease that was not used yet */
	STEP_TRIES = 3,	   /* sessions in a row that fail on the same or another step */
	FAIL_CAP = 8,	   /* sessions in a row that fail for any reason */
	RESUME_TRIES = 5,
	CLOSE_GOING = 1000,	/* we leave */
	CLOSE_RETURNING = 4200, /* any code but 1000 and 1001 keeps the session for a resume */
	MIN_BEAT_MS = 250,
	MAX_BEAT_MS = 120000,
};

static const uint32_t resume_wait_ms[RESUME_TRIES] = {1000, 2000, 4000, 8000, 10000};
static const uint32_t fail_wait_ms[FAIL_CAP] = {0, 1000, 2000, 5000, 10000, 10000, 10000, 10000};

struct vgw {
	struct vgw_conf conf;
	enum media_phase phase;
	enum media_reason reason;

	/* the lease, and after Identify the session */
	char session[132], token[260], endpoint[260];
	bool fresh;	/* a lease is here and was not identified with */
	bool announced; /* the session was up once: it can be resumed */
	bool media;	/* DISCOVER was emitted and not dropped */
	const char *mode;
	uint8_t key[32]; /* of the session, once it is up */
	uint32_t ssrc;
	int seq; /* last sequence of the session, -1 before the first */

	/* the socket */
	uint32_t conn;
	bool socket, open;
	uint64_t interval, next_beat, ack_by, beat_at;
	uint64_t nonce, unacked; /* last nonce; first one without an answer, 0 = none */
	bool speaking, told;	 /* wanted; last op 5 sent in this session */

	uint64_t step_by, join_by, cool_until, stable_at;
	unsigned connect_tries, resume_tries, fails;
	bool resumed_once;
	uint64_t rng, malformed;
};

static void emit(struct vgw *g, const struct vgw_action *act)
{
	g->conf.acth(act, g->conf.arg);
}

static void set_phase(struct vgw *g, enum media_phase phase, enum media_reason reason,
		      uint16_t code, bool wants)
{
	g->phase = phase;
	g->reason = reason;
	emit(g, &(struct vgw_action){
			.kind = VGW_STATE,
			.state = {.phase = phase, .reason = reason, .code = code, .wants = wants}});
}

/* splitmix64: only spreads heartbeats, no secret depends on it. */
static uint64_t spread(struct vgw *g, uint64_t range)
{
	uint64_t z = g->rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return range ? z % range : 0;
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
	g->seq = -1;
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

static void send_text(struct vgw *g, const char *text, size_t len)
{
	if (len && g->open)
		emit(g, &(struct vgw_action){.kind = VGW_SEND, .send = {text, len}});
}

/* The socket is no longer ours, whoever ended it. */
static void forget_socket(struct vgw *g)
{
	g->socket = g->open = false;
	g->next_beat = g->ack_by = g->step_by = NEVER;
	g->unacked = 0;
}

static void close_socket(struct vgw *g, uint16_t code)
{
	if (g->socket)
		emit(g, &(struct vgw_action){.kind = VGW_CLOSE, .close_code = code});
	forget_socket(g);
}

/* The session is over; its media too. The used pair stays, so that it is known when it comes again.
 */
static void end_session(struct vgw *g)
{
	close_socket(g, CLOSE_GOING);
	if (g->media)
		emit(g, &(struct vgw_action){.kind = VGW_DROP_MEDIA});
	g->media = g->announced = g->told = g->resumed_once = false;
	explicit_bzero(g->key, sizeof g->key);
	g->join_by = g->stable_at = g->cool_until = NEVER;
	g->resume_tries = g->connect_tries = 0;
	g->seq = -1;
}

static void dial(struct vgw *g, uint64_t now)
{
	char url[sizeof g->endpoint + 16];

	snprintf(url, sizeof url, "wss://%s/?v=%d", g->endpoint, VOICE_VERSION);
	g->conn++;
	g->socket = true;
	g->open = false;
	g->step_by = now + STEP_LIMIT;
	emit(g, &(struct vgw_action){.kind = VGW_CONNECT, .connect = {g->conn, url}});
}

static void begin(struct vgw *g, uint64_t now)
{
	if (g->join_by == NEVER)
		g->join_by = now + JOIN_LIMIT;
	g->cool_until = NEVER;
	set_phase(g, MEDIA_PHASE_CONNECTING, MEDIA_REASON_NONE, 0, false);
	dial(g, now);
}

static void fail(struct vgw *g, enum media_reason reason, uint16_t code)
{
	end_session(g);
	g->fresh = false;
	set_phase(g, MEDIA_PHASE_FAILED, reason, code, false);
}

/* Another session is needed. `tries` of them may fail in a row, then the call has failed. */
static void rejoin(struct vgw *g, uint64_t now, enum media_reason reason, uint16_t code,
		   uint32_t cool_ms, unsigned tries)
{
	uint32_t wait;

	end_session(g);
	g->fresh = false;
	if (g->fails >= FAIL_CAP || (tries && g->fails >= tries)) {
		set_phase(g, MEDIA_PHASE_FAILED, reason, code, false);
		return;
	}
	wait = fail_wait_ms[g->fails++];
	if (wait < cool_ms)
		wait = cool_ms;
	if (!wait) {
		set_phase(g, MEDIA_PHASE_WAITING, reason, code, true);
		return;
	}
	g->cool_until = now + wait * MS;
	set_phase(g, MEDIA_PHASE_COOLING, reason, code, false);
}

static void resume(struct vgw *g, uint64_t now, enum media_reason reason, uint16_t code)
{
	if (g->resume_tries >= RESUME_TRIES) {
		rejoin(g, now, reason, code, 0, 0);
		return;
	}
	g->stable_at = NEVER;
	g->cool_until = now + resume_wait_ms[g->resume_tries++] * MS;
	set_phase(g, MEDIA_PHASE_RESUMING, reason, code, false);
}

/* Not reached before Identify: the lease is still good, so the same door is tried again. */
static void unreached(struct vgw *g, uint64_t now, enum media_reason reason)
{
	if (++g->connect_tries >= CONNECT_TRIES) {
		rejoin(g, now, reason, 0, 1000, STEP_TRIES);
		return;
	}
	g->cool_until = now + SECOND;
	set_phase(g, MEDIA_PHASE_COOLING, reason, 0, false);
}

static bool endpoint_ok(const char *s)
{
	static const char ok[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";

	return s[strspn(s, ok)] == '\0';
}

void vgw_credentials(struct vgw *g, uint64_t now, const struct vgw_lease *lease)
{
	uint64_t cool = g->phase == MEDIA_PHASE_COOLING ? g->cool_until : NEVER;
	bool again;

	if (g->phase == MEDIA_PHASE_CLOSED)
		return;
	again = !g->fresh && g->session[0] && strcmp(lease->session, g->session) == 0 &&
		strcmp(lease->token, g->token) == 0;
	end_session(g);
	g->fresh = false;
	if (!lease->endpoint[0]) {
		set_phase(g, MEDIA_PHASE_WAITING, MEDIA_REASON_SERVER_GONE, 0, false);
		return;
	}
	if (again) {
		rejoin(g, now, MEDIA_REASON_SESSION_INVALID, 0, 1000, STEP_TRIES);
		return;
	}
	if (strlen(lease->session) >= sizeof g->session ||
	    strlen(lease->token) >= sizeof g->token ||
	    strlen(lease->endpoint) >= sizeof g->endpoint || !endpoint_ok(lease->endpoint)) {
		rejoin(g, now, MEDIA_REASON_BAD_REQUEST, 0, 1000, STEP_TRIES);
		return;
	}
	snprintf(g->session, sizeof g->session, "%s", lease->session);
	snprintf(g->token, sizeof g->token, "%s", lease->token);
	snprintf(g->endpoint, sizeof g->endpoint, "%s", lease->endpoint);
	g->rng ^= lease->entropy;
	g->fresh = true;
	/* A cool-down holds for a lease that comes unasked, too. */
	if (cool != NEVER && cool > now) {
		g->cool_until = cool;
		return;
	}
	begin(g, now);
}

void vgw_ws_open(struct vgw *g, uint64_t now, uint32_t conn)
{
	char text[VGW_TEXT_MAX];

	if (conn != g->conn || !g->socket || g->open)
		return;
	g->open = true;
	g->step_by = now + STEP_LIMIT;
	if (g->phase == MEDIA_PHASE_RESUMING) {
		send_text(g, text,
			  vgw_put_resume(text, sizeof text, g->conf.guild, g->session, g->token,
					 g->seq));
	} else {
		g->fresh = false;
		g->seq = -1;
		set_phase(g, MEDIA_PHASE_IDENTIFYING, MEDIA_REASON_NONE, 0, false);
		send_text(g, text,
			  vgw_put_identify(text, sizeof text, g->conf.guild, g->conf.user,
					   g->session, g->token));
	}
	explicit_bzero(text, sizeof text);
}

static void beat(struct vgw *g, uint64_t now)
{
	char text[VGW_TEXT_MAX];
	uint64_t t = now / MS;

	g->nonce = t > g->nonce ? t : g->nonce + 1;
	if (!g->unacked) {
		g->unacked = g->nonce;
		g->ack_by = now + g->interval + ACK_GRACE;
	}
	g->beat_at = now;
	send_text(g, text, vgw_put_heartbeat(text, sizeof text, g->nonce, g->seq));
}

static void send_speaking(struct vgw *g)
{
	char text[VGW_TEXT_MAX];

	if (g->phase != MEDIA_PHASE_UP || !g->open || g->told == g->speaking)
		return;
	g->told = g->speaking;
	send_text(g, text, vgw_put_speaking(text, sizeof text, g->speaking, g->ssrc));
}

void vgw_speaking(struct vgw *g, uint64_t now, bool on)
{
	(void)now;
	g->speaking = on;
	send_speaking(g);
}

/* ---- one function an opcode; false = malformed ---- */

static bool on_hello(struct vgw *g, uint64_t now, const json_t *d)
{
	const json_t *v = json_object_get(d, "heartbeat_interval");
	double ms = json_number_value(v);

	if (!json_is_number(v) || !(ms > 0))
		return false;
	if (ms < MIN_BEAT_MS)
		ms = MIN_BEAT_MS;
	if (ms > MAX_BEAT_MS)
		ms = MAX_BEAT_MS;
	g->interval = (uint64_t)ms * MS;
	g->next_beat = now + spread(g, g->interval);
	return true;
}

static bool on_ready(struct vgw *g, uint64_t now, const json_t *d)
{
	const char *ip = json_string_value(json_object_get(d, "ip"));
	const json_t *modes = json_object_get(d, "modes");
	uint64_t ssrc, port;

	if (g->phase != MEDIA_PHASE_IDENTIFYING)
		return true;
	if (!ip || !json_is_array(modes) || strlen(ip) > 45 ||
	    !vgw_get_uint(json_object_get(d, "ssrc"), UINT32_MAX, &ssrc) ||
	    !vgw_get_uint(json_object_get(d, "port"), 65535, &port) || !port)
		return false;
	g->mode = vgw_pick_mode(modes, g->conf.modes);
	if (!g->mode) {
		fail(g, MEDIA_REASON_NO_COMMON_MODE, 0);
		return true;
	}
	g->ssrc = (uint32_t)ssrc;
	g->step_by = now + STEP_LIMIT;
	g->media = true;
	set_phase(g, MEDIA_PHASE_DISCOVERING, MEDIA_REASON_NONE, 0, false);
	emit(g,
	     &(struct vgw_action){.kind = VGW_DISCOVER, .discover = {ip, (uint16_t)port, g->ssrc}});
	return true;
}

static bool on_description(struct vgw *g, uint64_t now, const json_t *d)
{
	const char *mode = json_string_value(json_object_get(d, "mode"));
	const json_t *version = json_object_get(d, "dave_protocol_version");
	uint64_t dave = 0;
	uint8_t key[32];

	if (g->phase != MEDIA_PHASE_SELECTING && g->phase != MEDIA_PHASE_UP)
		return true;
	/* A version that cannot be read is not 0: that would be plaintext. */
	if (!mode || strcmp(mode, g->mode) != 0 ||
	    (version && !vgw_get_uint(version, 65535, &dave)) ||
	    !vgw_get_key(json_object_get(d, "secret_key"), key))
		return false;
	if (dave > VGW_DAVE_VERSION) {
		explicit_bzero(key, sizeof key);
		fail(g, MEDIA_REASON_ENCRYPTION_REQUIRED, 0);
		return true;
	}
	/* The same key again: a context made anew would count from 0 and use nonces twice. */
	if (g->phase != MEDIA_PHASE_UP || memcmp(g->key, key, sizeof key) != 0) {
		memcpy(g->key, key, sizeof key);
		emit(g, &(struct vgw_action){.kind = VGW_KEY, .key = {g->mode, g->key}});
	}
	explicit_bzero(key, sizeof key);
	if (g->phase == MEDIA_PHASE_UP)
		return true;
	g->step_by = g->join_by = NEVER;
	g->announced = true;
	g->stable_at = now + STABLE_TIME;
	set_phase(g, MEDIA_PHASE_UP, MEDIA_REASON_NONE, 0, false);
	emit(g, &(struct vgw_action){.kind = VGW_DAVE_START, .dave = {.version = (uint16_t)dave}});
	send_speaking(g);
	return true;
}

static bool on_ack(struct vgw *g, uint64_t now, const json_t *d)
{
	uint64_t t;

	if (!vgw_get_uint(json_object_get(d, "t"), INT64_MAX, &t))
		return false;
	if (!g->unacked || t < g->unacked || t > g->nonce)
		return true;
	g->unacked = 0;
	g->ack_by = NEVER;
	if (t == g->nonce)
		emit(g, &(struct vgw_action){.kind = VGW_RTT, .rtt_ns = now - g->beat_at});
	return true;
}

static bool on_resumed(struct vgw *g, uint64_t now)
{
	if (g->phase != MEDIA_PHASE_RESUMING)
		return true;
	g->step_by = NEVER;
	g->stable_at = now + STABLE_TIME;
	/* The server may have forgotten our op 5. */
	g->told = false;
	set_phase(g, MEDIA_PHASE_UP, MEDIA_REASON_RESUMED, 0, false);
	send_speaking(g);
	return true;
}

static bool on_ssrc(struct vgw *g, const json_t *d, const char *field)
{
	uint64_t user, ssrc;

	if (!vgw_get_id(json_object_get(d, "user_id"), &user) ||
	    !vgw_get_uint(json_object_get(d, field), UINT32_MAX, &ssrc))
		return false;
	/* Video only (op 12 with no audio stream) says 0. */
	if (ssrc && user != g->conf.user)
		emit(g, &(struct vgw_action){.kind = VGW_SSRC, .ssrc = {user, (uint32_t)ssrc}});
	return true;
}

static void member(struct vgw *g, uint64_t user, bool present)
{
	if (user != g->conf.user)
		emit(g, &(struct vgw_action){.kind = VGW_MEMBER, .member = {user, present}});
}

static bool on_clients(struct vgw *g, const json_t *d)
{
	const json_t *ids = json_object_get(d, "user_ids");
	size_t n = json_array_size(ids);
	uint64_t user;
	bool ok = json_is_array(ids) && n <= VGW_IDS_MAX;

	for (size_t i = 0; ok && i < n; i++) {
		if (vgw_get_id(json_array_get(ids, i), &user))
			member(g, user, true);
		else
			ok = false;
	}
	return ok;
}

static bool on_disconnect(struct vgw *g, const json_t *d)
{
	uint64_t user;

	if (!vgw_get_id(json_object_get(d, "user_id"), &user))
		return false;
	member(g, user, false);
	return true;
}

/* Ops 21, 22 and 24, each with the fields that it has. */
static bool on_dave(struct vgw *g, unsigned op, const json_t *d)
{
	uint64_t transition = 0, version = 0, epoch = 0;

	if (op != VOICE_OP_DAVE_PREPARE_EPOCH &&
	    !vgw_get_uint(json_object_get(d, "transition_id"), UINT16_MAX, &transition))
		return false;
	if (op != VOICE_OP_DAVE_EXECUTE_TRANSITION &&
	    !vgw_get_uint(json_object_get(d, "protocol_version"), UINT16_MAX, &version))
		return false;
	if (op == VOICE_OP_DAVE_PREPARE_EPOCH &&
	    !vgw_get_epoch(json_object_get(d, "epoch"), &epoch))
		return false;
	emit(g, &(struct vgw_action){.kind = VGW_DAVE_TEXT,
				     .dave = {op, (uint16_t)transition, (uint16_t)version, epoch}});
	return true;
}

static bool dispatch(struct vgw *g, uint64_t now, unsigned op, const json_t *d)
{
	switch (op) {
	case VOICE_OP_HELLO:
		return on_hello(g, now, d);
	case VOICE_OP_READY:
		return on_ready(g, now, d);
	case VOICE_OP_SESSION_DESCRIPTION:
		return on_description(g, now, d);
	case VOICE_OP_HEARTBEAT_ACK:
		return on_ack(g, now, d);
	case VOICE_OP_RESUMED:
		return on_resumed(g, now);
	case VOICE_OP_SPEAKING:
		return on_ssrc(g, d, "ssrc");
	case VOICE_OP_VIDEO:
		return on_ssrc(g, d, "audio_ssrc");
	case VOICE_OP_CLIENTS_CONNECT:
		return on_clients(g, d);
	case VOICE_OP_CLIENT_DISCONNECT:
		return on_disconnect(g, d);
	case VOICE_OP_DAVE_PREPARE_TRANSITION:
	case VOICE_OP_DAVE_EXECUTE_TRANSITION:
	case VOICE_OP_DAVE_PREPARE_EPOCH:
		return on_dave(g, op, d);
	case VOICE_OP_HEARTBEAT: /* the server asks for one */
		beat(g, now);
		return true;
	default: /* client flags and platform (18, 20) tell nothing we use; unknown ones are ignored
		  */
		return true;
	}
}

/* Text and binary messages share one numbering, which wraps. One from behind was replayed. */
static void number(struct vgw *g, uint16_t seq)
{
	uint16_t skipped = (uint16_t)(seq - g->seq - 1);
	bool gap = g->seq >= 0 && skipped > 0 && skipped < 0x8000;

	g->seq = seq;
	if (gap)
		emit(g, &(struct vgw_action){.kind = VGW_GAP});
}

void vgw_ws_text(struct vgw *g, uint64_t now, uint32_t conn, const char *text, size_t len)
{
	uint64_t op, seq;
	json_t *root, *s;
	bool ok = false;

	if (conn != g->conn || !g->open)
		return;
	root = json_loadb(text, len, 0, NULL);
	if (vgw_get_uint(json_object_get(root, "op"), 65535, &op)) {
		s = json_object_get(root, "seq");
		if (s && vgw_get_uint(s, UINT16_MAX, &seq))
			number(g, (uint16_t)seq);
		ok = dispatch(g, now, (unsigned)op, json_object_get(root, "d"));
	}
	if (!ok)
		g->malformed++;
	json_decref(root);
}

void vgw_ws_binary(struct vgw *g, uint64_t now, uint32_t conn, const uint8_t *data, size_t len)
{
	(void)now;
	if (conn != g->conn || !g->open)
		return;
	if (len < 3) {
		g->malformed++;
		return;
	}
	number(g, (uint16_t)(data[0] << 8 | data[1]));
	switch (data[2]) {
	case VOICE_OP_MLS_EXTERNAL_SENDER:
	case VOICE_OP_MLS_PROPOSALS:
	case VOICE_OP_MLS_ANNOUNCE_COMMIT:
	case VOICE_OP_MLS_WELCOME:
		emit(g, &(struct vgw_action){.kind = VGW_DAVE_BINARY,
					     .binary = {data[2], data + 3, len - 3}});
		return;
	default:
		return;
	}
}

int vgw_dave_text(struct vgw *g, unsigned op, uint16_t transition)
{
	char text[VGW_TEXT_MAX];
	size_t len;

	if (g->phase != MEDIA_PHASE_UP || !g->open)
		return ENOTCONN;
	len = vgw_put_transition(text, sizeof text, op, transition);
	send_text(g, text, len);
	return len ? 0 : ENOMEM;
}

int vgw_dave_binary(struct vgw *g, unsigned op, const uint8_t *payload, size_t n)
{
	uint8_t *msg;

	if (g->phase != MEDIA_PHASE_UP || !g->open)
		return ENOTCONN;
	msg = malloc(n + 1);
	if (!msg)
		return ENOMEM;
	msg[0] = (uint8_t)op;
	if (n)
		memcpy(msg + 1, payload, n);
	emit(g, &(struct vgw_action){.kind = VGW_SEND_BINARY, .binary = {op, msg, n + 1}});
	free(msg);
	return 0;
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
		unreached(g, now, why != MEDIA_REASON_NONE ? why : MEDIA_REASON_UNREACHABLE);
		return;
	}
	if (action == VOICE_CLOSE_ONCE) {
		action = g->resumed_once ? VOICE_CLOSE_FRESH : VOICE_CLOSE_RESUME;
		g->resumed_once = true;
	}
	if (action == VOICE_CLOSE_RESUME && !g->announced)
		action = VOICE_CLOSE_FRESH;
	switch (action) {
	case VOICE_CLOSE_RESUME:
		resume(g, now, c->reason, code);
		return;
	case VOICE_CLOSE_WAIT:
		end_session(g);
		set_phase(g, MEDIA_PHASE_WAITING, c->reason, code, false);
		return;
	case VOICE_CLOSE_FATAL:
		fail(g, c->reason, code);
		return;
	default:
		rejoin(g, now, c->reason, code, c->cool_ms, c->tries);
		return;
	}
}

void vgw_discovered(struct vgw *g, uint64_t now, const char *ip, uint16_t port)
{
	char text[VGW_TEXT_MAX];

	if (g->phase != MEDIA_PHASE_DISCOVERING)
		return;
	g->step_by = now + STEP_LIMIT;
	set_phase(g, MEDIA_PHASE_SELECTING, MEDIA_REASON_NONE, 0, false);
	send_text(g, text, vgw_put_select(text, sizeof text, ip, port, g->mode));
}

void vgw_udp_failed(struct vgw *g, uint64_t now)
{
	if (g->phase == MEDIA_PHASE_DISCOVERING)
		rejoin(g, now, MEDIA_REASON_UDP_BLOCKED, 0, 1000, STEP_TRIES);
}

void vgw_refresh(struct vgw *g, uint64_t now, enum media_reason why)
{
	if (g->phase != MEDIA_PHASE_UP)
		return;
	close_socket(g, CLOSE_RETURNING);
	g->stable_at = NEVER;
	set_phase(g, MEDIA_PHASE_RESUMING, why, 0, false);
	dial(g, now);
}

void vgw_rejoin(struct vgw *g, uint64_t now, enum media_reason why)
{
	if (g->announced)
		rejoin(g, now, why, 0, 0, 0);
}

void vgw_leave(struct vgw *g, uint64_t now)
{
	(void)now;
	if (g->phase == MEDIA_PHASE_CLOSED)
		return;
	end_session(g);
	g->fresh = false;
	set_phase(g, MEDIA_PHASE_CLOSED, MEDIA_REASON_ASKED, 0, false);
}

/* A step took too long. */
static void step_expired(struct vgw *g, uint64_t now)
{
	enum media_phase phase = g->phase;

	close_socket(g, phase == MEDIA_PHASE_RESUMING ? CLOSE_RETURNING : CLOSE_GOING);
	switch (phase) {
	case MEDIA_PHASE_CONNECTING:
		unreached(g, now, MEDIA_REASON_UNREACHABLE);
		return;
	case MEDIA_PHASE_RESUMING:
		resume(g, now, MEDIA_REASON_CONNECTION_LOST, 0);
		return;
	case MEDIA_PHASE_DISCOVERING:
		rejoin(g, now, MEDIA_REASON_UDP_BLOCKED, 0, 1000, STEP_TRIES);
		return;
	case MEDIA_PHASE_SELECTING:
		rejoin(g, now, MEDIA_REASON_NO_DESCRIPTION, 0, 1000, STEP_TRIES);
		return;
	default:
		rejoin(g, now, MEDIA_REASON_NO_READY, 0, 1000, STEP_TRIES);
		return;
	}
}

static void cooled(struct vgw *g, uint64_t now)
{
	g->cool_until = NEVER;
	if (g->phase == MEDIA_PHASE_RESUMING)
		dial(g, now);
	else if (g->fresh)
		begin(g, now);
	else
		set_phase(g, MEDIA_PHASE_WAITING, g->reason, 0, true);
}

void vgw_timer(struct vgw *g, uint64_t now)
{
	if (now >= g->join_by) {
		g->join_by = NEVER;
		rejoin(g, now, MEDIA_REASON_DEADLINE, 0, 1000, STEP_TRIES);
	}
	if (now >= g->step_by) {
		g->step_by = NEVER;
		step_expired(g, now);
	}
	if (now >= g->cool_until)
		cooled(g, now);
	if (now >= g->ack_by) {
		close_socket(g, CLOSE_RETURNING);
		if (g->announced)
			resume(g, now, MEDIA_REASON_CONNECTION_LOST, 0);
		else
			rejoin(g, now, MEDIA_REASON_CONNECTION_LOST, 0, 1000, STEP_TRIES);
	}
	if (now >= g->next_beat) {
		beat(g, now);
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
