/* The search of the timeline (store_find_said). On the store's worker. */
#ifndef CONTROL_STORE_SAID_H
#define CONTROL_STORE_SAID_H

struct db;
struct job;

/* What a JOB_FIND_SAID asks for, as JSON; the caller frees it. Errors of db.h, ENOMEM. */
int said_find(struct db *db, const struct job *j, char **out);

#endif
