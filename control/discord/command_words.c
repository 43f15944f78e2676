#include "control/discord/command_words.h"

#include <stddef.h>
#include <string.h>

#include "control/discord/command_names.def"
#include "control/words/words.h"

/* Discord's names of the languages of translations.def; a language that Discord divides is shown in
 * each of its kinds. */
static const struct {
	const char *code, *locale;
	unsigned name; /* of command_names.def */
} locales[] = {{"de", "de", 0},	   {"es", "es-ES", 1}, {"es", "es-419", 1}, {"fr", "fr", 2},
	       {"it", "it", 3},	   {"nl", "nl", 4},    {"pl", "pl", 5},	    {"pt", "pt-BR", 6},
	       {"ru", "ru", 7},	   {"ja", "ja", 8},    {"ko", "ko", 9},	    {"zh", "zh-CN", 10},
	       {"zh", "zh-TW", 10}};
enum { LOCALES = sizeof locales / sizeof locales[0], LANGUAGES = 11 };

static const struct {
	const char *english, *in[LANGUAGES];
} names[] = {
#define N(name, ...) {#name, {__VA_ARGS__}},
	COMMAND_NAMES(N)
#undef N
};

void command_rename(json_t *o, const char *name)
{
	json_t *others = json_object();
	size_t k = 0;

	while (k < sizeof names / sizeof names[0] && strcmp(names[k].english, name) != 0)
		k++;
	for (size_t i = 0; k < sizeof names / sizeof names[0] && i < LOCALES; i++)
		if (strcmp(names[k].in[locales[i].name], name) != 0)
			json_object_set_new(others, locales[i].locale,
					    json_string(names[k].in[locales[i].name]));
	if (json_object_size(others))
		json_object_set(o, "name_localizations", others);
	json_decref(others);
}

static void add_words(json_t *o, const char *key, const char *others_key,
		      void (*describe)(struct words *w))
{
	json_t *others = json_object();
	struct words english = {0};

	describe(&english);
	json_object_set_new(o, key, json_string(english.text));
	for (size_t i = 0; i < LOCALES; i++) {
		struct words w = {0};

		words_speak(&w, locales[i].code);
		describe(&w);
		if (strcmp(w.text, english.text) != 0)
			json_object_set_new(others, locales[i].locale, json_string(w.text));
	}
	if (json_object_size(others))
		json_object_set(o, others_key, others);
	json_decref(others);
}

void command_describe(json_t *o, void (*describe)(struct words *w))
{
	add_words(o, "description", "description_localizations", describe);
}

void command_label(json_t *o, void (*describe)(struct words *w))
{
	add_words(o, "name", "name_localizations", describe);
}
