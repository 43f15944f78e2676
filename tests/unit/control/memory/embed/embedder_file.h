/* Files of the embedder for tests: a small one with weights made by arithmetic, and the real one.
 */
#ifndef TESTS_UNIT_CONTROL_MEMORY_EMBED_EMBEDDER_FILE_H
#define TESTS_UNIT_CONTROL_MEMORY_EMBED_EMBEDDER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file with the pieces a, ab, b, c and a blank. The caller frees it. NULL without memory. */
uint8_t *embedder_file_make(size_t *n);
/* Writes it to a path. */
bool embedder_file_write(const char *path);
/* Changes the id of a piece. */
void embedder_file_id(uint8_t *bytes, size_t piece, uint32_t id);
/* NULL: it cannot be read. The caller frees it. */
uint8_t *embedder_file_read(const char *path, size_t *n);

#endif
