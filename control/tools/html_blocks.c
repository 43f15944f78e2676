#include "control/tools/html_inside.h"

#include <string.h>

/* ---- spans ---- */
static void open_span(struct html_span *s, const char *name)
{
	memcpy(s->name, name, sizeof s->name);
	s->depth = 1;
}

/* Counts a tag. False: the span ended with it. */
static bool count_span(struct html_span *s, const struct html_tag *tag)
{
	if (strcmp(tag->name, s->name) != 0)
		return true;
	if (!tag->end && !tag->closed)
		s->depth++;
	else if (tag->end)
		s->depth--;
	if (!s->depth)
		s->name[0] = '\0';
	return s->depth > 0;
}

bool html_blocks_dropping(const struct html_blocks *b)
{
	return b->dropped.name[0];
}

/* ---- blocks ---- */
static void append_line(struct html_sink *s, const char *p, size_t n)
{
	if (!n)
		return;
	if (n + 1 >= sizeof s->text - s->n) {
		s->cut = true;
		return;
	}
	memcpy(s->text + s->n, p, n);
	s->n += n;
	s->text[s->n++] = '\n';
}

static void keep_heading(struct html_blocks *b)
{
	size_t n = b->n < sizeof b->heading - 1 ? b->n : sizeof b->heading - 1;

	memcpy(b->heading, b->block, n);
	b->heading[n] = '\0';
}

static void end_block(struct html_blocks *b)
{
	unsigned words = b->words + b->ideographs / 2,
		 link_words = b->link_words + b->link_ideographs / 2;

	while (b->n && (b->block[b->n - 1] == ' ' || b->block[b->n - 1] == '\n'))
		b->n--;
	if (b->n > b->prefix) {
		append_line(&b->all, b->block, b->n);
		if (b->main_depth || b->role_main.depth) {
			append_line(&b->main, b->block, b->n);
			b->main_words += words;
		}
		if (b->in_heading) {
			keep_heading(b);
		} else if (words >= HTML_BLOCK_WORDS && link_words * 3 <= words) {
			append_line(&b->good, b->heading, strlen(b->heading));
			append_line(&b->good, b->block, b->n);
			b->heading[0] = '\0';
		}
	}
	b->n = b->prefix = 0;
	b->words = b->link_words = b->ideographs = b->link_ideographs = 0;
	b->in_word = b->blank = false;
}

static void append_byte(struct html_blocks *b, char c)
{
	if (b->n == sizeof b->block)
		end_block(b);
	b->block[b->n++] = c;
}

/* Counts words; where writing has no blanks, two ideographs or syllables count as one. */
static void count_byte(struct html_blocks *b, unsigned char c)
{
	if (c >= 0xe3 && c <= 0xe9) {
		b->ideographs++;
		b->link_ideographs += b->in_link;
	} else if (!b->in_word) {
		b->words++;
		b->link_words += b->in_link;
	}
	b->in_word = true;
}

static void add_blank(struct html_blocks *b, char c)
{
	b->in_word = false;
	if (b->pre_depth)
		append_byte(b, c == '\n' ? '\n' : ' ');
	else
		b->blank = b->n > b->prefix;
}

void html_blocks_text(struct html_blocks *b, const char *p, size_t n)
{
	if (html_blocks_dropping(b))
		return;
	for (size_t i = 0; i < n; i++) {
		char c = p[i];

		if (c == ' ' || (c >= '\t' && c <= '\r')) {
			add_blank(b, c);
			continue;
		}
		if (!c)
			continue;
		/* A block ends only between words, unless a word is as long as a block. */
		if (b->blank && b->n > sizeof b->block - 1024)
			end_block(b);
		if (b->blank && b->n && b->block[b->n - 1] != '\n')
			append_byte(b, ' ');
		b->blank = false;
		if (((unsigned char)c & 0xc0) != 0x80)
			count_byte(b, (unsigned char)c);
		append_byte(b, c);
	}
}

/* ---- tags ---- */
/* True if the tag ends what is dropped; then it may be worth something by itself. */
static bool ends_drop(struct html_blocks *b, const struct html_tag *tag)
{
	/* Pages inside one form, and navigation without its end. */
	if (!b->dropped_hidden && !tag->end && tag->kinds & HTML_MAIN &&
	    strcmp(b->dropped.name, "template") != 0 && strcmp(b->dropped.name, "svg") != 0) {
		b->dropped = (struct html_span){0};
		return true;
	}
	if (!tag->end && tag->kinds & HTML_LOOSE && strcmp(tag->name, b->dropped.name) == 0) {
		b->dropped = (struct html_span){0};
		return true;
	}
	count_span(&b->dropped, tag);
	return false;
}

static void mark_item(struct html_blocks *b, const struct html_tag *tag)
{
	if (strcmp(tag->name, "li") == 0) {
		append_byte(b, '-');
		append_byte(b, ' ');
		b->prefix = b->n;
	}
}

static void enter_or_leave(unsigned *depth, bool end)
{
	if (!end)
		++*depth;
	else if (*depth)
		--*depth;
}

/* Inline elements, and cells of a table. */
static void handle_inline(struct html_blocks *b, const struct html_tag *tag)
{
	if (strcmp(tag->name, "a") == 0) {
		b->in_link = !tag->end;
	} else if (strcmp(tag->name, "br") == 0) {
		b->in_word = b->blank = false;
		if (b->n > b->prefix)
			append_byte(b, '\n');
	} else if (!tag->end && (strcmp(tag->name, "td") == 0 || strcmp(tag->name, "th") == 0)) {
		if (b->n > b->prefix)
			html_blocks_text(b, " | ", 3);
	}
}

void html_blocks_tag(struct html_blocks *b, const struct html_tag *tag)
{
	if (html_blocks_dropping(b) && !ends_drop(b, tag))
		return;
	if (!tag->end && !tag->closed && !(tag->kinds & HTML_VOID) &&
	    (tag->hidden || tag->kinds & HTML_DROPPED)) {
		end_block(b);
		open_span(&b->dropped, tag->name);
		b->dropped_hidden = tag->hidden;
		return;
	}
	if (!(tag->kinds & HTML_BLOCK)) {
		handle_inline(b, tag);
	} else {
		end_block(b);
		b->in_heading = tag->kinds & HTML_HEADING && !tag->end;
		if (strcmp(tag->name, "pre") == 0 || strcmp(tag->name, "xmp") == 0)
			enter_or_leave(&b->pre_depth, tag->end);
		if (!tag->end)
			mark_item(b, tag);
	}
	if (tag->kinds & HTML_MAIN)
		enter_or_leave(&b->main_depth, tag->end);
	if (b->role_main.depth)
		count_span(&b->role_main, tag);
	else if (tag->role_main && !tag->end)
		open_span(&b->role_main, tag->name);
}

const struct html_sink *html_blocks_end(struct html_blocks *b)
{
	end_block(b);
	if (b->main_words >= HTML_BLOCK_WORDS)
		return &b->main;
	return b->good.n ? &b->good : &b->all;
}
