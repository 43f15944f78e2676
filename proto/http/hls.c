#include "proto/http/hls.h"

#include <errno.h>
#include <string.h>

#include "proto/base/time.h"

/* ---- lines ---- */

static bool starts_with(struct slice s, const char *start)
{
	size_t n = strlen(start);

	return s.n >= n && memcmp(s.p, start, n) == 0;
}

static bool is_space(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Takes the next line off the text, without spaces around it. */
static bool read_line(struct slice *text, struct slice *line)
{
	const uint8_t *end = text->n ? memchr(text->p, '\n', text->n) : NULL;
	size_t n = end ? (size_t)(end - text->p) : text->n;

	if (!text->n)
		return false;
	*line = (struct slice){text->p, n};
	text->p += end ? n + 1 : n;
	text->n -= end ? n + 1 : n;
	while (line->n && is_space(line->p[0])) {
		line->p++;
		line->n--;
	}
	while (line->n && is_space(line->p[line->n - 1]))
		line->n--;
	return true;
}

/* What follows "#TAG:" in a line. False for another one. */
static bool read_tag(struct slice line, const char *tag, struct slice *value)
{
	size_t n = strlen(tag);

	if (!starts_with(line, tag))
		return false;
	*value = (struct slice){line.p + n, line.n - n};
	return true;
}

/* ---- values ---- */

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* The digits at the beginning; *used of them. UINT64_MAX: too many. */
static uint64_t read_digits(struct slice s, size_t *used)
{
	uint64_t v = 0;
	size_t i = 0;

	for (; i < s.n && is_digit(s.p[i]); i++)
		v = v > UINT64_MAX / 16 ? UINT64_MAX : v * 10 + (uint64_t)(s.p[i] - '0');
	*used = i;
	return v;
}

static uint64_t read_number(struct slice s)
{
	size_t used;

	return read_digits(s, &used);
}

/* "9.009" seconds, in microseconds. */
static uint64_t read_seconds(struct slice s)
{
	uint64_t unit = US_PER_S / 10, us;
	size_t i;
	uint64_t whole = read_digits(s, &i);

	if (whole > HLS_SEGMENT_MAX_S)
		return HLS_SEGMENT_MAX_S * US_PER_S;
	us = whole * US_PER_S;
	if (i < s.n && s.p[i] == '.')
		for (i++; i < s.n && is_digit(s.p[i]); i++, unit /= 10)
			us += unit * (uint64_t)(s.p[i] - '0');
	return us;
}

/* "length@from"; without "@from" from *after. False: no length. */
static bool read_range(struct slice s, uint64_t after, struct hls_part *part)
{
	size_t used;
	uint64_t length = read_digits(s, &used);
	uint64_t from = after;

	if (used < s.n && s.p[used] == '@')
		from = read_number((struct slice){s.p + used + 1, s.n - used - 1});
	if (!length || length > INT64_MAX || from > INT64_MAX - length)
		return false;
	part->from = from;
	part->length = length;
	return true;
}

/* Takes "NAME=value" or 'NAME="value"' off a list of attributes. */
static bool read_attribute(struct slice *list, struct slice *name, struct slice *value)
{
	size_t n = 0, from, to;

	while (n < list->n && list->p[n] != '=')
		n++;
	if (n == list->n)
		return false;
	from = n + 1;
	if (from < list->n && list->p[from] == '"') {
		for (to = ++from; to < list->n && list->p[to] != '"'; to++)
			;
	} else {
		for (to = from; to < list->n && list->p[to] != ','; to++)
			;
	}
	*name = (struct slice){list->p, n};
	*value = (struct slice){list->p + from, to - from};
	while (to < list->n && list->p[to] != ',')
		to++;
	to += to < list->n;
	list->p += to;
	list->n -= to;
	while (name->n && is_space(name->p[0])) {
		name->p++;
		name->n--;
	}
	return true;
}

static bool is_text(struct slice s, const char *text)
{
	return s.n == strlen(text) && starts_with(s, text);
}

static bool find_attribute(struct slice list, const char *wanted, struct slice *value)
{
	struct slice name;

	while (read_attribute(&list, &name, value))
		if (is_text(name, wanted))
			return value->n > 0;
	return false;
}

/* ---- a media playlist ---- */

static bool is_same(struct slice a, struct slice b)
{
	return a.n == b.n && (!a.n || memcmp(a.p, b.p, a.n) == 0);
}

static void read_map(struct hls *h, struct slice list)
{
	struct hls_part map = {0};
	struct slice range;

	if (!find_attribute(list, "URI", &map.uri))
		return;
	if (find_attribute(list, "BYTERANGE", &range) && !read_range(range, 0, &map))
		return;
	h->map = map;
}

/* The segment whose address this line is, after the tags that came before it. */
static void end_segment(struct hls *h, struct slice line, struct slice range,
			struct hls_segment *out)
{
	uint64_t after = is_same(h->before.uri, line) ? h->before.from + h->before.length : 0;

	out->part.uri = line;
	if (range.n && !read_range(range, after, &out->part))
		out->gap = true;
	out->map = h->map;
	out->sequence = h->next++;
	h->before = out->part;
}

bool hls_next(struct hls *h, struct hls_segment *out)
{
	struct slice line, value, range = {0};

	*out = (struct hls_segment){0};
	while (read_line(&h->rest, &line)) {
		if (read_tag(line, "#EXTINF:", &value))
			out->microseconds = read_seconds(value);
		else if (read_tag(line, "#EXT-X-BYTERANGE:", &value))
			range = value;
		else if (read_tag(line, "#EXT-X-MAP:", &value))
			read_map(h, value);
		else if (starts_with(line, "#EXT-X-GAP"))
			out->gap = true;
		if (!line.n || line.p[0] == '#')
			continue;
		end_segment(h, line, range, out);
		return true;
	}
	return false;
}

static void rewind_walk(struct hls *h)
{
	h->rest = h->text;
	h->next = h->sequence;
	h->map = h->before = (struct hls_part){0};
}

/* The tags that hold for the whole playlist. */
static int read_head(struct hls *h)
{
	struct slice text = h->text, line, value;

	while (read_line(&text, &line)) {
		if (starts_with(line, "#EXT-X-STREAM-INF:"))
			h->master = true;
		else if (starts_with(line, "#EXT-X-ENDLIST"))
			h->ended = true;
		else if (read_tag(line, "#EXT-X-MEDIA-SEQUENCE:", &value))
			h->sequence = read_number(value) < INT64_MAX ? read_number(value) : 0;
		else if (read_tag(line, "#EXT-X-TARGETDURATION:", &value))
			h->target_us = read_seconds(value);
		else if (read_tag(line, "#EXT-X-KEY:", &value) &&
			 (!find_attribute(value, "METHOD", &line) || !is_text(line, "NONE")))
			return ENOTSUP;
	}
	return 0;
}

bool hls_begins(const uint8_t *head, size_t n)
{
	return n >= 7 && memcmp(head, "#EXTM3U", 7) == 0;
}

int hls_open(struct hls *h, struct slice text)
{
	struct hls_segment segment;
	int err;

	*h = (struct hls){.text = text};
	if (text.n > HLS_TEXT_MAX)
		return EMSGSIZE;
	if (!hls_begins(text.p, text.n) || memchr(text.p, '\0', text.n))
		return EBADMSG;
	err = read_head(h);
	rewind_walk(h);
	if (err || h->master)
		return err;
	while (hls_next(h, &segment)) {
		if (++h->segments > HLS_SEGMENTS_MAX)
			return EMSGSIZE;
		h->us += segment.microseconds;
	}
	rewind_walk(h);
	return h->segments && h->target_us ? 0 : EBADMSG;
}

/* ---- a master playlist ---- */

struct variant {
	struct slice uri, group; /* group: of renditions of sound; empty: none */
	uint64_t bits;
	bool picture;
};

static bool has_picture(struct slice list)
{
	static const char *const codecs[] = {"avc", "hvc", "hev",  "dvh", "vp8",
					     "vp0", "vp9", "av01", "mp4v"};
	struct slice value;

	if (find_attribute(list, "RESOLUTION", &value))
		return true;
	if (!find_attribute(list, "CODECS", &value))
		return false;
	for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++)
		if (memmem(value.p, value.n, codecs[i], strlen(codecs[i])))
			return true;
	return false;
}

/* Takes the next variant off the text. */
static bool next_variant(struct slice *text, struct variant *out)
{
	struct slice line, list = {0}, value;

	while (read_line(text, &line)) {
		if (read_tag(line, "#EXT-X-STREAM-INF:", &value))
			list = value;
		if (!line.n || line.p[0] == '#' || !list.n)
			continue;
		*out = (struct variant){.uri = line, .picture = has_picture(list)};
		if (find_attribute(list, "BANDWIDTH", &value))
			out->bits = read_number(value);
		if (!find_attribute(list, "AUDIO", &out->group))
			out->group = (struct slice){0};
		return true;
	}
	return false;
}

/* Whether b is better to hear than a. */
static bool is_better(const struct variant *a, const struct variant *b)
{
	const uint64_t most = b->picture ? HLS_PICTURE_BITS : HLS_SOUND_BITS;

	if (!a->uri.n || a->picture != b->picture)
		return !a->uri.n || a->picture;
	if (a->bits > most || b->bits > most)
		return b->bits < a->bits;
	return b->bits > a->bits;
}

/* The rendition of sound alone of a group: the default one, or else the first. */
static bool find_rendition(const struct hls *h, struct slice group, struct slice *uri)
{
	struct slice text = h->text, line, list, value, at;
	bool found = false;

	while (read_line(&text, &line)) {
		if (!read_tag(line, "#EXT-X-MEDIA:", &list) ||
		    !find_attribute(list, "TYPE", &value) || !is_text(value, "AUDIO") ||
		    !find_attribute(list, "GROUP-ID", &value) || !is_same(value, group) ||
		    !find_attribute(list, "URI", &at))
			continue;
		if (!found || (find_attribute(list, "DEFAULT", &value) && is_text(value, "YES")))
			*uri = at;
		found = true;
	}
	return found;
}

bool hls_choose(const struct hls *h, struct slice *uri)
{
	struct variant best = {0}, v, rich = {0};
	struct slice text = h->text;

	while (next_variant(&text, &v)) {
		if (is_better(&best, &v))
			best = v;
		if (v.group.n && (!rich.uri.n || v.bits > rich.bits))
			rich = v;
	}
	if (!best.uri.n)
		return false;
	*uri = best.uri;
	/* The sound of a picture, if it has an address of its own. */
	if (best.picture && rich.group.n)
		find_rendition(h, rich.group, uri);
	return true;
}
