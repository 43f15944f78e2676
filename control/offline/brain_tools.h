/* The rule brain's words for what tools return. Pure. */
#ifndef OFFLINE_BRAIN_TOOLS_H
#define OFFLINE_BRAIN_TOOLS_H

#include <stdbool.h>
#include <stddef.h>

enum { BRAIN_DICE = 12 };

/* "Two dice: three and four. That makes seven." n: 1 to BRAIN_DICE. Always terminated. */
void brain_say_dice(const unsigned *values, unsigned n, char *buf, size_t size);
/* A sentence about the output of a call with these arguments (a JSON object), an object as control
 * gives it (control/tools/envelope.h). Always terminated. */
void brain_say_output(const char *tool, const char *arguments, const char *output, char *buf,
		      size_t size);
/* True if the output refuses the call until its speaker says yes: the brain asks them. */
bool brain_asks(const char *output);

#endif
