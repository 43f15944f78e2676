/* The owner of a sender in simulated time: runs its ticks, plays gateway and socket, and keeps what
 * it hands out. */
#ifndef TESTS_UNIT_MEDIAD_AUDIO_SEND_FIXTURE_H
#define TESTS_UNIT_MEDIAD_AUDIO_SEND_FIXTURE_H

#include "mediad/audio/send.h"
#include "proto/base/time.h"
#include "proto/rtp.h"
#include "tests/test.h"

#define TICK (20 * NS_PER_MS)
enum { MAX_OUT = 2000, MAX_EVENTS = 100, SECOND = 48000 };

struct send_rig {
	struct sender *s;
	uint64_t now;
	bool slow_gateway, dead_socket;
	void (*before)(void); /* each tick; NULL: nothing */
	struct out {
		uint64_t at;
		uint16_t seq;
		uint32_t ts;
		bool silence;
		size_t len;
		uint8_t opus[SENDER_OPUS_MAX];
	} out[MAX_OUT];
	int n_out;
	struct sender_event ev[MAX_EVENTS];
	int n_ev, n_ops, told_out[MAX_EVENTS]; /* told_out: packets sent when it was told */
};
extern struct send_rig send_rig;
extern int16_t send_tone[2 * SECOND]; /* 300 Hz */

/* joined: past the silence frames of joining. The caller frees send_rig.s. */
void send_setup(bool joined);
void send_tick_at(uint64_t now);
void send_run_ms(unsigned ms);
/* Lends a lane with n samples of a tone; end: and no more. */
struct lane *send_say(uint32_t id, size_t n, bool end);
/* NULL: there was none. */
const struct sender_event *send_find_event(enum sender_event_type type);

#endif
