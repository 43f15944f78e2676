/* The machine of people: who is in the channel, by Discord's membership events. A person has a
 * place from join to leave (base/people.h).
 *
 *   event                    what the room does
 *   somebody joined          LISTEN, unless it is a bot; tells the brain
 *   somebody left            UNLISTEN; ends what only they wanted; tells the brain
 *   a name changed           tells the brain
 *   a soundboard sound       tells the brain
 *   the settings changed     LISTEN again, with the new end-of-speech silence
 *
 * Beyond ROOM_SPEAKERS people nobody else is heard. */
#ifndef CONTROL_ROOM_PEOPLE_H
#define CONTROL_ROOM_PEOPLE_H

#include "control/room/base/people.h"

struct room_event;

void room_people_on_event(struct room_context *context, const struct room_event *ev);
/* The room shuts down: everybody leaves at once. */
void room_people_dismiss(struct room_context *context);

#endif
