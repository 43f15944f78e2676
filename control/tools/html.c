#include "control/tools/html_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/tools/untrusted.h"
#include "proto/base/utf8.h"

enum { VALUE_MAX = 512 };

struct reader {
	const char *p, *end;
	struct html_blocks blocks;
	char title[HTML_TITLE_MAX];
	size_t title_n;
	bool has_title;
};

/* ---- characters ---- */
static bool is_letter(char c)
{
	c |= 0x20;
	return c >= 'a' && c <= 'z';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* True if text begins with word, in any case. */
static bool begins(const char *p, const char *end, const char *word)
{
	for (; *word; p++, word++)
		if (p == end || lower(*p) != *word)
			return false;
	return true;
}

/* ---- text ---- */
static void add_title(struct reader *r, const char *p, size_t n)
{
	if (n > sizeof r->title - 1 - r->title_n)
		n = utf8_whole(p, sizeof r->title - 1 - r->title_n);
	memcpy(r->title + r->title_n, p, n);
	r->title_n += n;
}

/* Hands text on with its character references decoded. */
static void decode_text(struct reader *r, const char *p, const char *end, bool title)
{
	while (p < end) {
		const char *amp = memchr(p, '&', (size_t)(end - p)), *stop = amp ? amp : end;
		char to[8] = "&";
		size_t len = 1, n;

		if (title)
			add_title(r, p, (size_t)(stop - p));
		else
			html_blocks_text(&r->blocks, p, (size_t)(stop - p));
		if (!amp)
			return;
		n = html_decode(amp + 1, (size_t)(end - amp - 1), to, &len);
		if (title)
			add_title(r, to, len);
		else
			html_blocks_text(&r->blocks, to, len);
		p = amp + 1 + n;
	}
}

/* ---- attributes ---- */
/* True if text contains `word`, followed by no more digits: "opacity:0", not "opacity:0.5". */
static bool has_zero(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	at = at ? at + strlen(word) : NULL;
	return at && *at != '.' && !(*at >= '0' && *at <= '9');
}

/* value is in lower case without blanks. */
static void read_attribute(struct html_tag *tag, const char *name, const char *value)
{
	if (strcmp(name, "hidden") == 0)
		tag->hidden = tag->hidden || strcmp(value, "until-found") != 0;
	else if (strcmp(name, "aria-hidden") == 0)
		tag->hidden = tag->hidden || strcmp(value, "true") == 0;
	else if (strcmp(name, "role") == 0)
		tag->role_main = strcmp(value, "main") == 0;
	else if (strcmp(name, "style") == 0)
		tag->hidden = tag->hidden || strstr(value, "display:none") ||
			      strstr(value, "visibility:hidden") || has_zero(value, "opacity:0") ||
			      has_zero(value, "font-size:0");
}

/* Reads a value up to its end; the start of it, without blanks, goes to `to`. */
static const char *read_value(const char *p, const char *end, char to[VALUE_MAX])
{
	char quote = p < end && (*p == '"' || *p == '\'') ? *p++ : '\0';
	size_t n = 0;

	for (; p < end && (quote ? *p != quote : !is_blank(*p) && *p != '>'); p++)
		if (n + 1 < VALUE_MAX && !is_blank(*p))
			to[n++] = lower(*p);
	to[n] = '\0';
	return quote && p < end ? p + 1 : p;
}

/* Reads attributes up to and with the '>'. NULL: the page ends before (then the tag is none). */
static const char *read_attributes(struct html_tag *tag, const char *p, const char *end)
{
	char name[HTML_NAME_MAX], value[VALUE_MAX];

	for (;;) {
		size_t n = 0;

		tag->closed = false;
		while (p < end && (is_blank(*p) || *p == '/'))
			tag->closed = *p++ == '/';
		if (p == end)
			return NULL;
		if (*p == '>')
			return p + 1;
		/* An '=' that comes first belongs to the name. */
		do {
			if (n + 1 < sizeof name)
				name[n++] = lower(*p);
			p++;
		} while (p < end && !is_blank(*p) && *p != '/' && *p != '>' && *p != '=');
		name[n] = '\0';
		while (p < end && is_blank(*p))
			p++;
		*value = '\0';
		if (p < end && *p == '=') {
			p++;
			while (p < end && is_blank(*p))
				p++;
			p = read_value(p, end, value);
		}
		read_attribute(tag, name, value);
	}
}

/* ---- raw text ---- */
/* Finds "</name" with its end; the page's end when there is none. */
static const char *find_end_tag(const char *p, const char *end, const char *name)
{
	size_t n = strlen(name);

	while ((p = memchr(p, '<', (size_t)(end - p)))) {
		if ((size_t)(end - p) > n + 2 && p[1] == '/' && begins(p + 2, end, name) &&
		    (is_blank(p[n + 2]) || p[n + 2] == '>' || p[n + 2] == '/'))
			return p;
		p++;
	}
	return end;
}

/* Of raw text only a title and preformatted text are text for people. */
static const char *read_raw(struct reader *r, const char *p, const char *name)
{
	const char *stop = find_end_tag(p, r->end, name);

	if (html_blocks_dropping(&r->blocks))
		return stop;
	if (strcmp(name, "title") == 0 && !r->has_title) {
		decode_text(r, p, stop, true);
		r->has_title = true;
	} else if (strcmp(name, "xmp") == 0) {
		html_blocks_text(&r->blocks, p, (size_t)(stop - p));
	}
	return stop;
}

/* ---- markup ---- */
/* p is at the '<' of a tag. Returns the place behind it. */
static const char *read_tag(struct reader *r, const char *p)
{
	struct html_tag tag = {0};
	size_t n = 0;

	p++;
	if (*p == '/') {
		tag.end = true;
		p++;
	}
	for (; p < r->end && !is_blank(*p) && *p != '/' && *p != '>'; p++)
		if (n + 1 < sizeof tag.name)
			tag.name[n++] = lower(*p);
	tag.kinds = html_element_kinds(tag.name);
	p = read_attributes(&tag, p, r->end);
	if (!p)
		return r->end;
	if (!tag.end && tag.kinds & HTML_RAW)
		return read_raw(r, p, tag.name);
	html_blocks_tag(&r->blocks, &tag);
	return p;
}

/* p is behind "<!--". */
static const char *skip_comment(const char *p, const char *end)
{
	if (begins(p, end, ">"))
		return p + 1;
	if (begins(p, end, "->"))
		return p + 2;
	while ((p = memchr(p, '-', (size_t)(end - p)))) {
		if (begins(p, end, "-->"))
			return p + 3;
		if (begins(p, end, "--!>"))
			return p + 4;
		p++;
	}
	return end;
}

static const char *skip_to_greater(const char *p, const char *end)
{
	const char *at = memchr(p, '>', (size_t)(end - p));

	return at ? at + 1 : end;
}

/* p is at a '<'. Returns the place behind the markup; p when it is none. */
static const char *read_markup(struct reader *r, const char *p)
{
	char next = p + 1 < r->end ? p[1] : '\0';

	if (is_letter(next) || (next == '/' && p + 2 < r->end && is_letter(p[2])))
		return read_tag(r, p);
	if (begins(p, r->end, "<!--"))
		return skip_comment(p + 4, r->end);
	if (next == '!' || next == '?' || next == '/')
		return skip_to_greater(p + 1, r->end);
	return p;
}

static void read_page(struct reader *r)
{
	const char *p = r->p;

	while (p < r->end) {
		const char *open = memchr(p, '<', (size_t)(r->end - p)), *next;

		decode_text(r, p, open ? open : r->end, false);
		if (!open)
			return;
		next = read_markup(r, open);
		if (next == open) {
			html_blocks_text(&r->blocks, "<", 1);
			next++;
		}
		p = next;
	}
}

int html_read(struct html_text *out, const char *page, size_t n)
{
	struct reader *r = calloc(1, sizeof *r);
	const struct html_sink *sink;
	char *text;

	if (!r)
		return ENOMEM;
	r->p = page;
	r->end = page + n;
	read_page(r);
	sink = html_blocks_end(&r->blocks);
	text = malloc(sink->n + 1);
	if (!text) {
		free(r);
		return ENOMEM;
	}
	memcpy(text, sink->text, sink->n);
	text[sink->n] = '\0';
	untrusted_clean(text);
	r->title[r->title_n] = '\0';
	untrusted_clean_line(r->title);
	*out = (struct html_text){.text = text, .cut = sink->cut};
	utf8_copy(out->title, sizeof out->title, r->title);
	free(r);
	return 0;
}

void html_text_clear(struct html_text *t)
{
	free(t->text);
	*t = (struct html_text){0};
}
