/* Forgetting facts by their speaker's order (store_forget_facts). On the store's worker. Each gives
 * a JSON document, which the caller frees. Errors of db.h, ENOMEM, EINVAL: the request is
 * malformed. */
#ifndef CONTROL_STORE_FACT_FORGET_H
#define CONTROL_STORE_FACT_FORGET_H

struct db;
struct job;

/* dir: the state directory, whose file `forgotten` notes what went. A job of guild 0 is about every
 * server in which the speaker said facts: copies go everywhere, and where the words name different
 * facts none goes. */
int fact_forget(struct db *db, const char *dir, const struct job *j, char **out);
/* [{"id", "text", "user"}, …]: what the job's user said in every server, the newest first. */
int fact_list_own(struct db *db, const struct job *j, char **out);

#endif
