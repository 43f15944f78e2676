/* Judges the music in what one agent hears of another one: which track sounds, by its tone, and
 * whether tracks follow each other as in the queue, one at a time and undamaged, without jumps.
 * Frames that a decoder has made up for a gap are left out by the caller. Pure; plain memory,
 * zeroed before use. */
#ifndef TESTS_CHAOS_EAR_H
#define TESTS_CHAOS_EAR_H

#include "tests/chaos/tone.h"

/* What may be wrong with it. V(NAME, what) */
#define EAR_FAULTS(V)                                                                              \
	V(DOUBLED, "two tracks sounded at once")                                                   \
	V(DISORDER, "a track was left out or came again")                                          \
	V(STRANGER, "the music of another person sounded")                                         \
	V(NOISE, "noise sounded, alone or under speech or music")                                  \
	V(SKIPPED, "a part of a track was left out")                                               \
	V(REPEATED, "a part of a track came again")

enum ear_fault {
	EAR_NO_FAULT,
#define V(NAME, what) EAR_##NAME,
	EAR_FAULTS(V)
#undef V
		EAR_FAULTS_N
};

struct ear {
	bool knows;		    /* a track was heard for long enough */
	unsigned track;		    /* the last one of those */
	unsigned candidate, held;   /* another one, and for how many ms */
	uint64_t heard_at;	    /* ms: when music sounded last */
	unsigned run[EAR_FAULTS_N]; /* ms in which the fault lasts */
	unsigned told;		    /* bits of faults that were told and last still */
	bool placed;		    /* where the music is is known: */
	int64_t earliest, latest;   /* bounds in ms of all tracks, at the frame heard last */
	uint32_t capture, rtp;	    /* of that frame */
	unsigned frame_ms;
};

/* What one agent hears of another one: n samples of a capture. */
struct ear_frame {
	const int16_t *pcm;
	size_t n;
	uint32_t rate, capture, rtp; /* rtp: its time by the sender's clock, 48 kHz */
	uint64_t now_ms;
};

const char *ear_fault_text(enum ear_fault fault);

/* A frame of this person. *music: one of the person's tracks sounds in it. Returns a fault that has
 * lasted too long to be a joint between tracks, once. */
enum ear_fault ear_hear(struct ear *e, enum chaos_who who, const struct ear_frame *f, bool *music);

#endif
