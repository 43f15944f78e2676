/* The file session.json of the state directory: what a restart needs besides the database. It holds
 * tokens. */
#ifndef CONTROL_STORE_SESSION_FILE_H
#define CONTROL_STORE_SESSION_FILE_H

/* Replaces the file, mode 0600, at once or not at all. Errors of open, write and rename. */
int session_file_save(const char *dir, const char *text);
/* The same for a user who is not that of control: the file keeps its owner. Errors of fchown. */
int session_file_replace(const char *dir, const char *text);

#endif
