#include "mediad/call/gateway_wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proto/discord.h"
#include "proto/voice.h"

/* Serializes root and drops the reference to it. */
static size_t dump_json(json_t *root, char *buf, size_t cap)
{
	size_t n = root ? json_dumpb(root, buf, cap, JSON_COMPACT) : 0;

	json_decref(root);
	return n <= cap ? n : 0;
}

static const char *format_id(char buf[24], uint64_t id)
{
	snprintf(buf, 24, "%" PRIu64, id);
	return buf;
}

size_t vgw_put_identify(char *buf, size_t cap, uint64_t guild, uint64_t user, const char *session,
			const char *token)
{
	char g[24], u[24];

	return dump_json(json_pack("{s:i,s:{s:s,s:s,s:s,s:s,s:i}}", "op", VOICE_OP_IDENTIFY, "d",
				   "server_id", format_id(g, guild), "user_id", format_id(u, user),
				   "session_id", session, "token", token,
				   "max_dave_protocol_version", VGW_DAVE_VERSION),
			 buf, cap);
}

size_t vgw_put_resume(char *buf, size_t cap, uint64_t guild, const char *session, const char *token,
		      int seq)
{
	char g[24];

	return dump_json(json_pack("{s:i,s:{s:s,s:s,s:s,s:i}}", "op", VOICE_OP_RESUME, "d",
				   "server_id", format_id(g, guild), "session_id", session, "token",
				   token, "seq_ack", seq),
			 buf, cap);
}

size_t vgw_put_select(char *buf, size_t cap, const char *ip, uint16_t port, const char *mode)
{
	return dump_json(json_pack("{s:i,s:{s:s,s:{s:s,s:i,s:s},s:[{s:s,s:s,s:i,s:i}]}}", "op",
				   VOICE_OP_SELECT_PROTOCOL, "d", "protocol", "udp", "data",
				   "address", ip, "port", (int)port, "mode", mode, "codecs", "name",
				   "opus", "type", "audio", "priority", 1000, "payload_type", 120),
			 buf, cap);
}

size_t vgw_put_heartbeat(char *buf, size_t cap, uint64_t nonce, int seq)
{
	return dump_json(json_pack("{s:i,s:{s:I,s:i}}", "op", VOICE_OP_HEARTBEAT, "d", "t",
				   (json_int_t)nonce, "seq_ack", seq),
			 buf, cap);
}

size_t vgw_put_speaking(char *buf, size_t cap, bool on, uint32_t ssrc)
{
	return dump_json(json_pack("{s:i,s:{s:i,s:i,s:I}}", "op", VOICE_OP_SPEAKING, "d",
				   "speaking", on ? 1 : 0, "delay", 0, "ssrc", (json_int_t)ssrc),
			 buf, cap);
}

size_t vgw_put_transition(char *buf, size_t cap, unsigned op, uint16_t transition)
{
	return dump_json(
		json_pack("{s:i,s:{s:i}}", "op", (int)op, "d", "transition_id", (int)transition),
		buf, cap);
}

bool vgw_get_uint(const json_t *v, uint64_t max, uint64_t *out)
{
	json_int_t n;

	if (!json_is_integer(v))
		return false;
	n = json_integer_value(v);
	if (n < 0 || (uint64_t)n > max)
		return false;
	*out = (uint64_t)n;
	return true;
}

bool vgw_get_epoch(const json_t *v, uint64_t *out)
{
	const char *s = json_string_value(v);
	uint64_t n = 0;

	if (!s)
		return vgw_get_uint(v, INT64_MAX, out);
	if (!*s || strlen(s) > 18)
		return false;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return false;
		n = n * 10 + (uint64_t)(*s - '0');
	}
	*out = n;
	return true;
}

bool vgw_get_id(const json_t *v, uint64_t *out)
{
	const char *s = json_string_value(v);

	return s ? discord_snowflake(s, out) : vgw_get_uint(v, INT64_MAX, out) && *out;
}

bool vgw_get_key(const json_t *v, uint8_t key[32])
{
	uint64_t n;

	if (!json_is_array(v) || json_array_size(v) != 32)
		return false;
	for (size_t i = 0; i < 32; i++) {
		if (!vgw_get_uint(json_array_get(v, i), 255, &n))
			return false;
		key[i] = (uint8_t)n;
	}
	return true;
}

const char *vgw_pick_mode(const json_t *offered, const char *const *modes)
{
	for (; *modes; modes++) {
		for (size_t i = 0; i < json_array_size(offered); i++) {
			const char *m = json_string_value(json_array_get(offered, i));

			if (m && strcmp(m, *modes) == 0)
				return *modes;
		}
	}
	return NULL;
}
