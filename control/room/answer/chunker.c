#include "control/room/answer/chunker.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "proto/base/utf8.h"

void room_chunker_init(struct room_chunker *c, unsigned sentences, unsigned eager, unsigned max)
{
	*c = (struct room_chunker){.sentences = sentences ? sentences : 1,
				   .eager = eager,
				   .max = max < ROOM_CHUNK_MAX ? max : ROOM_CHUNK_MAX};
	if (c->max < 8)
		c->max = 8;
}

void room_chunker_relax(struct room_chunker *c)
{
	c->relaxed = true;
}

/* The first chunk is late and still awaited. */
static bool hurries(const struct room_chunker *c)
{
	return c->relaxed && !c->later;
}

static bool is_blank(char ch)
{
	return ch == ' ';
}

static bool is_letter(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

static unsigned count_words(const char *p, size_t n)
{
	unsigned k = 0;

	for (size_t i = 0; i < n; i++)
		k += !is_blank(p[i]) && (i == 0 || is_blank(p[i - 1]));
	return k;
}

/* True if the dot after p[0..n) belongs to its word: "Dr.", "J.", "e.g.". */
static bool is_abbreviation(const char *p, size_t n)
{
	static const char *const known[] = {"mr", "mrs", "ms", "dr",  "st",  "prof", "vs",
					    "jr", "sr",	 "eg", "e.g", "i.e", "etc"};
	size_t k = 0;

	while (k < n && !is_blank(p[n - 1 - k]))
		k++;
	p += n - k;
	if (k == 1 && is_letter(*p) && *p != 'I' && *p != 'a')
		return true;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strlen(known[i]) == k && strncasecmp(known[i], p, k) == 0)
			return true;
	return false;
}

/* Length in bytes of a closing quote or bracket at the end of p, or 0. */
static size_t closing_mark_size(const char *p, size_t n)
{
	static const char *const marks[] = {"\"",	    "'",       ")", "]", "\xe2\x80\x9d",
					    "\xe2\x80\x99", "\xc2\xbb"};

	for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
		size_t k = strlen(marks[i]);

		if (k <= n && memcmp(p + n - k, marks[i], k) == 0)
			return k;
	}
	return 0;
}

/* True if p ends a sentence, if a blank follows. */
static bool ends_sentence(const char *p, size_t n)
{
	size_t k;

	if (n > 1 && p[n - 1] == ']' && p[n - 2] == ']')
		return false; /* a directive's end */
	while (n && (k = closing_mark_size(p, n)) > 0)
		n -= k;
	if (!n || !strchr(".!?", p[n - 1]))
		return false;
	return p[n - 1] != '.' || !is_abbreviation(p, n - 1);
}

/* In scripts without blanks a full stop ends a sentence by itself. */
static bool ends_with_wide_stop(const char *p, size_t n)
{
	return n >= 3 && (memcmp(p + n - 3, "\xe3\x80\x82", 3) == 0 ||
			  memcmp(p + n - 3, "\xef\xbc\x81", 3) == 0 ||
			  memcmp(p + n - 3, "\xef\xbc\x9f", 3) == 0);
}

/* True if p[0..n) ends between [[ and ]]. */
static bool is_inside_directive(const char *p, size_t n)
{
	bool inside = false;

	for (size_t i = 0; i + 1 < n; i++) {
		bool open = p[i] == '[' && p[i + 1] == '[';

		if (!open && !(p[i] == ']' && p[i + 1] == ']'))
			continue;
		inside = open;
		i++;
	}
	return inside;
}

/* The character at *text, which is whole, and steps behind it. */
static uint32_t next_character(const char **text)
{
	const uint8_t *p = (const uint8_t *)*text;
	unsigned more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : 0;
	uint32_t ch = more ? *p & (0x3fu >> more) : *p;

	for (unsigned i = 1; i <= more; i++)
		ch = ch << 6 | (p[i] & 0x3f);
	*text += 1 + more;
	return ch;
}

/* True if a voice has anything to say: a letter or a digit of any script. Beyond ASCII, that is all
 * but marks, symbols and pictures. */
static bool has_speech(const char *text)
{
	static const struct {
		uint32_t first, last;
	} silent[] = {{0x80, 0xa9},	  {0xab, 0xb1},	      {0xb4, 0xb4},	{0xb6, 0xb8},
		      {0xbb, 0xbb},	  {0xbf, 0xbf},	      {0xd7, 0xd7},	{0xf7, 0xf7},
		      {0x2000, 0x206f},	  {0x20d0, 0x20ff},   {0x2190, 0x2bff}, {0x3000, 0x3004},
		      {0x3008, 0x3020},	  {0xe000, 0xf8ff},   {0xfe00, 0xfe6f}, {0xff01, 0xff0f},
		      {0x1f000, 0x1fbff}, {0xe0000, 0x10ffff}};

	while (*text) {
		uint32_t ch = next_character(&text);
		bool says = ch >= 0x80 || is_letter((char)ch) || (ch >= '0' && ch <= '9');

		for (size_t i = 0; says && i < sizeof silent / sizeof silent[0]; i++)
			says = ch < silent[i].first || ch > silent[i].last;
		if (says)
			return true;
	}
	return false;
}

static void emit_chunk(struct room_chunker *c, size_t n, room_chunk_h *h, void *arg)
{
	char chunk[ROOM_CHUNK_MAX + 4], *from = chunk;
	size_t len;

	memcpy(chunk, c->buf, n);
	chunk[n] = '\0';
	memmove(c->buf, c->buf + n, c->n - n);
	c->n -= n;
	c->ended = 0;
	c->end = 0;
	len = utf8_mend(chunk);
	while (is_blank(*from)) {
		from++;
		len--;
	}
	while (len && is_blank(from[len - 1]))
		from[--len] = '\0';
	/* Without speech no sound comes, which would look like a failure of the voice. */
	if (!has_speech(from))
		return;
	c->later = true;
	h(from, len, arg);
}

static bool is_tiny(const struct room_chunker *c)
{
	return c->later && c->end < ROOM_CHUNK_TINY &&
	       count_words(c->buf, c->end) < ROOM_CHUNK_TINY_WORDS;
}

static void emit_if_ready(struct room_chunker *c, room_chunk_h *h, void *arg)
{
	if (!c->later && c->end < (hurries(c) ? ROOM_CHUNK_RELAXED : c->eager))
		return;
	if (!is_tiny(c)) {
		emit_chunk(c, c->end, h, arg);
		return;
	}
	c->ended = 0; /* waits for the next */
}

static void force_chunk(struct room_chunker *c, room_chunk_h *h, void *arg)
{
	size_t at = c->n;

	while (at > 1 && (!is_blank(c->buf[at - 1]) || is_inside_directive(c->buf, at)))
		at--;
	if (at <= 1)
		at = utf8_whole(c->buf, c->n);
	emit_chunk(c, at ? at : c->n, h, arg);
}

/* True if the text may be cut behind a clause, if a blank follows. */
static bool ends_clause(const struct room_chunker *c)
{
	char last = c->buf[c->n - 1];

	if (hurries(c))
		return strchr(".!?;:,", last);
	return c->sentences == 1 && !c->ended && strchr(";:", last);
}

static void add_byte(struct room_chunker *c, char ch, room_chunk_h *h, void *arg)
{
	bool stop = false, clause = false;

	if ((unsigned char)ch < 0x20 || ch == 0x7f)
		ch = ' ';
	if (is_blank(ch) && (c->n == 0 || is_blank(c->buf[c->n - 1])))
		return;
	if (is_blank(ch) && strchr(".!?,\"')];:\x9d\x99\xbb", c->buf[c->n - 1]) &&
	    !is_inside_directive(c->buf, c->n)) {
		stop = ends_sentence(c->buf, c->n);
		clause = ends_clause(c);
	}
	c->buf[c->n++] = ch;
	stop = stop || ((unsigned char)ch >= 0x80 && ends_with_wide_stop(c->buf, c->n));
	if (stop || clause) {
		c->ended += stop;
		c->end = c->n;
		if (clause || c->ended >= c->sentences)
			emit_if_ready(c, h, arg);
	}
	if (c->n >= c->max)
		force_chunk(c, h, arg);
}

void room_chunker_add(struct room_chunker *c, const char *text, size_t n, room_chunk_h *h,
		      void *arg)
{
	for (size_t i = 0; i < n; i++)
		add_byte(c, text[i], h, arg);
}

void room_chunker_flush(struct room_chunker *c, room_chunk_h *h, void *arg)
{
	if (c->n)
		emit_chunk(c, c->n, h, arg);
	c->later = true;
}
