/* The turn file (turns_file): a JSON line for each turn, appended by the writer and erased by the
 * store, each in a thread or a process of its own. A file that has grown to 4 MiB is renamed to
 * FILE.old, in place of the one before.
 *
 * Both lock the file (flock) while they change it, so that an erasure loses no line and sees no
 * rotation. A path that is no regular file, such as a pipe, is written and never erased. */
#ifndef CONTROL_STORE_TURN_FILE_H
#define CONTROL_STORE_TURN_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { TURN_FILE_PATH = 1024 };

/* The line ends with a newline. Errors of open and write. */
int turn_file_append(const char *file, const char *line, size_t n);
/* The rotated file. False: the name is too long, and nothing is ever rotated. */
bool turn_file_old(const char *file, char out[TURN_FILE_PATH]);
/* True if the line goes. */
typedef bool(turn_file_line_h)(const char *line, void *arg);
/* Takes lines out of the file and of the rotated one. Adds to *dropped how many went. A file that
 * is not there has none. Errors of open, read, write and rename; then a file is as it was. */
int turn_file_erase(const char *file, turn_file_line_h *h, void *arg, unsigned *dropped);

#endif
