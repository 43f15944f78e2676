#include "control/agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/agent/inside.h"
#include "control/agent/screen_looks.h"
#include "control/agent/agent_music.h"
#include "control/agent/voice_output.h"
#include "control/jukebox/jukebox.h"
#include "control/media/media.h"
#include "control/agent/power.h"
#include "control/agent/room_log.h"
#include "control/agent/utterance_sound.h"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/media.h"

/* Between two readings of the power supply. */
enum { POWER_S = 30 };

/* An event that came while a step was being performed: it waits, with its own copy of text. */
struct agent_later {
	struct agent_later *next;
	struct room_event ev;
	uint8_t text[];
};

/* ---- stepping ---- */

static int defer_event(struct agent *a, const struct room_event *ev)
{
	struct agent_later *l = calloc(1, sizeof *l + ev->text.n);

	if (!l)
		return ENOMEM;
	l->ev = *ev;
	l->ev.pcm = (struct slice){0};
	if (ev->text.n)
		memcpy(l->text, ev->text.p, ev->text.n);
	l->ev.text.p = l->text;
	*a->last = l;
	a->last = &l->next;
	return 0;
}

static void step_room(struct agent *a, const struct room_event *ev)
{
	turns_event(a->turns, ev);
	agent_recordings_event(a, ev);
	room_step(a->room, ev, env_now(a->env), a->fx);
	room_log_step(a->log, ev, env_now(a->env), a->fx);
	if (ev->type == ROOM_MEMBER)
		agent_forget_private(a);
	for (size_t i = 0; i < a->fx->n; i++) {
		turns_effect(a->turns, &a->fx->v[i]);
		agent_perform(a, &a->fx->v[i]);
	}
	agent_flush(a);
}

/* Steps the room with one event, and then with the events that performing its effects caused. */
void agent_feed(struct agent *a, const struct room_event *ev)
{
	uint64_t at;

	if (a->stepping) {
		if (defer_event(a, ev))
			log_warn("event_lost", "type=%d", ev->type);
		return;
	}
	a->stepping = true;
	step_room(a, ev);
	while (a->first) {
		struct agent_later *l = a->first;

		a->first = l->next;
		if (!a->first)
			a->last = &a->first;
		step_room(a, &l->ev);
		free(l);
	}
	a->stepping = false;
	agent_tools_settle(a->tools);
	agent_orders_look(a);
	at = room_deadline(a->room);
	if (at == UINT64_MAX)
		tmr_stop(a->timer);
	else
		tmr_start_at(a->timer, at);
}

static void timer_fired(void *arg)
{
	agent_feed(arg, &(struct room_event){.type = ROOM_TIMER});
}

/* ---- speech ---- */

static void take_playback(const struct room_event *ev, void *arg)
{
	struct agent *a = arg;
	const struct room_turn *t;

	/* The backlog is full: no more of the answer can be played. */
	if (ev->type == ROOM_BRAIN_FAILED) {
		roles_cancel(a->roles, ENGINE_USE_VOICE, ev->turn);
		roles_cancel(a->roles, ENGINE_USE_REPLY, ev->turn);
	}
	agent_tools_audible(a->tools, ev->type == ROOM_SAY_STARTED);
	agent_feed(a, ev);
	t = room_active(a->room);
	if (ev->type == ROOM_SAY_STARTED && t && t->id == ev->turn)
		turns_tell(a->turns, t, TURNS_SPEAKING);
}

void agent_fault(struct agent *a, enum fault fault, enum fault_is is)
{
	if (a->faulth)
		a->faulth(fault, is, a->arg);
}

/* ---- what the owner tells ---- */

void agent_media(struct agent *a, const struct media_msg *msg)
{
	struct room_event ev = {0};

	switch (msg->type) {
	case MEDIA_CALL_STATE:
		ev.type = ROOM_CALL;
		ev.yes = msg->call_state.phase == MEDIA_PHASE_UP ||
			 msg->call_state.phase == MEDIA_PHASE_RESUMING;
		if (!ev.yes && msg->call_state.reason == MEDIA_REASON_MEDIA_LOST)
			ev.text = slice_str("crashed");
		break;
	case MEDIA_SPEAKING:
		ev.type = ROOM_SPEAKING;
		ev.user = msg->speaking.user;
		ev.yes = msg->speaking.on;
		ev.at = msg->speaking.at;
		levels_speaking(&a->levels, ev.user, ev.yes);
		break;
	case MEDIA_HEARD:
		ev.type = ROOM_HEARD;
		ev.user = msg->heard.user;
		ev.at = msg->heard.at;
		ev.pcm = msg->heard.pcm;
		levels_heard(&a->levels, ev.user, msg->heard.level, ev.pcm, env_now(a->env));
		break;
	case MEDIA_HEARD_END:
		ev.type = ROOM_HEARD_END;
		ev.user = msg->heard_end.user;
		ev.at = msg->heard_end.at;
		break;
	default:
		return;
	}
	agent_feed(a, &ev);
}

void agent_disconnected(struct agent *a)
{
	agent_feed(a, &(struct room_event){.type = ROOM_CALL, .text = slice_str("disconnected")});
}

void agent_member(struct agent *a, uint64_t user, const char *name, bool is_bot, bool present)
{
	if (!present)
		agent_tools_left(a->tools, user);
	agent_feed(a, &(struct room_event){.type = ROOM_MEMBER,
					   .user = user,
					   .is_bot = is_bot,
					   .yes = present,
					   .text = slice_str(name)});
}

void agent_muted(struct agent *a, bool muted)
{
	agent_feed(a, &(struct room_event){.type = ROOM_MUTE, .yes = muted});
}

void agent_say(struct agent *a, const char *text, uint64_t order)
{
	agent_orders_add(a, order);
	agent_feed(a, &(struct room_event){.type = ROOM_ORDER,
					   .yes = true,
					   .message = order,
					   .text = slice_str(text)});
}

void agent_ask(struct agent *a, uint64_t user, const char *text)
{
	agent_feed(a, &(struct room_event){
			      .type = ROOM_WRITTEN, .user = user, .text = slice_str(text)});
}

void agent_stop(struct agent *a)
{
	agent_feed(a, &(struct room_event){.type = ROOM_ORDER});
}

/* The voice's conversation holds their words. The room seeds the next session with the rest. */
static void withdraw_words(struct agent *a, uint64_t user)
{
	log_info("words_withdrawn", "guild=%llu user=%llu",
		 (unsigned long long)media_call_want(a->call)->guild, (unsigned long long)user);
	agent_feed(a, &(struct room_event){.type = ROOM_WITHDRAWN,
					   .user = user,
					   .yes = media_call_consents(a->call, user)});
	agent_tools_forget(a->tools, user, media_call_consents(a->call, user));
	agent_pictures_drop(a->pictures, 0, user);
	agent_renew_voice(a);
	turns_withheld(a->turns);
	agent_recordings_withdraw(a, user);
}

void agent_settings(struct agent *a, bool allowed)
{
	uint64_t user;

	room_log_settings(a->log, a->settings);
	roles_settings(a->roles);
	agent_retrieval_settings(a->retrieval);
	agent_tools_settings(a->tools);
	agent_pictures_settings(a->pictures);
	screen_looks_settings(a->looks);
	agent_feed(a, &(struct room_event){.type = ROOM_SETTINGS, .yes = allowed});
	while ((user = turns_withdrawn(a->turns)))
		withdraw_words(a, user);
}

void agent_consent(struct agent *a, uint64_t user, bool less)
{
	turns_consent(a->turns, user);
	if (less)
		withdraw_words(a, user);
}

void agent_suspend(struct agent *a)
{
	agent_feed(a, &(struct room_event){.type = ROOM_SUSPEND});
	roles_cancel_all(a->roles);
}

void agent_end(struct agent *a, const char *why)
{
	a->tellh = NULL;
	a->leaveh = NULL;
	/* The first reason counts: a room that ended by itself is left later. */
	if (!*a->ended)
		snprintf(a->ended, sizeof a->ended, "%s", why);
	agent_feed(a, &(struct room_event){.type = ROOM_END, .text = slice_str(why)});
}

void agent_status(const struct agent *a, struct status *out)
{
	enum roles_health health = roles_health(a->roles, agent_reply_use(a));

	out->has_brain = true;
	out->brain_up = health == ROLES_UP;
	out->brain_silent = health == ROLES_NOT_ANSWERING;
	out->guest = settings_guest(a->settings);
	roles_shown(a->roles, agent_reply_use(a), out->brain, sizeof out->brain);
	roles_serving(a->roles, out->served, sizeof out->served);
}

json_t *agent_tool_list(const struct agent *a)
{
	return agent_tools_shown(a->tools);
}

/* ---- coming and going ---- */

/* A laptop may be plugged in or out while the bot runs. */
static void read_power(void *arg)
{
	struct agent *a = arg;
	const char *power = power_now(a->env);

	tmr_start(a->power_timer, POWER_S * 1000 * NS_PER_MS);
	if (strcmp(power, a->power) == 0)
		return;
	a->power = power;
	agent_feed(a, &(struct room_event){.type = ROOM_POWER, .text = slice_str(power)});
}

static void take_conf(struct agent *a, const struct agent_conf *conf)
{
	a->env = conf->env;
	a->call = conf->call;
	a->settings = conf->settings;
	a->zone = (struct server_zone){conf->env, conf->settings};
	a->tellh = conf->tellh;
	a->vision = conf->vision;
	a->faulth = conf->faulth;
	a->leaveh = conf->leaveh;
	a->soundh = conf->soundh;
	a->unsoundh = conf->unsoundh;
	a->rankh = conf->rankh;
	a->roleh = conf->roleh;
	a->joinh = conf->joinh;
	a->retainsh = conf->retainsh;
	a->blockedh = conf->blockedh;
	a->remembersh = conf->remembersh;
	a->openh = conf->openh;
	a->store = conf->store;
	a->arg = conf->arg;
	a->last = &a->first;
	a->power = "";
	a->bus = conf->bus;
	a->ledger = conf->ledger;
	a->mcp = conf->mcp;
	a->delegates = conf->delegates;
}

/* ---- music ---- */

static void take_music_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	struct agent *a = arg;

	agent_tools_output(id, ok, text, a->tools);
}

static void feed_music(const struct room_event *ev, void *arg)
{
	agent_feed(arg, ev);
}

/* A command that needed no model has no answer either, so that its refusal is written. */
static void tell_refusal(unsigned votes, unsigned needed, void *arg)
{
	struct agent *a = arg;
	struct words words = {0};

	words_speak(&words, room_language_now(a->room));
	if (needed)
		words_music_vote(&words, votes, needed);
	else
		words_music_needs_dj(&words);
	if (a->tellh)
		a->tellh(&words, a->arg);
}

static void tell_music_failure(int err, void *arg)
{
	struct agent *a = arg;
	struct words words = {0};

	words_speak(&words, room_language_now(a->room));
	if (err == ENOSPC)
		words_music_full(&words);
	else if (err == EDQUOT)
		words_music_share(&words);
	else if (err == ENODEV)
		words_music_no_decoder(&words);
	else if (err == ENXIO)
		words_music_no_folder(&words);
	else if (err == EADDRNOTAVAIL)
		words_music_no_address(&words);
	else
		words_music_no_luck(&words);
	if (a->tellh)
		a->tellh(&words, a->arg);
}

/* A jukebox without a queue could not enter the call. */
static int open_music(struct agent *a, const struct agent_conf *conf)
{
	bool plays = conf->jukebox && jukebox_queue(conf->jukebox);

	if (!conf->sources && !plays)
		return 0;
	return agent_music_alloc(
		&a->music, &(struct agent_music_conf){.env = a->env,
						      .guild = media_call_want(a->call)->guild,
						      .sources = conf->sources,
						      .jukebox = plays ? conf->jukebox : NULL,
						      .outputh = take_music_output,
						      .feedh = feed_music,
						      .refusedh = tell_refusal,
						      .failedh = tell_music_failure,
						      .arg = a});
}

int agent_alloc(struct agent **out, const struct agent_conf *conf)
{
	const struct media_call_state *state;
	struct agent *a;
	int err;

	if (!out || !conf->env || !conf->call || !conf->settings)
		return EINVAL;
	a = calloc(1, sizeof *a);
	if (!a)
		return ENOMEM;
	take_conf(a, conf);
	a->fx = calloc(1, sizeof *a->fx);
	err = a->fx ? room_alloc(&a->room, conf->settings, conf->bot_name) : ENOMEM;
	if (!err)
		err = agent_open_turns(a);
	if (!err)
		err = voice_output_alloc(&a->output, a->call, take_playback, a);
	if (!err)
		err = agent_sounds_alloc(&a->sounds, a);
	if (!err)
		err = tmr_alloc(&a->timer, a->env, timer_fired, a);
	if (!err)
		err = tmr_alloc(&a->power_timer, a->env, read_power, a);
	if (!err && conf->settings->reply_path == SETTINGS_REPLY_NATIVE)
		err = utterance_sound_alloc(&a->sound);
	if (!err)
		err = agent_open_roles(a, conf);
	if (!err)
		err = agent_pictures_alloc(&a->pictures, a, conf);
	if (!err)
		err = screen_looks_alloc(&a->looks, a, conf);
	if (!err)
		err = open_music(a, conf);
	if (!err)
		err = agent_tools_alloc(&a->tools, a, conf->http);
	if (!err)
		err = agent_retrieval_alloc(&a->retrieval, a,
					    *conf->settings->bot_name ? conf->settings->bot_name
								      : conf->bot_name);
	if (!err)
		err = agent_continuity_alloc(&a->continuity, a);
	if (err) {
		agent_free(a);
		return err;
	}
	*out = a;
	a->log = room_log_new(a->env, a->settings, conf->bot_name, media_call_want(a->call)->guild,
			      turns_session(a->turns));
	read_power(a);
	agent_music_tell(a->music);
	agent_retrieval_settings(a->retrieval);
	/* The call may have been up before its agent was. */
	state = media_call_last(a->call);
	if (state)
		agent_media(a, &(struct media_msg){.type = MEDIA_CALL_STATE, .call_state = *state});
	return 0;
}

struct agent *agent_free(struct agent *a)
{
	if (!a)
		return NULL;
	if (a->room && a->timer)
		agent_feed(a, &(struct room_event){.type = ROOM_SHUTDOWN});
	if (a->room && a->timer)
		agent_orders_drop(a);
	while (a->first) {
		struct agent_later *l = a->first;

		a->first = l->next;
		free(l);
	}
	tmr_free(a->timer);
	tmr_free(a->power_timer);
	agent_sounds_free(a->sounds);
	voice_output_free(a->output);
	utterance_sound_free(a->sound);
	utterance_sound_free(a->recordings);
	a->tools = agent_tools_free(a->tools);
	a->pictures = agent_pictures_free(a->pictures);
	a->looks = screen_looks_free(a->looks);
	vision_forget_show(a->vision, a);
	a->music = agent_music_free(a->music);
	agent_retrieval_free(a->retrieval);
	agent_continuity_free(a->continuity);
	free(a->memory_told);
	roles_free(a->roles);
	room_log_free(a->log);
	turns_free(a->turns, *a->ended ? a->ended : "shutdown");
	room_free(a->room);
	free(a->fx);
	free(a);
	return NULL;
}
