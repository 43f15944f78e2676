#include "control/music/playlist.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "proto/base/utf8.h"

struct reader {
	const struct track *place;
	playlist_h *h;
	void *arg;
	size_t n;
	bool over;
};

struct entry {
	struct slice reference, title;
	int64_t duration_s; /* 0: not told; below: it has no end */
};

static struct slice trim(struct slice s)
{
	while (s.n && isspace(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && isspace(s.p[s.n - 1]))
		s.n--;
	return s;
}

static bool starts_with(struct slice s, const char *start)
{
	return s.n >= strlen(start) && strncasecmp((const char *)s.p, start, strlen(start)) == 0;
}

static struct slice skip(struct slice s, size_t n)
{
	return (struct slice){s.p + n, s.n - n};
}

/* Lines end with LF, CRLF or CR. */
static bool read_line(struct slice *text, struct slice *line)
{
	size_t n = 0;

	if (!text->n)
		return false;
	while (n < text->n && text->p[n] != '\n' && text->p[n] != '\r')
		n++;
	*line = trim((struct slice){text->p, n});
	*text = skip(*text, n < text->n ? n + 1 : n);
	return true;
}

static bool is_web(struct slice reference)
{
	return starts_with(reference, "http://") || starts_with(reference, "https://");
}

/* "file:", "C:", "rtsp:": letters before a colon, and no slash before it. */
static bool has_scheme(struct slice reference)
{
	size_t n = 0;

	while (n < reference.n && (isalnum(reference.p[n]) || strchr("+.-", reference.p[n])) &&
	       reference.p[n])
		n++;
	return n && n < reference.n && reference.p[n] == ':';
}

/* Bytes of the place's reference that stand before a relative one. */
static size_t measure_base(const struct track *place, struct slice reference)
{
	const char *text = place->reference;
	const char *host = place->source == TRACK_LOCAL ? text : strstr(text, "://");
	size_t n = strcspn(text, "?#");

	if (place->source == TRACK_LOCAL)
		n = strlen(text);
	else if (!host)
		return 0;
	else if (starts_with(reference, "//"))
		return (size_t)(host - text) + 1;
	else if (starts_with(reference, "/"))
		return (size_t)(host - text) + 3 + strcspn(host + 3, "/?#");
	while (n && text[n - 1] != '/')
		n--;
	return n;
}

/* A saved queue is JSON, so what is no UTF-8 cannot be saved; and no address has a control
 * character. */
static bool is_plain(const char *reference)
{
	for (const char *c = reference; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	return utf8_valid(reference);
}

/* Returns false if the reference cannot be used. */
static bool resolve(struct track *t, const struct track *place, struct slice reference)
{
	size_t base = is_web(reference) ? 0 : measure_base(place, reference);
	bool local = place->source == TRACK_LOCAL && !is_web(reference);

	if (!reference.n || memchr(reference.p, '\0', reference.n) ||
	    base + reference.n >= sizeof t->reference)
		return false;
	if (!is_web(reference) && (has_scheme(reference) || (!local && !base)))
		return false;
	if (local && (reference.p[0] == '/' || memchr(reference.p, '\\', reference.n)))
		return false;
	memcpy(t->reference, place->reference, base);
	memcpy(t->reference + base, reference.p, reference.n);
	t->reference[base + reference.n] = '\0';
	t->source = local ? TRACK_LOCAL : TRACK_URL;
	return is_plain(t->reference);
}

static void set_names(struct track *t, struct slice title)
{
	const char *text = (const char *)title.p;
	const char *dash = title.n ? memmem(text, title.n, " - ", 3) : NULL;

	if (dash) {
		size_t n = (size_t)(dash - text);

		track_set_text(t->artist, sizeof t->artist, text, n);
		track_set_text(t->title, sizeof t->title, dash + 3, title.n - n - 3);
	} else if (title.n) {
		track_set_text(t->title, sizeof t->title, text, title.n);
	}
}

static void give_entry(struct reader *r, const struct entry *e)
{
	struct track t = {.root = r->place->root, .requester = r->place->requester};

	if (r->over || r->n == PLAYLIST_TRACKS || !resolve(&t, r->place, e->reference))
		return;
	if (e->duration_s > 0 && e->duration_s <= TRACK_DURATION_MAX_S)
		t.duration_ms = (uint64_t)e->duration_s * 1000;
	if (t.source == TRACK_URL && e->duration_s < 0)
		t.source = TRACK_RADIO;
	t.may_be_live = t.source == TRACK_URL && !t.duration_ms;
	set_names(&t, e->title);
	r->n++;
	r->over = !r->h(&t, r->arg);
}

/* Digits with a sign; 0 where there are none or too many. */
static int64_t read_number(struct slice s)
{
	bool minus = s.n && s.p[0] == '-';
	int64_t v = 0;

	for (size_t i = minus; i < s.n && isdigit(s.p[i]) && v < INT32_MAX; i++)
		v = v * 10 + (s.p[i] - '0');
	return v >= INT32_MAX ? 0 : minus ? -v : v;
}

/* "#EXTINF:123 logo="a,b",Artist - Title": the title follows the first comma outside quotes. */
static void read_extinf(struct entry *e, struct slice line)
{
	bool quoted = false;
	size_t n = 0;

	e->duration_s = read_number(line);
	for (; n < line.n && (line.p[n] != ',' || quoted); n++)
		quoted ^= line.p[n] == '"';
	e->title = n < line.n ? trim(skip(line, n + 1)) : (struct slice){0};
}

static int read_m3u(struct reader *r, struct slice text)
{
	struct entry e = {0};
	struct slice line;

	while (read_line(&text, &line)) {
		if (starts_with(line, "#EXT-X-"))
			return ENOTSUP;
		if (starts_with(line, "#EXTINF:"))
			read_extinf(&e, skip(line, 8));
		if (!line.n || line.p[0] == '#')
			continue;
		e.reference = line;
		give_entry(r, &e);
		e = (struct entry){0};
	}
	return 0;
}

/* "File12=…" with this key: the number and the value. Returns false for another key. */
static bool read_key(struct slice line, const char *key, size_t *number, struct slice *value)
{
	const uint8_t *equals = memchr(line.p, '=', line.n);
	int64_t n;

	if (!equals || !starts_with(line, key))
		return false;
	n = read_number(skip(line, strlen(key)));
	if (n < 1 || n > PLAYLIST_TRACKS)
		return false;
	*number = (size_t)n - 1;
	*value = trim(skip(line, (size_t)(equals - line.p) + 1));
	return true;
}

static void read_pls(struct reader *r, struct slice text)
{
	struct entry entries[PLAYLIST_TRACKS] = {0};
	struct slice line, value;
	size_t i;

	while (read_line(&text, &line)) {
		if (!line.n)
			continue;
		if (read_key(line, "File", &i, &value))
			entries[i].reference = value;
		else if (read_key(line, "Title", &i, &value))
			entries[i].title = value;
		else if (read_key(line, "Length", &i, &value))
			entries[i].duration_s = read_number(value);
	}
	for (i = 0; i < PLAYLIST_TRACKS; i++)
		give_entry(r, &entries[i]);
}

int playlist_read(const struct track *place, struct slice text, playlist_h *h, void *arg)
{
	struct reader r = {.place = place, .h = h, .arg = arg};
	int err = 0;

	if (text.n > PLAYLIST_BYTES_MAX)
		return EMSGSIZE;
	if (text.n >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0)
		text = skip(text, 3);
	if (text.n && memchr(text.p, '\0', text.n))
		return EBADMSG;
	text = trim(text);
	if (starts_with(text, "[playlist]"))
		read_pls(&r, text);
	else
		err = read_m3u(&r, text);
	if (err)
		return err;
	return r.n ? 0 : EBADMSG;
}
