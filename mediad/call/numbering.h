/* The numbers that a voice gateway gives its messages (`seq`, 16 bits, wrapping; text and binary
 * share them): which were missed, so that a resume asks from the last unbroken one, and which of
 * those told again are new. Pure. */
#ifndef MEDIAD_CALL_NUMBERING_H
#define MEDIAD_CALL_NUMBERING_H

#include <stdbool.h>
#include <stdint.h>

enum { NUMBERING_RANGES = 16 };

enum numbered {
	NUMBERED_NEXT,	 /* the next one */
	NUMBERED_GAP,	 /* new, and some before it were missed */
	NUMBERED_MISSED, /* one of those that were missed */
	NUMBERED_AGAIN,	 /* told again though it was had */
};

struct numbering {
	int last; /* the newest, -1 before the first */
	unsigned ranges;
	struct {
		uint16_t from, to;
	} missing[NUMBERING_RANGES]; /* oldest first */
	bool resumed;		     /* once in this session: what was had may be told again */
	bool asked;		     /* a resume asks for all that are missing */
};

void numbering_reset(struct numbering *n);
enum numbered numbering_take(struct numbering *n, uint16_t seq);
/* The last before which none is missing, -1 before the first: seq_ack of ops 3 and 7. */
int numbering_whole(const struct numbering *n);
/* Whether some are missing that no resume has asked for yet. */
bool numbering_missing(const struct numbering *n);
/* A resume asks for them (op 7). What is missing still when the next new one comes, the server does
 * not have. */
void numbering_ask(struct numbering *n);

#endif
