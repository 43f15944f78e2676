/* Control API: who is in which voice channel, and everything that can go wrong with a connection.
 */
#include "tests/guildd/api_inside.h"

#include "tests/guildd/calls.h"
#include "tests/guildd/dave.h"
#include "tests/guildd/gateway.h"
#include "tests/guildd/golive.h"
#include "tests/guildd/objects.h"
#include "tests/guildd/relay.h"
#include "tests/guildd/voice.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_main(const struct api_call *c)
{
	return strcmp(api_text(c, "which", "voice"), "main") == 0;
}

static void answer(struct api_call *c, bool there)
{
	api_result(c, there ? 0 : ENOTCONN);
}

/* What the user's application would learn from the main gateway. */
static json_t *lease_json(struct guildd *g, const struct gd_vstate *v)
{
	return json_pack("{s:o, s:o, s:o, s:s, s:s, s:s}", "guild_id", gd_id_json(v->guild),
			 "channel_id", gd_id_json(v->channel), "user_id", gd_id_json(v->user),
			 "session_id", v->session, "token", v->token, "endpoint",
			 gd_voice_endpoint(g->voice));
}

void api_join(struct api_call *c)
{
	struct gd_channel *ch =
		gd_channel_find(c->g->world, api_number(c, "channel_id", GD_DEFAULT_VOICE));
	struct gd_join_req req = {.guild = ch ? ch->guild : 0,
				  .user = c->id[0],
				  .channel = ch ? ch->id : 0,
				  .self_mute = json_is_true(json_object_get(c->body, "self_mute")),
				  .self_deaf = json_is_true(json_object_get(c->body, "self_deaf")),
				  .forced = true,
				  .fresh = true};
	struct gd_vstate *v;

	if (gd_call_join(c->g, &req, &v) == GD_JOIN_OK)
		api_ok(c, lease_json(c->g, v));
	else
		api_result(c, ENOENT);
}

void api_stream(struct api_call *c)
{
	struct gd_vstate *v = api_vstate(c);
	char key[GD_STREAM_KEY];
	struct gd_golive *l;

	if (!v)
		return;
	snprintf(key, sizeof(key), "guild:%" PRIu64 ":%" PRIu64 ":%" PRIu64, v->guild, v->channel,
		 v->user);
	if (json_is_true(json_object_get(c->body, "stop"))) {
		gd_golive_delete(c->g, v->user, key);
		api_ok(c, NULL);
		return;
	}
	gd_golive_create(c->g, v->user, v->guild, v->channel);
	l = gd_golive_of_key(c->g, key);
	if (l)
		api_ok(c, lease_json(c->g, gd_golive_lease(l, v->user)));
	else
		api_result(c, EACCES);
}

void api_leave(struct api_call *c)
{
	struct gd_vstate *v = api_vstate(c);

	if (!v)
		return;
	gd_call_leave(c->g, v, 4014);
	api_ok(c, NULL);
}

void api_move(struct api_call *c)
{
	struct gd_vstate *v = api_vstate(c);
	struct gd_join_req req = {
		.user = c->id[0], .channel = api_number(c, "channel_id", 0), .forced = true};

	if (!v)
		return;
	req.guild = v->guild;
	req.self_mute = v->self_mute;
	req.self_deaf = v->self_deaf;
	if (gd_call_join(c->g, &req, &v) == GD_JOIN_OK)
		api_ok(c, lease_json(c->g, v));
	else
		api_result(c, ENOENT);
}

void api_new_server(struct api_call *c)
{
	struct gd_vstate *v = api_vstate(c);

	if (!v)
		return;
	gd_call_new_server(c->g, v);
	api_ok(c, lease_json(c->g, v));
}

void api_secrets(struct api_call *c)
{
	json_t *secrets = gd_voice_secrets(c->g->voice, c->id[0]);

	if (secrets)
		api_ok(c, secrets);
	else
		api_result(c, ENOENT);
}

void api_no_server(struct api_call *c)
{
	struct gd_vstate *v = api_vstate(c);

	if (!v)
		return;
	gd_call_no_server(c->g, v);
	api_ok(c, NULL);
}

void api_drop(struct api_call *c)
{
	if (!is_main(c) && json_is_true(json_object_get(c->body, "silent")))
		answer(c, gd_voice_forget(c->g->voice, c->id[0]));
	else
		answer(c, is_main(c) ? gd_gateway_abort(c->g->gateway, c->id[0])
				     : gd_voice_abort(c->g->voice, api_number(c, "guild_id", 0),
						      c->id[0]));
}

void api_close(struct api_call *c)
{
	uint64_t code = api_number(c, "code", 0);
	const char *reason = api_text(c, "reason", "asked for");

	if (code < 1000 || code > 4999)
		api_wrong(c, "code is 1000 to 4999");
	else if (is_main(c))
		answer(c, gd_gateway_close(c->g->gateway, c->id[0], (uint16_t)code, reason));
	else
		answer(c, gd_voice_close(c->g->voice, api_number(c, "guild_id", 0), c->id[0],
					 (uint16_t)code, reason));
}

/* Bytes of a text of hexadecimal digits; 0: it is none, or longer than the space. */
static size_t read_hex(const char *text, uint8_t *out, size_t size)
{
	size_t n = strlen(text) / 2;
	unsigned byte;

	if (strlen(text) % 2 || n > size)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return 0;
		out[i] = (uint8_t)byte;
	}
	return n;
}

void api_send(struct api_call *c)
{
	const json_t *given = json_object_get(c->body, "d");
	const char *event = api_text(c, "event", ""), *raw = api_text(c, "raw", "");
	const char *hex = api_text(c, "hex", "");
	int op = (int)api_number(c, "op", 0);
	json_t *d = given ? json_deep_copy(given) : json_null();
	uint8_t bytes[1400];
	size_t n = read_hex(hex, bytes, sizeof(bytes));

	if (!is_main(c) && *raw)
		answer(c, gd_voice_send_raw(c->g->voice, c->id[0], true, raw, strlen(raw)));
	else if (!is_main(c) && n)
		answer(c, gd_voice_send_raw(c->g->voice, c->id[0], false, bytes, n));
	else if (is_main(c) && *event)
		answer(c, gd_gateway_event_user(c->g, c->id[0], event, json_incref(d)));
	else if (is_main(c))
		answer(c, gd_gateway_send(c->g->gateway, c->id[0], op, d));
	else
		answer(c, gd_voice_send(c->g->voice, c->id[0], op, d,
					!json_is_false(json_object_get(c->body, "seq"))));
	json_decref(d);
}

void api_datagrams(struct api_call *c)
{
	const json_t *text;
	uint8_t bytes[1400];
	bool any = false;
	size_t i, n;

	json_array_foreach(json_object_get(c->body, "hex"), i, text)
	{
		n = json_is_string(text) ? read_hex(json_string_value(text), bytes, sizeof(bytes))
					 : 0;
		if (!n) {
			api_wrong(c, "hex is a list of texts of hexadecimal digits");
			return;
		}
		any = gd_relay_send_raw(c->g->relay, c->id[0], bytes, n) || any;
	}
	answer(c, any);
}

void api_voice_fault(struct api_call *c)
{
	const json_t *op = json_object_get(c->body, "op");

	api_result(c, gd_voice_fault(c->g->voice, c->id[0],
				     json_is_integer(op) ? (int)json_integer_value(op) : -1,
				     api_text(c, "what", ""), (unsigned)api_number(c, "times", 1),
				     (unsigned)api_number(c, "ms", 0)));
}

void api_forwarded(struct api_call *c)
{
	api_ok(c, json_pack("{s:o}", "streams", gd_relay_forwarded(c->g->relay, c->id[0])));
}

void api_dave_get(struct api_call *c)
{
	json_t *o = gd_dave_channel_json(c->g->dave, c->id[0]);

	if (o)
		api_ok(c, o);
	else
		api_result(c, ENOENT);
}

void api_dave_fault(struct api_call *c)
{
	api_result(c, gd_dave_fault(c->g->dave, c->id[0], api_text(c, "what", ""),
				    api_number(c, "value", 0)));
}

void api_invalidate(struct api_call *c)
{
	answer(c, gd_gateway_invalidate(c->g->gateway, c->id[0]));
}

void api_crash(struct api_call *c)
{
	gd_voice_close(c->g->voice, 0, 0, 4015, "Voice server crashed.");
	api_ok(c, NULL);
}
