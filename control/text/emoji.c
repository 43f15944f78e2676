#include "control/text/emoji.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "proto/base/utf8.h"

enum {
	ZWJ = 0x200d,
	VS16 = 0xfe0f, /* shows the character before it as an emoji */
	KEYCAP = 0x20e3,
	TONE_FIRST = 0x1f3fb,
	TONE_LAST = 0x1f3ff,
	REGION_FIRST = 0x1f1e6,
	REGION_LAST = 0x1f1ff,
	WARNING = 0x26a0,
	STOP_SIGN = 0x1f6d1,
	MOST = 12, /* characters of an emoji, VS16 included */
	VALUE = 80 /* bytes of a directive's value */
};

struct range {
	uint32_t first, last;
};

/* Emoji without tones and regional indicators (Unicode 15.1, emoji-data.txt): those that are shown
 * as such, and those that need VS16. */
static const struct range shown[] = {
	{0x231a, 0x231b},   {0x23e9, 0x23ec},	{0x23f0, 0x23f0},   {0x23f3, 0x23f3},
	{0x25fd, 0x25fe},   {0x2614, 0x2615},	{0x2648, 0x2653},   {0x267f, 0x267f},
	{0x2693, 0x2693},   {0x26a1, 0x26a1},	{0x26aa, 0x26ab},   {0x26bd, 0x26be},
	{0x26c4, 0x26c5},   {0x26ce, 0x26ce},	{0x26d4, 0x26d4},   {0x26ea, 0x26ea},
	{0x26f2, 0x26f3},   {0x26f5, 0x26f5},	{0x26fa, 0x26fa},   {0x26fd, 0x26fd},
	{0x2705, 0x2705},   {0x270a, 0x270b},	{0x2728, 0x2728},   {0x274c, 0x274c},
	{0x274e, 0x274e},   {0x2753, 0x2755},	{0x2757, 0x2757},   {0x2795, 0x2797},
	{0x27b0, 0x27b0},   {0x27bf, 0x27bf},	{0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},
	{0x2b55, 0x2b55},   {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e},
	{0x1f191, 0x1f19a}, {0x1f201, 0x1f201}, {0x1f21a, 0x1f21a}, {0x1f22f, 0x1f22f},
	{0x1f232, 0x1f236}, {0x1f238, 0x1f23a}, {0x1f250, 0x1f251}, {0x1f300, 0x1f320},
	{0x1f32d, 0x1f335}, {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca},
	{0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f3fa},
	{0x1f400, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d},
	{0x1f54b, 0x1f54e}, {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596},
	{0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc},
	{0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6d7}, {0x1f6dc, 0x1f6df}, {0x1f6eb, 0x1f6ec},
	{0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb}, {0x1f7f0, 0x1f7f0}, {0x1f90c, 0x1f93a},
	{0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff}, {0x1fa70, 0x1fa7c}, {0x1fa80, 0x1fa88},
	{0x1fa90, 0x1fabd}, {0x1fabf, 0x1fac5}, {0x1face, 0x1fadb}, {0x1fae0, 0x1fae8},
	{0x1faf0, 0x1faf8}};
static const struct range hidden[] = {
	{0xa9, 0xa9},	    {0xae, 0xae},	{0x203c, 0x203c},   {0x2049, 0x2049},
	{0x2122, 0x2122},   {0x2139, 0x2139},	{0x2194, 0x2199},   {0x21a9, 0x21aa},
	{0x2328, 0x2328},   {0x23cf, 0x23cf},	{0x23ed, 0x23ef},   {0x23f1, 0x23f2},
	{0x23f8, 0x23fa},   {0x24c2, 0x24c2},	{0x25aa, 0x25ab},   {0x25b6, 0x25b6},
	{0x25c0, 0x25c0},   {0x25fb, 0x25fc},	{0x2600, 0x2604},   {0x260e, 0x260e},
	{0x2611, 0x2611},   {0x2618, 0x2618},	{0x261d, 0x261d},   {0x2620, 0x2620},
	{0x2622, 0x2623},   {0x2626, 0x2626},	{0x262a, 0x262a},   {0x262e, 0x262f},
	{0x2638, 0x263a},   {0x2640, 0x2640},	{0x2642, 0x2642},   {0x265f, 0x2660},
	{0x2663, 0x2663},   {0x2665, 0x2666},	{0x2668, 0x2668},   {0x267b, 0x267b},
	{0x267e, 0x267e},   {0x2692, 0x2692},	{0x2694, 0x2697},   {0x2699, 0x2699},
	{0x269b, 0x269c},   {0x26a0, 0x26a0},	{0x26a7, 0x26a7},   {0x26b0, 0x26b1},
	{0x26c8, 0x26c8},   {0x26cf, 0x26cf},	{0x26d1, 0x26d1},   {0x26d3, 0x26d3},
	{0x26e9, 0x26e9},   {0x26f0, 0x26f1},	{0x26f4, 0x26f4},   {0x26f7, 0x26f9},
	{0x2702, 0x2702},   {0x2708, 0x2709},	{0x270c, 0x270d},   {0x270f, 0x270f},
	{0x2712, 0x2712},   {0x2714, 0x2714},	{0x2716, 0x2716},   {0x271d, 0x271d},
	{0x2721, 0x2721},   {0x2733, 0x2734},	{0x2744, 0x2744},   {0x2747, 0x2747},
	{0x2763, 0x2764},   {0x27a1, 0x27a1},	{0x2934, 0x2935},   {0x2b05, 0x2b07},
	{0x3030, 0x3030},   {0x303d, 0x303d},	{0x3297, 0x3297},   {0x3299, 0x3299},
	{0x1f170, 0x1f171}, {0x1f17e, 0x1f17f}, {0x1f202, 0x1f202}, {0x1f237, 0x1f237},
	{0x1f321, 0x1f321}, {0x1f324, 0x1f32c}, {0x1f336, 0x1f336}, {0x1f37d, 0x1f37d},
	{0x1f396, 0x1f397}, {0x1f399, 0x1f39b}, {0x1f39e, 0x1f39f}, {0x1f3cb, 0x1f3ce},
	{0x1f3d4, 0x1f3df}, {0x1f3f3, 0x1f3f3}, {0x1f3f5, 0x1f3f5}, {0x1f3f7, 0x1f3f7},
	{0x1f43f, 0x1f43f}, {0x1f441, 0x1f441}, {0x1f4fd, 0x1f4fd}, {0x1f549, 0x1f54a},
	{0x1f56f, 0x1f570}, {0x1f573, 0x1f579}, {0x1f587, 0x1f587}, {0x1f58a, 0x1f58d},
	{0x1f590, 0x1f590}, {0x1f5a5, 0x1f5a5}, {0x1f5a8, 0x1f5a8}, {0x1f5b1, 0x1f5b2},
	{0x1f5bc, 0x1f5bc}, {0x1f5c2, 0x1f5c4}, {0x1f5d1, 0x1f5d3}, {0x1f5dc, 0x1f5de},
	{0x1f5e1, 0x1f5e1}, {0x1f5e3, 0x1f5e3}, {0x1f5e8, 0x1f5e8}, {0x1f5ef, 0x1f5ef},
	{0x1f5f3, 0x1f5f3}, {0x1f5fa, 0x1f5fa}, {0x1f6cb, 0x1f6cb}, {0x1f6cd, 0x1f6cf},
	{0x1f6e0, 0x1f6e5}, {0x1f6e9, 0x1f6e9}, {0x1f6f0, 0x1f6f0}, {0x1f6f3, 0x1f6f3}};

static bool is_among(const struct range *r, size_t n, uint32_t c)
{
	for (size_t i = 0; i < n; i++)
		if (c >= r[i].first && c <= r[i].last)
			return true;
	return false;
}

static bool is_shown(uint32_t c)
{
	return is_among(shown, sizeof shown / sizeof shown[0], c);
}

static bool is_hidden(uint32_t c)
{
	return is_among(hidden, sizeof hidden / sizeof hidden[0], c);
}

static bool is_tone(uint32_t c)
{
	return c >= TONE_FIRST && c <= TONE_LAST;
}

static bool is_region(uint32_t c)
{
	return c >= REGION_FIRST && c <= REGION_LAST;
}

/* ---- characters ---- */

/* Characters of an emoji on their way in and out. */
struct characters {
	uint32_t v[MOST + 1]; /* a zero is the end */
	unsigned n;
};

static void put(struct characters *to, uint32_t c)
{
	if (to->n < MOST)
		to->v[to->n] = c;
	to->n++;
}

/* The bytes are well-formed. False: too many of them. */
static bool decode(struct characters *to, const char *text)
{
	static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	const unsigned char *p = (const unsigned char *)text;

	*to = (struct characters){.n = 0};
	while (*p && to->n < MOST) {
		unsigned n = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
		uint32_t c = *p & masks[n];

		for (unsigned i = 1; i < n; i++)
			c = c << 6 | (p[i] & 0x3f);
		put(to, c);
		p += n;
	}
	return !*p;
}

static bool encode(char emoji[TEXT_EMOJI], const struct characters *from)
{
	size_t at = 0;

	if (from->n > MOST)
		return false;
	for (unsigned i = 0; i < from->n; i++) {
		char bytes[4];
		size_t n = utf8_write(bytes, from->v[i]);

		if (at + n >= TEXT_EMOJI)
			return false;
		memcpy(emoji + at, bytes, n);
		at += n;
	}
	emoji[at] = '\0';
	return true;
}

/* ---- the grammar ---- */

/* Each reads from *c, which is behind it afterwards. False: there is none. */
static bool read_element(const uint32_t **c, struct characters *to)
{
	uint32_t base = *(*c)++;
	bool needs = is_hidden(base);

	if (!needs && !is_shown(base))
		return false;
	put(to, base);
	if (is_tone(**c)) {
		put(to, *(*c)++);
		return true;
	}
	*c += **c == VS16;
	if (needs)
		put(to, VS16);
	return true;
}

static bool read_sequence(const uint32_t **c, struct characters *to)
{
	while (read_element(c, to)) {
		if (**c != ZWJ)
			return true;
		put(to, *(*c)++);
	}
	return false;
}

static bool read_keycap(const uint32_t **c, struct characters *to)
{
	put(to, *(*c)++);
	*c += **c == VS16;
	put(to, VS16);
	put(to, KEYCAP);
	return *(*c)++ == KEYCAP;
}

static bool read_flag(const uint32_t **c, struct characters *to)
{
	put(to, *(*c)++);
	put(to, **c);
	return is_region(*(*c)++);
}

bool text_emoji_read(const char *text, size_t n, char emoji[TEXT_EMOJI])
{
	struct characters in, out = {.n = 0};
	const uint32_t *c = in.v;
	char whole[VALUE + 1];
	bool read;

	if (!n || n > VALUE)
		return false;
	memcpy(whole, text, n);
	whole[n] = '\0';
	if (strlen(whole) != n || !utf8_valid(whole) || !decode(&in, whole))
		return false;
	if (is_region(*c))
		read = read_flag(&c, &out);
	else if (*c < 0x80 && strchr("0123456789#*", (int)*c))
		read = read_keycap(&c, &out);
	else
		read = read_sequence(&c, &out);
	return read && !*c && out.v[0] != WARNING && out.v[0] != STOP_SIGN && encode(emoji, &out);
}

/* ---- the directive ---- */

static size_t blanks(const char *p)
{
	return strspn(p, " \t\r");
}

/* The bytes of the directive at p; 0: there is none. *value: n bytes, between blanks. */
static size_t directive_at(const char *p, const char **value, size_t *n)
{
	static const char name[] = "REACT";
	size_t open = *p != '[' ? 0 : p[1] == '[' ? 2 : 1, close;
	const char *at = p + open;

	if (!open)
		return 0;
	at += blanks(at);
	if (strncasecmp(at, name, sizeof name - 1) != 0)
		return 0;
	at += sizeof name - 1;
	at += blanks(at);
	if (*at != ':')
		return 0;
	at++;
	at += blanks(at);
	*value = at;
	*n = strcspn(at, "[]\n");
	close = strspn(at + *n, "]");
	at += *n + (close < open ? close : open);
	while (*n && (*value)[*n - 1] == ' ')
		--*n;
	return close ? (size_t)(at - p) : 0;
}

/* The bytes of all directives from p on, with the blanks around them; 0: there is none. emoji may
 * be NULL. */
static size_t directives_at(const char *p, char *emoji)
{
	size_t at = 0, one, n;
	const char *value;

	while ((one = directive_at(p + at + blanks(p + at), &value, &n))) {
		char read[TEXT_EMOJI];

		if (emoji && !*emoji && text_emoji_read(value, n, read))
			memcpy(emoji, read, sizeof read);
		at += blanks(p + at) + one;
	}
	return at ? at + blanks(p + at) : 0;
}

/* The bytes of the line that are left, from its beginning on, once its directives are taken out. */
static size_t cut_line(char *line, size_t n, char *emoji)
{
	size_t first = directives_at(line, emoji), last = first, end;

	while (last < n) {
		size_t all = line[last] == '[' ? directives_at(line + last, NULL) : 0;

		if (all && last + all == n)
			break;
		last += all ? all : 1;
	}
	if (last < n)
		directives_at(line + last, emoji);
	for (end = last; last < n && end > first && strchr(" \t", line[end - 1]); end--)
		;
	memmove(line, line + first, end - first);
	return end - first;
}

static bool is_fence(const char *line)
{
	return strncmp(line + blanks(line), "```", 3) == 0;
}

void text_emoji_take(char *text, char emoji[TEXT_EMOJI])
{
	char *line = text, *to = text;
	bool fenced = false, taken = false;

	*emoji = '\0';
	while (*line) {
		size_t n = strcspn(line, "\n"), kept = n;
		bool ends = line[n] == '\n';

		fenced ^= is_fence(line);
		if (!fenced)
			kept = cut_line(line, n, emoji);
		taken |= kept < n;
		memmove(to, line, kept);
		to += kept;
		/* A line of directives alone is none. */
		if (ends && (kept || !n))
			*to++ = '\n';
		line += n + ends;
	}
	/* What stood before one at the end. */
	while (taken && to > text && strchr(" \t\r\n", to[-1]))
		to--;
	*to = '\0';
}
