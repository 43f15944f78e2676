/* Spoken agreement to the call that the bot read back. Strict, since it allows calls that cannot be
 * taken back: all words are words of consent of one of twelve languages, or fillers such as
 * "please" and the bot's name. Case and punctuation do not matter. Pure; the strings are borrowed.
 */
#ifndef CONTROL_TOOLS_AGREEMENT_H
#define CONTROL_TOOLS_AGREEMENT_H

#include <stdbool.h>

/* name: the bot's; "" if it has none. */
bool tool_agrees(const char *words, const char *name);

#endif
