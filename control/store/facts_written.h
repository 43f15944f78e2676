/* What an answer of store_write_facts says, in numbers. Pure. */
#ifndef CONTROL_STORE_FACTS_WRITTEN_H
#define CONTROL_STORE_FACTS_WRITTEN_H

#include <jansson.h>
#include <stdbool.h>

struct event_memory;

/* done: the document, or NULL: nothing was written. source is borrowed. False: there was nothing to
 * write. */
bool facts_written_fill(struct event_memory *out, const json_t *done, const char *source);

#endif
