#include "control/kept.h"

#include <string.h>

#include "control/settings/settings.h"
#include "control/words/words.h"
#include "tests/test.h"

/* Records of settings.def that decide what is kept of people's words, and a value that keeps more,
 * or less, than the one before. */
static const struct {
	const char *name, *value;
} steps[] = {
	{"store_words_hours", "48"}, {"memory_days", "60"},	{"text_chat", "all"},
	{"memory_extract", "true"},  {"keep_contexts", "true"}, {"keep_audio_hours", "5"},
	{"turns_file", "/x/turns"},  {"room_journals", "/x"},	{"store_words_hours", "0"},
};

static void tell(const struct settings *s, struct words *w)
{
	*w = (struct words){0};
	words_speak(w, "");
	kept_tell(s, w);
}

TEST(each_setting_that_keeps_words_has_a_sentence)
{
	struct settings *s = NULL;
	struct words before, after;

	CHECK_INT(settings_alloc(&s), 0);
	tell(s, &after);
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		before = after;
		CHECK_INT(settings_set(s, steps[i].name, steps[i].value), 0);
		tell(s, &after);
		if (strcmp(before.text, after.text) == 0)
			test_fail(__FILE__, __LINE__, "%s has no sentence", steps[i].name);
	}
	settings_free(s);
}

/* Nothing in the database, and yet there are recordings. */
TEST(no_words_are_kept_only_if_no_file_has_any)
{
	static const char *const files[][2] = {
		{"room_journals", "/x"}, {"turns_file", "/x/turns"}, {"log_words", "true"}};

	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct settings *s = NULL;
		struct words w;

		CHECK_INT(settings_alloc(&s), 0);
		CHECK_INT(settings_set(s, "store_words_hours", "0"), 0);
		tell(s, &w);
		CHECK(strstr(w.text, "no words of anybody"));
		CHECK_INT(settings_set(s, files[i][0], files[i][1]), 0);
		tell(s, &w);
		CHECK(!strstr(w.text, "no words of anybody"));
		settings_free(s);
	}
}

TEST(who_spoke_is_known_for_as_long_as_answers_that_quote_them)
{
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_INT(settings_set(s, "store_words_hours", "24"), 0);
	CHECK_INT(kept_days(s), 30);
	CHECK_INT(settings_set(s, "store_words_hours", "8760"), 0);
	CHECK_INT(kept_days(s), 730);
	settings_free(s);
}

static void tell_providers(const struct settings *s, struct words *w)
{
	*w = (struct words){0};
	words_speak(w, "");
	kept_tell_providers(s, w);
}

TEST(providers_are_told_by_what_goes_to_them)
{
	struct settings *s = NULL;
	struct words w;

	CHECK_INT(settings_alloc(&s), 0);
	/* The embedded engine is on this machine. */
	tell_providers(s, &w);
	CHECK(!strstr(w.text, "goes to"));
	CHECK_INT(settings_set(s, "brain_url", "ws://10.0.0.1/v1/realtime"), 0);
	CHECK_INT(settings_set(s, "text_url", "http://10.0.0.1/v1"), 0);
	tell_providers(s, &w);
	CHECK(strstr(w.text, "The sound of everybody whom I hear goes to"));
	CHECK(strstr(w.text, "words and images, goes to"));
	CHECK(!strstr(w.text, "What I keep"));
	CHECK_INT(settings_set(s, "memory_extract", "true"), 0);
	tell_providers(s, &w);
	CHECK(strstr(w.text, "What I keep of words and facts goes to"));
	CHECK_INT(settings_set(s, "store_words_hours", "0"), 0);
	tell_providers(s, &w);
	CHECK(!strstr(w.text, "What I keep"));
	settings_free(s);
}

TEST(without_a_memory_no_days_of_facts_are_told)
{
	struct settings *s = NULL;
	struct words w;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_INT(settings_set(s, "store_words_hours", "48"), 0);
	CHECK_INT(settings_set(s, "memory_days", "0"), 0);
	tell(s, &w);
	CHECK(strstr(w.text, "my answers for 48 hours.") && !strstr(w.text, "facts"));
	settings_free(s);
}
