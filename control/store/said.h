/* The search of the timeline (store_find_said). On the store's worker. */
#ifndef CONTROL_STORE_SAID_H
#define CONTROL_STORE_SAID_H

struct db;
struct embedding;
struct job;

/* The answer to a JOB_FIND_SAID as JSON; the caller frees it. e: NULL searches by words alone.
 * Errors of db.h, ENOMEM. */
int said_find(struct db *db, struct embedding *e, const struct job *j, char **out);

#endif
