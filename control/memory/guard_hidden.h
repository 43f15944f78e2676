/* Texts within a text, in base64 or hexadecimal digits. Pure. */
#ifndef CONTROL_MEMORY_GUARD_HIDDEN_H
#define CONTROL_MEMORY_GUARD_HIDDEN_H

#include "control/memory/guard.h"

/* Writes the first text that is hidden in this one to `hidden`. Returns where the rest begins;
 * NULL: there is none. */
const char *guard_hidden(const char *text, char hidden[MEMORY_TEXT_MAX + 1]);

#endif
