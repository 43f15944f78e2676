#include "control/kept.h"

#include "control/settings/settings.h"
#include "control/words/words.h"

static void tell_words(const struct settings *s, struct words *words)
{
	words_privacy_words(words, s->store_words_hours, s->memory_days);
	if (s->text_chat != SETTINGS_TEXT_OFF)
		words_privacy_written(words);
	if (s->memory_extract && s->memory_days)
		words_privacy_extracts(words);
	if (s->keep_contexts)
		words_privacy_contexts(words);
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
