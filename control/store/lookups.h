/* What tools found on the web, which a later answer in the same channel may use. On the store's
 * worker. */
#ifndef CONTROL_STORE_LOOKUPS_H
#define CONTROL_STORE_LOOKUPS_H

struct db;
struct job;

/* The document of store_find_lookups (control/store/store.h). Errors of db.h; *out NULL: ENOMEM. */
int lookups_find(struct db *db, const struct job *j, char **out);

#endif
