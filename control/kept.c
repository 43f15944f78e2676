#include "control/kept.h"

#include <stdio.h>
#include <string.h>

#include "control/settings/settings.h"
#include "control/words/words.h"

/* DAYS: control/events/events.def. */
enum { DAYS = 30, NAMES = 400 };

static void tell_words(const struct settings *s, struct words *words)
{
	if (s->memory_days)
		words_privacy_words(words, s->store_words_hours, s->memory_days);
	else
		words_privacy_words_alone(words, s->store_words_hours);
	if (s->text_chat != SETTINGS_TEXT_OFF)
		words_privacy_written(words);
	if (s->memory_extract && s->memory_days)
		words_privacy_extracts(words);
	if (s->keep_contexts)
		words_privacy_contexts(words);
}

unsigned kept_days(const struct settings *s)
{
	unsigned twice = (2 * s->store_words_hours + 23) / 24;

	return twice > DAYS ? twice : DAYS;
}

/* ---- where it goes ---- */

/* Names, each once. */
struct names {
	char text[NAMES];
	size_t n;
};

static bool has_name(const struct names *to, const char *name)
{
	size_t n = strlen(name);
	const char *at;

	for (at = strstr(to->text, name); at; at = strstr(at + 1, name))
		if ((at == to->text || at[-1] == ' ') && (!at[n] || at[n] == ','))
			return true;
	return false;
}

/* The embedded engine is on this machine. */
static void add_provider(struct names *to, const struct provider_record *p)
{
	if (p->dialect == DIALECT_EMBEDDED || has_name(to, p->name) ||
	    to->n + strlen(p->name) + 3 > sizeof to->text)
		return;
	to->n += (size_t)snprintf(to->text + to->n, sizeof to->text - to->n, "%s%s",
				  to->n ? ", " : "", p->name);
}

static void add_role(struct names *to, const struct settings *s, enum role role)
{
	const struct provider_record *p;

	for (unsigned i = 0; (p = settings_role(s, role, i)) != NULL; i++)
		add_provider(to, p);
}

static void add_purpose(struct names *to, const struct settings *s, enum purpose purpose)
{
	const struct provider_record *p;

	for (unsigned i = 0; (p = settings_purpose(s, purpose, i)) != NULL; i++)
		add_provider(to, p);
}

void kept_tell_providers(const struct settings *s, struct words *words)
{
	struct names sound = {0}, asked = {0}, kept = {0};

	if (s->reply_path != SETTINGS_REPLY_BRAIN)
		add_role(&sound, s, ROLE_VOICE);
	add_role(&sound, s, ROLE_TRANSCRIBE);
	for (unsigned i = 0; i < PURPOSE_COUNT; i++)
		add_purpose(i == PURPOSE_MEMORY ? &kept : &asked, s, (enum purpose)i);
	add_role(&asked, s, ROLE_SPEECH);
	add_role(&asked, s, ROLE_SEE);
	if (!s->memory_days || (!s->memory_extract && !s->memory_reflect))
		kept = (struct names){0};
	add_role(&kept, s, ROLE_EMBED);
	if (sound.n)
		words_privacy_sends_sound(words, sound.text);
	if (asked.n)
		words_privacy_sends_words(words, asked.text);
	if (kept.n && s->store_words_hours)
		words_privacy_sends_kept(words, kept.text);
}

void kept_tell(const struct settings *s, struct words *words)
{
	bool files = s->log_words || (*s->turns_file && s->turns_words);

	if (s->store_words_hours)
		tell_words(s, words);
	else if (!s->keep_audio_hours && !files && !*s->room_journals)
		words_privacy_no_words(words);
	if (s->keep_audio_hours)
		words_privacy_sound(words, s->keep_audio_hours);
	if (files)
		words_privacy_files(words);
	if (*s->room_journals)
		words_privacy_journals(words);
}
