#include "control/room/floor/choice.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "control/room/base/context.h"
#include "control/room/language/language.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum { CHOICE_S = 600 };

static void copy_option(char *to, size_t size, const char *from, size_t n)
{
	n = utf8_whole(from, n < size ? n : size - 1);
	memcpy(to, from, n);
	to[n] = '\0';
	utf8_plain(to);
}

void room_choice_offer(struct room_choice *c, uint64_t user, const char *text, size_t n,
		       uint64_t now)
{
	const char *end = n ? text + n : text;
	bool kind = true;

	*c = (struct room_choice){.user = user, .until = now + CHOICE_S * NS_PER_S};
	while (text < end && c->n < ROOM_OPTIONS) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)((stop ? stop : end) - text);

		if (kind)
			copy_option(c->kind, sizeof c->kind, text, len);
		else
			copy_option(c->option[c->n++], ROOM_OPTION_MAX, text, len);
		kind = false;
		text += len + (stop != NULL);
	}
}

void room_choice_clear(struct room_choice *c)
{
	*c = (struct room_choice){0};
}

void room_choice_on_event(struct room_choice *c, const struct room_context *context,
			  const struct room_event *ev)
{
	if (ev->type != ROOM_CHOICE)
		return;
	if (ev->yes)
		room_choice_offer(c, ev->user, (const char *)ev->text.p, ev->text.n, context->now);
	else
		room_choice_clear(c);
}

bool room_choice_open(const struct room_choice *c, uint64_t now)
{
	return c->until > now;
}

/* The word in the language that it is guessed to be of. */
static void split_word(struct room_words *w, const char *word, size_t n)
{
	char text[ROOM_OPTION_MAX];

	copy_option(text, sizeof text, word, n);
	room_words_split(w, text, room_language_guess(text, "", ROOM_LANGUAGE_UNKNOWN));
}

/* The same in other languages than English. */
static int parse_number_in_language(const char *word, size_t n)
{
	static const uint32_t numbers[] = {ROOM_WORD_ORDINAL_LAST, ROOM_WORD_ORDINAL_1,
					   ROOM_WORD_ORDINAL_2,	   ROOM_WORD_ORDINAL_3,
					   ROOM_WORD_ORDINAL_4,	   ROOM_WORD_ORDINAL_5};
	struct room_words w;

	split_word(&w, word, n);
	for (int i = 0; w.n && i <= ROOM_OPTIONS; i++)
		if (room_words_match(&w, 0, numbers[i]) == w.n)
			return i;
	return -1;
}

/* 1 to 5, 0 for "last", -1 for any other word. */
static int parse_number(const char *word, size_t n)
{
	static const char *const words[][4] = {
		{"last", "", "", ""},		{"1", "one", "first", "1st"},
		{"2", "two", "second", "2nd"},	{"3", "three", "third", "3rd"},
		{"4", "four", "fourth", "4th"}, {"5", "five", "fifth", "5th"}};

	for (int i = 0; i <= ROOM_OPTIONS; i++)
		for (unsigned k = 0; k < 4; k++)
			if (n && strlen(words[i][k]) == n && strncasecmp(words[i][k], word, n) == 0)
				return i;
	return parse_number_in_language(word, n);
}

/* Words that may stand beside a number: "the second one, please". */
static bool may_stand_beside(const char *word, size_t n)
{
	static const char *const words[] = {"the",  "number", "option", "one",	 "please",
					    "um",   "uh",     "take",	"play",	 "i",
					    "want", "yeah",   "yes",	"maybe", "ok",
					    "okay", "track",  "song",	"number"};
	struct room_words w;

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strlen(words[i]) == n && strncasecmp(words[i], word, n) == 0)
			return true;
	split_word(&w, word, n);
	return w.language != ROOM_LANGUAGE_EN && w.n &&
	       room_words_match(&w, 0,
				ROOM_WORD_GLUE | ROOM_WORD_LEAD | ROOM_WORD_FILLER |
					ROOM_WORD_STOP_AROUND) == w.n;
}

static int choose_by_number(const struct room_choice *c, const char *text)
{
	int found = -1;

	for (text += strspn(text, " .,!?"); *text; text += strspn(text, " .,!?")) {
		size_t n = strcspn(text, " .,!?");
		int number = parse_number(text, n);

		/* "the second one": the ordinal counts. */
		if (number >= 0 && (found < 0 || !may_stand_beside(text, n)))
			found = found < 0 || number != 1 ? number : found;
		else if (number < 0 && !may_stand_beside(text, n))
			return -1;
		text += n;
	}
	if (found == 0)
		return (int)c->n - 1;
	return found > 0 && (unsigned)found <= c->n ? found - 1 : -1;
}

static int choose_by_name(const struct room_choice *c, const char *text)
{
	int found = -1;

	if (strlen(text) < 3)
		return -1;
	for (unsigned i = 0; i < c->n; i++) {
		if (!strcasestr(c->option[i], text) &&
		    !(*c->option[i] && strcasestr(text, c->option[i])))
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return found;
}

int room_choice_match(const struct room_choice *c, const char *words)
{
	int i = choose_by_number(c, words);

	return i >= 0 ? i : choose_by_name(c, words);
}

uint64_t room_choice_user(const struct room_choice *c)
{
	return c->user;
}

unsigned room_choice_count(const struct room_choice *c)
{
	return c->n;
}

const char *room_choice_option(const struct room_choice *c, int i)
{
	return i >= 0 && (unsigned)i < c->n ? c->option[i] : "";
}
