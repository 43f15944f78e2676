#include "control/text/split.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/utf8.h"

static const char mark[] = "```", closing[] = "\n```";
static const char spoiler[] = "||", bold[] = "**";

enum {
	NEAR = 4 * SPLIT_UNITS, /* bytes in which inline code and bold text end */
	CLOSING = 8,		/* most units that close what a cut leaves open */
	TRIES = 4,		/* places within a line that are looked at */
};

/* Where a part may end, the worst first. */
enum place { PLACE_BLANK, PLACE_IN_BLOCK, PLACE_LINE, PLACE_ITEM, PLACE_PARAGRAPH, PLACES };

struct cut {
	size_t at; /* bytes of the part; 0: none */
	struct split_marks marks;
};

static size_t units_of(unsigned char byte)
{
	return byte >= 0xf0 ? 2 : (byte & 0xc0) != 0x80;
}

/* Bytes at the beginning that have at most so many units. */
static size_t bytes_within(const char *text, size_t units)
{
	size_t n = 0, have = 0;

	while (text[n] && have + units_of((unsigned char)text[n]) <= units)
		have += units_of((unsigned char)text[n++]);
	/* Continuation bytes cost nothing, so the last character is whole. */
	return n;
}

static bool is_item(const char *line)
{
	size_t digits = strspn(line, "0123456789");

	return ((*line == '-' || *line == '*' || *line == '+') && line[1] == ' ') ||
	       (digits && line[digits] == '.' && line[digits + 1] == ' ');
}

/* Discord sees the mark anywhere in a line. A word behind it, alone in its line, is the language.
 */
static bool is_fence(const char *line)
{
	return strncmp(line + strspn(line, " \t"), mark, sizeof mark - 1) == 0;
}

static size_t language_at(const char *text)
{
	size_t n = strcspn(text, " \t\n`");

	return text[n] == '\n' ? n : 0;
}

/* Without a code block between, in this line. */
static bool is_closed_code(const char *text, size_t ticks)
{
	for (size_t n = 0; n < NEAR && text[n] && text[n] != '\n';) {
		size_t run = strspn(text + n, "`");

		if (run == ticks || run >= sizeof mark - 1)
			return run == ticks;
		n += run ? run : 1;
	}
	return false;
}

/* In this paragraph. "2 ** 3" is no bold text. */
static bool is_closed_bold(const char *text)
{
	for (size_t n = 0; n < NEAR && text[n]; n++) {
		if (text[n] == '\n' && text[n + 1] == '\n')
			return false;
		if (strncmp(text + n, bold, sizeof bold - 1) == 0)
			return n > 0;
	}
	return false;
}

static const char *follow_fence(struct split_marks *m, const char *text)
{
	size_t n = sizeof mark - 1;

	if (strncmp(text, mark, n) != 0)
		return text + 1;
	if (*m->fence) {
		m->fence[0] = '\0';
		return text + n;
	}
	n += language_at(text + n);
	utf8_copy_bytes(m->fence, SPLIT_FENCE, text, n);
	return text + n;
}

static const char *follow_ticks(struct split_marks *m, const char *text)
{
	size_t run = strspn(text, "`");

	if (!run || (m->ticks && run != m->ticks)) {
		m->ticks = *text == '\n' ? 0 : m->ticks;
		return text + (run ? run : 1);
	}
	m->ticks = !m->ticks && is_closed_code(text + run, run) ? (unsigned)run : 0;
	return text + run;
}

static const char *follow_spoiler(struct split_marks *m, const char *text)
{
	if (m->spoilers) {
		m->spoilers--;
		m->spoiler = !m->spoiler;
		m->bold_outside = m->spoiler && m->bold;
	}
	return text + sizeof spoiler - 1;
}

/* Follows one mark or byte. Returns the text behind it. */
static const char *follow_one(struct split_marks *m, const char *text)
{
	if (*m->fence || strncmp(text, mark, sizeof mark - 1) == 0)
		return follow_fence(m, text);
	if (m->ticks || *text == '`')
		return follow_ticks(m, text);
	if (*text == '\\' && text[1] && text[1] != '\n')
		return text + 2;
	if (strncmp(text, spoiler, sizeof spoiler - 1) == 0)
		return follow_spoiler(m, text);
	if (strncmp(text, bold, sizeof bold - 1) == 0) {
		m->bold = !m->bold && is_closed_bold(text + sizeof bold - 1);
		return text + sizeof bold - 1;
	}
	m->bold = m->bold && (*text != '\n' || text[1] != '\n');
	return text + 1;
}

/* Follows the marks of the text, which begins a line or a part, up to its end. Returns whether the
 * last one opens a code block of which nothing stands before the end. */
static bool follow(struct split_marks *m, const char *text, const char *end)
{
	bool bare = false;

	if (!*m->fence && strncmp(text, ">>> ", 4) == 0)
		m->quoted_rest = true;
	while (text < end) {
		bool was = *m->fence != '\0';
		const char *next = follow_one(m, text);

		if (!was && *m->fence)
			bare = true;
		else if (*text != ' ' && *text != '\n')
			bare = false;
		text = next;
	}
	return bare;
}

void split_begin(struct split *s, const char *text)
{
	struct split_marks all = {.spoilers = SIZE_MAX};

	*s = (struct split){.rest = text + strspn(text, "\n")};
	follow(&all, s->rest, s->rest + strlen(s->rest));
	/* The last one of an odd number hides nothing. */
	s->marks.spoilers = (SIZE_MAX - all.spoilers) / 2 * 2;
}

/* True if nothing would stand between a mark that is open there and the end of the part, or the
 * beginning of the next one. */
static bool is_bare_cut(const struct split_marks *m, const char *rest, size_t at)
{
	const char *next = rest + at + strspn(rest + at, " \n");

	while (at && (rest[at - 1] == ' ' || rest[at - 1] == '\n'))
		at--;
	if (m->ticks)
		return *next == '`' || (at && rest[at - 1] == '`');
	return (m->spoiler && (strncmp(next, spoiler, sizeof spoiler - 1) == 0 ||
			       (at > 1 && memcmp(rest + at - 2, spoiler, 2) == 0))) ||
	       (m->bold && (strncmp(next, bold, sizeof bold - 1) == 0 ||
			    (at > 1 && memcmp(rest + at - 2, bold, 2) == 0)));
}

/* The quality of a cut between the line that ended and the next one, outside of code blocks. */
static enum place place_before(const char *next, bool blank)
{
	if (blank || *next == '\n')
		return PLACE_PARAGRAPH;
	if (*next == ' ' || *next == '\t')
		return PLACE_LINE; /* an item goes on */
	return is_item(next) || is_fence(next) || *next == '#' ? PLACE_ITEM : PLACE_LINE;
}

/* Looks at the line ends within the first `most` bytes. */
static void find_cuts(const struct split *s, size_t most, struct cut best[PLACES])
{
	struct split_marks m = s->marks;
	const char *line = s->rest, *end = s->rest + most;

	m.quoted = false;
	while (line < end) {
		size_t n = strcspn(line, "\n");
		const char *next = line + n + 1;
		enum place place;
		bool bare;

		if (next > end || !line[n])
			return;
		bare = follow(&m, line, next);
		place = *m.fence ? PLACE_IN_BLOCK : place_before(next, n == 0);
		/* Nothing would stand in the code block before the cut, or behind it. */
		if (*m.fence ? !bare && !is_fence(next)
			     : !m.bold && !is_bare_cut(&m, s->rest, (size_t)(next - s->rest)))
			best[place] = (struct cut){(size_t)(next - s->rest), m};
		line = next;
	}
}

/* ---- within a line ---- */

static bool is_one_of(const char *at, const char *const *list)
{
	for (; *list; list++)
		if (strncmp(at, *list, strlen(*list)) == 0)
			return true;
	return false;
}

/* True if the first n bytes end a sentence, with its closing bracket. */
static bool ends_sentence(const char *text, size_t n)
{
	enum { WIDE = 3 };
	static const char *const ends[] = {"。", "！", "？", NULL};
	static const char *const brackets[] = {"」", "』", "）", NULL};

	if (n > 1 && text[n - 1] == ' ')
		return strchr(".!?", text[n - 2]) != NULL;
	if (n > 2 * WIDE && is_one_of(text + n - WIDE, brackets))
		return is_one_of(text + n - 2 * WIDE, ends);
	return n > WIDE && is_one_of(text + n - WIDE, ends) && !is_one_of(text + n, brackets);
}

/* The best place up to `limit`, in the second half of `most`: the end of a sentence in its last
 * quarter, a blank, the end of any sentence, or the limit. */
static size_t place_in_line(const char *text, size_t most, size_t limit)
{
	size_t blank = 0, sentence = 0;

	for (size_t n = limit; n > most / 2 && !sentence; n--) {
		if (ends_sentence(text, n))
			sentence = n;
		if (!blank && text[n - 1] == ' ')
			blank = n;
	}
	if (sentence > most - most / 4 || (sentence && !blank))
		return sentence;
	return blank ? blank : utf8_whole(text, limit);
}

/* Returns the end of a link with a text, or of a mark in "<>"; NULL if none begins there. */
static const char *link_end(const char *text)
{
	size_t n = 0;

	if (*text == '<') {
		n = 1 + strcspn(text + 1, " \n<>");
		return text[n] == '>' ? text + n + 1 : NULL;
	}
	if (*text == '[')
		n = 1 + strcspn(text + 1, "\n[]");
	if (!n || text[n] != ']' || text[n + 1] != '(')
		return NULL;
	n += 2;
	n += strcspn(text + n, " \n[)");
	return text[n] == ')' ? text + n + 1 : NULL;
}

/* Steps back before a link, inline code or bold text that goes on behind the place, if it begins
 * behind `least`. */
static size_t step_back(const struct split *s, size_t least, size_t at)
{
	struct split_marks m = s->marks;
	const char *end = s->rest + at, *text = s->rest, *code = NULL, *strong = NULL;

	while (text < end) {
		struct split_marks was = m;
		const char *next = follow_one(&m, text);
		const char *link = *was.fence || was.ticks ? NULL : link_end(text);

		if (link && link > end && (size_t)(text - s->rest) > least)
			end = text;
		if (m.ticks && !was.ticks)
			code = text;
		if (m.bold && !was.bold)
			strong = text;
		text = next;
	}
	if (m.ticks && code && code < end && (size_t)(code - s->rest) > least)
		end = code;
	if (m.bold && strong && strong < end && (size_t)(strong - s->rest) > least)
		end = strong;
	return (size_t)(end - s->rest);
}

/* A quote ends with its line. */
static bool is_quoted(const struct split *s, size_t at)
{
	const char *line = memrchr(s->rest, '\n', at);

	return line ? strncmp(line + 1, "> ", 2) == 0
		    : s->marks.quoted || strncmp(s->rest, "> ", 2) == 0;
}

static bool is_in_mark(const char *at)
{
	return at[-1] == '`' || at[-1] == '\\' || (strchr("|*", at[-1]) && at[-1] == *at);
}

/* At the end of a sentence, at a blank, or within a word, but not within a mark. */
static struct cut cut_line(const struct split *s, size_t most)
{
	struct cut cut = {.at = most};
	size_t limit = most;

	for (unsigned i = 0; i < TRIES && limit > most / 2; i++) {
		cut.at = step_back(s, most / 4, place_in_line(s->rest, most, limit));
		while (cut.at > most / 4 && is_in_mark(s->rest + cut.at))
			cut.at--;
		cut.marks = s->marks;
		follow(&cut.marks, s->rest, s->rest + cut.at);
		if (*cut.marks.fence || !is_bare_cut(&cut.marks, s->rest, cut.at))
			break;
		limit = cut.at - 1;
	}
	cut.marks.quoted = !*cut.marks.fence && is_quoted(s, cut.at);
	return cut;
}

/* The best place in the second half; else the last one in the second quarter. */
static struct cut choose_cut(const struct split *s, size_t most)
{
	struct cut best[PLACES] = {{0}};
	struct cut last = {.at = most / 4};
	bool any = false;

	find_cuts(s, most, best);
	for (unsigned p = PLACES; p-- > PLACE_IN_BLOCK;)
		if (best[p].at > most / 2)
			return best[p];
	for (unsigned p = PLACE_IN_BLOCK; p < PLACES; p++)
		if (best[p].at > last.at) {
			last = best[p];
			any = true;
		}
	return any ? last : cut_line(s, most);
}

static size_t units_in(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += units_of((unsigned char)*text);
	return n;
}

/* Opens again what the part before has closed. */
static size_t put_opening(const struct split *s, char *buf)
{
	const struct split_marks *m = &s->marks;
	char *at = stpcpy(buf, m->quoted_rest ? ">>> " : m->quoted ? "> " : "");

	at = stpcpy(at, m->bold && m->bold_outside ? bold : "");
	at = stpcpy(at, m->spoiler ? spoiler : "");
	at = stpcpy(at, m->bold && !m->bold_outside ? bold : "");
	at += snprintf(at, sizeof m->fence + 1, "%s%s", m->fence, *m->fence ? "\n" : "");
	at = stpcpy(at, m->ticks == 2 ? "``" : m->ticks ? "`" : "");
	return (size_t)(at - buf);
}

/* At most CLOSING units. */
static void put_closing(const struct split_marks *m, char *at)
{
	at = stpcpy(at, *m->fence ? closing : m->ticks == 2 ? "``" : m->ticks ? "`" : "");
	at = stpcpy(at, m->bold && !m->bold_outside ? bold : "");
	at = stpcpy(at, m->spoiler ? spoiler : "");
	stpcpy(at, m->bold && m->bold_outside ? bold : "");
}

/* Discord drops the blanks at the beginning of a message, which would put an item of an inner list
 * beside those of the outer one, and what follows below it: with it the lines behind it move
 * outwards, up to one that stands there. text: of the part that begins at s, without opening. */
static void move_outwards(const struct split *s, char *text)
{
	size_t by = strspn(text, " ");
	struct split_marks m = s->marks;

	if (!s->begun || s->rest[-1] != '\n' || !is_item(text + by))
		return;
	while (by && *text) {
		size_t indent = *m.fence ? 0 : strspn(text, " ");
		const char *end;

		if (!*m.fence && text[indent] && text[indent] != '\n' && indent < by)
			by = indent;
		indent = indent < by ? indent : by;
		memmove(text, text + indent, strlen(text + indent) + 1);
		end = text + strcspn(text, "\n");
		end += *end == '\n';
		follow(&m, text, end);
		text += end - text;
	}
}

/* Writes the part up to the cut behind the opening in buf. False: it has nothing but blanks. */
static bool put_part(struct split *s, const struct cut *cut, char *buf, size_t opening)
{
	const struct split_marks *m = &cut->marks;
	size_t n = opening + cut->at;

	memcpy(buf + opening, s->rest, cut->at);
	while (n && (buf[n - 1] == '\n' || (!*m->fence && buf[n - 1] == ' ')))
		n--;
	buf[n] = '\0';
	if (!opening)
		move_outwards(s, buf);
	n = strlen(buf);
	put_closing(m, buf + n);
	s->marks = *m;
	s->rest += cut->at;
	/* Blank lines belong to neither part, but within a code block they do. */
	if (!*m->fence)
		s->rest += strspn(s->rest, "\n");
	return n > opening;
}

/* Writes the rest, and closes the marks that a part before has opened. False: it does not fit. */
static bool put_rest(struct split *s, char *buf, size_t opening)
{
	size_t n = bytes_within(s->rest, SPLIT_UNITS - opening);
	struct split_marks m = s->marks;
	char more[CLOSING + 1] = "";

	if (s->rest[n])
		return false;
	follow(&m, s->rest, s->rest + n);
	if (s->begun)
		put_closing(&m, more);
	if (units_in(s->rest) + opening + strlen(more) > SPLIT_UNITS)
		return false;
	memcpy(buf + opening, s->rest, n);
	memcpy(buf + opening + n, more, sizeof more);
	if (!opening)
		move_outwards(s, buf);
	s->rest += n;
	return true;
}

bool split_next(struct split *s, char buf[SPLIT_BYTES])
{
	size_t opening, most;
	struct cut cut;
	bool some;

again:
	if (!s->rest[strspn(s->rest, " \t\n")])
		return false;
	opening = put_opening(s, buf);
	if (put_rest(s, buf, opening))
		return true;
	most = bytes_within(s->rest, SPLIT_UNITS - opening - CLOSING);
	cut = choose_cut(s, most);
	some = put_part(s, &cut, buf, opening);
	s->begun = true;
	/* A part of blanks alone is no message. */
	if (!some)
		goto again;
	return true;
}

size_t split_count(const char *text)
{
	char buf[SPLIT_BYTES];
	struct split s;
	size_t n = 0;

	split_begin(&s, text);
	while (split_next(&s, buf))
		n++;
	return n;
}
