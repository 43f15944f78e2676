/* The machine of people: who is in the channel, by Discord's membership events. A person has a
 * place (struct room_speaker) from join to leave, with everything that belongs to one speaker.
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

#include "control/room/room.h"

struct room_speaker;

/* The place of this user, or NULL. */
struct room_speaker *room_speaker(struct room *room, uint64_t user);

void room_people_on_event(struct room *room, const struct room_event *ev);

#endif
