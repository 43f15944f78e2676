/* What the audio thread tells of music: how far it has come, and its end. And music that rests: one
 * that stays paused gives its decoder back, since all calls share them, and is opened at its sample
 * when it goes on. */
#include "ipc/env.h"
#include "mediad/call/call_internal.h"
#include "mediad/music/track_ring.h"
#include "proto/base/time.h"

/* After this silence, in which a source that plays fills the ring, music waits for its source. */
#define WAITS_AFTER (2 * NS_PER_S)

/* Returns why a lane stopped. One that crossed over into the next ended by itself. */
static enum media_reason stop_reason(const struct call *c, const struct music_track *t,
				     enum media_reason lane)
{
	if (c->leaving)
		return MEDIA_REASON_CALL_ENDED;
	return t->why != MEDIA_REASON_NONE ? t->why : lane;
}

/* A lane that is paused, or waits for a key, leaves its ring full. */
static void note_silence(struct call *c, struct music_track *t)
{
	const struct track_ring *ring;

	if (t->phase != MEDIA_MUSIC_PHASE_PLAYING || t->paused ||
	    t->failure != DECODER_REASON_UNKNOWN || env_now(c->conf.env) - t->moved < WAITS_AFTER)
		return;
	t->moved = env_now(c->conf.env);
	ring = decoders_ring(c->conf.decoders, t->decoded);
	if (ring && !env_answer(c->conf.env, track_ring_rests(ring)))
		music_set_phase(c, t, MEDIA_MUSIC_PHASE_WAITING);
}

static void on_started(struct call *c, struct music_track *t)
{
	t->follows = false;
	music_set_phase(c, t, t->paused ? MEDIA_MUSIC_PHASE_PAUSED : MEDIA_MUSIC_PHASE_PLAYING);
}

static const struct music_track *continued_by(const struct call *c, const struct music_track *t)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		if (c->tracks[i] && c->tracks[i]->continues && c->tracks[i]->replaces == t)
			return c->tracks[i];
	return NULL;
}

/* One that another one continues has given its name to that, which may have done so as well. */
static uint32_t name_of(const struct call *c, const struct music_track *t)
{
	const struct music_track *next = continued_by(c, t);

	for (unsigned i = 0; next && i < MUSIC_MIXER_LANES; i++) {
		t = next;
		next = continued_by(c, t);
	}
	return t->music;
}

static void send_progress(struct call *c, struct music_track *t)
{
	uint32_t own = t->music;

	t->music = name_of(c, t);
	music_send_state(c, t);
	t->music = own;
}

void music_event(struct call *c, const struct ev *ev)
{
	struct music_track *t = music_find_lane(c, ev->lane.playback);
	bool whole, stands;

	if (!t)
		return;
	stands = ev->lane.samples == t->played;
	t->played = ev->lane.samples;
	if (ev->type == EV_MUSIC_PROGRESS)
		call_video_sound_played(c, name_of(c, t), music_position(t), ev->lane.at);
	if (ev->type == EV_MUSIC_PROGRESS && stands) {
		note_silence(c, t);
		return;
	}
	t->moved = env_now(c->conf.env);
	if (ev->type == EV_MUSIC_PROGRESS) {
		if (t->phase == MEDIA_MUSIC_PHASE_WAITING)
			t->phase = MEDIA_MUSIC_PHASE_PLAYING;
		send_progress(c, t);
		music_ask_analysis(c, t);
		return;
	}
	switch (ev->lane.what) {
	case SENDER_STARTED:
		on_started(c, t);
		break;
	case SENDER_PAUSED:
		if (t->paused) /* else it crossed MUSIC_RESUME */
			music_set_phase(c, t, MEDIA_MUSIC_PHASE_PAUSED);
		break;
	case SENDER_DRAINED:
		whole = t->failure == DECODER_REASON_END || t->failure == DECODER_REASON_UNKNOWN;
		music_finish_track(c, t, whole ? MEDIA_REASON_NONE : MEDIA_REASON_SOURCE_FAILED);
		break;
	case SENDER_STOPPED:
		if (ev->lane.reason == MEDIA_REASON_SOURCE_FAILED)
			t->failure = DECODER_REASON_DAMAGED;
		music_finish_track(c, t, stop_reason(c, t, ev->lane.reason));
		break;
	default:
		break;
	}
}

/* ---- music that rests ---- */

/* True if nothing but a decoder is lost: it plays in no other's place, and can go on at its sample.
 */
static bool may_rest(const struct call *c, const struct music_track *t)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		if (c->tracks[i] && c->tracks[i]->replaces == t)
			return false;
	return t->music && t->lane && t->paused && t->phase == MEDIA_MUSIC_PHASE_PAUSED &&
	       t->why == MEDIA_REASON_NONE && !t->follows && !t->replaces && t->opened.seekable;
}

void music_rest_paused(struct call *c)
{
	const uint64_t now = env_now(c->conf.env);

	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++) {
		struct music_track *t = c->tracks[i];

		if (t && may_rest(c, t) && now - t->paused_at >= MUSIC_RESTS_S * NS_PER_S)
			music_rest(c, t);
	}
}
