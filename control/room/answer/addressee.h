/* The addressee of an answer. A text model names it in its answer, by `[[TO: …]]` (directive.h). A
 * voice model is asked beside its conversation, once its answer is complete and while it is spoken:
 * whom it names may interrupt it from then on. Whatever else it says leaves the policy as it is.
 * For control/room only. */
#ifndef CONTROL_ROOM_ANSWER_ADDRESSEE_H
#define CONTROL_ROOM_ANSWER_ADDRESSEE_H

#include "control/room/base/context.h"

/* The only person present with this name, as a model writes it; 0 = nobody or several. */
uint64_t room_addressee_by_name(const struct room_context *context, const char *name);
/* Asks, where it can matter. */
void room_addressee_ask(struct room_context *context, const struct room_turn *turn);
/* ADDRESSEE. */
void room_addressee_on_event(struct room_context *context, const struct room_event *ev);

#endif
