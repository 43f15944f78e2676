/* A lane: one input of the mixer. It carries the PCM of one playback at 48 kHz mono.
 *
 * States: buffering (until LANE_START_MS are there, or LANE_PREBUFFER_MS once it has run empty, the
 * producer ended, or it wrote nothing for LANE_STALL_MS), playing, fading to a pause, paused,
 * fading to a stop, over. A lane that runs empty before its end buffers again. The last, partial
 * frame is padded with zeros.
 *
 * Samples are pulled one frame ahead of time and count only when lane_confirm() says that their
 * datagram left or failed. Started, paused, drained and stopped are reported from there, so they
 * tell what was sent. `drained` means that the last sample left the socket; the silence frames
 * follow it.
 *
 * Owned by one thread at a time: made by the loop thread, lent to an audio thread. Only lane_alloc
 * allocates. Gains are in thousandths, times in ns unless the name says otherwise. */
#ifndef MEDIAD_AUDIO_LANE_H
#define MEDIAD_AUDIO_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mediad/audio/playout.h"

enum {
	LANE_RATE = 48000,
	LANE_FRAME = 960,
	LANE_CAPACITY = 96000, /* samples: 2 s */
	LANE_START_MS = 40, /* providers deliver faster than speech is spoken; one that does not is
			       buffered longer after the first gap */
	LANE_PREBUFFER_MS = 200,
	LANE_STALL_MS = 120,
	LANE_GAIN_UNITY = 1000,
	LANE_GAIN_MAX = 4000,
};

struct lane;

/* id: of the playback. gain: clamped at LANE_GAIN_MAX. Returns ENOMEM. The caller owns *out. */
int lane_alloc(struct lane **out, uint32_t id, uint16_t gain);
struct lane *lane_free(struct lane *l);
uint32_t lane_id(const struct lane *l);

/* Appends n samples. Returns ENOBUFS when they do not fit (and takes none), EPIPE after lane_end.
 */
int lane_write(struct lane *l, const int16_t *pcm, size_t n, uint64_t now);
/* Number of samples that fit now. */
size_t lane_room(const struct lane *l);
/* No more samples will be written. */
void lane_end(struct lane *l);
/* Fades are linear; 0 ms takes effect with the next frame pulled. A fade that runs out of samples
 * ends at once. Gain ramps start at the present gain and advance with the samples played. Stop
 * takes precedence over pause. */
void lane_pause(struct lane *l, uint16_t fade_ms);
void lane_resume(struct lane *l, uint16_t fade_ms);
void lane_stop(struct lane *l, uint16_t fade_ms);
void lane_gain(struct lane *l, uint16_t target, uint16_t fade_ms);

/* Adds the next frame to acc. Returns how many samples of the lane are in it (0..960). */
size_t lane_pull(struct lane *l, float acc[LANE_FRAME], uint64_t now);
/* True if the lane has samples that may play soon, so that op 5 should be requested. */
bool lane_has_audio(const struct lane *l);
/* Nothing is being sent: ends a running fade at once. */
void lane_finish_fade(struct lane *l);
/* Takes back the n samples of the last pull, because they were not sent: the next pull begins with
 * them, and the ramps where they began. The buffer keeps room for them. */
void lane_unpull(struct lane *l, size_t n);
/* The oldest n pulled samples left the socket at `now` (sent), or were lost on this side. */
void lane_confirm(struct lane *l, size_t n, bool sent, uint64_t now);
/* The next event since the last call; LANE_NONE at the end. Call it after lane_pull, lane_confirm
 * and every command. */
enum lane_event lane_next_event(struct lane *l);

uint64_t lane_written(const struct lane *l);
/* Samples pulled so far, for credit: all but those of the last frame have made room. */
uint64_t lane_pulled(const struct lane *l);
/* Samples that left the socket. */
uint64_t lane_sent(const struct lane *l);
/* When the first one left; 0 before. */
uint64_t lane_started_at(const struct lane *l);
bool lane_paused(const struct lane *l);

#endif
