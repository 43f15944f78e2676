#include "tests/guildd/messages.h"

#include <errno.h>
#include <string.h>

#include "tests/guildd/gateway.h"
#include "tests/guildd/objects.h"
#include "tests/guildd/rest.h"
#include "tests/guildd/threads.h"

#include "ipc/env.h"

enum { REPLY = 19, THREAD_STARTER = 21 };

/* As Discord completes a reply, or the first message of a thread that was started from one: where
 * the other message stands (c), and the message itself, without the one that it replies to. */
static void complete_reply(struct gd_channel *c, json_t *m, bool pings)
{
	json_t *reference = json_deep_copy(json_object_get(m, "message_reference"));
	json_t *of = gd_message_find(c, gd_id(json_object_get(reference, "message_id")), NULL);
	json_t *shown = of ? json_copy(of) : NULL;
	json_t *author = json_object_get(of, "author");

	json_object_set_new(reference, "type", json_integer(0));
	json_object_set_new(reference, "channel_id", gd_id_json(c->id));
	if (c->guild)
		json_object_set_new(reference, "guild_id", gd_id_json(c->guild));
	json_object_set_new(m, "message_reference", reference);
	if (shown)
		json_object_del(shown, "referenced_message");
	if (pings && author && !gd_message_mentions(m, gd_id(json_object_get(author, "id"))))
		json_array_append(json_object_get(m, "mentions"), author);
	json_object_set_new(m, "referenced_message", shown ? shown : json_null());
}

int gd_message_post(struct guildd *g, struct gd_channel *c, const struct gd_user *author,
		    const char *content, int type, uint32_t flags, const json_t *body, json_t **out)
{
	struct gd_guild *guild = gd_guild_find(g->world, c->guild);
	struct gd_channel *parent = c->parent ? gd_channel_find(g->world, c->parent) : NULL;
	bool post = parent && parent->type == GD_CHANNEL_FORUM && !c->last_message;
	struct gd_message_in in = {.id = post ? c->id
					      : gd_world_id_at(g->world, env_wall_ms(g->env)),
				   .channel = c->id,
				   .guild = c->guild,
				   .now_ms = env_wall_ms(g->env),
				   .author = author,
				   .member = guild ? gd_member_find(guild, author->id) : NULL,
				   .content = content,
				   .type = type,
				   .flags = flags,
				   .body = body};
	json_t *given = json_object_get(body, "attachments");
	json_t *m = gd_message_json(g->world, &in);

	/* Whoever writes in an archived thread opens it again. */
	if (c->archived)
		gd_thread_archive(g, c, false, c->locked);
	if (m && given)
		json_object_set_new(m, "attachments", gd_rest_files(g->rest, c->id, given));
	if (m && type == THREAD_STARTER && parent)
		complete_reply(parent, m, false);
	if (m && type == REPLY)
		complete_reply(c, m, !author->bot && !json_is_false(json_object_get(body, "ping")));
	if (!m || gd_message_keep(c, m)) {
		json_decref(m);
		return ENOMEM;
	}
	gd_gateway_message(g, "MESSAGE_CREATE", m);
	if (out)
		*out = json_incref(m);
	json_decref(m);
	return 0;
}

/* kept: [{"id"}] of the files that it still has; NULL: all. */
static void keep_files(json_t *m, const json_t *kept)
{
	json_t *files = json_object_get(m, "attachments"), *left = json_array(), *file;
	const json_t *one;
	size_t i, k;

	json_array_foreach(files, i, file)
	{
		json_array_foreach(kept, k, one)
		{
			if (json_equal(json_object_get(one, "id"), json_object_get(file, "id")))
				json_array_append(left, file);
		}
	}
	json_object_set_new(m, "attachments", left);
}

void gd_message_edit(struct guildd *g, json_t *m, const char *content, const json_t *kept)
{
	struct gd_message_in in = {
		.content = content,
		.author = gd_user_find(g->world,
				       gd_id(json_object_get(json_object_get(m, "author"), "id")))};
	json_t *fresh = in.author ? gd_message_json(g->world, &in) : NULL;

	/* Its mentions are those of the new text. */
	json_object_set(m, "mentions", json_object_get(fresh, "mentions"));
	if (kept)
		keep_files(m, kept);
	json_object_set_new(m, "content", json_string(content));
	json_object_set_new(m, "edited_timestamp", gd_time_json(env_wall_ms(g->env)));
	json_decref(fresh);
	gd_gateway_message(g, "MESSAGE_UPDATE", m);
}

void gd_message_delete(struct guildd *g, struct gd_channel *c, size_t at)
{
	json_t *m = gd_vec_take(&c->messages, at);

	gd_gateway_about(g, c, GD_INTENT_MESSAGES, "MESSAGE_DELETE",
			 json_pack("{s:O, s:o}", "id", json_object_get(m, "id"), "channel_id",
				   gd_id_json(c->id)));
	json_decref(m);
}

void gd_messages_delete(struct guildd *g, struct gd_channel *c, const json_t *ids)
{
	json_t *gone = json_array();
	const json_t *id;
	size_t i, at;

	json_array_foreach(ids, i, id)
	{
		if (!gd_message_find(c, gd_id(id), &at))
			continue;
		json_decref(gd_vec_take(&c->messages, at));
		json_array_append(gone, (json_t *)(uintptr_t)id);
	}
	gd_gateway_about(g, c, GD_INTENT_MESSAGES, "MESSAGE_DELETE_BULK",
			 json_pack("{s:o, s:o}", "ids", gone, "channel_id", gd_id_json(c->id)));
}

void gd_reaction_add(struct guildd *g, const struct gd_channel *c, json_t *m,
		     const struct gd_user *user, const char *emoji)
{
	json_t *list = json_object_get(m, "reactions"), *r;
	size_t i;

	/* Nobody puts the same one twice; only of bots it is known who put it. */
	json_array_foreach(list, i, r)
	{
		const char *name =
			json_string_value(json_object_get(json_object_get(r, "emoji"), "name"));

		if (user->bot && json_is_true(json_object_get(r, "me")) && strcmp(name, emoji) == 0)
			return;
	}
	if (!list) {
		list = json_array();
		json_object_set_new(m, "reactions", list);
	}
	json_array_append_new(list, json_pack("{s:{s:n, s:s}, s:i, s:b}", "emoji", "id", "name",
					      emoji, "count", 1, "me", user->bot));
	gd_gateway_about(g, c, GD_INTENT_REACTIONS, "MESSAGE_REACTION_ADD",
			 json_pack("{s:o, s:o, s:O, s:O, s:{s:n, s:s}, s:b, s:i}", "user_id",
				   gd_id_json(user->id), "channel_id", gd_id_json(c->id),
				   "message_id", json_object_get(m, "id"), "message_author_id",
				   json_object_get(json_object_get(m, "author"), "id"), "emoji",
				   "id", "name", emoji, "burst", 0, "type", 0));
}
