/* Admission: decides whether a turn is meant for the bot. One table of rules (admission.c) is
 * walked in order, and the first rule that fits decides. Every rule that was examined is recorded
 * in the turn. A deferred turn passes the whole table again. For control/room only. */
#ifndef CONTROL_ROOM_TURN_ADMISSION_H
#define CONTROL_ROOM_TURN_ADMISSION_H

#include <stdbool.h>

struct room_context;
struct room_turn;

/* Decides on a turn that has its transcript. */
void room_turn_admit(struct room_context *context, struct room_turn *turn);
/* The classifier decided whether a turn was meant for the bot. */
void room_turn_admit_classified(struct room_context *context, struct room_turn *turn, bool meant);
/* Admits an unclear turn that interrupted the bot: the brain is told. */
void room_turn_admit_unclear(struct room_context *context, struct room_turn *turn);
/* True if the bot asked a question, in its running or its last answer: then a short word is an
 * answer. */
bool room_bot_asked_question(const struct room_context *context);

#endif
