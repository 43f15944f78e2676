/* The servers that have a core at a time (inside.h). */
#include <stdlib.h>

#include "control/attachments/viewer.h"
#include "control/engine/roles.h"
#include "control/settings/ids.h"
#include "control/settings/settings.h"
#include "control/text/reading.h"
#include "control/text/text_chat.h"
#include "control/text_session/inside.h"
#include "control/text_session/tools_inside.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/discord.h"

struct text_guild *text_guild_free(struct text_guild *g)
{
	if (!g)
		return NULL;
	while (g->jobs)
		text_job_remove(g->jobs);
	text_tools_free(g);
	text_agreeing_free(g);
	text_working_free(g);
	roles_free(g->retired);
	text_showing_clear(g);
	viewer_free(g->viewer);
	roles_free(g->roles);
	text_chat_free(g->core);
	if (g->id && g->settings)
		g->ts->conf.releaseh(g->id, g->ts->conf.arg);
	free(g);
	return NULL;
}

struct text_guild *text_guild_find(const struct text_session *ts, uint64_t id)
{
	for (unsigned i = 0; i < ts->n_guilds; i++)
		if (ts->guild_id[i] == id)
			return ts->guild[i];
	return NULL;
}

static bool is_busy(const struct text_guild *g)
{
	return g->jobs || text_waiting(g->core) || text_asking_is_busy(g) || text_tools_busy(g) ||
	       g->workings;
}

/* The place of the server that is unused for the longest time, for an hour at least, and has
 * nothing under way. For somebody who addresses the bot a server will do in which people talk and
 * nobody has asked the bot for an hour: its limits have counted nothing since. TEXT_GUILDS: none.
 */
static unsigned idle_place(const struct text_session *ts, bool addressed)
{
	uint64_t now = env_now(ts->conf.env);
	unsigned best = TEXT_GUILDS;

	for (unsigned i = 0; i < ts->n_guilds; i++) {
		const struct text_guild *g = ts->guild[i];
		uint64_t since = addressed ? g->asked_at : g->used_at;

		if ((!since || now - since >= TEXT_IDLE_S * NS_PER_S) && !is_busy(g) &&
		    (best == TEXT_GUILDS || g->used_at < ts->guild[best]->used_at))
			best = i;
	}
	return best;
}

static void warn_full(struct text_session *ts, uint64_t guild)
{
	uint64_t now = env_now(ts->conf.env);

	if (ts->full_at && now - ts->full_at < TEXT_FULL_S * NS_PER_S)
		return;
	ts->full_at = now;
	log_warn("text_no_place",
		 "guild=%llu servers=%u text=\"text chat is under way in more servers within an "
		 "hour than one program serves\"",
		 (unsigned long long)guild, ts->n_guilds);
}

static bool make_room(struct text_session *ts, uint64_t guild, bool addressed)
{
	uint64_t now = env_now(ts->conf.env);
	unsigned place = idle_place(ts, addressed);

	if (place == TEXT_GUILDS || now - ts->guild[place]->used_at < TEXT_IDLE_S * NS_PER_S)
		warn_full(ts, guild);
	if (place == TEXT_GUILDS)
		return false;
	text_guild_free(ts->guild[place]);
	ts->guild[place] = ts->guild[--ts->n_guilds];
	ts->guild_id[place] = ts->guild_id[ts->n_guilds];
	return true;
}

struct text_guild *text_guild_open(struct text_session *ts, uint64_t id, bool addressed)
{
	struct text_guild *g = text_guild_find(ts, id);

	if (g || ts->stopped)
		return g;
	if (ts->n_guilds == TEXT_GUILDS && !make_room(ts, id, addressed))
		return NULL;
	g = calloc(1, sizeof *g);
	if (!g)
		return NULL;
	g->ts = ts;
	g->id = id;
	g->due = UINT64_MAX;
	g->used_at = env_now(ts->conf.env);
	g->numbers = text_tools_numbers(ts);
	g->settings = id ? ts->conf.settingsh(id, ts->conf.arg) : ts->conf.settings;
	g->zone = (struct server_zone){ts->conf.env, g->settings};
	if (text_chat_alloc(&g->core, g->settings, *ts->name ? ts->name : "Parley"))
		return text_guild_free(g);
	ts->guild_id[ts->n_guilds] = id;
	ts->guild[ts->n_guilds++] = g;
	text_taking_tell_posts(g);
	return g;
}

struct text_guild *text_session_open(struct text_session *ts, uint64_t id)
{
	return text_guild_open(ts, id, true);
}

bool text_session_uses(const struct text_session *ts, uint64_t guild)
{
	return ts && text_guild_find(ts, guild) != NULL;
}

/* ---- where its channels are ---- */

/* False if some channels are blocked, and all of them in other servers. */
static bool may_be_in_blocked(const struct text_session *ts, const struct settings *s,
			      uint64_t guild)
{
	const char *list = s->text_blocked_channels;
	uint64_t id;
	bool may = settings_ids_empty(list);

	while (!may && settings_ids_each(&list, &id))
		may = !ts->conf.elsewhereh || !ts->conf.elsewhereh(guild, id, ts->conf.arg);
	return may;
}

uint64_t text_session_parent_by(const struct text_session *ts, const struct settings *s,
				uint64_t guild, uint64_t channel, const char **title)
{
	uint64_t parent =
		ts->conf.threadh ? ts->conf.threadh(guild, channel, title, ts->conf.arg) : 0;
	bool may;

	if (parent != READING_UNKNOWN || !guild)
		return parent;
	may = may_be_in_blocked(ts, s ? s : text_session_borrow(ts, guild), guild);
	if (!s)
		text_session_return(ts, guild);
	return may ? parent : 0;
}

uint64_t text_session_parent(const struct text_session *ts, uint64_t guild, uint64_t channel,
			     const char **title)
{
	return text_session_parent_by(ts, NULL, guild, channel, title);
}

/* The category of a channel. A thread's parent is none, and stays. */
static void take_place(struct text_guild *g, const json_t *channel)
{
	struct text_event ev = {.type = TEXT_PLACED, .guild = g->id};

	if (!discord_snowflake(json_string_value(json_object_get(channel, "id")), &ev.channel))
		return;
	discord_snowflake(json_string_value(json_object_get(channel, "parent_id")), &ev.category);
	text_session_feed(g, &ev);
}

void text_session_place(struct text_session *ts, const json_t *d, bool list)
{
	uint64_t guild = 0;
	struct text_guild *g;
	json_t *channel;
	size_t i;

	discord_snowflake(json_string_value(json_object_get(d, list ? "id" : "guild_id")), &guild);
	g = guild ? text_guild_find(ts, guild) : NULL;
	if (!g)
		return;
	if (!list)
		take_place(g, d);
	json_array_foreach(list ? json_object_get(d, "channels") : NULL, i, channel)
		take_place(g, channel);
}
