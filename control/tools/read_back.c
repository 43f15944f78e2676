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
	size_t n, size;
	bool whole, several;
	const struct plain_call *plain; /* NULL: names and keys are told as they are */
	const char *language;
};

/* ---- our own tools ---- */

typedef void(words_h)(struct words *w);

/* What a call of a tool of ours does, in words of words.def. */
struct plain_call {
	const char *tool;
	words_h *does;
	/* Keys that need not be told: their values are what the words speak of. Others keep them.
	 */
	const char *about[3];
	bool quotes; /* such a value is somebody's text */
};

static const struct plain_call plain_calls[] = {
	{"say_to_text_channel", words_ask_say_to_text, {"text"}, true},
	{"soundboard", words_ask_soundboard, {"name"}, false},
	{"voice_leave", words_ask_leave, {0}, false},
	{"voice_join", words_ask_move, {"channel"}, false},
	{"music_play", words_ask_play, {"query"}, false},
	{"music_queue_add", words_ask_queue, {"query", "tracks"}, false},
	{"music_pause", words_ask_pause, {0}, false},
	{"media_pause", words_ask_pause, {0}, false},
	{"music_resume", words_ask_resume, {0}, false},
	{"media_resume", words_ask_resume, {0}, false},
	{"music_skip", words_ask_skip, {0}, false},
	{"music_change", words_ask_music, {0}, false},
	{"play_music_url", words_ask_play, {"url"}, false},
	{"media_stop", words_ask_stop, {0}, false},
	{"memory_write", words_ask_remember, {"items", "text"}, true},
	{"memory_forget", words_ask_forget, {"query"}, true},
	{"start_screen_watch", words_ask_screen, {"target"}, false},
	{"play_video_url", words_ask_video, {"url"}, false},
	{"start_music_visualizer", words_ask_visualizer, {"mode"}, false},
};

/* Values that have words of their own, in place of key and value. */
static const struct {
	const char *tool, *key, *value;
	words_h *means;
} plain_values[] = {
	{"memory_write", "namespace", "guild", words_ask_everybody},
	{"memory_write", "namespace", "me", words_ask_you},
	{"memory_forget", "last", "true", words_ask_newest},
};

static const struct plain_call *find_plain(const char *tool)
{
	for (size_t i = 0; i < sizeof plain_calls / sizeof plain_calls[0]; i++)
		if (strcmp(plain_calls[i].tool, tool) == 0)
			return &plain_calls[i];
	return NULL;
}

static words_h *find_value(const struct plain_call *plain, const char *key, const char *value)
{
	for (size_t i = 0; plain && i < sizeof plain_values / sizeof plain_values[0]; i++)
		if (strcmp(plain_values[i].tool, plain->tool) == 0 &&
		    strcmp(plain_values[i].key, key) == 0 &&
		    strcmp(plain_values[i].value, value) == 0)
			return plain_values[i].means;
	return NULL;
}

static bool is_about(const struct plain_call *plain, const char *key)
{
	for (size_t i = 0; plain && i < sizeof plain->about / sizeof plain->about[0]; i++)
		if (plain->about[i] && strcmp(plain->about[i], key) == 0)
			return true;
	return false;
}

/* ---- its parts ---- */

static void write_text(struct writer *w, const char *text)
{
	size_t left = w->size - w->n, n = strlen(text);

	utf8_copy(w->buf + w->n, left, text);
	w->whole = w->whole && n < left;
	w->n += strlen(w->buf + w->n);
}

static void write_words(struct writer *w, words_h *h)
{
	struct words words = {0};

	words_speak(&words, w->language);
	h(&words);
	write_text(w, words.text);
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
	const char *text = json_is_string(value) ? json_string_value(value) : number;
	bool about = is_about(w->plain, key);
	words_h *means;

	if (json_is_integer(value))
		snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_real(value))
		write_real(json_real_value(value), number, sizeof number);
	else if (json_is_boolean(value))
		snprintf(number, sizeof number, "%s", json_is_true(value) ? "true" : "false");
	write_text(w, ", ");
	means = find_value(w->plain, key, text);
	if (means) {
		write_words(w, means);
		return;
	}
	if (*key && !about && (w->several || named || json_is_boolean(value))) {
		write_name(w, key);
		write_text(w, " ");
	}
	write_text(w, about && w->plain->quotes ? "\"" : "");
	write_value(w, text);
	write_text(w, about && w->plain->quotes ? "\"" : "");
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
	if (!*name || holds_leaf(value) || is_about(w->plain, name))
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

static bool read_back(struct writer *w, const char *tool, const char *arguments)
{
	json_t *root = json_loads(arguments, 0, NULL);

	w->whole = true;
	w->buf[0] = '\0';
	w->several = count_leaves(root, 0) > 1;
	if (w->plain)
		write_words(w, w->plain->does);
	else
		write_name(w, tool);
	write_values(w, "", root, 0);
	json_decref(root);
	return w->whole;
}

bool tool_read_back(const char *tool, const char *arguments, char buf[TOOL_READ_BACK_MAX])
{
	struct writer w = {.buf = buf, .size = TOOL_READ_BACK_MAX};

	return read_back(&w, tool, arguments);
}

bool tool_question(const char *tool, const char *arguments, const char *language,
		   char buf[TOOL_QUESTION_MAX])
{
	char call[TOOL_PLAIN_MAX];
	struct writer w = {
		.buf = call, .size = sizeof call, .plain = find_plain(tool), .language = language};
	struct words words = {0};
	bool whole;

	w.size = w.plain ? sizeof call : TOOL_READ_BACK_MAX;
	whole = read_back(&w, tool, arguments);
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
