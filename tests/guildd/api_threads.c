/* Control API: threads and forum posts. */
#include "tests/guildd/api_inside.h"

#include <errno.h>

#include "tests/guildd/objects.h"
#include "tests/guildd/threads.h"

void api_thread_start(struct api_call *c)
{
	struct gd_channel *parent = api_channel(c), *t = NULL;
	struct gd_thread_in in = {.owner = gd_user_find(c->g->world, api_number(c, "user_id", 0)),
				  .name = api_text(c, "name", "thread"),
				  .message = api_number(c, "message_id", 0),
				  .private = json_is_true(json_object_get(c->body, "private")),
				  .content =
					  json_string_value(json_object_get(c->body, "content"))};
	int err;

	if (!parent)
		return;
	err = in.owner ? gd_thread_start(c->g, &t, parent, &in) : ENOENT;
	if (err)
		api_result(c, err);
	else
		api_ok(c, json_pack("{s:o}", "id", gd_id_json(t->id)));
}

/* The thread of id[0]; NULL: answered. */
static struct gd_channel *thread_of(struct api_call *c)
{
	struct gd_channel *t = api_channel(c);

	if (t && !gd_channel_is_thread(t)) {
		api_wrong(c, "it is no thread");
		return NULL;
	}
	return t;
}

void api_thread_set(struct api_call *c)
{
	struct gd_channel *t = thread_of(c);

	if (!t)
		return;
	gd_thread_archive(c->g, t, json_is_true(json_object_get(c->body, "archived")),
			  json_is_true(json_object_get(c->body, "locked")));
	api_ok(c, NULL);
}

void api_thread_remove(struct api_call *c)
{
	struct gd_channel *t = thread_of(c);

	if (!t)
		return;
	gd_thread_delete(c->g, t);
	api_ok(c, NULL);
}

void api_thread_join(struct api_call *c)
{
	struct gd_channel *t = thread_of(c);
	struct gd_user *u = t ? gd_user_find(c->g->world, c->id[1]) : NULL;

	if (t)
		api_result(c, u ? gd_thread_join(c->g, t, u) : ENOENT);
}
