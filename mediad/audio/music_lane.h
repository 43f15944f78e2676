/* A music lane: one track of music, or the part of it after a seek, at 48 kHz stereo.
 *
 * It plays as lane.h describes, but from MUSIC_LANE_START_MS on, because its source is a ring of
 * two seconds; a lane that ran empty waits for MUSIC_LANE_PREBUFFER_MS. `playout` takes the
 * commands and tells the events. Two lanes cross over with equal power: while one falls along a
 * cosine, the other rises along a sine.
 *
 * Made by the loop thread, lent to an audio thread. Only music_lane_alloc allocates. Gains are in
 * millionths, times in ns. A frame of music is one sample of each channel. */
#ifndef MEDIAD_AUDIO_MUSIC_LANE_H
#define MEDIAD_AUDIO_MUSIC_LANE_H

#include "mediad/audio/lane.h"
#include "mediad/audio/music_source.h"
#include "mediad/audio/playout.h"

enum {
	MUSIC_LANE_CAPACITY = 4800, /* frames: 100 ms; two seconds are in the source */
	MUSIC_LANE_START_MS = 20,
	MUSIC_LANE_PREBUFFER_MS = 60,
};

struct music_lane;

struct music_lane_conf {
	uint32_t id;
	uint32_t gain;	  /* clamped at PLAYOUT_GAIN_MAX */
	uint64_t length;  /* frames that the source is expected to give; 0: not known */
	uint32_t fade_in; /* frames, for sound that begins in its middle; 0: as it is */
	struct music_source source;
};

/* Returns ENOMEM. The caller owns *out; the source must outlive it. */
int music_lane_alloc(struct music_lane **out, const struct music_lane_conf *conf);
struct music_lane *music_lane_free(struct music_lane *l);
uint32_t music_lane_id(const struct music_lane *l);
/* Borrowed. */
const struct music_source *music_lane_source(const struct music_lane *l);
struct playout *music_lane_playout(struct music_lane *l);

/* Appends n frames, left before right. Returns ENOBUFS when they do not fit (and takes none), EPIPE
 * after the end. */
int music_lane_write(struct music_lane *l, const int16_t *pcm, size_t n, uint64_t now);
/* Stops it at once, because its source is broken. */
void music_lane_break(struct music_lane *l);
bool music_lane_is_broken(const struct music_lane *l);
/* No more frames will be written. */
void music_lane_end(struct music_lane *l);
/* Frames to come, by the length or the end of the source; UINT64_MAX if the length is not known, 0
 * if it was too short. */
uint64_t music_lane_left(const struct music_lane *l);
/* True if it could play its first frame now. */
bool music_lane_is_ready(const struct music_lane *l);
/* Frames of the whole source, as far as that is known; 0: it is not. */
uint64_t music_lane_length(const struct music_lane *l);
/* Falls to silence over `fade` frames and stops, or rises from it, with equal power. */
void music_lane_cross_out(struct music_lane *l, uint32_t fade);
void music_lane_cross_in(struct music_lane *l, uint32_t fade);

/* Adds frames from place `from` of the frame on. Returns how many of the lane are in it (0..960 -
 * from). */
size_t music_lane_pull(struct music_lane *l, float left[LANE_FRAME], float right[LANE_FRAME],
		       size_t from, uint64_t now);

#endif
