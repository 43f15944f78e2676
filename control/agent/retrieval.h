/* Retrieves the slice of the memory for a question of the room (control/room/answer/retrieval.h):
 * asks the store for facts and lines, leaves out those that may not be told, and answers with
 * RETRIEVED.
 *
 * An answer is heard by everybody in the channel. The slice therefore holds facts of the server's
 * memory, those of the speaker's own memory only while nobody else listens, and lines of this voice
 * channel alone. */
#ifndef CONTROL_AGENT_RETRIEVAL_H
#define CONTROL_AGENT_RETRIEVAL_H

#include <stdbool.h>
#include <stdint.h>

struct agent;
struct agent_retrieval;
struct room_effect;

/* a is borrowed; name, the bot's, is copied. ENOMEM. Caller owns *out. */
int agent_retrieval_alloc(struct agent_retrieval **out, struct agent *a, const char *name);
/* No answer comes any more. NULL accepted. */
struct agent_retrieval *agent_retrieval_free(struct agent_retrieval *r);
/* Tells the room whether there is a memory, if that has changed: a store that keeps words and
 * facts, settings that want it, and a model that can use it. */
void agent_retrieval_settings(struct agent_retrieval *r);
/* True if there is one, as the room was told. */
bool agent_retrieval_is_used(const struct agent_retrieval *r);
/* Performs a RETRIEVE. A newer one replaces it. */
void agent_retrieval_begin(struct agent_retrieval *r, const struct room_effect *e);

/* True if the newest slice quotes anybody but the person who asked. NULL accepted. */
bool agent_retrieval_quotes_others(const struct agent_retrieval *r);

#endif
