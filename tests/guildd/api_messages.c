/* Control API: what people write. */
#include "tests/guildd/api_inside.h"

#include <errno.h>

#include "tests/guildd/messages.h"
#include "tests/guildd/objects.h"

/* The message of id[1] in the channel of id[0]; NULL: answered with 404. */
static json_t *message_of(struct api_call *c, struct gd_channel **ch, size_t *at)
{
	json_t *m;

	*ch = api_channel(c);
	if (!*ch)
		return NULL;
	m = gd_message_find(*ch, c->id[1], at);
	if (!m)
		api_result(c, ENOENT);
	return m;
}

static struct gd_user *user_of(struct api_call *c)
{
	struct gd_user *u = gd_user_find(c->g->world, api_number(c, "user_id", 0));

	if (!u)
		api_result(c, ENOENT);
	return u;
}

/* As Discord shows a forwarded message: without who wrote it. */
static void forward(struct api_call *c, json_t *body)
{
	const json_t *what = json_object_get(c->body, "forward");
	struct gd_channel *from =
		gd_channel_find(c->g->world, gd_id(json_object_get(what, "channel_id")));
	json_t *of = from ? gd_message_find(from, gd_id(json_object_get(what, "message_id")), NULL)
			  : NULL;

	if (!of)
		return;
	json_object_set_new(body, "message_reference",
			    json_pack("{s:i, s:O, s:O}", "type", 1, "channel_id",
				      json_object_get(of, "channel_id"), "message_id",
				      json_object_get(of, "id")));
	json_object_set_new(body, "message_snapshots",
			    json_pack("[{s:{s:O, s:O, s:O, s:O, s:O}}]", "message", "type",
				      json_object_get(of, "type"), "content",
				      json_object_get(of, "content"), "embeds",
				      json_object_get(of, "embeds"), "attachments",
				      json_object_get(of, "attachments"), "timestamp",
				      json_object_get(of, "timestamp")));
}

void api_message(struct api_call *c)
{
	struct gd_channel *ch = api_channel(c);
	struct gd_user *u = ch ? user_of(c) : NULL;
	uint64_t reply_to = api_number(c, "reply_to", 0);
	json_t *body, *m = NULL;
	int err;

	if (!u)
		return;
	body = json_copy((json_t *)(uintptr_t)c->body);
	if (reply_to)
		json_object_set_new(body, "message_reference",
				    json_pack("{s:o}", "message_id", gd_id_json(reply_to)));
	forward(c, body);
	err = gd_message_post(c->g, ch, u, api_text(c, "content", ""), reply_to ? 19 : 0, 0, body,
			      &m);
	json_decref(body);
	if (err)
		api_result(c, err);
	else
		api_ok(c, m);
}

void api_messages(struct api_call *c)
{
	struct gd_channel *ch = api_channel(c);
	json_t *list;

	if (!ch)
		return;
	list = json_array();
	for (size_t i = 0; i < ch->messages.n; i++)
		json_array_append(list, ch->messages.v[i]);
	api_ok(c, list);
}

void api_message_edit(struct api_call *c)
{
	struct gd_channel *ch;
	json_t *m = message_of(c, &ch, NULL);

	if (!m)
		return;
	gd_message_edit(c->g, m, api_text(c, "content", ""),
			json_object_get(c->body, "attachments"));
	api_ok(c, NULL);
}

void api_message_delete(struct api_call *c)
{
	struct gd_channel *ch;
	size_t at;

	if (!message_of(c, &ch, &at))
		return;
	gd_message_delete(c->g, ch, at);
	api_ok(c, NULL);
}

void api_messages_delete(struct api_call *c)
{
	struct gd_channel *ch = api_channel(c);

	if (!ch)
		return;
	gd_messages_delete(c->g, ch, json_object_get(c->body, "messages"));
	api_ok(c, NULL);
}

void api_reaction(struct api_call *c)
{
	struct gd_channel *ch;
	json_t *m = message_of(c, &ch, NULL);
	struct gd_user *u = m ? user_of(c) : NULL;

	if (!u)
		return;
	gd_reaction_add(c->g, ch, m, u, api_text(c, "emoji", ""));
	api_ok(c, NULL);
}

void api_direct(struct api_call *c)
{
	struct gd_channel *ch = NULL;
	int err = gd_user_find(c->g->world, c->id[0])
			  ? gd_dm_open(c->g->world, &ch, c->id[0],
				       api_number(c, "bot_id", GD_DEFAULT_BOT))
			  : ENOENT;

	if (err) {
		api_result(c, err);
		return;
	}
	ch->closed = json_is_true(json_object_get(c->body, "closed"));
	api_ok(c, json_pack("{s:o}", "id", gd_id_json(ch->id)));
}
