/* REST routes about threads ("Start Thread …", "Join Thread", "List Active Guild Threads"). */
#include "tests/guildd/rest_inside.h"

#include <errno.h>

#include "tests/guildd/objects.h"
#include "tests/guildd/threads.h"

static void start(struct rest_call *c, uint64_t message)
{
	const json_t *post = json_object_get(json_object_get(c->body, "message"), "content");
	const char *name = json_string_value(json_object_get(c->body, "name"));
	const struct gd_thread_in in = {
		.owner = c->bot->user,
		.name = name,
		.message = message,
		.private = json_integer_value(json_object_get(c->body, "type")) ==
			   GD_CHANNEL_PRIVATE_THREAD,
		.content = json_string_value(post)};
	struct gd_channel *parent = rest_channel_of(c, GD_PERM_THREADS), *t = NULL;
	int err;

	if (!parent)
		return;
	if (!name || !*name || json_string_length(json_object_get(c->body, "name")) > 100) {
		rest_bad_field(c, "name", "Must be between 1 and 100 in length.");
		return;
	}
	err = gd_thread_start(c->g, &t, parent, &in);
	if (err == EEXIST)
		rest_error(c, 400, 160004, "A thread has already been created for this message");
	else if (err == ENOENT)
		rest_error(c, 404, 10008, "Unknown Message");
	else if (err)
		rest_error(c, 400, 50024, "Cannot execute action on this channel type");
	else
		rest_status(c, 201, gd_channel_json(t));
}

void rest_thread_post(struct rest_call *c)
{
	start(c, 0);
}

void rest_message_thread(struct rest_call *c)
{
	start(c, c->id[1]);
}

/* The thread of id[0]; NULL: answered. */
static struct gd_channel *thread_of(struct rest_call *c)
{
	struct gd_channel *t = rest_channel_of(c, 0);

	if (t && !gd_channel_is_thread(t)) {
		rest_error(c, 400, 50024, "Cannot execute action on this channel type");
		return NULL;
	}
	return t;
}

void rest_thread_join(struct rest_call *c)
{
	struct gd_channel *t = thread_of(c);

	if (!t)
		return;
	gd_thread_join(c->g, t, c->bot->user);
	rest_empty(c);
}

void rest_thread_leave(struct rest_call *c)
{
	struct gd_channel *t = thread_of(c);

	if (!t)
		return;
	gd_thread_leave(c->g, t, c->bot->user);
	rest_empty(c);
}

void rest_thread_members(struct rest_call *c)
{
	struct gd_channel *t = thread_of(c);

	if (t)
		rest_ok(c, gd_thread_members_json(t));
}

/* "Modify Channel", of threads alone: archived and locked. */
void rest_channel_patch(struct rest_call *c)
{
	const json_t *archived = json_object_get(c->body, "archived");
	const json_t *locked = json_object_get(c->body, "locked");
	struct gd_channel *t = thread_of(c);

	if (!t)
		return;
	if (json_is_boolean(archived) || json_is_boolean(locked))
		gd_thread_archive(c->g, t, archived ? json_is_true(archived) : t->archived,
				  locked ? json_is_true(locked) : t->locked);
	rest_ok(c, gd_channel_json(t));
}

/* "Delete/Close Channel", of threads alone. */
void rest_channel_delete(struct rest_call *c)
{
	struct gd_channel *t = thread_of(c);
	json_t *was;

	if (!t)
		return;
	was = gd_channel_json(t);
	gd_thread_delete(c->g, t);
	rest_ok(c, was);
}

void rest_guild_threads(struct rest_call *c)
{
	struct gd_guild *guild = rest_guild_of(c, 0);

	if (guild)
		rest_ok(c, json_pack("{s:o, s:[]}", "threads",
				     gd_threads_json(guild, c->bot->user->id), "members"));
}
