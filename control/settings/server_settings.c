#include "control/settings/server_settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "control/settings/document.h"
#include "control/settings/server_settings.def"
#include "control/settings/view.h"
#include "proto/base/utf8.h"

enum { KEY_MAX = 96, WORD_MAX = 64, TYPED_MAX = 101 };

static const char *const names[] = {
#define X(name) #name,
	SERVER_SETTINGS(X)
#undef X
};

bool server_settings_has(const char *name)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static const char *text_at(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "";
}

json_t *server_settings_row(const char *name)
{
	json_t *schema = server_settings_has(name) ? settings_schema_json() : NULL, *row,
	       *found = NULL;
	size_t i;

	json_array_foreach(json_object_get(schema, "settings"), i, row)
	{
		if (strcmp(text_at(row, "name"), name) == 0)
			found = json_incref(row);
	}
	json_decref(schema);
	return found;
}

/* ---- search ---- */

/* Every word of typed stands in the name or the text. */
static bool has_words(const json_t *row, const char *typed)
{
	char copy[TYPED_MAX], *rest = copy, *word;

	utf8_copy(copy, sizeof copy, typed);
	for (char *p = copy; *p; p++)
		if (*p == '_' || *p == ',')
			*p = ' ';
	while ((word = strsep(&rest, " ")))
		if (*word && !strcasestr(text_at(row, "name"), word) &&
		    !strcasestr(text_at(row, "text"), word))
			return false;
	return true;
}

json_t *server_settings_search(const char *typed, size_t most)
{
	json_t *schema = settings_schema_json(), *list = json_array(), *row;
	size_t i, n = strlen(typed);

	for (unsigned first = 1; first <= 2; first++)
		json_array_foreach(json_object_get(schema, "settings"), i, row)
		{
			const char *name = text_at(row, "name");
			bool begins = strncasecmp(name, typed, n) == 0;

			if (server_settings_has(name) && begins == (first == 1) &&
			    (begins || has_words(row, typed)) && json_array_size(list) < most)
				json_array_append(list, row);
		}
	json_decref(schema);
	return list;
}

static void add_value(json_t *list, const char *value, const char *typed)
{
	if (strncasecmp(value, typed, strlen(typed)) == 0)
		json_array_append_new(list, json_string(value));
}

json_t *server_settings_values(const json_t *row, const char *typed)
{
	const char *words = text_at(row, "words");
	json_t *list = json_array();
	char word[WORD_MAX];

	if (strcmp(text_at(row, "kind"), "switch") == 0) {
		add_value(list, "on", typed);
		add_value(list, "off", typed);
	}
	while (*words) {
		size_t n = strcspn(words, "|");

		utf8_copy_bytes(word, sizeof word, words, n);
		add_value(list, word, typed);
		words += n + (words[n] == '|');
	}
	return list;
}

/* ---- values ---- */

void server_settings_show(const json_t *value, char to[SERVER_VALUE_MAX])
{
	if (json_is_boolean(value))
		snprintf(to, SERVER_VALUE_MAX, "%s", json_is_true(value) ? "on" : "off");
	else if (json_is_integer(value))
		snprintf(to, SERVER_VALUE_MAX, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else
		utf8_copy(to, SERVER_VALUE_MAX,
			  json_is_string(value) ? json_string_value(value) : "");
}

json_t *server_settings_value(const struct settings *s, const char *name)
{
	json_t *all = settings_values_json(s);
	json_t *value = json_incref(json_object_get(all, name));

	json_decref(all);
	return value;
}

static json_t *read_switch(const char *text)
{
	static const char *const yes[] = {"on", "yes", "true", "1"}, *const no[] = {"off", "no",
										    "false", "0"};

	for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
		if (strcasecmp(text, yes[i]) == 0)
			return json_true();
	for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
		if (strcasecmp(text, no[i]) == 0)
			return json_false();
	return NULL;
}

json_t *server_settings_read(const json_t *row, const char *text)
{
	const char *kind = text_at(row, "kind");
	size_t n = strlen(text);

	if (strcmp(kind, "switch") == 0)
		return read_switch(text);
	if (strcmp(kind, "number") != 0)
		return n < SERVER_VALUE_MAX ? json_string(text) : NULL;
	if (!n || n > 9 || strspn(text, "0123456789") != n)
		return NULL;
	return json_integer((json_int_t)strtoull(text, NULL, 10));
}

/* ---- intents ---- */

static json_t *object_at(json_t *in, const char *key)
{
	json_t *o = json_object_get(in, key);

	if (!json_is_object(o)) {
		o = json_object();
		json_object_set_new(in, key, o);
	}
	return json_object_get(in, key);
}

static void put_value(json_t *intent, const char *guild, const char *name, const json_t *value)
{
	json_t *guilds = object_at(intent, "guilds"), *own = object_at(guilds, guild);

	if (value && !json_is_null(value))
		json_object_set(own, name, (json_t *)(uintptr_t)value);
	else
		json_object_del(own, name);
	if (own && !json_object_size(own))
		json_object_del(guilds, guild);
	if (guilds && !json_object_size(guilds))
		json_object_del(intent, "guilds");
}

json_t *server_settings_intent(const struct document *d, uint64_t guild, const char *name,
			       const json_t *value)
{
	json_t *intent = json_deep_copy(document_intent(d));
	char id[24];

	snprintf(id, sizeof id, "%" PRIu64, guild);
	if (intent)
		put_value(intent, id, name, value);
	return intent;
}

/* The setting of this server that a difference is about, "" for anything else. */
static const char *own_key(const json_t *difference, const char *guild)
{
	const char *key = text_at(difference, "key");
	size_t n = strlen(guild);

	if (strncmp(key, "guilds/", 7) != 0 || strncmp(key + 7, guild, n) != 0 || key[7 + n] != '/')
		return "";
	return server_settings_has(key + 8 + n) ? key + 8 + n : "";
}

json_t *server_settings_undo(const struct document *d, uint64_t guild, uint64_t version,
			     unsigned *changed)
{
	json_t *differences = version ? document_diff(d, version - 1, version) : NULL, *x;
	json_t *intent = differences ? json_deep_copy(document_intent(d)) : NULL;
	char id[24];
	size_t i;

	*changed = 0;
	snprintf(id, sizeof id, "%" PRIu64, guild);
	json_array_foreach(differences, i, x)
	{
		const char *name = own_key(x, id);
		const json_t *now = json_object_get(
			json_object_get(json_object_get(intent, "guilds"), id), name);
		const json_t *after = json_object_get(x, "after");

		if (!*name || (now ? !json_equal(now, after) : after && !json_is_null(after)))
			continue;
		put_value(intent, id, name, json_object_get(x, "before"));
		++*changed;
	}
	json_decref(differences);
	return intent;
}
