/* The directive by which a model reacts to the message that it answers, and the emoji that it may
 * put there. Pure.
 *
 *   [[REACT: emoji]]   at the beginning or the end of a line, outside of blocks of code
 *
 *   emoji    := flag | keycap | element (ZWJ element)*
 *   flag     := two regional indicators
 *   keycap   := [0-9#*] VS16? U+20E3
 *   element  := emoji VS16? | emoji tone
 *
 * The brackets may be single ones, and case does not matter. */
#ifndef CONTROL_TEXT_EMOJI_H
#define CONTROL_TEXT_EMOJI_H

#include <stdbool.h>
#include <stddef.h>

enum { TEXT_EMOJI = 48 /* bytes with NUL; the longest one has 35 */ };

/* Reads the n bytes, which need no NUL, as one emoji, and writes it as Discord has it: fully
 * qualified. False: they are none, or one of the signs by which the bot says that it failed or
 * stopped, which a model may not put. */
bool text_emoji_read(const char *text, size_t n, char emoji[TEXT_EMOJI]);
/* Takes all directives out of the text, in place. emoji: the first one that may be put; "" for
 * none.
 */
void text_emoji_take(char *text, char emoji[TEXT_EMOJI]);

#endif
