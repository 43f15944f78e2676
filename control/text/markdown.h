/* Text that Discord shows as it is: no link, no spoiler, no quote, no mention. For questions with
 * values of a model in them, so that people agree to what they read. Pure. */
#ifndef CONTROL_TEXT_MARKDOWN_H
#define CONTROL_TEXT_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the text with a backslash before each mark that Discord's Markdown may take for its own.
 * Always terminated. False: it does not fit. */
bool text_markdown_escape(const char *text, char *buf, size_t size);

#endif
