#include "tests/test.h"

#include <string.h>

#include "control/room/hearing/hallucination_filter.h"
#include "control/settings/settings.h"
#include "tests/unit/control/room/world.h"

static enum room_transcript_kind judged(const struct room_transcript_input *f)
{
	struct settings *s = NULL;
	enum room_transcript_kind g;

	if (settings_alloc(&s))
		return ROOM_TRANSCRIPT_KIND_CONTROL;
	g = room_transcript_classify(f, s);
	settings_free(s);
	return g;
}

TEST(rule_033_058_a_models_own_marks_are_no_words)
{
	static const struct {
		const char *text;
		enum room_transcript_kind want;
	} rows[] = {
		{"parley what time is it", ROOM_TRANSCRIPT_KIND_WORDS},
		{"<|endoftext|>", ROOM_TRANSCRIPT_KIND_CONTROL},
		{"well <|0.00|> hello", ROOM_TRANSCRIPT_KIND_CONTROL},
		{"vq_lbr_audio_77814", ROOM_TRANSCRIPT_KIND_CONTROL},
		{"hello audio_future2 there", ROOM_TRANSCRIPT_KIND_CONTROL},
		{"end_of_task", ROOM_TRANSCRIPT_KIND_CONTROL},
		{"audio_future", ROOM_TRANSCRIPT_KIND_WORDS},
		{"vq_ and audio_ are words", ROOM_TRANSCRIPT_KIND_WORDS},
		{"a <| b", ROOM_TRANSCRIPT_KIND_WORDS},
		{"", ROOM_TRANSCRIPT_KIND_EMPTY},
		{" ... ?! -- ,", ROOM_TRANSCRIPT_KIND_EMPTY},
		{"7", ROOM_TRANSCRIPT_KIND_WORDS},
		{"да", ROOM_TRANSCRIPT_KIND_WORDS},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		enum room_transcript_kind got =
			judged(&(struct room_transcript_input){.text = rows[i].text});

		if (got != rows[i].want)
			test_fail(__FILE__, __LINE__, "\"%s\" gave %d", rows[i].text, got);
	}
}

TEST(what_the_recogniser_doubts_is_dropped_when_it_says_so)
{
	struct room_transcript_input f = {.text = "thank you for watching", .doubt = 1002};

	CHECK_INT(judged(&f), ROOM_TRANSCRIPT_KIND_UNSURE);
	f.doubt = 1001;
	CHECK_INT(judged(&f), ROOM_TRANSCRIPT_KIND_WORDS);
	f.doubt = 3001;
	f.named = true;
	CHECK_INT(judged(&f), ROOM_TRANSCRIPT_KIND_WORDS);
	f.named = false;
	f.doubt = 0;
	CHECK_INT(judged(&f), ROOM_TRANSCRIPT_KIND_WORDS);
}

TEST(few_words_in_long_sound_are_dropped)
{
	struct room_transcript_input f = {.text = "you know", .doubt = 1, .spoken_ms = 2000};

	CHECK_INT(room_speech_rate(f.text, f.spoken_ms), 35);
	CHECK_INT(judged(&f), ROOM_TRANSCRIPT_KIND_SPARSE);
	f.spoken_ms = 1999;
	CHECK_INT(judged(&f), ROOM_TRANSCRIPT_KIND_WORDS);
	f.spoken_ms = 2000;
	f.text = "you know it";
	CHECK_INT(judged(&f), ROOM_TRANSCRIPT_KIND_WORDS);
	f.spoken_ms = 0;
	CHECK_INT(room_speech_rate(f.text, 0), 0);
}

TEST(hostile_transcripts_are_looked_at_once)
{
	size_t n = 1 << 20;
	char *text = malloc(n + 1);

	CHECK(text);
	memset(text, '<', n);
	text[n] = '\0';
	CHECK_INT(judged(&(struct room_transcript_input){.text = text}),
		  ROOM_TRANSCRIPT_KIND_EMPTY);
	for (size_t i = 0; i + 1 < n; i += 2)
		memcpy(text + i, "<|", 2);
	CHECK_INT(judged(&(struct room_transcript_input){.text = text}),
		  ROOM_TRANSCRIPT_KIND_EMPTY);
	for (size_t i = 0; i + 3 < n; i += 3)
		memcpy(text + i, "vq_", 3);
	CHECK_INT(judged(&(struct room_transcript_input){.text = text}),
		  ROOM_TRANSCRIPT_KIND_WORDS);
	free(text);
}

static enum room_hallucination imagined(const char *text, uint32_t voice_ms)
{
	struct room_utterance_transcript h = {.text = text, .voice_ms = voice_ms};
	struct settings *s = NULL;
	enum room_hallucination kind;

	if (settings_alloc(&s))
		return ROOM_HALLUCINATION_NONE;
	kind = room_hallucination_detect(&h, s);
	settings_free(s);
	return kind;
}

TEST(words_that_nobody_can_have_said_are_none)
{
	CHECK_INT(imagined("Thank you for watching!", 200), ROOM_HALLUCINATION_RATE);
	CHECK_INT(imagined("Thank you for watching!", 900), ROOM_HALLUCINATION_NONE);
	CHECK_INT(imagined("Thank you.", 100), ROOM_HALLUCINATION_RATE);
	CHECK_INT(imagined("Thank you.", 300), ROOM_HALLUCINATION_NONE);
	CHECK_INT(imagined("yes", 20), ROOM_HALLUCINATION_NONE); /* too short to tell */
	CHECK_INT(imagined("Thank you for watching!", 0), ROOM_HALLUCINATION_NONE); /* not known */
	CHECK_INT(imagined("", 100), ROOM_HALLUCINATION_NONE);
	/* At the limit: 80 characters a second. */
	CHECK_INT(imagined("abcdefghijklmnop", 200), ROOM_HALLUCINATION_NONE);
	CHECK_INT(imagined("abcdefghijklmnopq", 200), ROOM_HALLUCINATION_RATE);
}

TEST(words_that_go_round_in_a_circle_are_none)
{
	CHECK_INT(room_repetitions("so so so so so so so"), 7);
	CHECK_INT(room_repetitions("Thank you. Thank you. Thank you."), 3);
	CHECK_INT(room_repetitions("I don't know, I don't know, I don't know."), 3);
	CHECK_INT(room_repetitions("one two three four"), 1);
	CHECK_INT(room_repetitions("no no no that is not what I said at all to you"), 1);
	CHECK_INT(room_repetitions(""), 1);
	CHECK_INT(imagined("the end the end the end the end the end the end", 4000),
		  ROOM_HALLUCINATION_LOOP);
	CHECK_INT(imagined("the end the end the end the end the end", 4000),
		  ROOM_HALLUCINATION_NONE);
	CHECK_INT(imagined("no no no no no", 2000), ROOM_HALLUCINATION_NONE);
}

TEST(a_recogniser_that_heard_no_speech_is_believed)
{
	struct room_utterance_transcript h = {
		.text = "thank you", .voice_ms = 1000, .no_speech = 801};
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_INT(room_hallucination_detect(&h, s), ROOM_HALLUCINATION_SILENCE);
	h.no_speech = 800;
	CHECK_INT(room_hallucination_detect(&h, s), ROOM_HALLUCINATION_NONE);
	h.no_speech = 0; /* not told */
	CHECK_INT(room_hallucination_detect(&h, s), ROOM_HALLUCINATION_NONE);
	settings_free(s);
}

/* In the room: a short knock that speech-to-text takes for words, with the settings as they are. */
TEST(imagined_words_end_the_turn_and_say_why)
{
	char why[2048];
	struct world w;

	world_begin(&w, "speculative=off", 1);
	world_sound(&w, 1, 100, 6000);
	world_sound(&w, 1, 500, 100);
	world_sound_end(&w, 1);
	world_words(&w, 1, "Thank you for watching!");
	CHECK_INT(w.ended, ROOM_REASON_HALLUCINATION);
	CHECK_INT(w.did[ROOM_DO_ASK], 0);
	CHECK_INT(room_why(w.room, w.ended_turn, why, sizeof why), 0);
	CHECK(strstr(why, "speech_rate          no  value=2000 limit=800"));
	/* The same words in earnest. */
	world_sound(&w, 1, 1500, 6000);
	world_sound_end(&w, 1);
	world_words(&w, 1, "Thank you for watching!");
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	world_end(&w);
}
