/* Which of the tracks that fit a request is meant: one of them, or a question to the requester.
 *
 *   hits (control/music/match.h)                                  decision
 *   none                                                          NONE_FITS
 *   one, or the best is ahead of all others by MUSIC_CHOICE_AHEAD ONE_FITS
 *   else                                                          MANY_FIT: the nearest, at most 5
 *
 * Hits with the same label are one option, the first of them, unless their albums differ: those are
 * options with their albums. An offer belongs to its requester for
 * ten minutes; a newer one replaces it. The room matches spoken numbers, ordinals and titles
 * (control/room/floor/choice.h) and gives back the label of the option; buttons, selects and models
 * give its selection. Pure. */
#ifndef CONTROL_MUSIC_CHOICE_H
#define CONTROL_MUSIC_CHOICE_H

#include <stddef.h>
#include <stdint.h>

#include "control/music/track.h"

struct music_hit;

enum {
	MUSIC_OPTIONS = 5,
	MUSIC_OPTION_MAX = 120, /* bytes of a label with NUL, as the room keeps it */
	MUSIC_CHOICE_S = 600,
	MUSIC_CHOICE_AHEAD = 120, /* thousandths of a score */
	MUSIC_CHOICE_TEXT_MAX = 32 + MUSIC_OPTIONS * MUSIC_OPTION_MAX,
};

enum music_decision { MUSIC_NONE_FITS, MUSIC_ONE_FITS, MUSIC_MANY_FIT };

/* K(NAME, name): the request that the choice completes; the names go to the room. */
#define MUSIC_CHOICES(K)                                                                           \
	K(PLAY, "play")                                                                            \
	K(ADD, "queue_add")                                                                        \
	K(NEXT, "queue_next")

enum music_choice_kind {
#define K(NAME, name) MUSIC_CHOOSE_##NAME,
	MUSIC_CHOICES(K)
#undef K
};

struct music_choice {
	uint64_t user, until; /* until 0: none is open */
	enum music_choice_kind kind;
	unsigned n;
	struct track option[MUSIC_OPTIONS];
	char label[MUSIC_OPTIONS][MUSIC_OPTION_MAX];
};

/* hits: ranked, the best first. ONE_FITS: the track is option[0], and an older offer is closed.
 * MANY_FIT: the options wait for music_choice_offer. NONE_FITS: c is as it was. */
enum music_decision music_choice_decide(struct music_choice *c, const struct music_hit *hits,
					size_t n);
/* Opens the choice that MANY_FIT prepared. now in ns. */
void music_choice_offer(struct music_choice *c, uint64_t user, enum music_choice_kind kind,
			uint64_t now);
void music_choice_clear(struct music_choice *c);
/* The text of the room's event CHOICE: the kind, then the labels, one line each. */
void music_choice_write(char to[MUSIC_CHOICE_TEXT_MAX], const struct music_choice *c);
/* The option of this label or selection; NULL: the choice is not the user's, has expired or has no
 * such option. */
const struct track *music_choice_pick(const struct music_choice *c, uint64_t user, const char *text,
				      uint64_t now);

#endif
