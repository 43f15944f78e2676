#include "control/text/split.h"

#include <string.h>

#include "proto/base/utf8.h"

static const char mark[] = "```", closing[] = "\n```";

/* Where a part may end, the worst first. */
enum place { PLACE_BLANK, PLACE_IN_BLOCK, PLACE_LINE, PLACE_ITEM, PLACE_PARAGRAPH, PLACES };

struct cut {
	size_t at;		 /* bytes of the part; 0: none */
	char fence[SPLIT_FENCE]; /* of the code block that it divides */
};

void split_begin(struct split *s, const char *text)
{
	*s = (struct split){.rest = text + strspn(text, "\n")};
}

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

/* Follows the marks of the text up to its end: fence is the block that is open there. Returns
 * whether the last one opens a block of which nothing stands before the end. */
static bool follow_fences(char fence[SPLIT_FENCE], const char *text, const char *end)
{
	bool bare = false;

	while (text + sizeof mark - 1 <= end) {
		size_t n;

		if (strncmp(text, mark, sizeof mark - 1) != 0) {
			bare = bare && (*text == ' ' || *text == '\n');
			text++;
			continue;
		}
		n = *fence ? 0 : language_at(text + sizeof mark - 1);
		bare = !*fence;
		if (*fence)
			fence[0] = '\0';
		else
			utf8_copy_bytes(fence, SPLIT_FENCE, text, sizeof mark - 1 + n);
		text += sizeof mark - 1 + n;
	}
	for (; bare && text < end; text++)
		bare = *text == ' ' || *text == '\n';
	return bare;
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
	char fence[SPLIT_FENCE];
	const char *line = s->rest, *end = s->rest + most;

	memcpy(fence, s->fence, sizeof fence);
	while (line < end) {
		size_t n = strcspn(line, "\n");
		const char *next = line + n + 1;
		enum place place;
		bool bare;

		if (next > end || !line[n])
			return;
		bare = follow_fences(fence, line, next);
		place = *fence ? PLACE_IN_BLOCK : place_before(next, n == 0);
		/* Nothing would stand in the code block before the cut, or behind it. */
		if (!*fence || (!bare && !is_fence(next))) {
			best[place].at = (size_t)(next - s->rest);
			memcpy(best[place].fence, fence, sizeof fence);
		}
		line = next;
	}
}

/* At a blank, or within a word, but not within a mark. */
static struct cut cut_line(const struct split *s, size_t most)
{
	struct cut cut = {.at = most};
	size_t n = most;

	while (n > most / 2 && s->rest[n - 1] != ' ')
		n--;
	if (n > most / 2)
		cut.at = n;
	while (cut.at > most / 2 && s->rest[cut.at - 1] == '`')
		cut.at--;
	memcpy(cut.fence, s->fence, sizeof cut.fence);
	follow_fences(cut.fence, s->rest, s->rest + cut.at);
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

/* A block that was divided opens the part again. */
static size_t put_opening(const struct split *s, char *buf)
{
	size_t n = strlen(s->fence);

	memcpy(buf, s->fence, n);
	if (n)
		buf[n++] = '\n';
	return n;
}

/* Writes the part up to the cut behind what is in buf; returns its bytes. */
static size_t put_part(struct split *s, const struct cut *cut, char *buf, size_t n)
{
	memcpy(buf + n, s->rest, cut->at);
	n += cut->at;
	while (n && (buf[n - 1] == '\n' || (!*cut->fence && buf[n - 1] == ' ')))
		n--;
	buf[n] = '\0';
	if (n && *cut->fence)
		memcpy(buf + n, closing, sizeof closing);
	memcpy(s->fence, cut->fence, sizeof cut->fence);
	s->rest += cut->at;
	/* Blank lines belong to neither part, but within a code block they do. */
	if (!*s->fence)
		s->rest += strspn(s->rest, "\n");
	return n;
}

/* The rest, with the end of a block that is open since a part before. False: it does not fit. */
static bool put_rest(struct split *s, char *buf, size_t opening)
{
	size_t n = strlen(s->rest), more;
	char fence[SPLIT_FENCE];

	memcpy(fence, s->fence, sizeof fence);
	follow_fences(fence, s->rest, s->rest + n);
	more = s->begun && *fence ? sizeof closing - 1 : 0;
	if (units_in(s->rest) + opening + more > SPLIT_UNITS)
		return false;
	memcpy(buf + opening, s->rest, n + 1);
	if (more)
		memcpy(buf + opening + n, closing, sizeof closing);
	s->rest += n;
	return true;
}

bool split_next(struct split *s, char buf[SPLIT_BYTES])
{
	size_t opening, most;
	struct cut cut;

again:
	if (!s->rest[strspn(s->rest, " \t\n")])
		return false;
	opening = put_opening(s, buf);
	if (put_rest(s, buf, opening))
		return true;
	s->begun = true;
	most = bytes_within(s->rest, SPLIT_UNITS - opening - (sizeof closing - 1));
	cut = choose_cut(s, most);
	/* A part of blanks alone is no message. */
	if (!put_part(s, &cut, buf, opening))
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
