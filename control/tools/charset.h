/* Detects the form and charset of a body from the web: its form by the media type, its character
 * set by byte order mark, header and the page's own first kilobyte, in this order. Pure.
 *
 * Only character sets of an allow-list are named, by iconv's names: others could load any module of
 * the C library, and some turn harmless bytes into markup. */
#ifndef CONTROL_TOOLS_CHARSET_H
#define CONTROL_TOOLS_CHARSET_H

#include <stdbool.h>
#include <stddef.h>

enum page_form {
	PAGE_HTML,
	PAGE_TEXT, /* plain text, JSON, XML: read as it is */
	PAGE_OTHER,
};

/* content_type: the header's value, or NULL when there is none; then the body decides. */
enum page_form charset_form(const char *content_type, const char *body, size_t n);
/* A name for iconv, "UTF-8" for a body that needs no conversion. *skip is the length of the byte
 * order mark. */
const char *charset_find(const char *content_type, const char *body, size_t n, size_t *skip);

#endif
