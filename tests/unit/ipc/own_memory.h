/* Searches the memory of this process. What is searched for is kept in a page of its own, which is
 * left out. */
#ifndef TESTS_UNIT_IPC_OWN_MEMORY_H
#define TESTS_UNIT_IPC_OWN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OWN_MARK = 48 };

struct own_memory;

/* Makes a random mark. False without memory. */
bool own_memory_begin(struct own_memory **out);
void own_memory_end(struct own_memory *m);
/* A message of n bytes with the mark in it, every 1000 bytes; valid until the next call, and not
 * searched. n is at most 64 KB. */
const uint8_t *own_memory_message(struct own_memory *m, size_t n);
/* How often the mark is in memory; -1 when memory cannot be read. */
int own_memory_count(struct own_memory *m);

#endif
