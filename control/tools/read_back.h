/* The words that read a call back to the person who has to agree to it, and the proof that an
 * answer contained them. The words come from the tool's name and its arguments, so a yes never
 * counts for a call that the bot did not name. Pure; no pointer is kept. */
#ifndef CONTROL_TOOLS_READ_BACK_H
#define CONTROL_TOOLS_READ_BACK_H

#include <stdbool.h>
#include <stddef.h>

enum {
	TOOL_READ_BACK_MAX = 480, /* bytes, with the NUL */
	TOOL_READ_BACK_GAP = 3,	  /* other words between two of them */
};

/* Writes "memory create entities: name Ana, text likes tea": the tool, then each value of the
 * arguments, a JSON object, with its key if there are several. Always terminated. False: it
 * does not fit, or a value is too deep. */
bool tool_read_back(const char *tool, const char *arguments, char buf[TOOL_READ_BACK_MAX]);
/* True if `said` contains all words of the read-back in their order. Case and punctuation do not
 * matter. */
bool tool_is_read_back(const char *read_back, const char *said);

#endif
