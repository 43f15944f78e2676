/* Commands of the command line on the store, beside a control that may run. Each prints what it did
 * or why not, and returns the exit status. */
#ifndef CONTROL_STORE_COMMANDS_H
#define CONTROL_STORE_COMMANDS_H

/* `control --backup FILE`: a consistent copy. */
int store_command_backup(const char *dir, const char *file);
/* `control --erase USER`: everything of that person (control/store/erase.h). A control that runs
 * with dir does it, because it also holds what is in memory; otherwise this process does, with the
 * settings in the database. Prints a sentence and the receipt. config: the settings file, which may
 * name further files that hold words; NULL: the default one. */
int store_command_erase(const char *dir, const char *user, const char *config);
/* `control --export-memory FILE` and `--import-memory FILE` (control/store/memory_file.h). */
int store_command_export_memory(const char *dir, const char *file);
int store_command_import_memory(const char *dir, const char *file);
/* `control --export USER`: that person's data, on stdout. */
int store_command_export(const char *dir, const char *user);

/* `control --forget-encrypted SERVER`: the channels of that server that had encrypted calls
 * (control/voice_session/encrypted_channels.h). No control may run with dir. */
int store_command_forget_encrypted(const char *dir, const char *server);

/* Says whether the chain of the audit is whole, and its head; head: an earlier one to look for, or
 * NULL. 1: it is not. 2: head is none. */
int store_command_audit_check(const char *dir, const char *head);
/* Prints the audit as lines of JSON. */
int store_command_audit_export(const char *dir);

struct incident;

/* Makes the copy of control/store/incident.h, and puts the counters beside it. */
int store_command_incident(const struct incident *what);

#endif
