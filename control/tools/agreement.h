/* True if words agree to what the bot read back: a spoken yes. Strict, since it allows what cannot
 * be taken back: the words begin with a yes of one of twelve languages (the bot's name may come
 * first), and none of them refuses. Pure. */
#ifndef CONTROL_TOOLS_AGREEMENT_H
#define CONTROL_TOOLS_AGREEMENT_H

#include <stdbool.h>

bool tool_agrees(const char *words);

#endif
