/* State that a restart needs: read at start, written when it changed.
 *
 * Guilds are rows of the store. Those that changed are written a few at a time, in rounds: a round
 * notes the resume point, writes the guilds that have changed until then, and last session.json
 * with that resume point. So what is on disk is never older than the resume point, and no step of
 * the loop costs more when there are more guilds; events that a Resume repeats do no harm.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/control_inside.h"
#include "control/attachments/captions.h"
#include "control/metrics/metrics.h"
#include "control/discord/commands.h"
#include "control/discord/guilds.h"
#include "control/media/media.h"
#include "control/report/faults.h"
#include "control/settings/profile.h"
#include "control/store/store.h"
#include "control/text/reading.h"
#include "control/text_session/text_session.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/discord.h"

enum { GUILDS_A_STEP = 8, STEP_MS = 5 };

static void warn_not_saved(const struct control *c, int err)
{
	log_warn("state_not_saved", "dir=%s error=\"%s\"", c->conf.state_dir, strerror(err));
}

/* ---- guilds ---- */

void control_guild_changed(struct control *c, uint64_t guild)
{
	char key[24];

	snprintf(key, sizeof key, "%llu", (unsigned long long)guild);
	json_object_set_new(c->changed_guilds, key, json_null());
	control_save_soon(c);
}

void control_guilds_cleared(struct control *c)
{
	json_t *list, *guild;
	size_t i;

	json_object_clear(c->changed_guilds);
	c->round_left = 0;
	if (c->store && store_drop_guilds(c->store))
		warn_not_saved(c, ENOSPC);
	/* Those that have not come yet, as they were last: their threads are told by nobody else.
	 */
	list = guilds_list(c->guilds);
	json_array_foreach(list, i, guild)
	{
		json_object_set_new(c->changed_guilds,
				    json_string_value(json_object_get(guild, "id")), json_null());
	}
	json_decref(list);
}

static int save_guild(struct control *c, const char *key)
{
	const json_t *known;
	uint64_t guild = 0;
	char *text;
	int err;

	discord_snowflake(key, &guild);
	known = guilds_snapshot(c->guilds, guild);
	text = known ? json_dumps(known, JSON_COMPACT) : NULL;
	if (known && !text)
		return ENOMEM;
	if (text)
		env_output(c->env, ENV_OUT_FILE, 0, text, strlen(text));
	err = store_save_guild(c->store, guild, text);
	free(text);
	return err;
}

/* The guild that has waited longest. False when none waits or it could not be handed over. */
static bool save_next_guild(struct control *c)
{
	void *first = json_object_iter(c->changed_guilds);
	char key[24];
	int err;

	if (!first || !c->round_left)
		return false;
	snprintf(key, sizeof key, "%s", json_object_iter_key(first));
	err = save_guild(c, key);
	if (err) {
		warn_not_saved(c, err);
		return false;
	}
	json_object_del(c->changed_guilds, key);
	c->round_left--;
	return true;
}

/* ---- the session ---- */

static void note_state(struct control *c)
{
	/* Until the gateway has started, the previous control's session is the one to keep. */
	if (gateway_state(c->gateway) != GATEWAY_IDLE)
		c->state.session = *gateway_session(c->gateway);
	json_decref(c->state.commands);
	c->state.commands = commands_waiting(c->commands);
	json_decref(c->state.reading);
	c->state.reading = reading_json(c->reading);
	c->state.lacks_real_time = c->media && media_lacks_real_time(c->media);
	c->state.n_calls = 0;
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		if (voice_session_channel(c->voice_sessions[i]))
			c->state.calls[c->state.n_calls++] = (struct state_call){
				.guild = voice_session_guild(c->voice_sessions[i]),
				.channel = voice_session_channel(c->voice_sessions[i]),
				.since_ms = voice_session_since(c->voice_sessions[i]),
				.music_message = voice_session_music_message(c->voice_sessions[i]),
				.standing = voice_session_standing(c->voice_sessions[i])};
}

static void take_room(int err, void *arg)
{
	struct control *c = arg;

	c->asking_room = false;
	c->disk_full = err != 0;
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		voice_session_disk(c->voice_sessions[i], c->disk_full);
}

/* Of guilds that could not be written there is no session to resume. */
static void write_session(struct control *c)
{
	struct state without = c->state;
	char *text, *instead;
	int err = ENOMEM;

	c->state.text_newest = without.text_newest =
		text_session_newest(c->text, c->state.text_newest);
	c->state.saved_ms = without.saved_ms = env_wall_ms(c->env);
	memset(&without.session, 0, sizeof without.session);
	text = state_text(text_session_catches_up(c->text) ? &without : &c->state);
	instead = state_text(&without);
	if (text && instead) {
		env_output(c->env, ENV_OUT_FILE, 0, text, strlen(text));
		err = store_save_session(c->store, text, instead);
		explicit_bzero(text, strlen(text));
	}
	if (err)
		warn_not_saved(c, err);
	free(text);
	free(instead);
	if (!c->asking_room && c->store)
		c->asking_room = store_check_room(c->store, take_room, c) == 0;
}

static void begin_round(struct control *c)
{
	note_state(c);
	c->round_left = json_object_size(c->changed_guilds);
	c->in_round = true;
	c->save_dirty = false;
}

static void end_round(struct control *c)
{
	write_session(c);
	c->in_round = false;
}

void control_save_state(struct control *c)
{
	if (!c->store)
		return;
	begin_round(c);
	while (save_next_guild(c))
		;
	end_round(c);
}

void control_save_soon(struct control *c)
{
	if (!c->save_dirty && !c->in_round)
		tmr_start(c->save_tmr, SAVE_MS * NS_PER_MS);
	c->save_dirty = true;
}

void control_on_save_timer(void *arg)
{
	struct control *c = arg;
	unsigned n = 0;

	/* It runs often enough for what is promised of them. */
	captions_drop_old(c->viewers.captions, env_now(c->env));
	if (!c->store)
		return;
	if (!c->in_round && (c->save_dirty || gateway_state(c->gateway) == GATEWAY_UP))
		begin_round(c);
	while (n < GUILDS_A_STEP && save_next_guild(c))
		n++;
	if (c->in_round && c->round_left) {
		/* When the store takes no more it is asked again later. */
		tmr_start(c->save_tmr, (n ? STEP_MS : SAVE_MS) * NS_PER_MS);
		return;
	}
	if (c->in_round)
		end_round(c);
	tmr_start(c->save_tmr, (c->save_dirty ? SAVE_MS : SAVE_ANYWAY_MS) * NS_PER_MS);
}

void control_on_resume_point(void *arg)
{
	control_save_state(arg);
}

/* A control that is killed right after a join or a leave must not leave the next one in the dark
 * about the call. The changes of many calls are saved together. */
void control_on_calls_changed(void *arg)
{
	struct control *c = arg;

	control_save_soon(c);
	if (!c->in_round)
		tmr_start(c->save_tmr, SAVE_CALLS_MS * NS_PER_MS);
}

int control_make_metrics(struct control *c)
{
	int err = metrics_alloc(&c->metrics);

	for (unsigned i = 0; !err && i < FAULT_COUNT; i++)
		metrics_expect_fault(c->metrics, faults_name((enum fault)i));
	return err;
}

void control_on_counted_event(const struct bus_event *ev, void *arg)
{
	struct control *c = arg;

	counters_take_event(&c->state.counters, ev);
	metrics_take_event(c->metrics, ev);
	control_save_soon(c);
}

void control_on_turn_event(const struct bus_event *ev, void *arg)
{
	struct control *c = arg;

	if (c->ending || !under_way_take(&c->state.under_way, ev) || !c->store)
		return;
	/* The resume point is the one that was noted last, so that the guilds on the disk are no
	 * older; the end of a round writes all of it. */
	if (!c->in_round)
		write_session(c);
}

/* A session tells only what it was begun for. Older controls wanted no messages. Whether the texts
 * that Discord kept from it are to be had by now is found out before it is resumed. */
static bool has_intents(const struct control *c)
{
	uint32_t had = c->state.intents;

	return had ? had == c->intents ||
			       had == (c->intents & ~(uint32_t)DISCORD_INTENT_MESSAGE_CONTENT)
		   : !text_session_intents(c->settings);
}

int control_load_state(struct control *c)
{
	const struct state_kept *kept = c->conf.kept;
	uint64_t wall = env_wall_ms(c->env), old = 0;
	int err;

	if (kept && kept->session && state_parse(kept->session, &c->state) == 0) {
		old = c->state.epoch;
		c->resuming = state_fresh(&c->state, wall) && has_intents(c) && kept->guilds &&
			      guilds_restore(c->guilds, kept->guilds) == 0;
		if (wall > c->state.saved_ms + REJOIN_MS)
			c->state.n_calls = 0;
	}
	if (!c->resuming && kept && kept->guilds)
		guilds_remember(c->guilds, kept->guilds);
	if (c->resuming)
		guilds_set_self(c->guilds, c->state.user);
	else
		memset(&c->state.session, 0, sizeof c->state.session);
	if (kept && settings_gateway(c->settings) == SETTINGS_GATEWAY_FULL)
		commands_inherit(c->commands, json_object_get(kept->session, "commands"), wall);
	if (!text_session_intents(c->settings))
		c->state.text_since_ms = 0;
	else if (!c->state.text_since_ms)
		c->state.text_since_ms = wall;
	c->state.commands = commands_waiting(c->commands);
	err = reading_alloc(&c->reading,
			    kept ? json_object_get(kept->session, "text_reading") : NULL);
	if (err)
		return err;
	c->state.reading = reading_json(c->reading);
	c->state.counters = (struct counters){0};
	/* They stay in the state until their calls are back: this control may be killed before. */
	if (!c->state.n_calls)
		c->state.under_way = (struct under_way){0};
	c->inherited = c->state.under_way;
	/* Increases with every start, even if the clock was set back. */
	c->state.epoch = wall > old ? wall : old + 1;
	if (c->store)
		write_session(c);
	return 0;
}
