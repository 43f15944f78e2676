/* The tool image_lookup in a channel of text (inside.h): pictures of its last messages, and those
 * at addresses that people wrote there. An address that the model has from nowhere is not fetched:
 * it could carry what was said to whoever wants to know it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/attachments/looked.h"
#include "control/text/text_chat.h"
#include "control/text_session/tools_inside.h"
#include "ipc/env.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/media.h"

static void give(struct text_seat *seat, uint32_t id, bool ok, const char *text)
{
	tool_calls_feed(seat->calls, &(struct tool_input){.type = TOOL_IN_OUTPUT,
							  .id = id,
							  .ok = ok,
							  .text = slice_str(text)});
}

static void take_view(const struct view_result *got, void *arg)
{
	struct text_look *look = arg;
	struct text_seat *seat = look->seat;
	struct env *env = seat->g->ts->conf.env;
	uint8_t mark[UNTRUSTED_MARK];
	const char *why;
	char *text;
	uint32_t id = look->id;

	env_random(env, mark, sizeof mark);
	text = looked_text(got, look->name, look->by, (env_now(env) - look->at) / NS_PER_S, mark,
			   &why);
	look->seat = NULL;
	give(seat, id, text != NULL, text ? text : why);
	free(text);
}

/* The newest that fits. False: none does. */
static bool find_picture(const struct text_seat *seat, const char *query, struct text_look *look,
			 struct attached *file)
{
	const struct text_guild *g = seat->g;
	const struct text_attached *best = NULL;

	for (unsigned i = 0; i < TEXT_ATTACHED; i++) {
		const struct text_attached *a = &g->attached[i];

		if (!a->files || a->channel != seat->channel || (best && a->at < best->at))
			continue;
		for (unsigned k = 0; k < a->files->n; k++)
			if (a->files->v[k].kind == ATTACHED_IMAGE &&
			    looked_fits(query, a->files->v[k].name, a->name)) {
				best = a;
				*file = a->files->v[k];
			}
	}
	if (!best)
		return false;
	look->at = best->at;
	look->message = best->message;
	look->user = best->user;
	utf8_copy(look->name, sizeof look->name, file->name);
	utf8_copy(look->by, sizeof look->by, best->name);
	return true;
}

/* What somebody forwards, or an embed has, was written by others: so many addresses could stand
 * there that one of them tells what the model knows. */
static bool has_own_url(const struct text_line *line, const char *url)
{
	char *own = strndup(line->text, line->own);
	bool has = own && looked_has_url(own, url);

	free(own);
	return has;
}

/* The line of a person that has this address; NULL: none has. Borrowed until the next step. */
static const struct text_line *find_written(const struct text_seat *seat, const char *url)
{
	const struct text_line *lines = NULL;
	size_t n = text_chat_lines(seat->g->core, seat->channel, env_now(seat->g->ts->conf.env),
				   &lines);

	for (size_t i = 0; i < n; i++)
		if (!lines[i].bot && !lines[i].machine && has_own_url(&lines[i], url))
			return &lines[i];
	return NULL;
}

bool text_lookup_written(const char *url, void *arg)
{
	return find_written(arg, url) != NULL;
}

static struct text_look *free_look(struct text_seat *seat)
{
	for (unsigned i = 0; i < TEXT_LOOKS; i++)
		if (!seat->look[i].seat)
			return &seat->look[i];
	return NULL;
}

int text_lookup(uint32_t id, const struct tool_look *what, void *arg)
{
	struct text_seat *seat = arg;
	struct viewer *viewer = text_showing_viewer(seat->g);
	struct text_look *look = free_look(seat);
	const struct text_line *line;
	struct attached file;
	struct view_wish wish = {.file = &file, .question = what->question};
	struct view *view = NULL;
	int err;

	if (!viewer || !look)
		return viewer ? ENOSPC : ENOTSUP;
	*look = (struct text_look){.seat = seat, .id = id, .at = env_now(seat->g->ts->conf.env)};
	line = *what->url ? find_written(seat, what->url) : NULL;
	if (line) {
		wish.message = line->message;
		wish.user = line->user;
		utf8_copy(look->name, sizeof look->name, what->url);
		wish.file = NULL;
		wish.url = what->url;
	} else if (*what->url || !find_picture(seat, what->query, look, &file)) {
		look->seat = NULL;
		give(seat, id, false,
		     *what->url ? "nobody wrote that address in this channel"
				: "no such picture was attached to the last messages");
		return 0;
	} else {
		wish.message = look->message;
		wish.user = look->user;
	}
	err = viewer_look(&view, viewer, &wish, take_view, look);
	if (look->seat)
		look->view = view;
	if (err)
		look->seat = NULL;
	return err;
}

void text_lookup_cancel(uint32_t id, void *arg)
{
	struct text_seat *seat = arg;

	for (unsigned i = 0; i < TEXT_LOOKS; i++)
		if (seat->look[i].seat && (seat->look[i].id == id || !id)) {
			viewer_cancel(seat->look[i].view);
			seat->look[i].seat = NULL;
		}
}
