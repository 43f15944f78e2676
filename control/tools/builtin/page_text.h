/* The readable text of a body from the web, whatever its character set. A shell only because iconv
 * loads modules. */
#ifndef CONTROL_TOOLS_BUILTIN_PAGE_TEXT_H
#define CONTROL_TOOLS_BUILTIN_PAGE_TEXT_H

#include <stddef.h>

#include "control/tools/html.h"

/* content_type: the header's value, or NULL. EMEDIUMTYPE: it is no text. ENOMEM. html_text_clear
 * frees. */
int page_text_read(struct html_text *out, const char *content_type, const char *body, size_t n);

#endif
