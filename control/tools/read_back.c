#include "control/tools/read_back.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/tools/spoken.h"
#include "control/words/words.h"
#include "proto/base/utf8.h"

enum { DEPTH_MAX = 8, KEY_MAX = 65 };

/* ---- writing ---- */

struct writer {
	char *buf;
	size_t n;
	bool whole, several;
};

static void write_text(struct writer *w, const char *text)
{
	size_t left = TOOL_READ_BACK_MAX - w->n, n = strlen(text);

	utf8_copy(w->buf + w->n, left, text);
	w->whole = w->whole && n < left;
	w->n += strlen(w->buf + w->n);
}

/* "create_entities" and "createEntities" as "create entities". */
static void write_name(struct writer *w, const char *name)
{
	char words[2 * KEY_MAX];
	size_t n = 0;

	for (; *name && n < sizeof words - 2; name++) {
		bool joins = isupper((unsigned char)*name) && n && words[n - 1] != ' ';
		bool mark = *name == '_' || *name == '-' || *name == '.';

		if ((joins || mark) && n && words[n - 1] != ' ')
			words[n++] = ' ';
		if (!mark)
			words[n++] = (char)tolower((unsigned char)*name);
	}
	words[n] = '\0';
	w->whole = w->whole && !*name;
	utf8_mend(words);
	utf8_plain(words);
	write_text(w, words);
}

/* A value on one line. */
static void write_value(struct writer *w, const char *text)
{
	char line[TOOL_READ_BACK_MAX];

	utf8_copy(line, sizeof line, text);
	w->whole = w->whole && strlen(line) == strlen(text);
	utf8_plain(line);
	write_text(w, line);
}

/* As many digits as the number has: a person who agrees to 250000.75 must not pay 250001. */
static void write_real(double value, char *buf, size_t size)
{
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(buf, size, "%.*g", digits, value);
		if (strtod(buf, NULL) == value)
			return;
	}
}

/* named: its key is told although it is the only value. */
static void write_leaf(struct writer *w, const char *key, const json_t *value, bool named)
{
	char number[40] = "";

	if (json_is_integer(value))
		snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_real(value))
		write_real(json_real_value(value), number, sizeof number);
	else if (json_is_boolean(value))
		snprintf(number, sizeof number, "%s", json_is_true(value) ? "true" : "false");
	write_text(w, ", ");
	if (*key && (w->several || named || json_is_boolean(value))) {
		write_name(w, key);
		write_text(w, " ");
	}
	write_value(w, json_is_string(value) ? json_string_value(value) : number);
}

static unsigned count_leaves(const json_t *value, unsigned depth)
{
	const char *key;
	json_t *one;
	unsigned n = 0;
	size_t i;

	if (!json_is_object(value) && !json_is_array(value))
		return !json_is_null(value);
	if (depth == DEPTH_MAX)
		return 1;
	json_object_foreach((json_t *)value, key, one) n += count_leaves(one, depth + 1);
	json_array_foreach(value, i, one)
	{
		n += count_leaves(one, depth + 1);
	}
	return n;
}

static bool holds_leaf(const json_t *array)
{
	const json_t *first = json_array_get(array, 0);

	return first && !json_is_object(first) && !json_is_array(first);
}

/* "grant" and "revoke" may hold the same values. */
static void write_container(struct writer *w, const char *name, const json_t *value)
{
	if (!*name || holds_leaf(value))
		return;
	write_text(w, ", ");
	write_name(w, name);
}

static void write_values(struct writer *w, const char *name, const json_t *value, unsigned depth)
{
	const char *key;
	json_t *one;
	size_t i;

	if (depth == DEPTH_MAX) {
		w->whole = false;
		return;
	}
	if (!json_is_object(value) && !json_is_array(value)) {
		if (!json_is_null(value))
			write_leaf(w, name, value, depth > 1);
		return;
	}
	write_container(w, name, value);
	json_object_foreach((json_t *)value, key, one) write_values(w, key, one, depth + 1);
	json_array_foreach(value, i, one)
	{
		write_values(w, holds_leaf(value) ? name : "", one, depth + 1);
	}
}

bool tool_read_back(const char *tool, const char *arguments, char buf[TOOL_READ_BACK_MAX])
{
	json_t *root = json_loads(arguments, 0, NULL);
	struct writer w = {.buf = buf, .whole = true};

	buf[0] = '\0';
	w.several = count_leaves(root, 0) > 1;
	write_name(&w, tool);
	write_values(&w, "", root, 0);
	json_decref(root);
	return w.whole;
}

bool tool_question(const char *tool, const char *arguments, const char *language,
		   char buf[TOOL_QUESTION_MAX])
{
	char call[TOOL_READ_BACK_MAX];
	struct words words = {0};
	bool whole = tool_read_back(tool, arguments, call);

	words_speak(&words, language);
	words_call_question(&words, call);
	utf8_copy(buf, TOOL_QUESTION_MAX, words.text);
	return whole && strlen(buf) == words.n;
}

/* ---- comparing ---- */

/* True if the character is a word of its own: scripts that do not part words by blanks. */
static bool is_word(uint32_t c)
{
	return (c >= 0xe00 && c < 0xf00) || (c >= 0x1780 && c < 0x1800) || c >= 0x2e80;
}

/* The words in small letters, each with a blank behind it. The caller frees it; NULL without
 * memory. */
static char *split_words(const char *text)
{
	size_t size = strlen(text), n = 0, used;
	char *out = malloc(4 * size + 2);

	for (; out && *text; text += used) {
		bool sign = *text == '-' && isdigit((unsigned char)text[1]) &&
			    (!n || out[n - 1] == ' ');
		uint32_t c;
		bool mark;

		used = spoken_read(text, &c);
		mark = spoken_is_mark(c) || (c < 0x80 && !isalnum((int)c) && !sign) ||
		       c == 0x2018 || c == 0x2019;
		if ((mark || is_word(c)) && n && out[n - 1] != ' ')
			out[n++] = ' ';
		if (mark)
			continue;
		n += spoken_write(out + n, text, used, spoken_lower(c));
		if (is_word(c))
			out[n++] = ' ';
	}
	if (out && n && out[n - 1] != ' ')
		out[n++] = ' ';
	if (out)
		out[n] = '\0';
	return out;
}

static size_t word_size(const char *at)
{
	return strcspn(at, " ") + (*at != '\0');
}

unsigned tool_count_words(const char *text)
{
	char *words = split_words(text);
	unsigned n = 0;

	for (const char *p = words; p && *p; p++)
		n += *p == ' ';
	free(words);
	return n;
}

bool tool_is_question(const char *question, const char *said, unsigned lead)
{
	char *wanted = split_words(question), *words = split_words(said);
	const char *at = words;
	bool is = false;

	for (unsigned i = 0;
	     wanted && *wanted && at && *at && i <= lead + TOOL_QUESTION_LEAD && !is; i++) {
		is = strcmp(wanted, at) == 0;
		at += word_size(at);
	}
	free(wanted);
	free(words);
	return is;
}
