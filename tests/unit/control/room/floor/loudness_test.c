/* Requests to play louder or more quietly: each is found as the words of a text. */
#include "control/room/floor/loudness.h"

#include "control/room/floor/loudness.def"

#include "tests/test.h"

static void check_list(enum room_language language, const char *list, bool louder)
{
	struct room_words w;
	char text[160];
	bool up;

	while (*list) {
		size_t n = strcspn(list, ";");
		unsigned found;

		snprintf(text, sizeof text, "%.*s", (int)n, list);
		room_words_split(&w, text, language);
		found = room_loudness_match(&w, 0, &up);
		if (!w.n || found != w.n || up != louder)
			test_fail(__FILE__, __LINE__, "%s: \"%s\": %u of %u words",
				  room_language_code(language), text, found, w.n);
		list += n;
		list += strspn(list, "; ");
	}
}

TEST(requests_about_loudness_are_in_the_form_of_words)
{
	room_language_prepare();
#define L(LANGUAGE, louder, quieter)                                                               \
	check_list(ROOM_LANGUAGE_##LANGUAGE, louder, true);                                        \
	check_list(ROOM_LANGUAGE_##LANGUAGE, quieter, false);
	ROOM_LOUDNESS(L)
#undef L
}

TEST(the_longest_request_about_loudness_counts)
{
	struct room_words w;
	bool up;

	room_language_prepare();
	room_words_split(&w, "turn it up a bit", ROOM_LANGUAGE_EN);
	CHECK_INT(room_loudness_match(&w, 0, &up), 5);
	CHECK(up);
	room_words_split(&w, "so loud", ROOM_LANGUAGE_EN);
	CHECK_INT(room_loudness_match(&w, 0, &up), 0);
	room_words_split(&w, "turn it", ROOM_LANGUAGE_EN);
	CHECK_INT(room_loudness_match(&w, 0, &up), 0);
	room_words_split(&w, "softer", ROOM_LANGUAGE_EN);
	CHECK_INT(room_loudness_match(&w, 0, &up), 1);
	CHECK(!up);
	w.language = ROOM_LANGUAGE_UNKNOWN;
	CHECK_INT(room_loudness_match(&w, 0, &up), 0);
}
