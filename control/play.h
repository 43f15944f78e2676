/* control --replay FOLDER: an incident, or another state directory, told in the order in which it
 * happened: sessions, turns with their decisions, speech that became none, calls of tools, faults,
 * failovers, commands, orders, and what each version of the settings changed.
 *
 * The folder may be a stranger's, and stays as it is (control/show.h). */
#ifndef CONTROL_PLAY_H
#define CONTROL_PLAY_H

#include <stdbool.h>

/* A journal is a file. */
bool play_is_folder(const char *path);
/* Prints it to stdout. The exit status. */
int play_run(const char *folder);

#endif
