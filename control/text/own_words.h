/* The words of a message that its author wrote in their own name, in which the bot's names and
 * requests to stop are looked for. Pure. */
#ifndef CONTROL_TEXT_OWN_WORDS_H
#define CONTROL_TEXT_OWN_WORDS_H

#include <stddef.h>

/* content: as Discord has it. A blank takes the place of custom emoji, of mentions of people,
 * roles, channels and commands, of times, addresses of the web, code and quoted lines. What does
 * not fit is cut. */
void own_words(char *to, size_t size, const char *content);

#endif
