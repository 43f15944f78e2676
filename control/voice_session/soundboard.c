/* The soundboard of a voice session: which sounds the agent may play, playing them, and what others
 * play. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/agent/agent.h"
#include "control/discord/sounds.h"
#include "control/settings/settings.h"
#include "control/soundboard/clips.h"
#include "control/voice_session/inside.h"
#include "ipc/log.h"
#include "proto/discord.h"

/* More than a room tells a model of. */
enum { SOUNDS_TEXT = 4096 };
_Static_assert(SOUNDS_TEXT > CLIPS_MAX * (CLIP_NAME_SIZE + 1), "room for all local sounds");

static void on_sounded(uint64_t ticket, int err, void *arg)
{
	struct voice_session *c = arg;

	if (c->agent)
		agent_sounded(c->agent, (uint32_t)(ticket >> 32), (uint32_t)ticket, err);
}

static bool may_use_soundboard(const struct voice_session *c)
{
	return voice_session_may(c, DISCORD_BIT_USE_SOUNDBOARD, true);
}

static size_t local_sounds(const struct voice_session *c)
{
	return c->conf.clips ? clips_count(c->conf.clips) : 0;
}

/* The agent is told the names of sounds that can be played, one a line: local ones first. list may
 * be NULL. */
static void on_listed(const struct sound_list *list, void *arg)
{
	struct voice_session *c = arg;
	char names[SOUNDS_TEXT];
	unsigned theirs = list && may_use_soundboard(c) ? list->n : 0;
	size_t n = 0;

	names[0] = '\0';
	for (size_t i = 0; i < local_sounds(c); i++)
		n += (size_t)snprintf(names + n, sizeof names - n, "%s\n",
				      clips_at(c->conf.clips, i)->name);
	for (unsigned i = 0; i < theirs && n + SOUNDS_NAME + 1 < sizeof names; i++)
		n += (size_t)snprintf(names + n, sizeof names - n, "%s\n", list->v[i].name);
	if (c->agent)
		agent_sounds_listed(c->agent, names);
}

static struct sounds *open_sounds(struct voice_session *c)
{
	if (!c->sounds &&
	    sounds_alloc(&c->sounds, c->conf.env, c->conf.rest, c->guild, on_sounded, on_listed, c))
		c->sounds = NULL;
	return c->sounds;
}

static uint64_t ticket_of(uint32_t turn, uint32_t chunk)
{
	return (uint64_t)turn << 32 | chunk;
}

int voice_session_play_sound(uint32_t turn, uint32_t chunk, const char *ref, void *arg)
{
	struct voice_session *c = arg;
	const struct clip *clip = c->conf.clips ? clips_find(c->conf.clips, ref) : NULL;
	bool external = c->conf.settings->soundboard_external &&
			voice_session_may(c, DISCORD_BIT_USE_EXTERNAL_SOUNDS, true);

	/* Discord refuses sounds of a deafened bot, too. */
	if (voice_session_hindrance(c) != VOICE_REASON_NONE)
		return EPERM;
	if (clip)
		return agent_play_local(c->agent, turn, chunk, clip->pcm, clip->n);
	if (!may_use_soundboard(c))
		return EACCES;
	return open_sounds(c) ? sounds_play(c->sounds, voice_channel(c->voice), ref, external,
					    ticket_of(turn, chunk))
			      : ENOMEM;
}

bool voice_session_drop_sound(uint32_t turn, uint32_t chunk, void *arg)
{
	struct voice_session *c = arg;

	return c->sounds && sounds_cancel(c->sounds, ticket_of(turn, chunk));
}

/* Discord sends this event for the bot's own sounds, too. */
void voice_session_take_sound(struct voice_session *c, uint64_t user, const json_t *d)
{
	const json_t *sound = json_object_get(d, "sound_id");
	uint64_t channel = 0, id = (uint64_t)json_integer_value(sound);
	const char *name = NULL;

	if (json_is_string(sound))
		discord_snowflake(json_string_value(sound), &id);
	discord_snowflake(json_string_value(json_object_get(d, "channel_id")), &channel);
	if (!id || !c->agent || user == guilds_self(c->conf.guilds) || !channel ||
	    channel != voice_channel(c->voice))
		return;
	if (c->sounds)
		name = sounds_name(c->sounds, id);
	log_info("sound_heard", "guild=%llu user=%llu sound=%llu", ID(c->guild), ID(user), ID(id));
	agent_soundboard(c->agent, user, name ? name : "of the soundboard");
}

void voice_session_sounds_event(struct voice_session *c, const char *name, const json_t *d)
{
	if (c->sounds)
		sounds_event(c->sounds, name, d);
}

void voice_session_list_sounds(struct voice_session *c)
{
	const struct sound_list *list;

	if (!c->agent || c->conf.settings->soundboard == SETTINGS_SOUNDBOARD_OFF ||
	    (!settings_reads_out(c->conf.settings) && !c->conf.settings->tools))
		return;
	list = c->sounds ? sounds_now(c->sounds) : NULL;
	if (list || local_sounds(c))
		on_listed(list, c);
	if (!list && may_use_soundboard(c) && open_sounds(c) && sounds_list(c->sounds))
		log_warn("sounds_not_listed", "guild=%llu", ID(c->guild));
}
