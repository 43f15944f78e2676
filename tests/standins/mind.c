#include "tests/standins/mind.h"

#include "tests/standins/script.h"
#include "tests/standins/standin.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 4096, MAX_TOOLS = 128, MAX_PICTURES = 64, MAX_COUNT = 60, WORD_SIZE = 128 };

struct line {
	char *role, *name, *text;
};

struct si_mind {
	struct line lines[MAX_LINES];
	size_t n;
	char *instructions;
	char *tools[MAX_TOOLS];
	size_t n_tools;
	struct {
		char *name, *what;
	} pictures[MAX_PICTURES];
	size_t n_pictures;
};

static char *copy(const char *text)
{
	return text ? si_copy(text, strlen(text)) : NULL;
}

struct si_mind *si_mind_new(void)
{
	return si_alloc(sizeof(struct si_mind));
}

static void line_clear(struct line *l)
{
	free(l->role);
	free(l->name);
	free(l->text);
}

static void tools_clear(struct si_mind *m)
{
	while (m->n_tools)
		free(m->tools[--m->n_tools]);
}

static void picture_remove(struct si_mind *m, size_t i)
{
	free(m->pictures[i].name);
	free(m->pictures[i].what);
	memmove(&m->pictures[i], &m->pictures[i + 1],
		(--m->n_pictures - i) * sizeof m->pictures[0]);
}

struct si_mind *si_mind_free(struct si_mind *m)
{
	if (!m)
		return NULL;
	while (m->n)
		line_clear(&m->lines[--m->n]);
	tools_clear(m);
	while (m->n_pictures)
		picture_remove(m, m->n_pictures - 1);
	free(m->instructions);
	free(m);
	return NULL;
}

struct si_mind *si_mind_copy(const struct si_mind *m)
{
	struct si_mind *c = si_mind_new();

	for (size_t i = 0; i < m->n; i++)
		si_mind_add(c, m->lines[i].role, m->lines[i].name, m->lines[i].text);
	for (size_t i = 0; i < m->n_tools; i++)
		c->tools[c->n_tools++] = copy(m->tools[i]);
	for (size_t i = 0; i < m->n_pictures; i++)
		si_mind_see(c, m->pictures[i].name, m->pictures[i].what);
	c->instructions = copy(m->instructions);
	return c;
}

static void line_remove(struct si_mind *m, size_t i)
{
	line_clear(&m->lines[i]);
	memmove(&m->lines[i], &m->lines[i + 1], (--m->n - i) * sizeof m->lines[0]);
}

void si_mind_add(struct si_mind *m, const char *role, const char *name, const char *text)
{
	if (m->n == MAX_LINES)
		line_remove(m, 0);
	m->lines[m->n++] = (struct line){copy(role), copy(name), copy(text)};
}

void si_mind_remove(struct si_mind *m, const char *name)
{
	for (size_t i = m->n; i-- > 0;)
		if (m->lines[i].name && strcmp(m->lines[i].name, name) == 0)
			line_remove(m, i);
	for (size_t i = m->n_pictures; i-- > 0;)
		if (m->pictures[i].name && strcmp(m->pictures[i].name, name) == 0)
			picture_remove(m, i);
}

static size_t line_of(const struct si_mind *m, const char *name)
{
	size_t i = 0;

	while (i < m->n && (!m->lines[i].name || strcmp(m->lines[i].name, name) != 0))
		i++;
	return i;
}

void si_mind_move(struct si_mind *m, const char *name, const char *after)
{
	bool first = strcmp(after, "root") == 0;
	size_t from = line_of(m, name), to = first ? 0 : line_of(m, after) + 1;
	struct line moved;

	if (from >= m->n || to > m->n || to > from)
		return;
	moved = m->lines[from];
	memmove(&m->lines[to + 1], &m->lines[to], (from - to) * sizeof m->lines[0]);
	m->lines[to] = moved;
}

void si_mind_instruct(struct si_mind *m, const char *text)
{
	free(m->instructions);
	m->instructions = copy(text);
}

void si_mind_tools(struct si_mind *m, const json_t *tools)
{
	tools_clear(m);
	for (size_t i = 0; i < json_array_size(tools) && m->n_tools < MAX_TOOLS; i++) {
		const json_t *tool = json_array_get(tools, i);
		const json_t *function = json_object_get(tool, "function");
		const char *name =
			json_string_value(json_object_get(function ? function : tool, "name"));

		if (name)
			m->tools[m->n_tools++] = copy(name);
	}
}

void si_mind_see(struct si_mind *m, const char *name, const char *what)
{
	if (m->n_pictures == MAX_PICTURES)
		picture_remove(m, 0);
	m->pictures[m->n_pictures].name = copy(name);
	m->pictures[m->n_pictures++].what = copy(what);
}

size_t si_mind_size(const struct si_mind *m)
{
	size_t n = m->instructions ? strlen(m->instructions) : 0;

	for (size_t i = 0; i < m->n; i++)
		n += strlen(m->lines[i].text);
	return n;
}

/* ---- answers ---- */

void si_answer_clear(struct si_answer *a)
{
	free(a->text);
	free(a->call);
	free(a->arguments);
	memset(a, 0, sizeof *a);
}

static void answer_set(struct si_answer *a, const char *before, const char *text, size_t n,
		       const char *after)
{
	size_t size = strlen(before) + n + strlen(after) + 1;

	a->text = si_alloc(size);
	snprintf(a->text, size, "%s%.*s%s", before, (int)n, text, after);
}

/* The word behind `mark` in the newest line that has it, or in the instructions; "" without. */
static void word_behind(const struct si_mind *m, const char *mark, char word[WORD_SIZE])
{
	const char *found = NULL;

	word[0] = '\0';
	for (size_t i = m->n; i-- > 0 && !found;)
		if (strcmp(m->lines[i].role, "assistant") != 0)
			found = strcasestr(m->lines[i].text, mark);
	if (!found && m->instructions)
		found = strcasestr(m->instructions, mark);
	if (!found)
		return;
	found += strlen(mark);
	found += strspn(found, " ");
	snprintf(word, WORD_SIZE, "%.*s", (int)strcspn(found, " .,!?\n\"]"), found);
}

static void answer_count(struct si_answer *a, unsigned long n)
{
	static const char *const names[] = {"one", "two",   "three", "four", "five",
					    "six", "seven", "eight", "nine", "ten"};
	char text[MAX_COUNT * 8] = "";
	size_t at = 0;

	for (unsigned long i = 0; i < n && i < MAX_COUNT; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? " " : "",
				       names[i % 10]);
	answer_set(a, "", text, at, ".");
}

static void answer_said(struct si_answer *a, const struct si_mind *m)
{
	const char *said = "nothing";

	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->lines[i].role, "assistant") == 0)
			said = m->lines[i].text;
	answer_set(a, "I said: ", said, strlen(said), "");
}

static void answer_seen(struct si_answer *a, const struct si_mind *m)
{
	char text[MAX_PICTURES * WORD_SIZE] = "no picture";
	size_t at = 0;

	for (size_t i = 0; i < m->n_pictures; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%.120s", i ? "; " : "",
				       m->pictures[i].what);
	answer_set(a, "I see: ", text, strlen(text), ".");
}

/* The number of the newest picture (picture.h). */
static void answer_number(struct si_answer *a, const struct si_mind *m)
{
	const char *what = m->n_pictures ? m->pictures[m->n_pictures - 1].what : "";
	const char *number = strstr(what, " frame ");

	number = number ? number + strlen(" frame ") : "";
	answer_set(a, *number ? "I see the number " : "I see no number", number,
		   strspn(number, "0123456789"), ".");
}

/* rest: NAME JSON */
static void answer_call(struct si_answer *a, const char *rest)
{
	size_t n = strcspn(rest, " .,?!\n");
	const char *json = rest + n + strspn(rest + n, " .,?!");

	a->text = si_copy("", 0);
	a->call = si_copy(rest, n);
	a->arguments = json[0] == '{' ? si_copy(json, strlen(json)) : si_copy("{}", 2);
}

/* Without the speaker's label "[Alice]:" and spaces. */
static const char *unlabelled(const char *text)
{
	const char *end = text[0] == '[' ? strchr(text, ']') : NULL;

	text = end ? end + 1 : text;
	return text + strspn(text, ": \n");
}

/* What is asked stands in the last line; notes about the room may stand before it. */
static const char *last_line(const char *text)
{
	const char *newline = strrchr(text, '\n');

	return newline && newline[1] ? newline + 1 : text;
}

static bool tool_known(const struct si_mind *m, const char *rest)
{
	size_t n = strcspn(rest, " .,?!\n");

	for (size_t i = 0; i < m->n_tools; i++)
		if (strlen(m->tools[i]) == n && strncmp(m->tools[i], rest, n) == 0)
			return true;
	return false;
}

static bool question_answer(const struct si_mind *m, const char *question, struct si_answer *a)
{
	char word[WORD_SIZE];
	const char *at;

	if (strcasestr(question, "code word is ")) {
		answer_set(a, "", "I will remember it.", 19, "");
	} else if (strcasestr(question, "code word")) {
		word_behind(m, "code word is ", word);
		answer_set(a, word[0] ? "The code word is " : "Nobody told me the code word", word,
			   strlen(word), ".");
	} else if ((at = strcasestr(question, "use the tool ")) != NULL && tool_known(m, at + 13)) {
		answer_call(a, at + 13);
	} else if ((at = strcasestr(question, "repeat ")) != NULL) {
		answer_set(a, "", at + 7, strcspn(at + 7, "\n"), "");
	} else if ((at = strcasestr(question, "count to ")) != NULL) {
		answer_count(a, isdigit((unsigned char)at[9]) ? strtoul(at + 9, NULL, 10) : 20);
	} else if (strcasestr(question, "what did you say")) {
		answer_said(a, m);
	} else if (strcasestr(question, "what time is it")) {
		answer_set(a, "", "It is five past four in the afternoon.", 38, "");
	} else if (strcasestr(question, "never mind")) {
		answer_set(a, "", "[SKIP]", 6, "");
	} else {
		return false;
	}
	return true;
}

static bool exact_answer(const char *text, struct si_answer *a)
{
	const char *at = text ? strcasestr(text, "say exactly") : NULL;

	at = at ? strchr(at, ':') : NULL;
	if (!at)
		return false;
	at += 1 + strspn(at + 1, " \"\n");
	answer_set(a, "", at, strcspn(at, "\"\n"), "");
	return true;
}

void si_mind_answer(const struct si_mind *m, const struct si_script *script,
		    const char *instructions, struct si_answer *out)
{
	const struct line *last = NULL;
	const char *whole, *question, *scripted;

	memset(out, 0, sizeof *out);
	for (size_t i = m->n; i-- > 0 && !last;)
		if (strcmp(m->lines[i].role, "user") == 0 || strcmp(m->lines[i].role, "tool") == 0)
			last = &m->lines[i];
	whole = last ? last->text : "";
	question = last_line(whole);
	scripted = si_script_answer(script, question);
	scripted = scripted ? scripted : si_script_answer(script, whole);
	if (last && strcmp(last->role, "tool") == 0 &&
	    (!scripted || strncmp(scripted, "call ", 5) == 0))
		answer_set(out, "The tool says ", whole, strcspn(whole, "\n"), ".");
	else if (scripted && strncmp(scripted, "call ", 5) == 0)
		answer_call(out, scripted + 5);
	else if (scripted)
		answer_set(out, "", scripted, strlen(scripted), "");
	/* What is attached stands behind the question. */
	else if (strcasestr(whole, "number do you see"))
		answer_number(out, m);
	else if (strcasestr(whole, "what do you see") || strcasestr(whole, "Describe this image"))
		answer_seen(out, m);
	else if (!exact_answer(instructions, out) && !exact_answer(whole, out) &&
		 !question_answer(m, question, out))
		answer_set(out, "You said: ", unlabelled(question),
			   strcspn(unlabelled(question), "\n"), "");
}
