#include "control/tools/builtin/builtins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "control/tools/builtin/inside.h"
#include "control/tools/builtin/web.h"
#include "proto/media.h"

static const struct {
	const char *name;
	builtin_start *start;
} starts[] = {
#define X(NAME, name, ...) {#name, builtin_##name},
	TOOLS(X)
#undef X
};

int builtin_give(struct builtins *b, uint32_t id, json_t *output)
{
	char *text = output ? json_dumps(output, JSON_COMPACT) : NULL;

	json_decref(output);
	if (!text)
		return ENOMEM;
	b->host.outputh(id, true, slice_str(text), b->host.arg);
	free(text);
	return 0;
}

static int start(const struct tool_start *call, void *arg)
{
	json_t *arguments = json_loads(call->arguments, 0, NULL);
	int err = arguments ? ENOENT : ENOMEM;

	for (size_t i = 0; err == ENOENT && i < sizeof starts / sizeof starts[0]; i++)
		if (strcmp(starts[i].name, call->tool) == 0)
			err = starts[i].start(arg, call, arguments);
	json_decref(arguments);
	return err;
}

static void cancel(uint32_t id, void *arg)
{
	struct builtins *b = arg;

	builtin_web_cancel(b->web, id);
	if (b->host.music_cancelh)
		b->host.music_cancelh(id, b->host.arg);
	if (b->host.look_cancelh)
		b->host.look_cancelh(id, b->host.arg);
}

static const struct tool_shell shell = {.start = start, .cancel = cancel};

/* True if there is what the tool is about: text chat has no voice channel. */
static bool fits_host(const struct tool_host *h, const char *name)
{
	const struct {
		const char *name;
		bool has;
	} needs[] = {{"stay_silent", h->leaveh},	 {"note_context", h->leaveh},
		     {"voice_leave", h->leaveh},	 {"voice_join", h->joinh},
		     {"voice_status", h->statush},	 {"say_to_text_channel", h->writeh},
		     {"soundboard", h->soundh},		 {"conversation_search", h->searchh},
		     {"start_screen_watch", h->screenh}, {"stop_screen_watch", h->screenh},
		     {"list_screen_shares", h->screenh}, {"see_screenshare_snapshot", h->screenh}};

	for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
		if (strcmp(needs[i].name, name) == 0)
			return needs[i].has;
	return true;
}

/* True if the settings let the tool work at all. */
static bool is_wanted(const struct builtins *b, const char *name)
{
	unsigned service;

	if (!fits_host(&b->host, name))
		return false;
	if (strcmp(name, "web_search") == 0)
		return builtin_web_service(b->host.settings, &service);
	if (strcmp(name, "play_video_url") == 0 || strcmp(name, "start_music_visualizer") == 0 ||
	    strcmp(name, "stop_video_share") == 0)
		return b->host.screenh && b->host.video_shows;
	if (strcmp(name, "image_lookup") == 0)
		return b->host.lookh != NULL;
	if (strncmp(name, "memory_", 7) == 0)
		return b->host.rememberh && b->host.rememberh(b->host.arg);
	if (strcmp(name, "music_search") == 0)
		return b->host.musich && b->host.music_search;
	if (strcmp(name, "play_music_url") == 0)
		return b->host.musich && b->host.music_plays && b->host.music_web;
	if (strncmp(name, "music_", 6) == 0 || strncmp(name, "media_", 6) == 0)
		return b->host.musich && b->host.music_plays;
	return strcmp(name, "web_read") != 0 || b->host.settings->web_read;
}

int builtins_alloc(struct builtins **out, const struct tool_host *host)
{
	struct builtins *b = calloc(1, sizeof *b);

	if (!b)
		return ENOMEM;
	b->host = *host;
	if (builtin_web_alloc(&b->web, &b->host)) {
		free(b);
		return ENOMEM;
	}
	*out = b;
	return 0;
}

struct builtins *builtins_free(struct builtins *b)
{
	if (b)
		builtin_web_free(b->web);
	free(b);
	return NULL;
}

/* In writing the channel has no voice. */
static struct tool_row row_of(const struct builtins *b, const char *name)
{
	struct tool_row row = *tools_builtin(name);

	if (b->host.open && strcmp(name, "conversation_search") == 0)
		row.description = TOOL_SEARCH_WRITTEN;
	return row;
}

int builtins_add(struct builtins *b, struct tools_registry *registry)
{
	int err = 0;

	for (size_t i = 0; !err && i < sizeof starts / sizeof starts[0]; i++) {
		const struct tool_row row = row_of(b, starts[i].name);

		if (is_wanted(b, row.name))
			err = tools_registry_add(registry, &row, &shell, b);
	}
	return err;
}
