/* Finds what the bot left unfinished when a conversation ended: an answer that the end cut, or a
 * question to a person who said nothing afterwards. Pure. */
#ifndef CONTROL_AGENT_UNFINISHED_H
#define CONTROL_AGENT_UNFINISHED_H

#include <stdbool.h>

#include <jansson.h>

/* lines: the last ones of a voice channel (store_find_said). NULL: there is none; else the line,
 * borrowed. *cut: true for an answer, false for a question. */
const json_t *unfinished_find(const json_t *lines, bool *cut);

#endif
