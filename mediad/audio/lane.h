/* One playback's PCM at 48 kHz mono on its way into the mix.
 *
 * States: buffering (waits for LANE_PREBUFFER_MS, or until the producer ended or did not grow for
 * LANE_STALL_MS), playing, pausing (fade), paused, stopping (fade), over. An empty lane that did
 * not end buffers again. The last, partial frame is padded with zeros.
 *
 * Samples are pulled a frame ahead of time and count only when lane_left() says that their datagram
 * left (or failed to): started, paused, drained and stopped are told from there, so they are about
 * what was sent. `drained` means: the last sample left the socket, the silence frames come after
 * it.
 *
 * Owned by one thread at a time: made by the loop thread, lent to an audio thread. Only lane_alloc
 * allocates. */
#ifndef MEDIAD_AUDIO_LANE_H
#define MEDIAD_AUDIO_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LANE_RATE = 48000,
	LANE_FRAME = 960,
	LANE_CAPACITY = 96000, /* samples: 2 s */
	LANE_PREBUFFER_MS = 200,
	LANE_STALL_MS = 120,
	LANE_GAIN_UNITY = 1000,
	LANE_GAIN_MAX = 4000,
};

enum lane_event {
	LANE_NONE,
	LANE_STARTED,
	LANE_PAUSED,
	LANE_DRAINED, /* the last event */
	LANE_STOPPED, /* the last event */
};

struct lane;

/* id: the playback. gain in thousandths, cut at LANE_GAIN_MAX. ENOMEM. Caller owns *out. */
int lane_alloc(struct lane **out, uint32_t id, uint16_t gain);
struct lane *lane_free(struct lane *l);
uint32_t lane_id(const struct lane *l);

/* Appends n samples; ENOBUFS (and nothing is taken) when they do not fit, EPIPE after lane_end. */
int lane_write(struct lane *l, const int16_t *pcm, size_t n, uint64_t now);
size_t lane_room(const struct lane *l);
/* No more will be written. */
void lane_end(struct lane *l);
/* Linear fades; 0 ms takes effect with the next frame pulled. A fade that runs out of samples is
 * over at once. Gain ramps go from the present value and advance with the samples played. Stop wins
 * over pause. */
void lane_pause(struct lane *l, uint16_t fade_ms);
void lane_resume(struct lane *l, uint16_t fade_ms);
void lane_stop(struct lane *l, uint16_t fade_ms);
void lane_gain(struct lane *l, uint16_t target, uint16_t fade_ms);

/* Adds the next frame to acc and returns how many samples of the lane are in it (0..960). */
size_t lane_pull(struct lane *l, float acc[LANE_FRAME], uint64_t now);
/* True while it has samples that may sound soon: the time to ask for op 5. */
bool lane_wants(const struct lane *l);
/* Nothing is being sent: a fade that runs is over at once. */
void lane_settle(struct lane *l);
/* The n samples of the last pull were not sent and shall be: the next pull begins with them again,
 * and the ramps where they began. The buffer keeps room for them. */
void lane_back(struct lane *l, size_t n);
/* n samples of the oldest pulled ones left the socket at `now` (sent), or were lost on this side.
 */
void lane_left(struct lane *l, size_t n, bool sent, uint64_t now);
/* What is new since the last call; LANE_NONE at the end. Ask after pull, left and any command. */
enum lane_event lane_next_event(struct lane *l);

uint64_t lane_written(const struct lane *l);
/* Samples taken out of the buffer so far, for credit: all but the last frame of them have made room
 * for new ones. */
uint64_t lane_pulled(const struct lane *l);
/* Samples that left the socket. */
uint64_t lane_sent(const struct lane *l);
/* When the first one left, 0 before. */
uint64_t lane_started_at(const struct lane *l);
bool lane_paused(const struct lane *l);

#endif
