/* Episodes: sessions that are over, parts of those that are not, and how far facts were extracted
 * from them and they were summed up (store_next_episode). An erasure takes back the second mark
 * alone. On the store's worker. Errors of db.h, ENOMEM. */
#ifndef CONTROL_STORE_EPISODES_H
#define CONTROL_STORE_EPISODES_H

struct db;
struct job;

/* The answer to a JOB_NEXT_EPISODE as JSON; the caller frees it. */
int episodes_next(struct db *db, const struct job *j, char **out);
int episodes_end(struct db *db, const struct job *j);

#endif
