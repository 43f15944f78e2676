/* Why a turn ended as it did, told to a person: from the lines that control/turns.h writes.
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

/* A turn as text, for a slash command or a terminal; *out is freed by the caller. EBADMSG when it is no such line, ENOMEM. */
int why_text(char **out, const json_t *turn);
/* The last line about the turn of that number (0: about any) that FILE or, before it, FILE.old holds. Caller owns *out.
 * ENOENT when there is none, and what opening gives. */
int why_find(json_t **out, const char *file, uint32_t turn);
/* The file that control keeps in its state directory when no setting names one. */
void why_default(const char *state_dir, char *buf, size_t size);
/* `control --why TURN`: a number, or "last". The exit status. */
int why_run(const char *file, const char *turn);

#endif
