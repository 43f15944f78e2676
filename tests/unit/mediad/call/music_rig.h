/* A call with music, with the steps of an audio thread in simulated time and a decoderd that the
 * test plays. */
#ifndef TESTS_UNIT_MEDIAD_CALL_MUSIC_RIG_H
#define TESTS_UNIT_MEDIAD_CALL_MUSIC_RIG_H

#include "mediad/call/call_internal.h"
#include "proto/base/time.h"
#include "tests/test.h"

#define TICK (20 * NS_PER_MS)

enum { MAX_STATES = 2048, DURATION = 48000, RIG_LANES = 256 };

struct music_rig {
	struct env *env, *audio, *decoders; /* each has a world of its own */
	struct engine *engine;
	struct call c;
	uint64_t now;
	uint64_t left[RIG_LANES]; /* frames that the decoder of a track will still give, by lane */
	uint32_t starved;	  /* the lane whose decoder gives no end after these; 0: none */
	struct {
		struct media_music_state s;
		char failure[33];
	} states[MAX_STATES];
	unsigned n_states, tags;
	struct media_music_analysis analysis; /* the newest; its bytes are gone */
	unsigned n_analyses;
	size_t queued;	  /* bytes that wait for control */
	uint64_t written; /* frames that a decoder has written when it dies; 0: few */
	bool starves;	  /* the ring of a silent track is not full */
	char title[300];
	const char *album, *artist; /* of all tracks; NULL: none */
	bool guesses;		    /* what the next tracks declare as their length */
};

extern struct music_rig music_rig;

void music_rig_run_ms(unsigned ms);
int music_rig_start(bool with_decoders);
int music_rig_connect_stream(void);
/* The call has ended for the audio thread, and its events have come. */
void music_rig_remove_stream(void);
void music_rig_finish(void);
/* Tells the decoders about a track, in whichever slot it is: others ignore it. */
void music_rig_deliver(struct decoder_msg *msg);
void music_rig_deliver_ready(void);
struct music_track *music_rig_track_of(uint32_t music);
/* decoderd has opened the source of a music. */
void music_rig_opened(uint32_t music, uint64_t start_at, uint64_t duration);
void music_rig_ended(uint64_t decoded, enum decoder_reason reason);
void music_rig_play(uint32_t music, uint16_t fade_ms);
void music_rig_prepare(uint32_t music, uint16_t crossfade_ms);
void music_rig_setup(void);
/* The newest state of a music. */
const struct media_music_state *music_rig_state_of(uint32_t music);
const char *music_rig_failure_of(uint32_t music);
unsigned music_rig_count_states(uint32_t music, enum media_music_phase phase);

#define CHECK_PHASE(music, name)                                                                   \
	CHECK_INT(music_rig_state_of(music)->phase, MEDIA_MUSIC_PHASE_##name)

#endif
