#include "tests/guildd/threads.h"

#include <errno.h>

#include "tests/guildd/gateway.h"
#include "tests/guildd/messages.h"
#include "tests/guildd/objects.h"

#include "ipc/env.h"

enum { MESSAGE_THREAD_CREATED = 18, MESSAGE_THREAD_STARTER = 21 };

static void tell(struct guildd *g, const struct gd_channel *t, const char *event, bool created)
{
	json_t *d = gd_channel_json(t);

	if (d && created)
		json_object_set_new(d, "newly_created", json_true());
	gd_gateway_about(g, t, GD_INTENT_GUILDS, event, d);
}

static bool is_member(const struct gd_channel *t, uint64_t user)
{
	for (size_t i = 0; i < t->n_joined; i++)
		if (t->joined[i] == user)
			return true;
	return false;
}

static int add_member(struct gd_channel *t, uint64_t user)
{
	if (is_member(t, user))
		return 0;
	if (t->n_joined == GD_JOINED)
		return ENOMEM;
	t->joined[t->n_joined++] = user;
	return 0;
}

static json_t *member_json(const struct gd_channel *t, uint64_t user)
{
	return json_pack("{s:o, s:o, s:s, s:i}", "id", gd_id_json(t->id), "user_id",
			 gd_id_json(user), "join_timestamp", "2026-01-01T00:00:00.000000+00:00",
			 "flags", 0);
}

json_t *gd_thread_members_json(const struct gd_channel *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->n_joined; i++)
		json_array_append_new(list, member_json(t, t->joined[i]));
	return list;
}

/* The first message of a thread that was started from one tells of that, and has no words. */
static int post_starter(struct guildd *g, struct gd_channel *t, const struct gd_thread_in *in)
{
	json_t *body =
		json_pack("{s:{s:o}}", "message_reference", "message_id", gd_id_json(in->message));
	int err = body ? gd_message_post(g, t, in->owner, "", MESSAGE_THREAD_STARTER, 0, body, NULL)
		       : ENOMEM;

	json_decref(body);
	return err;
}

int gd_thread_start(struct guildd *g, struct gd_channel **out, struct gd_channel *parent,
		    const struct gd_thread_in *in)
{
	struct gd_guild *guild = gd_guild_find(g->world, parent->guild);
	bool forum = parent->type == GD_CHANNEL_FORUM;
	struct gd_channel *t;
	json_t *post = NULL;
	int err;

	if (!guild || (!forum && parent->type != GD_CHANNEL_TEXT) || (forum && in->message) ||
	    (forum && !in->content))
		return EINVAL;
	if (in->message && !gd_message_find(parent, in->message, NULL))
		return ENOENT;
	err = gd_channel_add(g->world, &t, guild,
			     in->message ? in->message
					 : gd_world_id_at(g->world, env_wall_ms(g->env)),
			     in->private ? GD_CHANNEL_PRIVATE_THREAD : GD_CHANNEL_THREAD, in->name);
	if (err)
		return err;
	t->parent = parent->id;
	t->owner = in->owner->id;
	add_member(t, in->owner->id);
	tell(g, t, "THREAD_CREATE", true);
	/* A post has the id of its thread. */
	if (forum)
		err = gd_message_post(g, t, in->owner, in->content, 0, 0, NULL, &post);
	else if (!in->message && !in->private)
		err = gd_message_post(g, parent, in->owner, in->name, MESSAGE_THREAD_CREATED, 0,
				      NULL, NULL);
	else if (in->message)
		err = post_starter(g, t, in);
	json_decref(post);
	*out = t;
	return err;
}

void gd_thread_archive(struct guildd *g, struct gd_channel *t, bool archived, bool locked)
{
	if (t->archived == archived && t->locked == locked)
		return;
	t->archived = archived;
	t->locked = locked;
	tell(g, t, "THREAD_UPDATE", false);
}

void gd_thread_delete(struct guildd *g, struct gd_channel *t)
{
	gd_gateway_about(g, t, GD_INTENT_GUILDS, "THREAD_DELETE",
			 json_pack("{s:o, s:o, s:i}", "id", gd_id_json(t->id), "parent_id",
				   gd_id_json(t->parent), "type", t->type));
	gd_channel_remove(g->world, t);
}

static void tell_members(struct guildd *g, const struct gd_channel *t, json_t *added, json_t *gone)
{
	gd_gateway_about(g, t, GD_INTENT_GUILDS, "THREAD_MEMBERS_UPDATE",
			 json_pack("{s:o, s:i, s:o, s:o}", "id", gd_id_json(t->id), "member_count",
				   (int)t->n_joined, "added_members", added, "removed_member_ids",
				   gone));
}

int gd_thread_join(struct guildd *g, struct gd_channel *t, const struct gd_user *user)
{
	int err;

	if (is_member(t, user->id))
		return 0;
	err = add_member(t, user->id);
	if (!err)
		tell_members(g, t, json_pack("[o]", member_json(t, user->id)), json_array());
	/* Whoever is added to a private thread learns that it exists. */
	if (!err && t->type == GD_CHANNEL_PRIVATE_THREAD)
		gd_gateway_event_user(g, user->id, "THREAD_CREATE", gd_channel_json(t));
	return err;
}

void gd_thread_leave(struct guildd *g, struct gd_channel *t, const struct gd_user *user)
{
	for (size_t i = 0; i < t->n_joined; i++)
		if (t->joined[i] == user->id) {
			t->joined[i] = t->joined[--t->n_joined];
			tell_members(g, t, json_array(), json_pack("[o]", gd_id_json(user->id)));
			return;
		}
}
