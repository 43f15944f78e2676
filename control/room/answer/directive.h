/* What a model writes between double brackets, read while it writes:
 *
 *   [[TO: SPEAKER]]          who is spoken to: SPEAKER, ALL or a name; at the beginning only
 *   [[LEASE: ATOMIC]]        ASSERTIVE or ATOMIC: keep the floor; at the beginning only
 *   [[SOUNDBOARD: ref]]      a sound here
 *   [[NOTE: words]]          a note to itself
 *   [SKIP]                   as the whole answer: say nothing
 *
 *   phase    byte                        next      does
 *   LEAD     blank                       LEAD      nothing
 *   LEAD     [[                          BODY      -
 *   LEAD     else                        SPOKEN    the lead is over, the byte is said
 *   SPOKEN   [[                          BODY      -
 *   SPOKEN   [ and what may be [SKIP]    SPOKEN    waits
 *   SPOKEN   else                        SPOKEN    the byte is said
 *   BODY     ]]                          as before   does what it stands for
 *   BODY     ROOM_LEAD_MAX bytes         SPOKEN    what was held is said, without brackets
 *   BODY     the same of a note or sound  BODY     no more is kept; at ROOM_BODY_MAX it is dropped
 *   BODY     a line's end, the end       as before   a known one is dropped, else what was held is
 * said BODY     else                        BODY      waits
 *
 * Nothing in closed brackets is ever said, known or not. Upper and lower case are one, blanks
 * around names and values do not count; of each kind at the beginning the first counts, and later
 * ones are only taken out. Any bytes may come, cut anywhere; control characters become blanks. No
 * allocation. */
#ifndef CONTROL_ROOM_ANSWER_DIRECTIVE_H
#define CONTROL_ROOM_ANSWER_DIRECTIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "control/room/floor/output_lease.h"

enum {
	ROOM_LEAD_MAX =
		160, /* bytes that wait for their closing brackets, the opening ones included */
	ROOM_BODY_MAX = 1000,
	ROOM_TO_MAX = 80,
	ROOM_SOUND_REF_MAX = 180,
	ROOM_NOTE_MAX = 220,
	ROOM_SOUNDS_MAX = 10, /* an answer */
};

enum room_to {
	ROOM_TO_NOBODY, /* not said */
	ROOM_TO_SPEAKER,
	ROOM_TO_ALL,
	ROOM_TO_NAME,
};

enum room_directive_out {
	ROOM_OUT_WORDS, /* to be said; holds its own blanks */
	ROOM_OUT_SOUND, /* ref */
	ROOM_OUT_NOTE,
};

/* text is not terminated and borrowed for the call. */
typedef void(room_directive_h)(enum room_directive_out what, const char *text, size_t n, void *arg);

struct room_directive {
	/* what was learned; to and lease are final once `led` */
	enum room_to to;
	char name[ROOM_TO_MAX + 1]; /* with ROOM_TO_NAME */
	enum room_output_lease_mode lease;
	bool led;   /* the beginning is over */
	bool skip;  /* [SKIP] came */
	bool words; /* something was said: a letter, a digit, or a sound */
	unsigned sounds;
	unsigned unknown; /* taken out without a meaning */
	/* the reader */
	bool in_body, after_close;
	size_t n;    /* of held */
	size_t body; /* bytes of the body so far; held keeps the first of them */
	char held[ROOM_NOTE_MAX + 32];
};

/* A struct of zeros is ready. */
void room_directive_add(struct room_directive *d, const char *text, size_t n, room_directive_h *h,
			void *arg);
/* The answer is whole: what waited is said or dropped. */
void room_directive_end(struct room_directive *d, room_directive_h *h, void *arg);
/* The whole answer was [SKIP]; known at the end. */
bool room_directive_skips(const struct room_directive *d);

#endif
