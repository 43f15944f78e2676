/* The invariants of any room, checked after every step: from outside by its effects, and from
 * inside by its turns.
 *
 *   subject         invariant
 *   speech-to-text  an utterance starts once, with a new id; audio only between start and commit;
 *                   it ends by a transcript, a failure, a cancellation or the close of its session
 *   brain           one question at a time; cancelled only while asked; nothing for an ended turn
 *   classifier      its questions have new numbers; an utterance is asked about once
 *   playback        audio, then one open, then an end or a stop; one at a time; nothing of the
 *                   turn after a stop
 *   turns           end once, with a reason; every live turn makes progress; only speech holds a
 *                   waiting turn
 *   hearing         a turn is heard no longer than the endpointing delay after its last voice
 *   history         no question has the words of a typed line that was edited or deleted
 *   words           of a final transcript stand in a turn, or the turn of their utterance records
 * the rule that dropped them; a turn records a transcript that failed or is given up; one that ends
 * for another turn's sake leaves them there; one that ends as answered was asked time after a timer
 * the deadline is later; every waiting turn has a near deadline machines        no impossible
 * transition, no impossible pair of states (control/room/states.def)
 *
 * Every scenario and every step of the explorer is checked. */
#ifndef TESTS_ROOM_WATCH_H
#define TESTS_ROOM_WATCH_H

#include "control/room/room.h"
#include "tests/room/seen.h"

struct watch;

enum { WATCH_TURNS = 512, WATCH_UTTERANCES = 1024, WATCH_VOICES = 128 };

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
