/* Playout of one lane: how much was written, pulled and sent, its buffering, its fades and gain,
 * and the events that follow. Mono and stereo lanes keep their samples themselves and share this.
 *
 * A sample is a sample of each channel. Samples are pulled one frame ahead of time and count only
 * when playout_confirm() says that their datagram left or failed. Ramps advance with the samples
 * played, from their present value. Plain memory of its owner; lane.h and music_lane.h describe the
 * states. Gains are in millionths, times in ns, lengths of ramps in samples. */
#ifndef MEDIAD_AUDIO_PLAYOUT_H
#define MEDIAD_AUDIO_PLAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PLAYOUT_PER_MS = 48,
	PLAYOUT_GAIN_UNITY = 1000000,
	PLAYOUT_GAIN_MAX = 4000000,
	PLAYOUT_RISE_MS_PER_DB = 1000, /* of a glide */
};

enum lane_event {
	LANE_NONE,
	LANE_STARTED,
	LANE_PAUSED,
	LANE_DRAINED, /* the last event */
	LANE_STOPPED, /* the last event */
};

enum playout_state {
	PLAYOUT_BUFFERING,
	PLAYOUT_PLAYING,
	PLAYOUT_PAUSED,
	PLAYOUT_STOPPED,
	PLAYOUT_OVER
};
enum fade_to { FADE_TO_FULL, FADE_TO_PAUSE, FADE_TO_STOP };

struct playout {
	enum playout_state state;
	bool ended;
	uint32_t capacity, start, prebuffer; /* samples: of the lane, before the first sample is
						pulled, and after it has run empty */
	uint32_t fade_in;		     /* samples, of the first ones */
	uint64_t stall;	     /* a producer that wrote nothing for so long has stalled */
	uint64_t written_at; /* when the producer last wrote */
	uint64_t written, pulled, confirmed, sent, started_at;
	bool started_reported, paused_reported;

	enum fade_to fade_to;
	double fade, fade_step; /* 0..1 a sample */
	float gain, gain_target, gain_step;
	double fade_before; /* before the last pull */
	float gain_before;
};

/* The caller has set capacity, start, prebuffer, fade_in and stall; all else is zero. */
void playout_init(struct playout *p, uint32_t gain);

/* Samples written and not pulled yet. */
static inline size_t playout_available(const struct playout *p)
{
	return (size_t)(p->written - p->pulled);
}

/* Samples that fit now. */
size_t playout_room(const struct playout *p);
/* Returns ENOBUFS when n samples do not fit, EPIPE when the lane takes no more. */
int playout_may_write(const struct playout *p, size_t n);
void playout_wrote(struct playout *p, size_t n, uint64_t now);

/* As lane_pause, lane_resume, lane_stop, lane_gain and lane_finish_fade. */
void playout_pause(struct playout *p, uint32_t fade);
void playout_resume(struct playout *p, uint32_t fade);
void playout_stop(struct playout *p, uint32_t fade);
void playout_gain(struct playout *p, uint32_t target, uint32_t fade);
/* Moves the gain to a target that is told again and again, with small changes: at
 * PLAYOUT_RISE_MS_PER_DB up and at fall_ms_per_db down, counted from the gain that sounds; 0: at
 * once. A faster ramp that is under way in that direction keeps its pace. */
void playout_glide(struct playout *p, uint32_t target, uint32_t fall_ms_per_db);
void playout_finish_fade(struct playout *p);
/* Begins at silence: the first samples pulled rise to full over `fade` samples. */
void playout_fade_in(struct playout *p, uint32_t fade);

/* Starts a pull: returns how many samples to play now, at most `want`. Moves between buffering and
 * playing. */
size_t playout_begin_pull(struct playout *p, size_t want, uint64_t now);
/* Advances gain and fade by one sample. Returns false when a fade has reached silence: the sample
 * is not played. */
static inline bool playout_advance(struct playout *p)
{
	if (p->gain < p->gain_target || p->gain > p->gain_target) {
		float next = p->gain + p->gain_step;

		p->gain = (p->gain_step >= 0) == (next >= p->gain_target) ? p->gain_target : next;
	}
	if (p->fade_to != FADE_TO_FULL)
		p->fade = p->fade > p->fade_step ? p->fade - p->fade_step : 0;
	else if (p->fade < 1)
		p->fade = p->fade + p->fade_step < 1 ? p->fade + p->fade_step : 1;
	return p->fade_to == FADE_TO_FULL || p->fade > 0;
}
/* True if neither gain nor fade changes. */
static inline bool playout_is_steady(const struct playout *p)
{
	return p->fade_to == FADE_TO_FULL && p->fade >= 1 && !(p->gain < p->gain_target) &&
	       !(p->gain > p->gain_target);
}
/* Ends a pull in which n of the `want` samples were played. */
void playout_end_pull(struct playout *p, size_t n, size_t want);
/* As lane_unpull, lane_has_audio, lane_confirm and lane_next_event. */
void playout_unpull(struct playout *p, size_t n);
bool playout_has_audio(const struct playout *p);
/* True if nothing more will be pulled: it was stopped, or has ended and given all its samples. */
bool playout_is_exhausted(const struct playout *p);
/* True if it was pulled to its end, or had nothing to be pulled. */
bool playout_is_drained(const struct playout *p);
void playout_confirm(struct playout *p, size_t n, bool sent, uint64_t now);
enum lane_event playout_next_event(struct playout *p);

#endif
