/* Facts that a search found and that may not be told: the next search leaves them out, so that they
 * take no place of others. Pure. */
#ifndef CONTROL_MEMORY_UNTOLD_H
#define CONTROL_MEMORY_UNTOLD_H

#include <stdbool.h>

#include <jansson.h>

/* Searches again for one question at most: each leaves out all authors and channels that the
 * searches before it met. */
enum { UNTOLD_ROUNDS = 8 };

/* What tools tell beside one fact, by voice and in writing. */
enum { TOLD_FORMER = 4, TOLD_CONFLICTS = 4 };

/* Why a fact is not told. */
enum untold {
	UNTOLD_NOT,	/* it is */
	UNTOLD_AUTHOR,	/* nothing of its author is */
	UNTOLD_CHANNEL, /* nothing is that was told in its channels alone */
};
typedef enum untold(untold_h)(const json_t *fact, void *arg);

/* Adds to the request (store_find_facts) what the next search is to leave out. found: the facts of
 * this one. False: nothing new, so another search would find the same. */
bool untold_add(json_t *request, const json_t *found, untold_h *h, void *arg);

#endif
