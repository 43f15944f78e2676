/* Whether a decoder process makes progress, by what is seen of its track's ring. Pure. */
#ifndef MEDIAD_DECODER_PROGRESS_H
#define MEDIAD_DECODER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PROGRESS_OPEN_S = 20,  /* until the format is known */
	PROGRESS_STALL_S = 15, /* after that, while the ring has room */
};

struct progress {
	bool opened;
	uint64_t moved, written; /* ns; frames */
};

/* A track is to be opened. */
void progress_start(struct progress *p, uint64_t now);
/* Its format is known: the time for the first sound begins. */
void progress_open(struct progress *p, uint64_t now);
/* Its source is tried again: the time begins anew. */
void progress_wait(struct progress *p, uint64_t now);
/* written: frames in the ring since its begin; rests: there is nothing to write. True: the process
 * has to be ended. */
bool progress_stalls(struct progress *p, uint64_t written, bool rests, uint64_t now);

#endif
