#include "control/settings/hide.h"

#include <stdbool.h>
#include <string.h>

#include <jansson.h>

#include "control/settings/inside.h"
#include "control/settings/records.h"

enum { ID_DIGITS = 15 };
#define ID_MIN INT64_C(100000000000000)

/* An id, or a list of some, as in blocked_users. */
static bool is_id(const json_t *value)
{
	const char *text = json_string_value(value);

	if (json_is_integer(value))
		return json_integer_value(value) >= ID_MIN;
	while (text && *text) {
		size_t n = strspn(text, "0123456789");

		if (n >= ID_DIGITS)
			return true;
		text += n ? n : 1;
	}
	return false;
}

/* A member whose texts are words of this program, or names of records and models. */
static bool holds_words(const char *name)
{
	static const char *const others[] = {"preset", "model", "voice"};

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (strcmp(others[i], name) == 0)
			return true;
	for (size_t i = 0; i < settings_n_rows; i++)
		if (settings_rows[i].kind == SETTINGS_WORD &&
		    strcmp(settings_rows[i].name, name) == 0)
			return true;
	for (unsigned k = 0; k < RECORD_KINDS; k++)
		for (size_t i = 0; i < record_kinds[k].n_fields; i++) {
			const struct record_field *f = &record_kinds[k].fields[i];

			if ((f->kind == RECORD_WORD || f->kind == RECORD_NAME) &&
			    strcmp(f->name, name) == 0)
				return true;
		}
	return false;
}

/* What stands in its place; NULL: it may be shown. */
static json_t *hidden_value(const json_t *value, bool words)
{
	if (is_id(value))
		return json_string("id");
	if (!json_is_string(value) || words || !*json_string_value(value))
		return NULL;
	return json_string(strstr(json_string_value(value), "://") ? "address" : "text");
}

/* words: the texts of this value are some. */
static void hide(json_t *value, bool words)
{
	json_t *inner, *hidden;
	const char *key;
	size_t i;
	void *next;

	json_array_foreach(value, i, inner)
	{
		hide(inner, words);
		if ((hidden = hidden_value(inner, words)) != NULL)
			json_array_set_new(value, i, hidden);
	}
	json_object_foreach_safe(value, next, key, inner)
	{
		bool shown = words || holds_words(key);

		hide(inner, words || strcmp(key, "roles") == 0 || strcmp(key, "purposes") == 0);
		if ((hidden = hidden_value(inner, shown)) != NULL)
			json_object_set_new(value, key, hidden);
	}
}

void settings_hide_texts(json_t *value)
{
	hide(value, false);
}
