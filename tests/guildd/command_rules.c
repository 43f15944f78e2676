#include "tests/guildd/command_rules.h"

#include <stdlib.h>
#include <string.h>

#include "proto/discord.h"

enum {
	SUBCOMMAND = 1, /* types of options */
	GROUP = 2,
	STRING = 3,
	INTEGER = 4,
	BOOLEAN = 5,
	CHANNEL = 7,
	NUMBER = 10,
	ATTACHMENT = 11,
	CHOICES_MAX = 25,
	TEXT_MAX = 6000,
	ALL_MAX = 8000, /* characters of a command, with the longest language */
};

static const char *const locales[] = {
	"id", "da", "de", "en-GB", "en-US", "es-ES", "es-419", "fr", "hr",    "it", "lt",
	"hu", "nl", "no", "pl",	   "pt-BR", "ro",    "fi",     "sv", "vi",    "tr", "cs",
	"el", "bg", "ru", "uk",	   "hi",    "th",    "zh-CN",  "ja", "zh-TW", "ko"};

static const char *text_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static json_int_t int_of(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static size_t characters(const char *s)
{
	size_t n = 0;

	for (; s && *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static bool length_ok(const char *s, size_t min, size_t max)
{
	return s && characters(s) >= min && characters(s) <= max;
}

/* Letters, digits, - and _, in lower case. Bytes above ASCII are taken for letters. */
static bool name_ok(const char *s)
{
	for (const char *p = s; p && *p; p++) {
		unsigned char b = (unsigned char)*p;

		if (b < 0x80 && !(b >= 'a' && b <= 'z') && !(b >= '0' && b <= '9') && b != '-' &&
		    b != '_')
			return false;
	}
	return length_ok(s, 1, 32);
}

static bool menu_name_ok(const char *s)
{
	return length_ok(s, 1, 32) && *s != ' ' && s[strlen(s) - 1] != ' ';
}

static bool description_ok(const char *s)
{
	return length_ok(s, 1, 100);
}

/* Of name_localizations and description_localizations. */
static bool localizations_ok(const json_t *o, const char *key, bool (*ok)(const char *s))
{
	json_t *all = json_object_get(o, key), *value;
	const char *locale;

	if (!all || json_is_null(all))
		return true;
	if (!json_is_object(all))
		return false;
	json_object_foreach(all, locale, value)
	{
		bool known = false;

		for (size_t i = 0; i < sizeof(locales) / sizeof(locales[0]); i++)
			known = known || strcmp(locales[i], locale) == 0;
		if (!known || !json_is_string(value) || !ok(json_string_value(value)))
			return false;
	}
	return true;
}

static bool has_unique(const json_t *list, const char *key, const char *also)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		for (size_t k = 0; k < i; k++) {
			const json_t *a = json_array_get(list, i), *b = json_array_get(list, k);

			if (json_equal(json_object_get(a, key), json_object_get(b, key)) &&
			    (!also ||
			     json_equal(json_object_get(a, also), json_object_get(b, also))))
				return false;
		}
	return true;
}

/* ---- options ---- */

static bool is_typed(json_int_t type)
{
	return type == STRING || type == INTEGER || type == NUMBER;
}

static bool value_fits(json_int_t type, const json_t *value)
{
	switch (type) {
	case STRING:
		return json_is_string(value);
	case INTEGER:
		return json_is_integer(value);
	case BOOLEAN:
		return json_is_boolean(value);
	case NUMBER:
		return json_is_number(value);
	default: { /* an id */
		uint64_t id;

		return discord_snowflake(json_string_value(value), &id);
	}
	}
}

static bool choice_fits(json_int_t type, const json_t *choice)
{
	const json_t *value = json_object_get(choice, "value");

	return length_ok(text_of(choice, "name"), 1, 100) &&
	       localizations_ok(choice, "name_localizations", description_ok) &&
	       value_fits(type, value) &&
	       (type != STRING || length_ok(json_string_value(value), 0, 100));
}

static bool choices_fit(const json_t *option, json_int_t type)
{
	const json_t *choices = json_object_get(option, "choices");

	if (!choices)
		return true;
	if (!is_typed(type) || !json_is_array(choices) || json_array_size(choices) > CHOICES_MAX ||
	    json_is_true(json_object_get(option, "autocomplete")) ||
	    !has_unique(choices, "name", NULL))
		return false;
	for (size_t i = 0; i < json_array_size(choices); i++)
		if (!choice_fits(type, json_array_get(choices, i)))
			return false;
	return true;
}

static bool limits_fit(const json_t *o, json_int_t type)
{
	const json_t *least = json_object_get(o, "min_value"),
		     *most = json_object_get(o, "max_value");
	const json_t *shortest = json_object_get(o, "min_length"),
		     *longest = json_object_get(o, "max_length");

	if ((least || most) &&
	    ((type != INTEGER && type != NUMBER) || (least && !value_fits(type, least)) ||
	     (most && !value_fits(type, most)) ||
	     (least && most && json_number_value(least) > json_number_value(most))))
		return false;
	if ((shortest || longest) && type != STRING)
		return false;
	return (!shortest || (json_is_integer(shortest) && json_integer_value(shortest) >= 0 &&
			      json_integer_value(shortest) <= TEXT_MAX)) &&
	       (!longest || (json_is_integer(longest) && json_integer_value(longest) >= 1 &&
			     json_integer_value(longest) <= TEXT_MAX));
}

static bool option_fits(const json_t *o)
{
	json_int_t type = int_of(o, "type");
	const json_t *autocomplete = json_object_get(o, "autocomplete");

	return type >= SUBCOMMAND && type <= ATTACHMENT && name_ok(text_of(o, "name")) &&
	       description_ok(text_of(o, "description")) &&
	       localizations_ok(o, "name_localizations", name_ok) &&
	       localizations_ok(o, "description_localizations", description_ok) &&
	       (!autocomplete || (json_is_boolean(autocomplete) && is_typed(type))) &&
	       (!json_object_get(o, "channel_types") || type == CHANNEL) && choices_fit(o, type) &&
	       limits_fit(o, type);
}

static bool is_folder(json_int_t type)
{
	return type == SUBCOMMAND || type == GROUP;
}

/* Groups hold subcommands and nothing else, subcommands hold what can be given; a command with
 * either has nothing beside them. Required options come first. */
static bool options_fit(const json_t *options, json_int_t of)
{
	bool optional = false, folders = false, values = false;

	if (options && (!json_is_array(options) || json_array_size(options) > CHOICES_MAX ||
			!has_unique(options, "name", NULL)))
		return false;
	for (size_t i = 0; i < json_array_size(options); i++) {
		const json_t *o = json_array_get(options, i);
		json_int_t type = int_of(o, "type");
		bool required = json_is_true(json_object_get(o, "required"));

		if (!option_fits(o) || (of == SUBCOMMAND && is_folder(type)) ||
		    (of == GROUP && type != SUBCOMMAND) || (required && optional))
			return false;
		if (is_folder(type) ? !options_fit(json_object_get(o, "options"), type) || required
				    : json_object_get(o, "options") != NULL)
			return false;
		optional = optional || !required;
		folders = folders || is_folder(type);
		values = values || !is_folder(type);
	}
	return !(folders && values) && (of != GROUP || json_array_size(options) > 0);
}

/* ---- commands ---- */

static size_t longest(const json_t *o, const char *key, const char *others)
{
	size_t most = characters(text_of(o, key));
	json_t *value;
	const char *locale;

	json_object_foreach(json_object_get(o, others), locale, value)
	{
		size_t n = characters(json_string_value(value));

		most = n > most ? n : most;
	}
	return most;
}

static size_t count_all(const json_t *o)
{
	size_t n = longest(o, "name", "name_localizations") +
		   longest(o, "description", "description_localizations");
	const json_t *options = json_object_get(o, "options"),
		     *choices = json_object_get(o, "choices");

	for (size_t i = 0; i < json_array_size(options); i++)
		n += count_all(json_array_get(options, i));
	for (size_t i = 0; i < json_array_size(choices); i++)
		n += longest(json_array_get(choices, i), "name", "name_localizations") +
		     characters(text_of(json_array_get(choices, i), "value"));
	return n;
}

static bool numbers_ok(const json_t *o, const char *key, json_int_t most)
{
	const json_t *list = json_object_get(o, key), *x;
	size_t i;

	if (!list || json_is_null(list))
		return true;
	if (!json_is_array(list) || !json_array_size(list))
		return false;
	json_array_foreach(list, i, x)
	{
		if (!json_is_integer(x) || json_integer_value(x) < 0 ||
		    json_integer_value(x) > most)
			return false;
	}
	return true;
}

static bool right_ok(const json_t *o)
{
	const json_t *right = json_object_get(o, "default_member_permissions");
	uint64_t bits;

	return !right || json_is_null(right) || discord_u64(json_string_value(right), &bits);
}

static const char *menu_fault(const json_t *o)
{
	const char *description = text_of(o, "description");

	if (!menu_name_ok(text_of(o, "name")) ||
	    !localizations_ok(o, "name_localizations", menu_name_ok))
		return "name";
	if (description && *description)
		return "description";
	return json_array_size(json_object_get(o, "options")) ? "options" : NULL;
}

static const char *slash_fault(const json_t *o)
{
	if (!name_ok(text_of(o, "name")) || !localizations_ok(o, "name_localizations", name_ok))
		return "name";
	if (!description_ok(text_of(o, "description")) ||
	    !localizations_ok(o, "description_localizations", description_ok))
		return "description";
	return options_fit(json_object_get(o, "options"), 0) ? NULL : "options";
}

static json_int_t type_of(const json_t *o)
{
	const json_t *type = json_object_get(o, "type");

	return !type ? COMMAND_SLASH : json_integer_value(type);
}

const char *command_fault(const json_t *o)
{
	json_int_t type = type_of(o);
	const char *fault;

	if (type < COMMAND_SLASH || type > COMMAND_MESSAGE)
		return "type";
	fault = type == COMMAND_SLASH ? slash_fault(o) : menu_fault(o);
	if (fault)
		return fault;
	if (!right_ok(o))
		return "default_member_permissions";
	if (!numbers_ok(o, "contexts", 2))
		return "contexts";
	if (!numbers_ok(o, "integration_types", 1))
		return "integration_types";
	return count_all(o) > ALL_MAX ? "options" : NULL;
}

const char *command_list_fault(const json_t *list)
{
	static const unsigned most[] = {0, 100, 15, 15};
	unsigned n[4] = {0};
	const json_t *o;
	size_t i;

	if (!json_is_array(list))
		return "commands";
	json_array_foreach(list, i, o)
	{
		const char *fault = command_fault(o);

		if (fault)
			return fault;
		if (++n[type_of(o)] > most[type_of(o)])
			return "commands";
		for (size_t k = 0; k < i; k++) {
			const json_t *before = json_array_get(list, k);

			if (type_of(before) == type_of(o) &&
			    strcmp(text_of(before, "name"), text_of(o, "name")) == 0)
				return "name";
		}
	}
	return NULL;
}

/* ---- their use ---- */

static const json_t *named(const json_t *options, const char *name)
{
	const json_t *o;
	size_t i;

	json_array_foreach(options, i, o)
	{
		const char *of = text_of(o, "name");

		if (name && of && strcmp(of, name) == 0)
			return o;
	}
	return NULL;
}

static bool is_chosen(const json_t *option, const json_t *value)
{
	const json_t *choices = json_object_get(option, "choices"), *c;
	size_t i;

	json_array_foreach(choices, i, c)
	{
		if (json_equal(json_object_get(c, "value"), value))
			return true;
	}
	return !json_array_size(choices);
}

static bool is_within(const json_t *option, const json_t *value)
{
	const json_t *least = json_object_get(option, "min_value"),
		     *most = json_object_get(option, "max_value");
	const json_t *shortest = json_object_get(option, "min_length"),
		     *longest_ = json_object_get(option, "max_length");
	size_t n = characters(json_string_value(value));

	return (!least || json_number_value(value) >= json_number_value(least)) &&
	       (!most || json_number_value(value) <= json_number_value(most)) &&
	       (!shortest || n >= (size_t)json_integer_value(shortest)) &&
	       (!longest_ || n <= (size_t)json_integer_value(longest_)) &&
	       (!json_is_string(value) || n <= TEXT_MAX);
}

static bool all_given(const json_t *options, const json_t *given)
{
	const json_t *o;
	size_t i;

	json_array_foreach(options, i, o)
	{
		if (json_is_true(json_object_get(o, "required")) &&
		    !named(given, text_of(o, "name")))
			return false;
	}
	return true;
}

static bool given_fit(const json_t *options, const json_t *given)
{
	const json_t *o;
	size_t i;

	if (!has_unique(given, "name", NULL))
		return false;
	json_array_foreach(given, i, o)
	{
		const json_t *row = named(options, text_of(o, "name"));
		json_int_t type = int_of(row, "type");
		const json_t *value = json_object_get(o, "value");

		if (!row || int_of(o, "type") != type)
			return false;
		if (is_folder(type)) {
			if (json_array_size(given) != 1 ||
			    !given_fit(json_object_get(row, "options"),
				       json_object_get(o, "options")))
				return false;
		} else if (!value_fits(type, value) || !is_chosen(row, value) ||
			   !is_within(row, value)) {
			return false;
		}
	}
	return all_given(options, given);
}

bool command_options_given(const json_t *command, const json_t *given)
{
	const json_t *options = json_object_get(command, "options");
	bool folders = is_folder(int_of(json_array_get(options, 0), "type"));

	if (type_of(command) != COMMAND_SLASH)
		return !json_array_size(given);
	/* A command with subcommands has no form without one. */
	return (!folders || json_array_size(given) == 1) && given_fit(options, given);
}

bool command_permits(const json_t *command, uint64_t permissions)
{
	const char *right = text_of(command, "default_member_permissions");
	uint64_t bits;

	if (!discord_u64(right, &bits))
		return true;
	return permissions & DISCORD_PERMISSION(DISCORD_BIT_ADMINISTRATOR) ||
	       (bits && (permissions & bits) == bits);
}

bool command_choices_fit(const json_t *choices)
{
	const json_t *c;
	size_t i;

	if (!json_is_array(choices) || json_array_size(choices) > CHOICES_MAX)
		return false;
	json_array_foreach(choices, i, c)
	{
		const json_t *value = json_object_get(c, "value");
		json_int_t type = json_is_string(value) ? STRING : NUMBER;

		if (!choice_fits(type, c))
			return false;
	}
	return true;
}
