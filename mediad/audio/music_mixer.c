#include "mediad/audio/music_mixer.h"

#include <errno.h>
#include <stdlib.h>

struct queued_lane {
	struct music_lane *lane;
	struct music_joint joint; /* with the lane before it */
	size_t pulled;		  /* frames of it in the frame that is pulled */
};

struct music_mixer {
	struct encoder *enc;
	struct duck duck;
	struct queued_lane lanes[MUSIC_MIXER_LANES];
	unsigned n_lanes;
	bool crossing; /* the first two lanes cross over */
	bool sounded;  /* in the last frame pulled */
};

int music_mixer_alloc(struct music_mixer **out)
{
	struct music_mixer *m = calloc(1, sizeof *m);
	int err;

	if (!m)
		return ENOMEM;
	err = encoder_alloc_stereo(&m->enc, ENCODER_MUSIC_BITRATE);
	if (err) {
		music_mixer_free(m);
		return err;
	}
	duck_init(&m->duck);
	*out = m;
	return 0;
}

struct music_mixer *music_mixer_free(struct music_mixer *m)
{
	if (!m)
		return NULL;
	for (unsigned i = 0; i < m->n_lanes; i++)
		music_lane_free(m->lanes[i].lane);
	encoder_free(m->enc);
	free(m);
	return NULL;
}

struct encoder *music_mixer_encoder(struct music_mixer *m)
{
	return m->enc;
}

struct duck *music_mixer_duck(struct music_mixer *m)
{
	return &m->duck;
}

/* ---- the queue ---- */

static struct playout *playout_of(const struct music_mixer *m, unsigned i)
{
	return music_lane_playout(m->lanes[i].lane);
}

static unsigned find_lane(const struct music_mixer *m, uint32_t id)
{
	unsigned i = 0;

	while (i < m->n_lanes && music_lane_id(m->lanes[i].lane) != id)
		i++;
	return i;
}

int music_mixer_add(struct music_mixer *m, struct music_lane *l, const struct music_joint *joint)
{
	unsigned at = joint->after ? find_lane(m, joint->after) + 1 : m->n_lanes;

	if (find_lane(m, music_lane_id(l)) < m->n_lanes)
		return EEXIST;
	if (m->n_lanes == MUSIC_MIXER_LANES)
		return ENOSPC;
	at = at < m->n_lanes ? at : m->n_lanes;
	/* Nothing was pulled since the last lane has left, whenever that was. */
	if (!m->n_lanes)
		m->sounded = false;
	for (unsigned i = m->n_lanes++; i > at; i--)
		m->lanes[i] = m->lanes[i - 1];
	m->lanes[at] = (struct queued_lane){.lane = l, .joint = *joint};
	return 0;
}

struct music_lane *music_mixer_lane(struct music_mixer *m, uint32_t id)
{
	return music_mixer_at(m, find_lane(m, id));
}

struct music_lane *music_mixer_at(struct music_mixer *m, unsigned i)
{
	return i < m->n_lanes ? m->lanes[i].lane : NULL;
}

struct music_lane *music_mixer_take(struct music_mixer *m)
{
	m->crossing = false;
	return m->n_lanes ? m->lanes[--m->n_lanes].lane : NULL;
}

static struct music_lane *remove_lane(struct music_mixer *m, unsigned i)
{
	struct music_lane *gone = m->lanes[i].lane;

	if (i < 2)
		m->crossing = false;
	m->n_lanes--;
	for (; i < m->n_lanes; i++)
		m->lanes[i] = m->lanes[i + 1];
	return gone;
}

/* ---- commands ---- */

bool music_mixer_pause(struct music_mixer *m, uint32_t id, uint16_t fade_ms)
{
	unsigned i = find_lane(m, id);
	uint32_t fade = fade_ms * (uint32_t)PLAYOUT_PER_MS;

	if (i == m->n_lanes)
		return false;
	/* A lane that falls away has nothing to come back to. */
	if (m->crossing && i < 2) {
		playout_stop(playout_of(m, 0), fade);
		i = 1;
	}
	playout_pause(playout_of(m, i), fade);
	return true;
}

bool music_mixer_resume(struct music_mixer *m, uint32_t id, uint16_t fade_ms)
{
	unsigned i = find_lane(m, id);

	if (i == m->n_lanes)
		return false;
	playout_resume(playout_of(m, i), fade_ms * (uint32_t)PLAYOUT_PER_MS);
	return true;
}

void music_mixer_finish_fades(struct music_mixer *m)
{
	for (unsigned i = 0; i < m->n_lanes; i++)
		playout_finish_fade(playout_of(m, i));
	m->sounded = false;
}

/* ---- mixing ---- */

/* Returns the first lane that is not exhausted. */
static unsigned find_playing(const struct music_mixer *m)
{
	unsigned i = 0;

	while (i < m->n_lanes && playout_is_exhausted(playout_of(m, i)))
		i++;
	return i;
}

bool music_mixer_is_active(const struct music_mixer *m)
{
	unsigned i = find_playing(m);

	return i < m->n_lanes && playout_of(m, i)->state != PLAYOUT_PAUSED;
}

bool music_mixer_has_audio(const struct music_mixer *m)
{
	unsigned i = find_playing(m);

	return i < m->n_lanes && playout_has_audio(playout_of(m, i));
}

/* Returns the length of the crossfade of the first two lanes: half of the shorter one at most, so
 * that the fades at both ends of a lane do not overlap. */
static uint32_t limit_fade(const struct music_mixer *m, uint32_t fade)
{
	for (unsigned i = 0; i < 2; i++) {
		uint64_t length = music_lane_length(m->lanes[i].lane);

		if (length && fade > length / 2)
			fade = (uint32_t)(length / 2);
	}
	return fade;
}

/* A seek in the lane that comes in does not wait for the end of the crossfade: the lane that falls
 * away ends at the pace of the seek. */
static void hasten_crossing(struct music_mixer *m)
{
	const struct music_joint *seek = &m->lanes[2].joint;

	if (m->crossing && m->n_lanes > 2 && seek->at_once &&
	    music_lane_is_ready(m->lanes[2].lane) && !playout_is_exhausted(playout_of(m, 0)))
		playout_stop(playout_of(m, 0), seek->crossfade);
}

/* Begins to cross over from the first lane to the second when it is time for that. */
static void begin_crossing(struct music_mixer *m)
{
	const struct music_joint *joint = &m->lanes[1].joint;
	uint32_t fade;
	uint64_t left;

	if (m->crossing || m->n_lanes < 2 || playout_of(m, 0)->fade_to != FADE_TO_FULL ||
	    !music_lane_is_ready(m->lanes[1].lane))
		return;
	fade = joint->at_once ? joint->crossfade : limit_fade(m, joint->crossfade);
	left = music_lane_left(m->lanes[0].lane);
	if (!joint->at_once && (!left || left > fade))
		return;
	/* A lane that came late crosses over what is left: the first one would end in the middle of
	 * its fade, and the second one begin in silence. */
	if (!joint->at_once)
		fade = (uint32_t)left;
	if (playout_of(m, 0)->state != PLAYOUT_PLAYING) {
		if (joint->at_once)
			playout_stop(playout_of(m, 0), 0);
		return;
	}
	music_lane_cross_out(m->lanes[0].lane, fade);
	music_lane_cross_in(m->lanes[1].lane, fade);
	m->crossing = true;
}

size_t music_mixer_pull(struct music_mixer *m, float left[LANE_FRAME], float right[LANE_FRAME],
			bool speech, uint64_t now)
{
	size_t from = 0, end = 0;

	hasten_crossing(m);
	begin_crossing(m);
	for (unsigned i = 0; i < m->n_lanes; i++) {
		struct queued_lane *q = &m->lanes[i];

		q->pulled = 0;
		if (from == LANE_FRAME)
			continue;
		q->pulled = music_lane_pull(q->lane, left, right, from, now);
		end = from + q->pulled > end ? from + q->pulled : end;
		if (m->crossing && i == 0)
			continue; /* the second one sounds with it */
		from = playout_is_exhausted(playout_of(m, i)) ? from + q->pulled : LANE_FRAME;
	}
	duck_begin_frame(&m->duck, speech, m->sounded);
	duck_run(&m->duck, left, right, end);
	m->sounded = end > 0;
	return end;
}

void music_mixer_unpull(struct music_mixer *m)
{
	for (unsigned i = 0; i < m->n_lanes; i++)
		if (m->lanes[i].pulled)
			playout_unpull(playout_of(m, i), m->lanes[i].pulled);
	for (unsigned i = 0; i < m->n_lanes; i++)
		m->lanes[i].pulled = 0;
	duck_undo(&m->duck);
}

void music_mixer_confirm(struct music_mixer *m, bool sent, uint64_t now)
{
	for (unsigned i = 0; i < m->n_lanes; i++) {
		playout_confirm(playout_of(m, i), m->lanes[i].pulled, sent, now);
		m->lanes[i].pulled = 0;
	}
}

/* A lane without a sample is over before its turn: its end is told when those before it have gone,
 * or what follows would count as begun. */
static bool is_early(const struct music_mixer *m, unsigned i)
{
	const struct playout *p = playout_of(m, i);

	return i > 0 && p->state != PLAYOUT_STOPPED && playout_is_drained(p);
}

enum lane_event music_mixer_next_event(struct music_mixer *m, struct music_lane **lane)
{
	for (unsigned i = 0; i < m->n_lanes; i++) {
		enum lane_event ev =
			is_early(m, i) ? LANE_NONE : playout_next_event(playout_of(m, i));

		if (ev == LANE_NONE)
			continue;
		*lane = m->lanes[i].lane;
		if (ev == LANE_DRAINED || ev == LANE_STOPPED)
			remove_lane(m, i);
		return ev;
	}
	return LANE_NONE;
}
