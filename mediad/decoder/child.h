/* A decoder process: forked from the loaded parent, jailed, and gone when its track is decoded. */
#ifndef MEDIAD_DECODER_CHILD_H
#define MEDIAD_DECODER_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mediad/music/decoder_wire.h"

struct child_start {
	int source;  /* the file or the fetcher's socket */
	int status;  /* the child's end of a SOCK_SEQPACKET pair, for OPENED and LEVELS */
	void *rings; /* all rings, n_rings of them; the child keeps its own */
	size_t n_rings;
	void *videos; /* the same of video; may be NULL */
	size_t n_videos;
	uint16_t slot;
	uint64_t track;
	enum decoder_source_kind kind;
	uint64_t start; /* frame */
	bool measure;
	uint8_t visualizer; /* as decoder_source */
};

/* The descriptors stay the caller's. The exit status is a DECODER_REASON. Errors of fork. */
int child_fork(pid_t *pid, const struct child_start *start);
/* Waits for the process, which has closed its end or must die; returns the reason of its end. */
enum decoder_reason child_wait(pid_t pid);

#endif
