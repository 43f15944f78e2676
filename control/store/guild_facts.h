/* Forgets the whole memory of one server, by an operator's order: facts of the server and of each
 * member's own memory there, with their vectors and sources, and the summaries of conversations.
 * Nothing is extracted from the lines before any more. What was said stays as long as words are
 * kept. */
#ifndef CONTROL_STORE_GUILD_FACTS_H
#define CONTROL_STORE_GUILD_FACTS_H

#include <stdint.h>

struct db;
struct job;

/* j->guild is the server, dir the state directory (forgotten.h). *out: {"forgotten": number of
 * facts}; the caller owns it. Errors of control/store/db.h. */
int guild_facts_forget(struct db *db, const char *dir, const struct job *j, char **out);
/* Deletes what was written or said until then; inside a transaction. *facts: how many. */
int guild_facts_drop(struct db *db, uint64_t guild, uint64_t until_ms, unsigned *facts);

#endif
