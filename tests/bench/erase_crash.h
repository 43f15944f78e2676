/* Erasures of Ana by another process while the store is closed, and what control does when it
 * starts again. Its fsync, fdatasync, rename and unlink take the place of the library's in the
 * whole bench: in the process that is to be killed they count the system calls that are left. */
#ifndef TESTS_BENCH_ERASE_CRASH_H
#define TESTS_BENCH_ERASE_CRASH_H

#include <stdbool.h>

struct erase_corpus;

/* An erasure that is killed at a random system call, or ends, and the next start, which repeats it.
 * True if it was killed before it was done. */
bool erase_crash(struct erase_corpus *c);
/* `control --erase`, which also finds the session that the last control left. */
void erase_crash_command(struct erase_corpus *c);

/* An operator keeps a copy of the database elsewhere… */
void erase_crash_keep_older(const struct erase_corpus *c);
/* …and puts it back after the erasure; schema: it is of schema 24. Returns how many traces are in
 * the directory after the next start, and leaves the store closed. */
unsigned erase_crash_restore_older(struct erase_corpus *c, bool schema);

#endif
