/* Between the tokeniser (html.c) and what makes text of its tokens (html_blocks.c). */
#ifndef CONTROL_TOOLS_HTML_INSIDE_H
#define CONTROL_TOOLS_HTML_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/tools/html.h"

enum { HTML_NAME_MAX = 16, HTML_BLOCK_MAX = 16 << 10, HTML_HEADING_MAX = 256 };

/* Special treatment of an element. */
enum {
	HTML_DROPPED = 1, /* its content is not the page's own text */
	HTML_VOID = 2,	  /* it has no content (HTML 13.1.2) */
	HTML_LOOSE = 4,	  /* its end tag may be missing: the next one of the name ends it */
	HTML_BLOCK = 8,
	HTML_HEADING = 16,
	HTML_RAW = 32, /* its content is no markup (HTML 13.2.6.4) */
	HTML_MAIN = 64,
};
/* 0: nothing. */
unsigned html_element_kinds(const char *name);

struct html_tag {
	char name[HTML_NAME_MAX]; /* in lower case; a longer name is none of ours and cut */
	unsigned kinds;		  /* of its element */
	bool end, closed;	  /* closed: "<a/>" */
	bool hidden;		  /* its attributes say so */
	bool role_main;
};

/* Text that grows up to a bound. */
struct html_sink {
	size_t n;
	bool cut;
	char text[HTML_TEXT_MAX];
};

/* An element whose end is found by counting elements of its name. */
struct html_span {
	char name[HTML_NAME_MAX]; /* "": none is open */
	unsigned depth;
};

struct html_blocks {
	struct html_span dropped, role_main;
	bool dropped_hidden;
	unsigned main_depth, pre_depth;
	bool in_link, in_heading;
	/* The block under way. */
	size_t n, prefix;
	unsigned words, link_words, ideographs, link_ideographs;
	bool in_word, blank;
	char block[HTML_BLOCK_MAX];
	char heading[HTML_HEADING_MAX]; /* of the blocks that follow */
	unsigned main_words;
	struct html_sink main, good, all;
};

void html_blocks_tag(struct html_blocks *b, const struct html_tag *tag);
/* Decoded text in UTF-8. */
void html_blocks_text(struct html_blocks *b, const char *p, size_t n);
/* Ends the last block and chooses the sink that is the page's text. */
const struct html_sink *html_blocks_end(struct html_blocks *b);
/* True if text is left out at this place. */
bool html_blocks_dropping(const struct html_blocks *b);

/* Decodes the character reference at p, behind its '&'. Returns the bytes that it takes, 0 when it
 * is none; to gets its UTF-8, *len bytes. */
size_t html_decode(const char *p, size_t n, char to[8], size_t *len);

#endif
