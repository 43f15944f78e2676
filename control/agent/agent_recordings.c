/* Recordings of utterances, where keep_audio_hours wants them: of people who have agreed to be
 * remembered, at the moment of each frame and once more when the transcript is there (agent.h). */
#include <stdlib.h>

#include "control/agent/inside.h"
#include "control/agent/ulaw.h"
#include "control/agent/utterance_sound.h"
#include "control/media/media.h"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "ipc/env.h"
#include "ipc/log.h"

/* Of an utterance, the beginning. */
enum { BYTES_MAX = STORE_RECORDING_MAX * 2 };

static bool wants(const struct agent *a)
{
	return a->store && a->settings->keep_audio_hours && !a->settings->unread;
}

static void add_sound(struct agent *a, const struct room_effect *e)
{
	size_t have;

	if (!wants(a) || !agent_may_keep(a, e->user)) {
		if (a->recordings)
			utterance_sound_drop(a->recordings, e->utterance);
		return;
	}
	if (!a->recordings && utterance_sound_alloc(&a->recordings))
		return;
	have = utterance_sound_get(a->recordings, e->utterance).n;
	if (have + e->pcm.n <= BYTES_MAX)
		utterance_sound_add(a->recordings, e->utterance, e->pcm);
}

void agent_recordings_effect(struct agent *a, const struct room_effect *e)
{
	if (e->type == ROOM_DO_ASR_APPEND)
		add_sound(a, e);
	else if (e->type == ROOM_DO_ASR_CANCEL && a->recordings)
		utterance_sound_drop(a->recordings, e->utterance);
}

static void keep(struct agent *a, const struct room_event *ev, struct slice pcm)
{
	struct store_recording r = {.guild = media_call_want(a->call)->guild,
				    .session = turns_session(a->turns),
				    .user = ev->user,
				    .utterance = ev->utterance,
				    .at_ms = env_wall_ms(a->env)};
	uint8_t *sound = malloc(pcm.n / 2 + 1);
	int err;

	if (!sound)
		return;
	r.sound = sound;
	r.n = ulaw_encode(pcm, sound);
	r.ms = (uint32_t)(r.n * 1000 / ROOM_RATE);
	err = store_keep_recording(a->store, &r);
	if (err)
		log_warn("recording_not_kept", "utterance=%u", ev->utterance);
	free(sound);
}

void agent_recordings_event(struct agent *a, const struct room_event *ev)
{
	struct slice pcm;

	if (!a->recordings || (ev->type != ROOM_TRANSCRIPT && ev->type != ROOM_TRANSCRIPT_FAILED))
		return;
	pcm = utterance_sound_get(a->recordings, ev->utterance);
	if (ev->type == ROOM_TRANSCRIPT && ev->text.n && pcm.n && wants(a) &&
	    agent_may_keep(a, ev->user))
		keep(a, ev, pcm);
	utterance_sound_drop(a->recordings, ev->utterance);
}

void agent_recordings_withdraw(struct agent *a, uint64_t user)
{
	/* Whose each is, it does not know; what others say now is lost with it. */
	a->recordings = utterance_sound_free(a->recordings);
	if (a->store && store_drop_recordings(a->store, media_call_want(a->call)->guild, user))
		log_warn("recordings_not_dropped", "user=%llu", (unsigned long long)user);
}
