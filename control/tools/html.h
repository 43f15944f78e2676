/* The readable text of an HTML page. Pure.
 *
 * One pass over the page, in linear time whatever it holds, and in memory of fixed size: the
 * tokeniser follows the HTML standard where it decides what is text (13.2.5: tags, attributes,
 * comments, raw text, character references), and no tree is built, so that depth costs nothing.
 *
 * Left out are scripts, styles, templates, drawings, navigation, footers, asides, forms, and
 * elements that say they are hidden. Of the rest the text of main and article elements is taken; of
 * a page without them, blocks of at least HTML_BLOCK_WORDS words that are not mostly links, with
 * their headings; of a page without such blocks, everything. */
#ifndef CONTROL_TOOLS_HTML_H
#define CONTROL_TOOLS_HTML_H

#include <stdbool.h>
#include <stddef.h>

enum { HTML_TEXT_MAX = 64 << 10, HTML_TITLE_MAX = 256, HTML_BLOCK_WORDS = 25 };

struct html_text {
	char title[HTML_TITLE_MAX]; /* one line; "" when the page has none */
	char *text; /* paragraphs, a line each; with its NUL, less than HTML_TEXT_MAX */
	bool cut;   /* the page has more text */
};

/* Reads a page in UTF-8; bytes that are not are left out. ENOMEM. html_text_clear frees. */
int html_read(struct html_text *out, const char *page, size_t n);
void html_text_clear(struct html_text *t);

#endif
