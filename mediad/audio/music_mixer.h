/* The music of one call: a queue of lanes that play one after the other, ducking, and the stereo
 * encoder that a call needs only for music.
 *
 * The first lane plays. When it has given its last sample, the next one goes on with the following
 * sample of the same frame; with a crossfade it begins so much before the end, as far as the length
 * of the first is known. A lane added with `at_once` crosses over as soon as it is ready, which is
 * how a seek sounds; a crossfade into the one before it gives way. A lane that is stopped makes way
 * for the one after it.
 *
 * The sender pulls a frame, then confirms it or takes it back, once for each pull. The loop thread
 * makes the mixer and lends it together with its lanes; lanes return by music_mixer_next_event.
 * Only _alloc allocates. Times are in ns. */
#ifndef MEDIAD_AUDIO_MUSIC_MIXER_H
#define MEDIAD_AUDIO_MUSIC_MIXER_H

#include "mediad/audio/duck.h"
#include "mediad/audio/encoder.h"
#include "mediad/audio/music_lane.h"

enum {
	MUSIC_MIXER_LANES = 8,
	MUSIC_CROSSFADE_MAX_MS = 12000,
};

struct music_mixer;

/* How a lane follows the one before it. */
struct music_joint {
	uint32_t crossfade; /* frames, half of the shorter lane at most; 0: gapless */
	bool at_once;	    /* when it is ready, not at the end of the one before */
	uint32_t after;	    /* lane that it is queued behind; 0: the last one */
};

/* Returns ENOMEM. The caller owns *out. */
int music_mixer_alloc(struct music_mixer **out);
/* Also frees the lanes that are still lent to it. */
struct music_mixer *music_mixer_free(struct music_mixer *m);
/* Stereo when music sounds, borrowed. */
struct encoder *music_mixer_encoder(struct music_mixer *m);
struct duck *music_mixer_duck(struct music_mixer *m);

/* Lends a lane. Returns ENOSPC or EEXIST. */
int music_mixer_add(struct music_mixer *m, struct music_lane *l, const struct music_joint *joint);
/* A lane, borrowed; NULL when it has ended. */
struct music_lane *music_mixer_lane(struct music_mixer *m, uint32_t id);
/* The i-th lane in order of play, borrowed; NULL past the last. */
struct music_lane *music_mixer_at(struct music_mixer *m, unsigned i);
/* Pauses or resumes a lane, and the one that it crosses over with. Fades are in ms. Returns false
 * when there is no such lane. */
bool music_mixer_pause(struct music_mixer *m, uint32_t id, uint16_t fade_ms);
bool music_mixer_resume(struct music_mixer *m, uint32_t id, uint16_t fade_ms);
/* Nothing is being sent: ends running fades at once. */
void music_mixer_finish_fades(struct music_mixer *m);

/* True if a lane is to play, so that frames must be made. */
bool music_mixer_is_active(const struct music_mixer *m);
/* True if the lane to play has samples. */
bool music_mixer_has_audio(const struct music_mixer *m);
/* Adds the next frame; the duck is applied. speech: some plays in this frame or waits to. Returns
 * the index after the last sample of any lane. */
size_t music_mixer_pull(struct music_mixer *m, float left[LANE_FRAME], float right[LANE_FRAME],
			bool speech, uint64_t now);
/* Takes back the pulled frame. */
void music_mixer_unpull(struct music_mixer *m);
/* The pulled frame left the socket at `now` (sent), or was lost on this side. */
void music_mixer_confirm(struct music_mixer *m, bool sent, uint64_t now);
/* The next event of any lane; LANE_NONE: there is none. With DRAINED and STOPPED *lane is the
 * caller's again. */
enum lane_event music_mixer_next_event(struct music_mixer *m, struct music_lane **lane);
/* For teardown: takes out one lane; NULL when none is left. */
struct music_lane *music_mixer_take(struct music_mixer *m);

#endif
