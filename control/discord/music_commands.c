#include "control/discord/music_commands.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/discord/command_words.h"
#include "control/library/index.h"
#include "control/music/match.h"
#include "control/words/words.h"
#include "proto/base/utf8.h"

enum {
	TYPE_SUBCOMMAND = 1,
	TYPE_STRING = 3,
	TYPE_INTEGER = 4,
	SUGGESTIONS = 25,
	CHOICE_MAX = 100, /* characters of a suggestion; bytes here, so no more */
};

enum option { NONE, QUERY, TRACK, TRACK_PLACE, POSITION, PERCENT, MODE, PAGE };

static const struct {
	const char *name;
	void (*describe)(struct words *w);
	enum music_act act;
	enum option option;
} table[] = {
#define M(NAME, name, ACT, OPTION) {#name, words_command_music_##name, MUSIC_ACT_##ACT, OPTION},
	MUSIC_COMMANDS(M)
#undef M
};
enum { N_COMMANDS = sizeof table / sizeof table[0] };

/* ---- parsing ---- */

static const json_t *option_value(const json_t *options, const char *name)
{
	const json_t *option;
	size_t i;

	json_array_foreach(options, i, option)
	{
		const char *key = json_string_value(json_object_get(option, "name"));

		if (key && strcmp(key, name) == 0)
			return json_object_get(option, "value");
	}
	return NULL;
}

static int read_text(const json_t *options, const char *name, const char **out)
{
	const char *text = json_string_value(option_value(options, name));

	if (!text || !*text || strlen(text) > (size_t)MUSIC_QUERY_MAX * 4)
		return EBADMSG;
	*out = text;
	return 0;
}

static int read_number(const json_t *options, const char *name, json_int_t least, json_int_t most,
		       json_int_t *out)
{
	const json_t *value = option_value(options, name);
	json_int_t n = json_integer_value(value);

	if (!json_is_integer(value) || n < least || n > most)
		return EBADMSG;
	*out = n;
	return 0;
}

/* Minutes and seconds after a colon have at most two digits, and are below 60. */
static int parse_time(const char *text, uint64_t *out)
{
	uint64_t s = 0;
	unsigned parts = 0;

	while (*text == ' ')
		text++;
	for (;; text++) {
		size_t n = strspn(text, "0123456789");
		uint64_t part = strtoull(text, NULL, 10);

		if (!n || n > (parts ? 2u : 6u) || (parts && part >= 60) || ++parts > 3)
			return EINVAL;
		s = s * 60 + part;
		text += n;
		if (*text != ':')
			break;
	}
	text += strspn(text, " ");
	if (*text || s > TRACK_DURATION_MAX_S)
		return EINVAL;
	*out = s;
	return 0;
}

static int read_position(const json_t *options, struct music_command *m)
{
	const char *text;
	int err = read_text(options, "position", &text);

	return err ? err : parse_time(text, &m->position_s);
}

static int read_loop(const json_t *options, struct music_command *m)
{
	const char *text;
	int err = read_text(options, "mode", &text);

	return err ? err : music_loop_parse(&m->loop, text) ? 0 : EBADMSG;
}

static int read_options(const json_t *options, enum option option, struct music_command *m)
{
	json_int_t n = 1;
	int err = 0;

	switch (option) {
	case NONE:
		break;
	case QUERY:
		return read_text(options, "query", &m->query);
	case TRACK:
		return read_text(options, "track", &m->track);
	case TRACK_PLACE:
		err = read_text(options, "track", &m->track);
		if (!err)
			err = read_number(options, "place", 1, MUSIC_QUEUE_WAITING, &n);
		m->place = (size_t)n - 1;
		break;
	case POSITION:
		return read_position(options, m);
	case PERCENT:
		err = read_number(options, "percent", 0, 100, &n);
		m->volume = (unsigned)n * (MUSIC_VOLUME_FULL / 100);
		break;
	case MODE:
		return read_loop(options, m);
	case PAGE:
		if (option_value(options, "page"))
			err = read_number(options, "page", 1, MUSIC_QUEUE_WAITING, &n);
		m->page = (size_t)n - 1;
		break;
	}
	return err;
}

bool music_command_address(const char *query, struct slice *out)
{
	size_t n = strlen(query);

	if (n > 2 && *query == '<' && query[n - 1] == '>') {
		query++;
		n -= 2;
	}
	*out = (struct slice){(const uint8_t *)query, n};
	return strncasecmp(query, "https://", 8) == 0 || strncasecmp(query, "http://", 7) == 0;
}

int music_command_parse(const json_t *options, struct music_command *out)
{
	const json_t *first = json_array_get(options, 0);
	const char *name = json_string_value(json_object_get(first, "name"));
	struct music_command m = {0};
	unsigned i;
	int err;

	if (!name || json_integer_value(json_object_get(first, "type")) != TYPE_SUBCOMMAND)
		return EBADMSG;
	for (i = 0; i < N_COMMANDS && strcmp(table[i].name, name) != 0; i++)
		;
	if (i == N_COMMANDS)
		return EBADMSG;
	m.kind = (enum music_command_kind)i;
	m.act = table[i].act;
	err = read_options(json_object_get(first, "options"), table[i].option, &m);
	if (!err || err == EINVAL)
		*out = m;
	return err;
}

bool music_command_shows(const json_t *options)
{
	struct music_command m;

	return !music_command_parse(options, &m) && m.act == MUSIC_ACT_NOW_PLAYING;
}

/* ---- entries of the queue ---- */

static uint32_t find_by_words(const struct music_queue *q, const char *text)
{
	struct music_hit hits[MUSIC_QUEUE_WAITING];
	size_t n = 0;

	for (const struct track *t; n < MUSIC_QUEUE_WAITING && (t = music_queue_at(q, n)); n++)
		hits[n].track = t;
	return music_rank(text, hits, n) ? hits[0].track->id : 0;
}

/* A number of the whole text; 0: it is none, or too large. */
static uint32_t number_of(const char *text)
{
	size_t n = strspn(text, "0123456789");
	unsigned long v = n && n < 10 && !text[n] ? strtoul(text, NULL, 10) : 0;

	return v <= UINT32_MAX ? (uint32_t)v : 0;
}

uint32_t music_command_find(const struct music_queue *q, const char *text)
{
	uint32_t n = number_of(text + (*text == '#'));
	const struct track *t;

	if (*text == '#' && n)
		return music_queue_find(q, n) != MUSIC_QUEUE_END ? n : 0;
	if (n && (t = music_queue_at(q, n - 1)))
		return t->id;
	return find_by_words(q, text);
}

void music_time_write(char to[MUSIC_TIME_MAX], uint64_t s)
{
	if (s >= 3600)
		snprintf(to, MUSIC_TIME_MAX, "%" PRIu64 ":%02u:%02u", s / 3600,
			 (unsigned)(s / 60 % 60), (unsigned)(s % 60));
	else
		snprintf(to, MUSIC_TIME_MAX, "%u:%02u", (unsigned)(s / 60), (unsigned)(s % 60));
}

/* ---- registration ---- */

static json_t *option_json(const char *name, void (*describe)(struct words *w), int type,
			   bool required)
{
	json_t *o = json_pack("{s:s,s:i,s:b}", "name", name, "type", type, "required", required);

	command_rename(o, name);
	command_describe(o, describe);
	return o;
}

static json_t *text_option(const char *name, void (*describe)(struct words *w), bool suggests)
{
	json_t *o = option_json(name, describe, TYPE_STRING, true);

	json_object_set_new(o, "max_length", json_integer(MUSIC_QUERY_MAX));
	if (suggests)
		json_object_set_new(o, "autocomplete", json_true());
	return o;
}

static json_t *number_option(const char *name, void (*describe)(struct words *w), bool required,
			     int least, int most)
{
	json_t *o = option_json(name, describe, TYPE_INTEGER, required);

	json_object_set_new(o, "min_value", json_integer(least));
	json_object_set_new(o, "max_value", json_integer(most));
	return o;
}

static json_t *loop_option(void)
{
	json_t *o = option_json("mode", words_command_music_mode, TYPE_STRING, true);
	json_t *choices = json_array();

	for (unsigned i = 0; i < MUSIC_LOOP_COUNT; i++) {
		const char *name = music_loop_name((enum music_loop)i);

		json_array_append_new(choices, json_pack("{s:s,s:s}", "name", name, "value", name));
	}
	json_object_set_new(o, "choices", choices);
	return o;
}

static void add_options(json_t *to, enum option option)
{
	switch (option) {
	case NONE:
		break;
	case QUERY:
		json_array_append_new(to, text_option("query", words_command_music_query, true));
		break;
	case TRACK:
	case TRACK_PLACE:
		json_array_append_new(to, text_option("track", words_command_music_track, true));
		if (option == TRACK_PLACE)
			json_array_append_new(to, number_option("place", words_command_music_place,
								true, 1, MUSIC_QUEUE_WAITING));
		break;
	case POSITION:
		json_array_append_new(to,
				      text_option("position", words_command_music_position, false));
		break;
	case PERCENT:
		json_array_append_new(
			to, number_option("percent", words_command_music_percent, true, 0, 100));
		break;
	case MODE:
		json_array_append_new(to, loop_option());
		break;
	case PAGE:
		json_array_append_new(to, number_option("page", words_command_music_page, false, 1,
							MUSIC_QUEUE_WAITING));
		break;
	}
}

json_t *music_command_options(void)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < N_COMMANDS; i++) {
		json_t *options = json_array();

		add_options(options, table[i].option);
		json_array_append_new(list, option_json(table[i].name, table[i].describe,
							TYPE_SUBCOMMAND, false));
		json_object_del(json_array_get(list, i), "required");
		json_object_set_new(json_array_get(list, i), "options", options);
	}
	return list;
}

/* ---- suggestions ---- */

static json_t *choice_json(const char *name, const char *value)
{
	char shown[CHOICE_MAX + 1], kept[CHOICE_MAX + 1];

	utf8_copy(shown, sizeof shown, name);
	utf8_copy(kept, sizeof kept, value);
	return json_pack("{s:s,s:s}", "name", shown, "value", kept);
}

static bool has_other_edition(const struct library_hit *hits, size_t n, const struct track *t)
{
	for (size_t i = 0; i < n; i++)
		if (track_is_other_edition(&hits[i].track, t))
			return true;
	return false;
}

/* The value is the label again: it reads well in the command, finds the same track in every
 * process, and ranks before all others. */
json_t *music_suggest_hits(const struct library_hit *hits, size_t n)
{
	json_t *list = json_array();
	char label[TRACK_LABEL_MAX], edition[CHOICE_MAX + 1];

	for (size_t i = 0; i < n && json_array_size(list) < SUGGESTIONS; i++) {
		bool several = has_other_edition(hits, n, &hits[i].track);

		track_write_label(label, &hits[i].track);
		track_write_edition(edition, sizeof edition, &hits[i].track);
		json_array_append_new(list, several ? choice_json(edition, edition)
						    : choice_json(label, label));
	}
	return list;
}

/* True if the folded words of the text stand in the label, or the text is the beginning of the
 * place. */
static bool fits_typed(const char *typed, size_t place, const char *label)
{
	char words[MUSIC_FOLDED_MAX], text[MUSIC_FOLDED_MAX], number[24];

	snprintf(number, sizeof number, "%zu", place);
	music_fold(words, typed);
	music_fold(text, label);
	return strncmp(number, typed, strlen(typed)) == 0 || strstr(text, words);
}

json_t *music_suggest_entries(const struct music_queue *q, const char *typed)
{
	char label[TRACK_LABEL_MAX], shown[TRACK_LABEL_MAX + 24], value[16];
	json_t *list = json_array();

	for (size_t i = 0; i < music_queue_count(q) && json_array_size(list) < SUGGESTIONS; i++) {
		const struct track *t = music_queue_at(q, i);

		track_write_label(label, t);
		if (!fits_typed(typed, i + 1, label))
			continue;
		snprintf(shown, sizeof shown, "%zu. %s", i + 1, label);
		snprintf(value, sizeof value, "#%" PRIu32, t->id);
		json_array_append_new(list, choice_json(shown, value));
	}
	return list;
}
