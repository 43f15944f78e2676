#include "control/agent/agent_sounds.h"

#include <errno.h>
#include <stdlib.h>

#include "control/agent/inside.h"
#include "control/agent/sound_output.h"
#include "control/media/media.h"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/rate_limit.h"
#include "proto/base/time.h"

enum { MINUTE_S = 60 };

struct agent_sounds {
	struct agent *a;
	struct sound_output *output;
	struct tmr *timer; /* of Discord's sound that plays */
	struct rate_limit rate;
	/* The sound that was requested last, until it has ended. turn 0: none. */
	uint32_t turn, chunk;
	bool local;
};

static const char *reason_name(int err)
{
	switch (err) {
#define R(ERR, name)                                                                               \
	case ERR:                                                                                  \
		return name;
		AGENT_SOUND_REASONS(R)
#undef R
	case 0:
		return "played";
	default:
		return "failed";
	}
}

static void publish(struct agent *a, uint32_t turn, uint32_t chunk, int err, bool local)
{
	const struct media_want *where = media_call_want(a->call);
	struct bus_event ev = {.type = err ? EVENT_SOUND_DROPPED : EVENT_SOUND_PLAYED,
			       .at_ms = env_wall_ms(a->env),
			       .guild = where->guild};

	ev.sound = (struct event_sound){.session = turns_session(a->turns),
					.channel = where->channel,
					.turn = chunk == AGENT_SOUND_TOOL ? 0 : turn,
					.why = reason_name(err),
					.local = local,
					.tool = chunk == AGENT_SOUND_TOOL};
	bus_publish(a->bus, &ev);
	if (err == EACCES)
		agent_fault(a, FAULT_SOUND, FAULT_IS_ONCE);
}

/* Tells the room that an answer may go on. */
static void end_sound(struct agent *a, uint32_t turn, uint32_t chunk)
{
	agent_feed(a, &(struct room_event){.type = ROOM_SOUND_DONE, .turn = turn, .chunk = chunk});
}

static void take_end(void *arg)
{
	struct agent_sounds *s = arg;
	uint32_t turn = s->turn;

	s->turn = 0;
	end_sound(s->a, turn, s->chunk);
}

static void take_local_end(uint32_t turn, uint32_t chunk, void *arg)
{
	struct agent_sounds *s = arg;

	s->turn = 0;
	if (!agent_tools_sounded(s->a->tools, turn, chunk, 0))
		end_sound(s->a, turn, chunk);
}

static int judge(struct agent_sounds *s)
{
	const struct settings *set = s->a->settings;

	if (set->soundboard == SETTINGS_SOUNDBOARD_OFF || !s->a->soundh)
		return ENOTSUP;
	return rate_limit_take(&s->rate, set->sounds_a_minute,
			       MINUTE_S * NS_PER_S / set->sounds_a_minute, env_now(s->a->env))
		       ? 0
		       : EBUSY;
}

static int request(struct agent_sounds *s, uint32_t turn, uint32_t chunk, const char *name)
{
	struct agent *a = s->a;
	int err = judge(s);

	if (!err) {
		s->turn = turn;
		s->chunk = chunk;
		s->local = false;
		err = a->soundh(turn, chunk, name, a->arg);
	}
	if (err) {
		s->turn = 0;
		publish(a, turn, chunk, err, false);
	}
	return err;
}

int agent_sounds_call(struct agent_sounds *s, uint32_t call, const char *name)
{
	return request(s, call, AGENT_SOUND_TOOL, name);
}

static void play(struct agent_sounds *s, const struct room_effect *e)
{
	if (!agent_tools_may_play(s->a->tools, s->a, e->turn))
		publish(s->a, e->turn, e->chunk, EXDEV, false);
	else if (!request(s, e->turn, e->chunk, e->text))
		return;
	end_sound(s->a, e->turn, e->chunk);
}

/* A sound that was not sent to Discord yet stays unsent; one that plays there cannot be stopped. */
static void stop(struct agent_sounds *s, uint32_t turn, uint16_t fade_ms)
{
	struct agent *a = s->a;

	if (!s->turn || (s->turn != turn && s->chunk != AGENT_SOUND_TOOL))
		return;
	if (s->local)
		sound_output_stop(s->output, fade_ms);
	else if (a->unsoundh && a->unsoundh(s->turn, s->chunk, a->arg))
		publish(a, s->turn, s->chunk, ECANCELED, false);
	agent_tools_sounded(a->tools, s->turn, s->chunk, ECANCELED);
	tmr_stop(s->timer);
	s->turn = 0;
}

void agent_sounds_effect(struct agent_sounds *s, const struct room_effect *e)
{
	if (e->type == ROOM_DO_SOUNDBOARD)
		play(s, e);
	else if (e->type == ROOM_DO_SAY_STOP)
		stop(s, e->turn, (uint16_t)e->ms);
	else
		sound_output_do(s->output, e);
}

void agent_sounds_over(struct agent_sounds *s, const struct room_turn *turn)
{
	if (turn->reason != ROOM_REASON_ANSWERED)
		stop(s, turn->id, (uint16_t)s->a->settings->stop_fade_ms);
}

/* Discord does not tell how long a sound lasts. */
void agent_sounded(struct agent *a, uint32_t turn, uint32_t chunk, int err)
{
	struct agent_sounds *s = a->sounds;
	uint32_t ms = err ? 0 : a->settings->sound_ms;

	publish(a, turn, chunk, err, false);
	if (s->turn == turn && s->chunk == chunk && (chunk == AGENT_SOUND_TOOL || !ms))
		s->turn = 0;
	if (agent_tools_sounded(a->tools, turn, chunk, err))
		return;
	if (s->turn != turn || s->chunk != chunk)
		end_sound(a, turn, chunk);
	else
		tmr_start(s->timer, ms * NS_PER_MS);
}

/* The owner calls it from inside soundh. */
int agent_play_local(struct agent *a, uint32_t turn, uint32_t chunk, const int16_t *pcm, size_t n)
{
	struct agent_sounds *s = a->sounds;
	int err = sound_output_play(s->output, turn, chunk, pcm, n);

	if (err)
		return err;
	s->local = true;
	publish(a, turn, chunk, 0, true);
	return 0;
}

void agent_sounds_listed(struct agent *a, const char *names)
{
	agent_feed(a, &(struct room_event){.type = ROOM_SOUNDS, .text = slice_str(names)});
	agent_tools_settings(a->tools);
}

void agent_soundboard(struct agent *a, uint64_t user, const char *name)
{
	agent_feed(a, &(struct room_event){.type = ROOM_SOUNDBOARD_PLAYED,
					   .user = user,
					   .text = slice_str(name)});
}

int agent_sounds_alloc(struct agent_sounds **out, struct agent *a)
{
	struct agent_sounds *s = calloc(1, sizeof *s);
	int err = s ? 0 : ENOMEM;

	if (err)
		return err;
	s->a = a;
	err = sound_output_alloc(&s->output, a->call, take_local_end, s);
	if (!err)
		err = tmr_alloc(&s->timer, a->env, take_end, s);
	if (err)
		agent_sounds_free(s);
	else
		*out = s;
	return err;
}

struct agent_sounds *agent_sounds_free(struct agent_sounds *s)
{
	if (!s)
		return NULL;
	sound_output_free(s->output);
	tmr_free(s->timer);
	free(s);
	return NULL;
}
