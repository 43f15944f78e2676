/* Reads the directives that a model writes between double brackets, byte by byte:
 *
 *   [[TO: SPEAKER]]          the addressee: SPEAKER, ALL or a name; only at the beginning
 *   [[LEASE: ATOMIC]]        ASSERTIVE or ATOMIC: an output lease; only at the beginning
 *   [[SOUNDBOARD: ref]]      a soundboard sound at this position
 *   [[NOTE: words]]          a note of the model to itself
 *   [SKIP]                   as the whole answer: say nothing
 *
 *   phase    byte                           next      result
 *   LEAD     blank                          LEAD      nothing
 *   LEAD     [[                             BODY      -
 *   LEAD     else                           SPOKEN    the beginning is over, the byte is spoken
 *   SPOKEN   [[                             BODY      -
 *   SPOKEN   [ and possibly [SKIP]          SPOKEN    waits
 *   SPOKEN   else                           SPOKEN    the byte is spoken
 *   BODY     ]]                             previous  the directive takes effect
 *   BODY     ROOM_LEAD_MAX bytes            SPOKEN    the kept text is spoken, without brackets
 *   BODY     the same of a note or sound    BODY      no more is kept; dropped at ROOM_BODY_MAX
 *   BODY     end of line, end of answer     previous  a known one is dropped, another is spoken
 *   BODY     else                           BODY      waits
 *
 * Text in closed brackets is never spoken, known or not. Case and blanks around names and values
 * do not matter; of each kind at the beginning the first one counts, and later ones are removed.
 * Input may be cut anywhere; control characters become blanks. No allocation. */
#ifndef CONTROL_ROOM_ANSWER_DIRECTIVE_H
#define CONTROL_ROOM_ANSWER_DIRECTIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "control/room/base/output_lease.h"

enum {
	ROOM_LEAD_MAX =
		160, /* bytes kept while the closing brackets are awaited, opening ones included */
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
	ROOM_OUT_WORDS, /* text to be spoken, with its own blanks */
	ROOM_OUT_SOUND, /* ref */
	ROOM_OUT_NOTE,
};

/* text is not terminated and borrowed for the call. */
typedef void(room_directive_h)(enum room_directive_out what, const char *text, size_t n, void *arg);

struct room_directive {
	/* results; to and lease are final once `led` */
	enum room_to to;
	char name[ROOM_TO_MAX + 1]; /* with ROOM_TO_NAME */
	enum room_output_lease_mode lease;
	bool led;   /* the beginning is over */
	bool skip;  /* [SKIP] came */
	bool words; /* something was said: a letter, a digit, or a sound */
	unsigned sounds;
	/* state of the reader */
	bool in_body, after_close;
	size_t n;    /* bytes in held */
	size_t body; /* bytes of the body so far; held keeps the first ones */
	char held[ROOM_NOTE_MAX + 32];
};

/* Resolves a value of TO: SPEAKER, ALL and their synonyms, else a name; NOBODY when it is empty
 * or too long. */
enum room_to room_directive_addressee(const char *value, size_t n);

/* A struct of zeros is ready for use. */
void room_directive_add(struct room_directive *d, const char *text, size_t n, room_directive_h *h,
			void *arg);
/* The answer is complete: text that was kept is spoken or dropped. */
void room_directive_end(struct room_directive *d, room_directive_h *h, void *arg);
/* True if the whole answer was [SKIP]; known at the end. */
bool room_directive_skips(const struct room_directive *d);

#endif
