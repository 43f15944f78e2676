#include "tests/test.h"

#include "control/room/guard.h"
#include "control/settings/settings.h"

static enum room_guard judged(const struct room_guard_facts *f)
{
	struct settings *s = NULL;
	enum room_guard g;

	if (settings_alloc(&s))
		return ROOM_GUARD_CONTROL;
	g = room_guard(f, s);
	settings_free(s);
	return g;
}

TEST(rule_033_058_a_models_own_marks_are_no_words)
{
	static const struct {
		const char *text;
		enum room_guard want;
	} rows[] = {
		{"parley what time is it", ROOM_GUARD_WORDS},
		{"<|endoftext|>", ROOM_GUARD_CONTROL},
		{"well <|0.00|> hello", ROOM_GUARD_CONTROL},
		{"vq_lbr_audio_77814", ROOM_GUARD_CONTROL},
		{"hello audio_future2 there", ROOM_GUARD_CONTROL},
		{"end_of_task", ROOM_GUARD_CONTROL},
		{"audio_future", ROOM_GUARD_WORDS},
		{"vq_ and audio_ are words", ROOM_GUARD_WORDS},
		{"a <| b", ROOM_GUARD_WORDS},
		{"", ROOM_GUARD_EMPTY},
		{" ... ?! -- ,", ROOM_GUARD_EMPTY},
		{"7", ROOM_GUARD_WORDS},
		{"да", ROOM_GUARD_WORDS},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		enum room_guard got = judged(&(struct room_guard_facts){.text = rows[i].text});

		if (got != rows[i].want)
			test_fail(__FILE__, __LINE__, "\"%s\" gave %d", rows[i].text, got);
	}
}

TEST(what_the_recogniser_doubts_is_dropped_when_it_says_so)
{
	struct room_guard_facts f = {.text = "thank you for watching", .doubt = 1002};

	CHECK_INT(judged(&f), ROOM_GUARD_UNSURE);
	f.doubt = 1001;
	CHECK_INT(judged(&f), ROOM_GUARD_WORDS);
	f.doubt = 3001;
	f.named = true;
	CHECK_INT(judged(&f), ROOM_GUARD_WORDS);
	f.named = false;
	f.doubt = 0;
	CHECK_INT(judged(&f), ROOM_GUARD_WORDS);
}

TEST(few_words_in_long_sound_are_dropped)
{
	struct room_guard_facts f = {.text = "you know", .doubt = 1, .spoken_ms = 2000};

	CHECK_INT(room_guard_pace(&f), 35);
	CHECK_INT(judged(&f), ROOM_GUARD_SPARSE);
	f.spoken_ms = 1999;
	CHECK_INT(judged(&f), ROOM_GUARD_WORDS);
	f.spoken_ms = 2000;
	f.text = "you know it";
	CHECK_INT(judged(&f), ROOM_GUARD_WORDS);
	f.spoken_ms = 0;
	CHECK_INT(room_guard_pace(&f), 0);
}

TEST(hostile_transcripts_are_looked_at_once)
{
	size_t n = 1 << 20;
	char *text = malloc(n + 1);

	CHECK(text);
	memset(text, '<', n);
	text[n] = '\0';
	CHECK_INT(judged(&(struct room_guard_facts){.text = text}), ROOM_GUARD_EMPTY);
	for (size_t i = 0; i + 1 < n; i += 2)
		memcpy(text + i, "<|", 2);
	CHECK_INT(judged(&(struct room_guard_facts){.text = text}), ROOM_GUARD_EMPTY);
	for (size_t i = 0; i + 3 < n; i += 3)
		memcpy(text + i, "vq_", 3);
	CHECK_INT(judged(&(struct room_guard_facts){.text = text}), ROOM_GUARD_WORDS);
	free(text);
}
