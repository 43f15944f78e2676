/* The clock of a film: when its frames leave, and the times that viewers see of them.
 *
 * Plain memory of its owner, zeroed before the first use. Places in a film are in µs, times of
 * env's clock in ns. */
#ifndef MEDIAD_VIDEO_FILM_CLOCK_H
#define MEDIAD_VIDEO_FILM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The least time between two frames, since no film has more than 240 a second. The times stored in
 * a file are no limit: all of its frames may have the same one. */
#define FILM_STEP_US UINT64_C(4000)

enum {
	FILM_APART_MS = 40, /* between picture and sound; more is noticed (ITU-R BT.1359) */
};

struct film_clock {
	bool running; /* base_us was due at base_at */
	bool keeps;   /* it stands, and goes on from base_us, not from the next frame */
	uint64_t base_us, base_at; /* base_at: ns */
	uint64_t sent_at;	   /* of the newest frame; 0: none */
	uint64_t stamp_us;	   /* of the newest frame: each is later than the one before */
	uint64_t shift_us; /* of stamps against places, since a start before the newest frame */
};

/* Goes on where it stood, or begins with the next frame, which is due now. Viewers see a film that
 * starts before its newest frame go on at its pace. */
void film_clock_start(struct film_clock *c, uint64_t next_us, uint64_t now);
/* Stands. stays: it goes on from here later. */
void film_clock_stop(struct film_clock *c, bool stays, uint64_t now);
/* The next start is at this place. */
void film_clock_begin_at(struct film_clock *c, uint64_t at_us);
/* The place of a clock that runs. */
uint64_t film_clock_at(const struct film_clock *c, uint64_t now);
/* When it is at a place, if it runs; in the past, when it was there last. */
uint64_t film_clock_due(const struct film_clock *c, uint64_t at_us);
/* When a frame of that place may leave: that time, but not too soon behind the one before. */
uint64_t film_clock_send_at(const struct film_clock *c, uint64_t at_us);
/* A frame of that place leaves. Returns its RTP time in µs, without the sender's random offset. */
uint64_t film_clock_sent(struct film_clock *c, uint64_t at_us, uint64_t now);
/* The sound of the film was played up to this place at `at`: moves there if they are more than
 * FILM_APART_MS apart. Ignores what was played before the clock's start. Returns whether it moved.
 */
bool film_clock_follow(struct film_clock *c, uint64_t played_us, uint64_t at);

#endif
