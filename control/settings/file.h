/* A settings file: one JSON object whose members are named as the fields of struct settings.
 *
 * Pure: whoever read the file hands its text over. Nothing is guessed and nothing clamped: a name
 * that is not known, a value of another kind or outside its range, a member given twice are faults,
 * each told with its line, and one in a list with that of its entry; a secret itself is one too,
 * since it belongs in a file of its own, which a member named like discord_token_file names. */
#ifndef CONTROL_SETTINGS_FILE_H
#define CONTROL_SETTINGS_FILE_H

#include <stddef.h>

struct settings;

enum { SETTINGS_FILE_MAX = 1 << 18 };

/* One fault, as a clause for people. Nothing of an unknown member or a secret is in it but the
 * name. line from 1. */
typedef void(settings_fault_h)(unsigned line, const char *text, void *arg);

/* Takes over every member that can be used and tells of every other, in the order of the text. A
 * text of blanks is a fault (a file that was cut off is no wish for defaults), and so is one that
 * is not JSON. Returns how many faults there were. */
unsigned settings_file(struct settings *s, const char *text, size_t len, settings_fault_h *h,
		       void *arg);

#endif
