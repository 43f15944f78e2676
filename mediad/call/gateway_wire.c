#include "mediad/call/gateway_wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mediad/call/gateway.h"
#include "mediad/video/codec.h"
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
			const char *token, bool stream)
{
	char g[24], u[24];
	json_t *root = json_pack("{s:i,s:{s:s,s:s,s:s,s:s,s:i}}", "op", VOICE_OP_IDENTIFY, "d",
				 "server_id", format_id(g, guild), "user_id", format_id(u, user),
				 "session_id", session, "token", token, "max_dave_protocol_version",
				 VGW_DAVE_VERSION);

	if (root && stream &&
	    json_object_update_new(json_object_get(root, "d"),
				   json_pack("{s:b,s:[{s:s,s:s,s:i}]}", "video", 1, "streams",
					     "type", "screen", "rid", "100", "quality", 100))) {
		json_decref(root);
		root = NULL;
	}
	return dump_json(root, buf, cap);
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

/* Every codec that we can read, and of those that we can write the one that we do. */
static int add_video_codecs(json_t *codecs, const char *encode)
{
	int priority = 2000, err = 0;

#define X(NAME, wire, pt, rtx)                                                                     \
	err |= json_array_append_new(                                                              \
		codecs, json_pack("{s:s,s:s,s:i,s:i,s:i,s:b,s:b}", "name", wire, "type", "video",  \
				  "priority", priority, "payload_type", pt, "rtx_payload_type",    \
				  rtx, "encode", strcmp(encode, wire) == 0, "decode", 1));         \
	priority += 1000;
	VIDEO_CODECS(X)
#undef X
	return err;
}

size_t vgw_put_select(char *buf, size_t cap, const char *ip, uint16_t port, const char *mode,
		      const char *encode)
{
	json_t *codecs = json_pack("[{s:s,s:s,s:i,s:i}]", "name", "opus", "type", "audio",
				   "priority", 1000, "payload_type", 120);

	if (!codecs || (encode && add_video_codecs(codecs, encode))) {
		json_decref(codecs);
		return 0;
	}
	return dump_json(json_pack("{s:i,s:{s:s,s:{s:s,s:i,s:s},s:o}}", "op",
				   VOICE_OP_SELECT_PROTOCOL, "d", "protocol", "udp", "data",
				   "address", ip, "port", (int)port, "mode", mode, "codecs",
				   codecs),
			 buf, cap);
}

size_t vgw_put_heartbeat(char *buf, size_t cap, uint64_t nonce, int seq)
{
	return dump_json(json_pack("{s:i,s:{s:I,s:i}}", "op", VOICE_OP_HEARTBEAT, "d", "t",
				   (json_int_t)nonce, "seq_ack", seq),
			 buf, cap);
}

size_t vgw_put_speaking(char *buf, size_t cap, unsigned flags, uint32_t ssrc)
{
	return dump_json(json_pack("{s:i,s:{s:i,s:i,s:I}}", "op", VOICE_OP_SPEAKING, "d",
				   "speaking", (int)flags, "delay", 0, "ssrc", (json_int_t)ssrc),
			 buf, cap);
}

size_t vgw_put_video(char *buf, size_t cap, uint32_t audio, const struct vgw_video *v)
{
	json_t *streams = json_array();
	json_int_t ssrc = v->ssrc, rtx = v->ssrc ? v->rtx_ssrc : 0;

	if (!streams ||
	    (ssrc &&
	     json_array_append_new(streams,
				   json_pack("{s:s,s:s,s:I,s:I,s:b,s:i,s:i,s:i,s:{s:s,s:i,s:i}}",
					     "type", "screen", "rid", "100", "ssrc", ssrc,
					     "rtx_ssrc", rtx, "active", 1, "quality", 100,
					     "max_bitrate", (int)v->bitrate, "max_framerate",
					     (int)v->fps, "max_resolution", "type", "fixed",
					     "width", (int)v->width, "height", (int)v->height)))) {
		json_decref(streams);
		return 0;
	}
	return dump_json(json_pack("{s:i,s:{s:I,s:I,s:I,s:o}}", "op", VOICE_OP_VIDEO, "d",
				   "audio_ssrc", (json_int_t)audio, "video_ssrc", ssrc, "rtx_ssrc",
				   rtx, "streams", streams),
			 buf, cap);
}

size_t vgw_put_wants(char *buf, size_t cap, const uint32_t *ssrcs, const uint8_t *qualities,
		     unsigned n)
{
	json_t *wants = json_pack("{s:i}", "any", 0);
	char key[12];

	for (unsigned i = 0; wants && i < n; i++) {
		snprintf(key, sizeof key, "%" PRIu32, ssrcs[i]);
		if (!json_object_set_new(wants, key, json_integer(qualities[i])))
			continue;
		json_decref(wants);
		wants = NULL;
	}
	if (!wants)
		return 0;
	return dump_json(json_pack("{s:i,s:o}", "op", VOICE_OP_MEDIA_SINK_WANTS, "d", wants), buf,
			 cap);
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
