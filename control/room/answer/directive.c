#include "control/room/answer/directive.h"

#include <string.h>
#include <strings.h>

#include "proto/base/utf8.h"

static const char skip_mark[] = "[SKIP]";

enum kind { UNKNOWN, TO, LEASE, SOUNDBOARD, NOTE };

static bool is_word_byte(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       (unsigned char)ch >= 0x80;
}

static void emit_words(struct room_directive *d, const char *text, size_t n, room_directive_h *h,
		       void *arg)
{
	for (size_t i = 0; i < n && !d->words; i++)
		d->words = is_word_byte(text[i]);
	if (n)
		h(ROOM_OUT_WORDS, text, n, arg);
}

/* Trims the blanks around the value. */
static const char *trim(const char *p, size_t *n)
{
	while (*n && *p == ' ') {
		p++;
		(*n)--;
	}
	while (*n && p[*n - 1] == ' ')
		(*n)--;
	return p;
}

static bool equals(const char *p, size_t n, const char *word)
{
	return strlen(word) == n && strncasecmp(p, word, n) == 0;
}

/* The kind of directive that the body begins; the value follows the colon. */
static enum kind kind_of(const char *body, size_t n, const char **value, size_t *value_n)
{
	static const struct {
		const char *name;
		enum kind kind;
	} names[] = {{"TO", TO}, {"LEASE", LEASE}, {"SOUNDBOARD", SOUNDBOARD}, {"NOTE", NOTE}};
	const char *colon = memchr(body, ':', n);
	size_t len;

	if (!colon)
		return UNKNOWN;
	*value_n = n - (size_t)(colon + 1 - body);
	*value = trim(colon + 1, value_n);
	len = (size_t)(colon - body);
	body = trim(body, &len);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (equals(body, len, names[i].name))
			return names[i].kind;
	return UNKNOWN;
}

enum room_to room_directive_addressee(const char *value, size_t n)
{
	static const char *const all[] = {"all",	"everyone",   "everybody",  "whole_room",
					  "whole room", "whole_chat", "whole chat", "vc"};

	if (!n || n > ROOM_TO_MAX)
		return ROOM_TO_NOBODY;
	if (equals(value, n, "speaker") || equals(value, n, "me"))
		return ROOM_TO_SPEAKER;
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (equals(value, n, all[i]))
			return ROOM_TO_ALL;
	return ROOM_TO_NAME;
}

static void set_addressee(struct room_directive *d, const char *value, size_t n)
{
	if (d->led || d->to != ROOM_TO_NOBODY)
		return;
	d->to = room_directive_addressee(value, n);
	if (d->to == ROOM_TO_NAME) {
		memcpy(d->name, value, n);
		d->name[n] = '\0';
	}
}

static void set_lease(struct room_directive *d, const char *value, size_t n)
{
	if (d->led || d->lease != ROOM_OUTPUT_LEASE_NONE)
		return;
	if (equals(value, n, "assertive"))
		d->lease = ROOM_OUTPUT_LEASE_ASSERTIVE;
	else if (equals(value, n, "atomic"))
		d->lease = ROOM_OUTPUT_LEASE_ATOMIC;
}

/* Applies a directive. whole: its brackets were closed, and all of it was kept. */
static void apply_directive(struct room_directive *d, bool whole, room_directive_h *h, void *arg)
{
	const char *value = "";
	size_t n = 0;
	enum kind kind = kind_of(d->held, d->n, &value, &n);

	if (kind == TO && whole) {
		set_addressee(d, value, n);
	} else if (kind == LEASE && whole) {
		set_lease(d, value, n);
	} else if (kind == SOUNDBOARD && whole && n && n <= ROOM_SOUND_REF_MAX &&
		   d->sounds < ROOM_SOUNDS_MAX) {
		d->sounds++;
		d->led = d->words = true;
		h(ROOM_OUT_SOUND, value, n, arg);
	} else if (kind == NOTE && n) {
		h(ROOM_OUT_NOTE, value, n <= ROOM_NOTE_MAX ? n : utf8_whole(value, ROOM_NOTE_MAX),
		  arg);
	}
}

static void end_body(struct room_directive *d)
{
	d->in_body = d->after_close = false;
	d->n = d->body = 0;
}

/* The brackets were never closed: the words are spoken without them. */
static void release_body(struct room_directive *d, room_directive_h *h, void *arg)
{
	size_t from = 0, n = d->n;

	end_body(d);
	d->led = true;
	for (size_t i = 0; i <= n; i++) {
		if (i < n && d->held[i] != '[' && d->held[i] != ']')
			continue;
		emit_words(d, d->held + from, i - from, h, arg);
		from = i + 1;
	}
}

static enum kind kind_of_kept(const struct room_directive *d)
{
	const char *value;
	size_t n;

	return kind_of(d->held, d->n, &value, &n);
}

/* The line or the answer ended within a directive. */
static void end_unclosed_body(struct room_directive *d, room_directive_h *h, void *arg)
{
	if (kind_of_kept(d) == UNKNOWN)
		release_body(d, h, arg);
	else
		end_body(d);
}

/* Notes are private and sounds are not words: neither is spoken, however long it is. */
static void limit_body(struct room_directive *d, room_directive_h *h, void *arg)
{
	enum kind kind = kind_of_kept(d);

	if (kind != NOTE && kind != SOUNDBOARD)
		release_body(d, h, arg);
	else if (d->body >= ROOM_BODY_MAX)
		end_body(d);
}

static void read_body_byte(struct room_directive *d, char ch, room_directive_h *h, void *arg)
{
	if (ch == '\n') {
		end_unclosed_body(d, h, arg);
		emit_words(d, " ", d->led, h, arg);
		return;
	}
	if (ch == ']' && d->after_close) {
		d->n -= d->n == d->body; /* removes the first closing bracket, if it was kept */
		apply_directive(d, d->n + 1 == d->body, h, arg);
		end_body(d);
		return;
	}
	d->after_close = ch == ']';
	d->body++;
	if (d->n < sizeof d->held)
		d->held[d->n++] = ch;
	if (d->body + 2 >= ROOM_LEAD_MAX)
		limit_body(d, h, arg);
}

/* The text that could have become "[SKIP]" is ordinary text. */
static void release_mark(struct room_directive *d, room_directive_h *h, void *arg)
{
	size_t n = d->n;

	if (!n)
		return;
	d->n = 0;
	d->led = true;
	emit_words(d, d->held, n, h, arg);
}

static void read_open_byte(struct room_directive *d, char ch, room_directive_h *h, void *arg)
{
	char upper = ch >= 'a' && ch <= 'z' ? (char)(ch - 'a' + 'A') : ch;

	if (ch == '[' && d->n == 1) {
		d->n = 0;
		d->in_body = true;
		return;
	}
	if (upper != skip_mark[d->n]) {
		release_mark(d, h, arg);
		if (ch != '[') {
			if (ch == '\n')
				ch = ' ';
			if (ch == ' ' && !d->led)
				return;
			d->led = true;
			emit_words(d, &ch, 1, h, arg);
			return;
		}
	}
	d->held[d->n++] = ch;
	if (d->n == sizeof skip_mark - 1) {
		d->n = 0;
		d->skip = true;
	}
}

/* The number of bytes from here on that are plain text. */
static size_t count_plain_bytes(const struct room_directive *d, const char *text, size_t n)
{
	size_t k = 0;

	if (!d->led || d->in_body || d->n)
		return 0;
	while (k < n && text[k] != '[' && (unsigned char)text[k] >= 0x20 && text[k] != 0x7f)
		k++;
	return k;
}

void room_directive_add(struct room_directive *d, const char *text, size_t n, room_directive_h *h,
			void *arg)
{
	while (n) {
		size_t run = count_plain_bytes(d, text, n);
		char ch = *text;

		if (run) {
			emit_words(d, text, run, h, arg);
			text += run;
			n -= run;
			continue;
		}
		if (((unsigned char)ch < 0x20 && ch != '\n') || ch == 0x7f)
			ch = ' ';
		if (d->in_body)
			read_body_byte(d, ch, h, arg);
		else
			read_open_byte(d, ch, h, arg);
		text++;
		n--;
	}
}

void room_directive_end(struct room_directive *d, room_directive_h *h, void *arg)
{
	if (d->in_body)
		end_unclosed_body(d, h, arg);
	else
		release_mark(d, h, arg);
	d->led = true;
}

bool room_directive_skips(const struct room_directive *d)
{
	return d->skip && !d->words;
}
