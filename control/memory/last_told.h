/* What "forget that" means: the one fact that a search told the person last, else the newest that
 * they had kept. Pure. */
#ifndef CONTROL_MEMORY_LAST_TOLD_H
#define CONTROL_MEMORY_LAST_TOLD_H

#include <stdint.h>

#include <jansson.h>

enum { LAST_TOLD_PEOPLE = 16, LAST_TOLD_S = 300 /* after which "that" means something else */ };

/* Of the people of a channel, the newest ones. {0}: none. */
struct last_told {
	struct last_told_fact {
		uint64_t user, fact, at; /* at: ns; user 0: free */
	} of[LAST_TOLD_PEOPLE];
};

/* A search for this person told these matches. One fact alone can be meant by "that". */
void last_told_note(struct last_told *t, uint64_t user, const json_t *matches, uint64_t now);
/* Something else is "that" now, such as a fact that was just written. */
void last_told_clear(struct last_told *t, uint64_t user);
/* The request to forget (store_forget_facts), with the id of that fact where it wants the last one.
 * A new string that the caller frees; NULL without memory. */
char *last_told_request(const struct last_told *t, uint64_t user, const char *request,
			uint64_t now);

#endif
