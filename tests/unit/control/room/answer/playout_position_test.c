#include "tests/test.h"

#include "control/room/answer/playout_position.h"

enum { RATE = 24000 };

static struct room_playout playout;

/* The part of text that was played when this many ms have left. */
static const char *heard(const char *text, unsigned ms)
{
	static char out[256];
	size_t n = room_playout_text_played(&playout, text, (uint64_t)ms * RATE / 1000, RATE);

	snprintf(out, sizeof out, "%.*s", (int)n, text);
	return out;
}

static void one_chunk(const char *text, unsigned ms, bool whole)
{
	playout = (struct room_playout){0};
	room_playout_add_text(&playout, 0, strlen(text));
	room_playout_add_audio(&playout, 0, (uint64_t)ms * RATE / 1000);
	if (whole)
		room_playout_complete(&playout);
}

TEST(an_answer_is_cut_where_it_was_cut_at_a_words_end)
{
	static const char text[] = "one two three four five";

	one_chunk(text, 2300, true); /* 100 ms a character */
	CHECK_STR(heard(text, 0), "");
	CHECK_STR(heard(text, 250), "");
	CHECK_STR(heard(text, 300), "one");
	CHECK_STR(heard(text, 650), "one");
	CHECK_STR(heard(text, 700), "one two");
	CHECK_STR(heard(text, 2299), "one two three four");
	CHECK_STR(heard(text, 2300), text);
	CHECK_STR(heard(text, 9000), text);
	one_chunk("one  two", 800, true);
	CHECK_STR(heard("one  two", 550), "one");
}

TEST(words_that_run_ahead_of_their_sound_were_not_heard)
{
	static const char text[] = "all of these words came before most of their sound did";

	/* 55 characters need at least 4.5 s; only 1 s of sound came. */
	one_chunk(text, 1000, false);
	CHECK_STR(heard(text, 1000), "all of these");
	CHECK_STR(heard(text, 5000), "all of these");
	room_playout_complete(&playout);
	CHECK_STR(heard(text, 1000), text);
}

TEST(chunks_are_heard_one_after_another)
{
	static const char text[] = "First one. Second one. Third one.";

	playout = (struct room_playout){0};
	room_playout_add_text(&playout, 1, 10);
	room_playout_add_text(&playout, 2, 22);
	room_playout_add_text(&playout, 3, 33);
	for (unsigned c = 1; c <= 2; c++) {
		room_playout_add_audio(&playout, c, RATE / 2);
		room_playout_add_audio(&playout, c, RATE / 2);
		room_playout_chunk_complete(&playout, c);
	}
	CHECK_STR(heard(text, 999), "First");
	CHECK_STR(heard(text, 1000), "First one.");
	CHECK_STR(heard(text, 1700), "First one. Second");
	CHECK_STR(heard(text, 2000), "First one. Second one.");
	/* Without sound nothing was heard. */
	CHECK_STR(heard(text, 9000), "First one. Second one.");
}

TEST(word_times_cut_better_than_characters)
{
	static const char text[] = "Well, it is a long way, is it not?";
	static const struct {
		const char *word;
		unsigned ms;
	} words[] = {{"Well", 900},  {" it", 1000},	  {"is ", 1100}, {"a", 1150},
		     {"long", 1900}, {"elsewhere", 1950}, {"way", 2500}, {"is", 2600},
		     {"it", 2700},   {"not?", 3000}};

	playout = (struct room_playout){0};
	room_playout_add_text(&playout, 7, strlen(text));
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		room_playout_add_word(&playout, 7, text, words[i].word, strlen(words[i].word),
				      (uint64_t)words[i].ms * RATE / 1000);
	room_playout_add_audio(&playout, 7, 3 * RATE);
	room_playout_chunk_complete(&playout, 7);
	CHECK_STR(heard(text, 899), "");
	CHECK_STR(heard(text, 900), "Well");
	CHECK_STR(heard(text, 1149), "Well, it is");
	CHECK_STR(heard(text, 1899), "Well, it is a");
	CHECK_STR(heard(text, 2650), "Well, it is a long way, is");
	CHECK_STR(heard(text, 3000), text);
}

TEST(word_times_count_from_their_chunk)
{
	static const char text[] = "Hello. Good bye now.";

	playout = (struct room_playout){0};
	room_playout_add_text(&playout, 1, 6);
	room_playout_add_audio(&playout, 1, RATE);
	room_playout_chunk_complete(&playout, 1);
	room_playout_add_text(&playout, 2, 20);
	room_playout_add_word(&playout, 2, text, "Good", 4, RATE / 2);
	room_playout_add_word(&playout, 2, text, "bye", 3, RATE);
	room_playout_add_audio(&playout, 2, 2 * RATE);
	CHECK_STR(heard(text, 1499), "Hello.");
	CHECK_STR(heard(text, 1500), "Hello. Good");
	CHECK_STR(heard(text, 2999), "Hello. Good bye");
}

TEST(scripts_without_blanks_are_cut_between_characters)
{
	static const char text[] = "\xe4\xbd\xa0\xe5\xa5\xbd\xe8\xaf\xb7\xe8\xaf\xb4";

	one_chunk(text, 1200, true);
	CHECK_STR(heard(text, 650), "\xe4\xbd\xa0\xe5\xa5\xbd");
	CHECK_STR(heard(text, 299), "");
}

TEST(more_chunks_and_words_than_there_are_places)
{
	static char text[4 * 1000];

	playout = (struct room_playout){0};
	for (unsigned i = 0; i < 1000; i++) {
		memcpy(text + 4 * i, "abc ", 4);
		room_playout_add_text(&playout, i + 1, 4 * (i + 1));
		room_playout_add_word(&playout, i + 1, text, "abc", 3, 100);
		room_playout_add_audio(&playout, i + 1, 100);
	}
	room_playout_complete(&playout);
	CHECK_INT(playout.chunks, ROOM_PLAYOUT_CHUNKS);
	CHECK_INT(room_playout_text_played(&playout, text, 100000, RATE), sizeof text);
	CHECK_INT(room_playout_text_played(&playout, text, 0, RATE), 0);
	CHECK_INT(room_playout_text_played(&(struct room_playout){0}, text, 5, RATE), 0);
}
