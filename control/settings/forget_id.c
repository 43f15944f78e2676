#include "control/settings/forget_id.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

enum { DIGITS = 24 };

static bool is_digit(char c)
{
	return isdigit((unsigned char)c) != 0;
}

/* The next place of the digits in the text from `from` on, alone. */
static const char *find_id(const char *text, const char *from, const char *digits)
{
	size_t n = strlen(digits);
	const char *at;

	for (at = strstr(from, digits); at; at = strstr(at + 1, digits))
		if ((at == text || !is_digit(at[-1])) && !is_digit(at[n]))
			return at;
	return NULL;
}

/* "<@" or "<@!" before the id, and ">" behind it, as Discord writes it in a message. */
static size_t mention_before(const char *text, const char *at, const char *end)
{
	if (*end != '>')
		return 0;
	if (at - text >= 3 && strncmp(at - 3, "<@!", 3) == 0)
		return 3;
	return at - text >= 2 && strncmp(at - 2, "<@", 2) == 0 ? 2 : 0;
}

static unsigned count_ids(const char *text, const char *digits)
{
	const char *at = text;
	unsigned n = 0;

	while ((at = find_id(text, at, digits)) != NULL) {
		at += strlen(digits);
		n++;
	}
	return n;
}

char *forget_id_text(const char *text, uint64_t id, const char *with, unsigned *n)
{
	char digits[DIGITS], *out, *to;
	const char *from = text, *at;

	snprintf(digits, sizeof digits, "%" PRIu64, id);
	*n = count_ids(text, digits);
	out = to = malloc(strlen(text) + *n * strlen(with) + 1);
	if (!out)
		return NULL;
	while ((at = find_id(text, from, digits)) != NULL) {
		const char *end = at + strlen(digits);
		size_t mention = mention_before(text, at, end);

		to = mempcpy(to, from, (size_t)(at - from) - mention);
		to = stpcpy(to, with);
		from = end + (mention != 0);
	}
	stpcpy(to, from);
	return out;
}

static unsigned forget_in_string(json_t *value, uint64_t id)
{
	unsigned n = 0;
	char *text = forget_id_text(json_string_value(value), id, "", &n);

	if (text && n)
		json_string_set(value, text);
	free(text);
	return n;
}

unsigned forget_id_json(json_t *value, uint64_t id)
{
	const char *key;
	json_t *inner;
	unsigned n = 0;
	size_t i;

	json_array_foreach(value, i, inner)
	{
		n += forget_id_json(inner, id);
	}
	json_object_foreach(value, key, inner)
	{
		n += forget_id_json(inner, id);
	}
	if (json_is_string(value))
		n += forget_in_string(value, id);
	if (json_is_integer(value) && (uint64_t)json_integer_value(value) == id) {
		json_integer_set(value, 0);
		n++;
	}
	return n;
}
