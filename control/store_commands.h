/* What the command line does with the store, beside a control that may run. Each prints what it did
 * or why not, and returns the exit status. */
#ifndef CONTROL_STORE_COMMANDS_H
#define CONTROL_STORE_COMMANDS_H

/* `control --backup FILE`: a consistent copy. */
int store_command_backup(const char *dir, const char *file);
/* `control --erase USER`: that person's words and name, in the database and in copies of it that
 * migrations made. */
int store_command_erase(const char *dir, const char *user);

#endif
