/* Follows a file and passes on the lines that are appended to it. The file may be created later, or
 * be replaced by a new one. Lines beyond 64 KiB are left out. Not for replayed programs. */
#ifndef TESTS_TALK_TAIL_H
#define TESTS_TALK_TAIL_H

#include <stddef.h>

struct env;
struct tail;

/* Without its newline. Borrowed until return. */
typedef void(tail_h)(const char *line, size_t n, void *arg);

/* The folder must exist. An errno. Caller owns *out. */
int tail_alloc(struct tail **out, struct env *env, const char *file, tail_h *h, void *arg);
struct tail *tail_free(struct tail *t);

#endif
