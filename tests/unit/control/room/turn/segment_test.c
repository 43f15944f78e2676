/* Segments of a turn: whose words stand where, whatever is merged, revised, dropped. */
#include "tests/test.h"

#include "control/room/turn/segment.h"

static struct room_turn t;

/* Every segment lies within the words, in order, one blank apart. */
static bool sound(void)
{
	size_t at = 0;

	for (unsigned i = 0; i < t.segments; i++) {
		if (t.segment[i].at != at || !t.segment[i].n)
			return false;
		at += t.segment[i].n;
		if (i + 1 < t.segments && t.transcript[at++] != ' ')
			return false;
	}
	return strlen(t.transcript) == at;
}

TEST(rule_031_a_revision_changes_its_own_words)
{
	char line[512];

	t = (struct room_turn){0};
	room_segment_add(&t, 1, "Alice", 11, "what time is at");
	room_segment_add(&t, 2, "Bob", 21, "and what day");
	room_segment_add(&t, 1, "Alice", 12, "in tokyo ");
	CHECK(sound());
	CHECK_INT(room_segment_revise(&t, 1, 11, "what time is it"), ROOM_REVISED);
	CHECK_INT(room_segment_revise(&t, 1, 11, "what time is it"), ROOM_REVISED_SAME);
	CHECK_INT(room_segment_revise(&t, 1, 11, " "), ROOM_REVISED_SAME);
	CHECK_INT(room_segment_revise(&t, 2, 11, "what"), ROOM_REVISED_NONE);
	CHECK(sound());
	CHECK_INT(t.segment[0].revision, 1);
	CHECK_INT(t.segment[1].revision, 0);
	CHECK_STR(t.transcript, "what time is it and what day in tokyo");
	room_segment_lines(&t, line, sizeof line);
	CHECK_STR(line, "[Alice]: what time is it\n[Bob]: and what day\n[Alice]: in tokyo");
	CHECK(room_segment_shared(&t));
	CHECK_INT(room_segment_drop(&t, 1), 1);
	CHECK(sound());
	CHECK_STR(t.transcript, "and what day");
	CHECK(!room_segment_shared(&t));
	CHECK_INT(room_segment_drop(&t, 2), 0);
	CHECK_STR(t.transcript, "");
}

TEST(rule_035_what_does_not_fit_goes_at_the_head_and_is_counted)
{
	char words[ROOM_TEXT_MAX], text[ROOM_TEXT_MAX];

	t = (struct room_turn){0};
	memset(words, 'a', sizeof words);
	for (unsigned i = 4; i < sizeof words; i += 5)
		words[i] = ' ';
	words[1499] = '\0';
	room_segment_add(&t, 1, "Alice", 1, words);
	CHECK_INT(t.dropped_head, 0);
	words[999] = '\0';
	room_segment_add(&t, 2, "Bob", 2, words);
	CHECK(sound());
	CHECK_INT(t.segments, 2);
	CHECK(t.dropped_head >= 1499 + 1 + 999 + 1 - ROOM_TEXT_MAX);
	CHECK(t.dropped_head < 1499 + 1 + 999 + 1 - ROOM_TEXT_MAX + 6);
	CHECK_INT(strlen(t.transcript) + t.dropped_head, 1499 + 1 + 999);
	CHECK_STR(t.transcript + t.segment[1].at, words);
	CHECK_INT(t.transcript[0], 'a'); /* at a word's begin */
	/* More of them than there are places, and one that is too long by itself. */
	for (unsigned i = 0; i < 40; i++)
		room_segment_add(&t, 3, "Carol", 10 + i, "yes");
	CHECK_INT(t.segments, ROOM_SEGMENTS);
	CHECK(sound());
	memset(text, 'b', sizeof text);
	text[sizeof text - 1] = '\0';
	room_segment_add(&t, 4, "Dave", 99, text);
	CHECK_INT(t.segments, 1);
	CHECK(sound());
}

TEST(segments_of_any_bytes_stay_sound)
{
	static const char *const words[] = {"one",     "",  " ",       "two three", "\xe2\x82\xac",
					    "four  5", "a", "  x  y ", "\xff\xfe"};
	uint64_t x = 88172645463325252ull;
	char big[1200];

	memset(big, 'z', sizeof big);
	big[sizeof big - 1] = '\0';
	for (unsigned run = 0; run < 200; run++) {
		t = (struct room_turn){0};
		for (unsigned i = 0; i < 60; i++) {
			const char *w;

			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			w = x % 11 == 0 ? big : words[x / 11 % 9];
			if (x % 5 == 0)
				room_segment_revise(&t, 1 + x % 3, (uint32_t)(x / 64 % 60), w);
			else if (x % 17 == 0)
				room_segment_drop(&t, 1 + x % 3);
			else
				room_segment_add(&t, 1 + x % 3, "N", i, w);
			if (!sound()) {
				test_fail(__FILE__, __LINE__, "run %u step %u", run, i);
				return;
			}
		}
	}
}
