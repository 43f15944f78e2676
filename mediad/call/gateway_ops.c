/* The messages of the voice gateway: handles the received ones and builds the sent ones. */
#include "mediad/call/gateway_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mediad/call/gateway_wire.h"
#include "mediad/call/server_address.h"
#include "proto/base/time.h"

#define ACK_GRACE (5 * NS_PER_S) /* beyond one heartbeat interval */

enum { MIN_BEAT_MS = 250, MAX_BEAT_MS = 120000 };

/* splitmix64. It only spreads heartbeats; no secret depends on it. */
static uint64_t random_below(struct vgw *g, uint64_t range)
{
	uint64_t z = g->rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return range ? z % range : 0;
}

void vgw_send_heartbeat(struct vgw *g, uint64_t now)
{
	char text[VGW_TEXT_MAX];
	uint64_t t = now / NS_PER_MS;

	g->nonce = t > g->nonce ? t : g->nonce + 1;
	if (!g->unacked) {
		g->unacked = g->nonce;
		g->ack_by = now + g->interval + ACK_GRACE;
	}
	g->beat_at = now;
	vgw_send_text(g, text,
		      vgw_put_heartbeat(text, sizeof text, g->nonce, seq_tracker_ack(&g->numbers)));
}

static void send_speaking(struct vgw *g)
{
	enum { VOICE = 1, SOUNDSHARE = 2 };
	unsigned flag = g->conf.stream ? SOUNDSHARE : VOICE;
	char text[VGW_TEXT_MAX];

	if (g->phase != MEDIA_PHASE_UP || !g->open || g->speaking_sent == g->speaking)
		return;
	g->speaking_sent = g->speaking;
	vgw_send_text(g, text,
		      vgw_put_speaking(text, sizeof text, g->speaking ? flag : 0, g->ssrc));
}

void vgw_speaking(struct vgw *g, uint64_t now, bool on)
{
	(void)now;
	g->speaking = on;
	send_speaking(g);
}

/* ---- one handler per opcode; false = malformed ---- */

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
	g->interval = (uint64_t)ms * NS_PER_MS;
	g->next_beat = now + random_below(g, g->interval);
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
	    !vgw_get_uint(json_object_get(d, "port"), 65535, &port))
		return false;
	if (!server_address_is_allowed(ip, (uint16_t)port, g->endpoint)) {
		vgw_fail_step(g, now, MEDIA_REASON_ADDRESS_REFUSED);
		return true;
	}
	g->mode = vgw_pick_mode(modes, g->conf.modes);
	if (!g->mode) {
		vgw_fail(g, MEDIA_REASON_NO_COMMON_MODE, 0);
		return true;
	}
	g->ssrc = (uint32_t)ssrc;
	g->step_by = now + STEP_LIMIT;
	g->media = true;
	vgw_set_phase(g, MEDIA_PHASE_DISCOVERING, MEDIA_REASON_NONE, 0, false);
	vgw_emit(g, &(struct vgw_action){.kind = VGW_DISCOVER,
					 .discover = {ip, (uint16_t)port, g->ssrc}});
	vgw_on_our_video(g, d);
	return true;
}

static bool on_description(struct vgw *g, uint64_t now, const json_t *d)
{
	const char *mode = json_string_value(json_object_get(d, "mode"));
	const json_t *version = json_object_get(d, "dave_protocol_version");
	/* The key may change while the session is resumed, before op 9. */
	bool has_media = g->phase == MEDIA_PHASE_UP || g->phase == MEDIA_PHASE_RESUMING;
	uint64_t dave = 0;
	uint8_t key[32];

	if (g->phase != MEDIA_PHASE_SELECTING && !has_media)
		return true;
	/* An unreadable version is an error and not 0, which would mean plaintext. */
	if (!mode || strcmp(mode, g->mode) != 0 ||
	    (version && !vgw_get_uint(version, 65535, &dave)) ||
	    !vgw_get_key(json_object_get(d, "secret_key"), key))
		return false;
	if (dave > VGW_DAVE_VERSION) {
		explicit_bzero(key, sizeof key);
		vgw_fail(g, MEDIA_REASON_ENCRYPTION_REQUIRED, 0);
		return true;
	}
	if (!dave && g->encrypted) {
		explicit_bzero(key, sizeof key);
		vgw_refuse_clear(g);
		return true;
	}
	/* The same key may be sent again. A new cipher context would restart its counter and reuse
	 * nonces. */
	if (!has_media || memcmp(g->key, key, sizeof key) != 0) {
		if (g->conf.keyh && !g->conf.keyh(key, g->conf.arg)) {
			explicit_bzero(key, sizeof key);
			vgw_fail_step(g, now, MEDIA_REASON_SESSION_INVALID);
			return true;
		}
		memcpy(g->key, key, sizeof key);
		vgw_emit(g, &(struct vgw_action){.kind = VGW_KEY, .key = {g->mode, g->key}});
	}
	explicit_bzero(key, sizeof key);
	if (has_media)
		return true;
	g->step_by = g->join_by = NEVER;
	g->established = true;
	g->stable_at = now + STABLE_TIME;
	vgw_set_phase(g, MEDIA_PHASE_UP, MEDIA_REASON_NONE, 0, false);
	vgw_emit(g,
		 &(struct vgw_action){.kind = VGW_DAVE_START, .dave = {.version = (uint16_t)dave}});
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
		vgw_emit(g, &(struct vgw_action){.kind = VGW_RTT, .rtt_ns = now - g->beat_at});
	return true;
}

static bool on_resumed(struct vgw *g, uint64_t now)
{
	if (g->phase != MEDIA_PHASE_RESUMING)
		return true;
	g->step_by = NEVER;
	g->stable_at = now + STABLE_TIME;
	/* The server may have forgotten our op 5, so it is sent again. What ended meanwhile is told
	 * as well: the server may remember that it began. */
	g->speaking_sent = g->speaking_sent && !g->speaking;
	vgw_set_phase(g, MEDIA_PHASE_UP, MEDIA_REASON_RESUMED, 0, false);
	send_speaking(g);
	return true;
}

static bool on_ssrc(struct vgw *g, const json_t *d, const char *field)
{
	uint64_t user, ssrc;

	if (!vgw_get_id(json_object_get(d, "user_id"), &user) ||
	    !vgw_get_uint(json_object_get(d, field), UINT32_MAX, &ssrc))
		return false;
	/* Op 12 without an audio stream has SSRC 0. */
	if (ssrc && user != g->conf.user)
		vgw_emit(g, &(struct vgw_action){.kind = VGW_SSRC, .ssrc = {user, (uint32_t)ssrc}});
	return true;
}

static void emit_member(struct vgw *g, uint64_t user, bool present)
{
	if (user != g->conf.user)
		vgw_emit(g, &(struct vgw_action){.kind = VGW_MEMBER, .member = {user, present}});
}

/* However many they are: the message has a limit of its own. */
static bool on_clients(struct vgw *g, const json_t *d)
{
	const json_t *ids = json_object_get(d, "user_ids");
	size_t n = json_array_size(ids);
	uint64_t user;
	bool ok = json_is_array(ids);

	for (size_t i = 0; ok && i < n; i++) {
		if (vgw_get_id(json_array_get(ids, i), &user))
			emit_member(g, user, true);
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
	emit_member(g, user, false);
	return true;
}

/* Ops 21, 22 and 24, each with its own fields. */
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
	vgw_emit(g, &(struct vgw_action){
			    .kind = VGW_DAVE_TEXT,
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
		return on_ssrc(g, d, "audio_ssrc") && vgw_on_video(g, d);
	case VOICE_OP_MEDIA_SINK_WANTS:
		return vgw_on_wanted(g, d);
	case VOICE_OP_CLIENTS_CONNECT:
		return on_clients(g, d);
	case VOICE_OP_CLIENT_DISCONNECT:
		return on_disconnect(g, d);
	case VOICE_OP_DAVE_PREPARE_TRANSITION:
	case VOICE_OP_DAVE_EXECUTE_TRANSITION:
	case VOICE_OP_DAVE_PREPARE_EPOCH:
		return on_dave(g, op, d);
	case VOICE_OP_HEARTBEAT: /* the server requests a heartbeat */
		vgw_send_heartbeat(g, now);
		return true;
	default: /* client flags and platform (18, 20) hold nothing we use; unknown ops are ignored
		  */
		return true;
	}
}

/* Records a sequence number. Returns false for a message received before. A missed message that
 * arrives late counts as new. */
static bool take_seq(struct vgw *g, uint16_t seq)
{
	enum seq_class how = seq_tracker_take(&g->numbers, seq);

	if (how == SEQ_GAP)
		vgw_emit(g, &(struct vgw_action){.kind = VGW_GAP});
	return how != SEQ_DUPLICATE;
}

/* True if an op names users or their SSRCs. Such an op is valid until the next one about the same
 * user, so repeated ones are processed again. Otherwise a missed message that is repeated after
 * newer ones would have the last word. */
static bool names_users(uint64_t op)
{
	return op == VOICE_OP_SPEAKING || op == VOICE_OP_VIDEO || op == VOICE_OP_CLIENTS_CONNECT ||
	       op == VOICE_OP_CLIENT_DISCONNECT;
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
		ok = (s && vgw_get_uint(s, UINT16_MAX, &seq) && !take_seq(g, (uint16_t)seq) &&
		      !names_users(op)) ||
		     dispatch(g, now, (unsigned)op, json_object_get(root, "d"));
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
	if (!take_seq(g, (uint16_t)(data[0] << 8 | data[1])))
		return;
	switch (data[2]) {
	case VOICE_OP_MLS_EXTERNAL_SENDER:
	case VOICE_OP_MLS_PROPOSALS:
	case VOICE_OP_MLS_ANNOUNCE_COMMIT:
	case VOICE_OP_MLS_WELCOME:
		vgw_emit(g, &(struct vgw_action){.kind = VGW_DAVE_BINARY,
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
	if (!len)
		return ENOMEM;
	vgw_send_text(g, text, len);
	return 0;
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
	vgw_emit(g, &(struct vgw_action){.kind = VGW_SEND_BINARY, .binary = {op, msg, n + 1}});
	free(msg);
	return 0;
}
