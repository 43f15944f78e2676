/* Forgets the whole memory of one server, by an operator's order: facts of the server and of each
 * member's own memory there, with their vectors and sources, and the summaries of conversations.
 * Nothing is extracted from the lines before any more. What was said stays as long as words are
 * kept. */
#ifndef CONTROL_STORE_GUILD_FACTS_H
#define CONTROL_STORE_GUILD_FACTS_H

struct db;
struct job;

/* j->guild is the server. *out: {"forgotten": number of facts}; the caller owns it. Errors of
 * control/store/db.h. */
int guild_facts_forget(struct db *db, const struct job *j, char **out);

#endif
