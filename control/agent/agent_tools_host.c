#include "control/agent/agent_tools_inside.h"

#include <errno.h>
#include <string.h>

#include "control/agent/agent_memory.h"
#include "control/agent/agent_music.h"
#include "control/agent/agent_screens.h"
#include "control/agent/screen_looks.h"
#include "control/attachments/looked.h"
#include "control/delegate/delegates.h"
#include "control/media/media.h"
#include "control/room/room.h"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum { MINUTE_S = 60 };
/* ---- outputs of the shells ---- */

void agent_tools_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	struct agent_tools *t = arg;

	if (!t)
		return;
	if (id & DELEGATE_NUMBER) {
		delegate_seat_output(t->delegate, id, ok, text);
		return;
	}
	agent_tools_feed(
		t, &(struct tool_input){.type = TOOL_IN_OUTPUT, .id = id, .ok = ok, .text = text});
}

static void take_cost(uint32_t id, const struct tool_cost *cost, void *arg)
{
	struct agent_tools *t = arg;

	if (id & DELEGATE_NUMBER) {
		agent_spend_tool(t->a, 0, "worker", cost);
		return;
	}
	tool_calls_cost(t->calls, id, cost);
}

static void take_progress(uint32_t id, const char *text, void *arg)
{
	if (id & DELEGATE_NUMBER)
		return;
	agent_tools_feed(arg, &(struct tool_input){
				      .type = TOOL_IN_PROGRESS, .id = id, .text = slice_str(text)});
}

/* ---- the room ---- */

static json_t *tell_status(void *arg)
{
	const struct agent_tools *t = arg;
	json_t *people = json_array();
	const char *name;
	unsigned place = 0;

	while (people && (name = room_person(t->a->room, &place)))
		json_array_append_new(people, json_string(name));
	return json_pack("{s:o,s:I}", "people", people, "minutes",
			 (json_int_t)((env_now(t->a->env) - t->up_at) / (MINUTE_S * NS_PER_S)));
}

static int write_text(const char *text, void *arg)
{
	const struct agent_tools *t = arg;
	struct words words = {0};

	if (!t->a->tellh)
		return ENOTSUP;
	utf8_copy(words.text, sizeof words.text, text);
	words.n = strlen(words.text);
	t->a->tellh(&words, t->a->arg);
	return 0;
}

static void keep_link(uint32_t turn, const char *title, const char *url, void *arg)
{
	struct agent_tools *t = arg;

	if (turn & DELEGATE_NUMBER)
		return; /* the worker names its sources itself */
	if (t->found_turn != turn) {
		t->found = (struct words){0};
		t->n_found = 0;
	}
	t->found_turn = turn;
	if (t->n_found >= t->a->settings->search_links)
		return;
	if (t->n_found++)
		words_line(&t->found);
	words_found_link(&t->found, title, url);
}

/* The call's number takes the place of the turn's. */
static int play_sound(uint32_t id, const char *name, void *arg)
{
	const struct agent_tools *t = arg;

	return agent_sounds_call(t->a->sounds, id, name);
}

bool agent_tools_sounded(struct agent_tools *t, uint32_t turn, uint32_t chunk, int err)
{
	if (!t || chunk != AGENT_SOUND_TOOL)
		return false;
	agent_tools_output(turn, !err, slice_str(err ? strerror(err) : "{\"played\":true}"), t);
	return true;
}

static int leave_after(uint32_t turn, uint64_t user, void *arg)
{
	struct agent_tools *t = arg;

	if (t->a->retainsh && t->a->retainsh(user, t->a->arg))
		return EPERM;
	t->leaves_after = turn;
	t->joins[0] = '\0';
	return 0;
}

static int join_after(uint32_t turn, uint64_t user, const char *name, void *arg)
{
	struct agent_tools *t = arg;
	int err = t->a->joinh ? t->a->joinh(user, name, false, t->a->arg) : ENOTSUP;

	if (err)
		return err;
	t->joins_for = user;
	t->leaves_after = turn;
	utf8_copy(t->joins, sizeof t->joins, name);
	return 0;
}

static int search_said(uint32_t id, const struct tool_said *what, void *arg)
{
	const struct agent_tools *t = arg;

	return agent_memory_search(t->memory, id, what);
}

static bool remembers(void *arg)
{
	const struct agent_tools *t = arg;

	return agent_memory_keeps(t->memory);
}

static uint64_t guild_of(void *arg)
{
	const struct agent_tools *t = arg;

	return media_call_want(t->a->call)->guild;
}

static int ask_memory(uint32_t id, const struct tool_memory *what, void *arg)
{
	const struct agent_tools *t = arg;

	return agent_memory_facts(t->memory, id, what);
}

static void tell_unwritten(unsigned facts, void *arg)
{
	const struct agent_tools *t = arg;

	agent_memory_unwritten(t->memory, facts);
}

static int ask_music(uint32_t id, const struct tool_music *what, void *arg)
{
	const struct agent_tools *t = arg;

	return agent_music_ask(t->a->music, id, what);
}

static void cancel_music(uint32_t id, void *arg)
{
	const struct agent_tools *t = arg;

	agent_music_cancel(t->a->music, id);
}

static int ask_screens(uint32_t id, const struct tool_screen *what, void *arg)
{
	const struct agent_tools *t = arg;

	return agent_screens_ask(t->a, id, what, agent_tools_output, arg);
}

static int look_again(uint32_t id, const struct tool_look *what, void *arg)
{
	const struct agent_tools *t = arg;

	return agent_pictures_look(t->a->pictures, id, what);
}

static void cancel_look(uint32_t id, void *arg)
{
	const struct agent_tools *t = arg;

	agent_pictures_cancel(t->a->pictures, id);
	screen_looks_cancel(t->a->looks, id);
	agent_screens_cancel(t->a, id);
}

static bool is_written(const char *url, void *arg)
{
	const struct agent_tools *t = arg;
	unsigned place = 0;
	const char *line;

	while ((line = room_written_line(t->a->room, &place)))
		if (looked_has_url(line, url))
			return true;
	return false;
}

struct tool_host agent_tools_host(struct agent_tools *t, struct http *http)
{
	return (struct tool_host){
		.env = t->a->env,
		.http = http,
		.settings = t->a->settings,
		.outputh = agent_tools_output,
		.costh = take_cost,
		.progressh = take_progress,
		.statush = tell_status,
		.writeh = write_text,
		.linkh = keep_link,
		.soundh = play_sound,
		.leaveh = leave_after,
		.joinh = join_after,
		.searchh = search_said,
		.rememberh = remembers,
		.guildh = guild_of,
		.memoryh = ask_memory,
		.unwrittenh = tell_unwritten,
		.musich = t->a->music ? ask_music : NULL,
		.music_cancelh = cancel_music,
		.lookh = agent_pictures_looks(t->a->pictures) ? look_again : NULL,
		.look_cancelh = cancel_look,
		.writtenh = is_written,
		.screenh = t->a->vision && t->a->settings->screen_watch ? ask_screens : NULL,
		.music_search = agent_music_searches(t->a->music),
		.music_plays = agent_music_plays(t->a->music),
		.music_web = agent_music_web(t->a->music),
		.video_shows = t->a->vision && vision_shows(t->a->vision),
		.arg = t};
}
