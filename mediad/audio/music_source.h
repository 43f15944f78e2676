/* A source of music for a lane: 48 kHz stereo that a decoder process writes into a ring.
 *
 * The audio thread reads it without a system call. The loop thread makes it and keeps it until the
 * lane has returned. On replay read is NULL: the sound comes from the journal. */
#ifndef MEDIAD_AUDIO_MUSIC_SOURCE_H
#define MEDIAD_AUDIO_MUSIC_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct music_source {
	/* Moves up to `frames` frames (left, right) to pcm; *got of them. Returns EPROTO when the
	 * writer broke the ring. */
	int (*read)(void *arg, int16_t *pcm, size_t frames, size_t *got);
	/* True once all frames that will ever come have been read. */
	bool (*ended)(void *arg);
	void *arg;
};

#endif
