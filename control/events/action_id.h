/* The id of an action: the same in the stream, which tells of it at once, and in the history, whose
 * row gets its number later. Pure. */
#ifndef CONTROL_EVENTS_ACTION_ID_H
#define CONTROL_EVENTS_ACTION_ID_H

#include <stdint.h>

#include <jansson.h>

struct action {
	const char *kind;      /* as /api/actions names it */
	uint64_t at_ms;	       /* ms since 1970 */
	uint64_t guild, user;  /* 0: none */
	const json_t *details; /* its `metadata`, borrowed */
};

/* "KIND-MS-GUILD-N": N is the number of its turn or call, else what tells it from another one of
 * the same time. NULL without memory. Caller owns it. */
json_t *action_id(const struct action *a);

#endif
