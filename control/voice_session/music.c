/* The music of a voice session: its jukebox from join to leave, who has which rights, and what the
 * room is told about tracks that fail. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/agent/agent.h"
#include "control/discord/guilds.h"
#include "control/discord/voice.h"
#include "control/jukebox/jukebox.h"
#include "control/settings/ids.h"
#include "control/settings/settings.h"
#include "control/voice_session/inside.h"
#include "control/voice_session/policy.h"
#include "ipc/log.h"
#include "proto/discord.h"

struct listeners {
	const struct voice_session *c;
	uint64_t *to;
	size_t n, max;
};

bool voice_session_blocks(const struct voice_session *c, uint64_t user)
{
	return policy_blocks_user(c->conf.settings, user);
}

static void add_listener(uint64_t user, const char *name, bool is_bot, void *arg)
{
	struct listeners *l = arg;
	struct guild_voice v = {0};

	(void)name;
	guilds_voice(l->c->conf.guilds, l->c->guild, user, &v);
	if (!is_bot && !v.deaf && !voice_session_blocks(l->c, user) && l->n < l->max)
		l->to[l->n++] = user;
}

static size_t list_listeners(uint64_t *to, size_t max, void *arg)
{
	const struct voice_session *c = arg;
	struct listeners l = {.c = c, .to = to, .max = max};

	guilds_each(c->conf.guilds, c->guild, voice_channel(c->voice), add_listener, &l);
	return l.n;
}

struct people {
	const struct voice_session *c;
	unsigned n;
};

static void count_person(uint64_t user, const char *name, bool is_bot, void *arg)
{
	struct people *people = arg;

	(void)name;
	people->n += !is_bot && !voice_session_blocks(people->c, user);
}

static void fill_person(struct music_person *to, uint64_t user, void *arg)
{
	const struct voice_session *c = arg;
	const uint64_t dj = settings_role_id(c->conf.settings->music_dj_role);
	uint64_t channel = voice_channel(c->voice), bits = 0;
	struct guild_voice v = {0};
	struct people people = {.c = c};

	guilds_permissions(c->conf.guilds, c->guild, channel, user, &bits);
	guilds_voice(c->conf.guilds, c->guild, user, &v);
	guilds_each(c->conf.guilds, c->guild, channel, count_person, &people);
	to->dj_role = dj && guilds_has_role(c->conf.guilds, c->guild, user, dj);
	to->manages_channels = bits & (DISCORD_PERMISSION(DISCORD_BIT_MANAGE_CHANNELS) |
				       DISCORD_PERMISSION(DISCORD_BIT_ADMINISTRATOR));
	to->alone = people.n == 1 && v.channel == channel;
}

static bool has_other_listener(struct voice_session *c, uint64_t user)
{
	uint64_t listeners[JUKEBOX_LISTENERS];
	size_t n = list_listeners(listeners, JUKEBOX_LISTENERS, c);

	for (size_t i = 0; i < n; i++)
		if (listeners[i] != user)
			return true;
	return false;
}

/* Of people outside of voice nothing is kept: their own member object tells. */
static void fill_from_member(struct music_person *to, const json_t *member, uint64_t bits,
			     const struct voice_session *c)
{
	const uint64_t dj = settings_role_id(c->conf.settings->music_dj_role);

	to->dj_role |= dj && guilds_member_has_role(member, c->guild, dj);
	to->manages_channels |= (bits & DISCORD_PERMISSION(DISCORD_BIT_MANAGE_CHANNELS)) != 0;
}

/* Who joins from outside would be alone with the bot elsewhere, and so a DJ of this queue. */
bool voice_session_retains_bot(struct voice_session *c, uint64_t user, const json_t *member,
			       struct words *words)
{
	enum music_control control = (enum music_control)c->conf.settings->music_control;
	uint64_t channel = voice_channel(c->voice), bits = 0;
	struct music_person person = {.user = user};
	struct guild_voice v = {0};
	bool stops;

	if (!c->media || !c->jukebox || !jukebox_queue(c->jukebox) ||
	    !music_queue_present(jukebox_queue(c->jukebox)) || !has_other_listener(c, user))
		return false;
	if (member)
		guilds_permissions_as(c->conf.guilds, c->guild, channel, user, member, &bits);
	else
		guilds_permissions(c->conf.guilds, c->guild, channel, user, &bits);
	if (bits & (DISCORD_PERMISSION(DISCORD_BIT_MOVE_MEMBERS) |
		    DISCORD_PERMISSION(DISCORD_BIT_ADMINISTRATOR)))
		return false;
	fill_person(&person, user, c);
	fill_from_member(&person, member, bits, c);
	guilds_voice(c->conf.guilds, c->guild, user, &v);
	stops = music_policy_judge(control, MUSIC_ACT_STOP, &person, 0) == MUSIC_ALLOWED;
	if (stops && (v.channel == channel || music_policy_is_dj(&person)))
		return false;
	if (stops)
		words_music_come_in(words);
	else
		words_music_needs_dj(words);
	return true;
}

static void note_change(struct jukebox *j, void *arg)
{
	(void)j;
	voice_session_look_at_music(arg);
}

/* Nobody reads the same words twice about one that was tried once more. */
static void tell_failure(struct jukebox *j, const struct track *track, const char *reason,
			 enum jukebox_failure failure, void *arg)
{
	struct voice_session *c = arg;
	char label[TRACK_LABEL_MAX];
	struct words words = {0};

	(void)j;
	track_write_label(label, track);
	words_speak(&words, c->agent ? agent_language(c->agent) : "");
	if (failure == JUKEBOX_GIVEN_UP)
		words_music_tried_again(&words, label);
	else if (*reason)
		words_music_failed(&words, label, reason);
	else
		words_music_unplayable(&words, label);
	if (failure == JUKEBOX_STOPPED)
		words_music_halted(&words);
	else if (failure == JUKEBOX_WAITS)
		words_music_tries_later(&words);
	voice_session_tell_room(&words, c);
}

static void tell_unsought(const struct track *track, const char *reason, void *arg)
{
	struct voice_session *c = arg;
	char label[TRACK_LABEL_MAX];
	struct words words = {0};

	track_write_label(label, track);
	words_speak(&words, c->agent ? agent_language(c->agent) : "");
	words_music_unsought(&words, label, reason);
	voice_session_tell_room(&words, c);
}

void voice_session_enter_music(struct voice_session *c)
{
	struct jukebox_conf conf = {.env = c->conf.env,
				    .guild = c->guild,
				    .settings = c->conf.settings,
				    .store = c->conf.store,
				    .sources = c->conf.sources,
				    .shelf = c->conf.shelf,
				    .personh = fill_person,
				    .listenersh = list_listeners,
				    .unsoughth = tell_unsought,
				    .arg = c};
	int err = c->jukebox ? 0 : jukebox_alloc(&c->jukebox, &conf);

	if (!err && !c->music_told)
		err = jukebox_subscribe(c->jukebox, note_change, tell_failure, c);
	c->music_told = !err;
	if (!err)
		err = jukebox_enter(c->jukebox, c->media, voice_channel(c->voice));
	if (err)
		log_warn("music_failed", "guild=%llu error=\"%s\"", ID(c->guild), strerror(err));
	else
		voice_session_show_music(c);
}

struct jukebox *voice_session_jukebox(struct voice_session *c)
{
	return c->media ? c->jukebox : NULL;
}

void voice_session_forget_requester(struct voice_session *c, uint64_t user)
{
	if (c->jukebox)
		jukebox_forget(c->jukebox, user);
}

void voice_session_watch_music(struct voice_session *c, bool on)
{
	c->music_watched = on;
	if (c->media)
		media_call_watch_music(c->media, on);
}
