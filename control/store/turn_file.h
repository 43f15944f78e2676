/* The turn file (turns_file): a JSON line each time a turn gets further, appended by the writer and
 * erased by the store, each in a thread or a process of its own. A later line of the same turn
 * replaces the earlier one. A file that has grown to 4 MiB is renamed to FILE.old, in place of the
 * one before.
 *
 *   {"event":"turn","version":1,"at":1790000000000,"guild":"…","user":"501","session":…,
 *    "channel":"…","turn":3,"stage":"ended","name":"alice","heard":"…","reason":"answered",
 *    "said":"…","text":"it was answered …","first_audio_ms":1550,"lasted_ms":…,"segments":[…],
 *    "why":[{"rule":"direct_address","yes":true,"value":1,"limit":1,"unit":"","text":"…"}]}
 *
 * Both lock the file (flock) while they change it, so that an erasure loses no line and sees no
 * rotation. A path that is no regular file, such as a pipe, is written and never erased. */
#ifndef CONTROL_STORE_TURN_FILE_H
#define CONTROL_STORE_TURN_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct bus_event;

enum { TURN_FILE_PATH = 1024 };

/* The line ends with a newline. Errors of open and write. */
int turn_file_append(const char *file, const char *line, size_t n);
/* Appends the event's line (0600: it holds what was said). words: with what was said. Symbolic
 * links are not followed. A failure is logged. Blocks on the disk. */
void turn_file_append_event(const char *file, const struct bus_event *ev, bool words);
/* The rotated file. False: the name is too long, and nothing is ever rotated. */
bool turn_file_old(const char *file, char out[TURN_FILE_PATH]);
/* True if the line goes. */
typedef bool(turn_file_line_h)(const char *line, void *arg);
/* Takes lines out of the file and of the rotated one. Adds to *dropped how many went. A file that
 * is not there has none. Errors of open, read, write and rename; then a file is as it was. */
int turn_file_erase(const char *file, turn_file_line_h *h, void *arg, unsigned *dropped);

#endif
