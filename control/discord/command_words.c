#include "control/discord/command_words.h"

#include <stddef.h>
#include <string.h>

#include "control/words/words.h"

/* Discord's names of the languages of translations.def. */
static const struct {
	const char *code, *locale;
} locales[] = {{"de", "de"}, {"es", "es-ES"}, {"fr", "fr"},    {"it", "it"},
	       {"nl", "nl"}, {"pl", "pl"},    {"pt", "pt-BR"}, {"ru", "ru"},
	       {"ja", "ja"}, {"ko", "ko"},    {"zh", "zh-CN"}};

static void add_words(json_t *o, const char *key, const char *others_key,
		      void (*describe)(struct words *w))
{
	json_t *others = json_object();
	struct words english = {0};

	describe(&english);
	json_object_set_new(o, key, json_string(english.text));
	for (size_t i = 0; i < sizeof locales / sizeof locales[0]; i++) {
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
