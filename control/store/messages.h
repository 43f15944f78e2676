/* Written messages in the timeline: each is a line with the id of its message and session 0, so
 * that it is searched, expires and is erased as what was spoken. On the store's worker. */
#ifndef CONTROL_STORE_MESSAGES_H
#define CONTROL_STORE_MESSAGES_H

#include <stdbool.h>

struct bus_event;
struct db;
struct forgotten;

/* Follows an event MESSAGE. A message that is there already is not written again; an edit or a
 * deletion changes only a message that is there. words: whether texts may be kept; without them
 * nothing is added. Inside a transaction. Errors of db.h, ENOMEM. */
int messages_take(struct db *db, const struct bus_event *ev, bool words);
/* Before such an event takes words away: f notes the message, if its words are here, with the words
 * that it has now. Errors of forgotten.h. */
int messages_note(struct db *db, const struct bus_event *ev, bool words, struct forgotten *f);
/* True if an event takes words away, which then still stand in the index and in the WAL. */
bool messages_takes_away(const struct bus_event *ev);

#endif
