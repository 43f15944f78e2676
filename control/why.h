/* Explains why a turn ended as it did, from the lines that control/report/turns.h writes.
 *
 *   turn 3 of alice: not_addressed (it was not meant for the bot)
 *     direct_address       no   0, limit 1        the bot was addressed by name
 *     … */
#ifndef CONTROL_WHY_H
#define CONTROL_WHY_H

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

enum { WHY_LINE_MAX = 65536 };

/* Formats a turn as text, for a slash command or a terminal. EBADMSG if the JSON is not a turn,
 * ENOMEM. Caller frees *out. */
int why_text(char **out, const json_t *turn);
/* Finds the last line about this turn (0: about any turn) in FILE, else in FILE.old. ENOENT if
 * there is none, or the errno of opening. Caller owns *out. */
int why_find(json_t **out, const char *file, uint32_t turn);
/* The path of the turn file in the state directory, used if no setting names another. */
void why_default(const char *state_dir, char *buf, size_t size);
/* Runs `control --why TURN`, a number or "last"; returns the exit status. */
int why_run(const char *file, const char *turn);

#endif
