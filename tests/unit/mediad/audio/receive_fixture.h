/* One speaker who is sent Opus packets at a simulated time, and what came of them. State is static
 * storage of the fixture; receive_setup() begins anew, and the test frees receive_rig.spk. */
#ifndef TESTS_UNIT_MEDIAD_AUDIO_RECEIVE_FIXTURE_H
#define TESTS_UNIT_MEDIAD_AUDIO_RECEIVE_FIXTURE_H

#include <math.h>
#include <opus/opus.h>

#include "mediad/audio/decode.h"
#include "mediad/audio/receive.h"
#include "proto/base/time.h"
#include "proto/rtp.h"
#include "tests/test.h"

enum { RECEIVE_EVENTS = 4000, RECEIVE_PACKETS = 400 };

struct receive_got {
	struct audio_event ev;
	int16_t first; /* sample */
	int peak;      /* of its samples */
};

struct receive_packet {
	uint8_t p[400];
	size_t n;
};

struct receive_rig {
	struct audio_speaker *spk;
	uint64_t now; /* ns */
	int n;
	struct receive_got got[RECEIVE_EVENTS];
	/* Eight seconds, made once: hybrid mode with FEC. PLC can guess the tone but not the chirp.
	 */
	struct receive_packet tone[RECEIVE_PACKETS], chirp[RECEIVE_PACKETS];
};
extern struct receive_rig receive_rig;

void receive_make_packets(void);
void receive_setup(void);
/* For audio_speaker_alloc(): appends to got. */
void receive_event_h(const struct audio_event *ev, void *arg);

/* Packet k at RTP time k * 960 (+ shift, in samples). */
void receive_put_at(unsigned k, uint32_t shift);
void receive_put(unsigned k);
void receive_pass(unsigned ms);

/* Returns 0 or an errno of audio_speaker_listen(). rate in Hz. */
int receive_listen_at(uint32_t id, uint32_t rate, uint16_t silence_ms);
int receive_count(enum audio_event_type type, uint32_t listen);
/* Frames of a listen follow one another in RTP time, numbered from 0. */
bool receive_seamless(uint32_t listen, uint32_t rate);

#endif
