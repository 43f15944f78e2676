/* What must hold of any room after any step, whatever came: seen from outside, by its effects, and
 * from inside, by its turns.
 *
 *   speech-to-text   an utterance starts once, with a new number; sound only between start and
 * commit; it ends by transcript, failure, cancel, or the close of its session brain            one
 * question at a time; cancelled only while it is asked; nothing for a turn that ended playback
 * sound, then open once, then end or stop; one at a time; after a stop nothing more of that turn
 *   turns            end once, with a reason; none lives on without getting further; who waits is
 * not held by what is no speech time             after a timer there is a later deadline; whoever
 * waits has one that is near machines         none goes where it cannot, no two stand as they
 * cannot at once (control/room/states.def)
 *
 * Every scenario is watched, and so is every step of the explorer. */
#ifndef TESTS_ROOM_WATCH_H
#define TESTS_ROOM_WATCH_H

#include "control/room/room.h"
#include "tests/room/seen.h"

struct watch;

enum { WATCH_TURNS = 512, WATCH_UTTERANCES = 1024 };

/* seen may be NULL; it is added to. ENOMEM. */
int watch_alloc(struct watch **out, struct seen *seen);
struct watch *watch_free(struct watch *w);
/* For another room. */
void watch_reset(struct watch *w);

/* After each room_step. What does not hold, in words that live until the next step; NULL when all
 * does. */
const char *watch_step(struct watch *w, const struct room *room, const struct room_event *ev,
		       uint64_t now, const struct room_effects *fx);
/* When nothing has come for long and every timer was served: nothing may be left open. */
const char *watch_rest(struct watch *w, const struct room *room);

#endif
