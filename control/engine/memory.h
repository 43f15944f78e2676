/* The last exchanges of a room, as they were said and heard: what a new session of the provider is
 * told first. */
#ifndef CONTROL_ENGINE_MEMORY_H
#define CONTROL_ENGINE_MEMORY_H

struct brain_memory;

enum { BRAIN_MEMORY_EXCHANGES = 10 };

/* ENOMEM. Caller owns *out. */
int brain_memory_alloc(struct brain_memory **out);
struct brain_memory *brain_memory_free(struct brain_memory *m);
/* Copies both; the oldest exchange goes when there are too many. ENOMEM. */
int brain_memory_add(struct brain_memory *m, const char *line, const char *said);
/* Oldest first. */
void brain_memory_each(const struct brain_memory *m,
		       void (*h)(const char *line, const char *said, void *arg), void *arg);

#endif
