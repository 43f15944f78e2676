#include "control/vision/core/change.h"

#include "control/vision/core/notes.h"
#include "proto/base/time.h"
#include "tests/test.h"

enum { WIDTH = 256, HEIGHT = 144, BYTES = WIDTH * HEIGHT };

static const struct change_rules rules = {
	.threshold = 10, .floor = 5, .least = 2 * NS_PER_S, .slow = 10 * NS_PER_S};
static uint8_t screen[BYTES];
static struct change c;
static struct change_found found;

static void paint(unsigned x, unsigned y, unsigned w, unsigned h, uint8_t grey)
{
	for (unsigned row = y; row < y + h; row++)
		memset(screen + (size_t)row * WIDTH + x, grey, w);
}

static int feed(unsigned s)
{
	return change_feed(&c, &rules,
			   &(struct change_picture){screen, WIDTH, HEIGHT, s * NS_PER_S}, &found);
}

TEST_OOM(changes_are_measured_against_the_keyframe)
{
	memset(screen, 250, sizeof screen);
	CHECK_OOM(feed(0), change_clear(&c));
	CHECK_INT(found.kind, CHANGE_FIRST);
	CHECK_INT(feed(1), 0);
	CHECK(found.kind == CHANGE_NONE && found.share == 0);
	/* A dialog. */
	paint(60, 30, 100, 60, 120);
	CHECK_INT(feed(1), 0);
	CHECK_INT(found.kind, CHANGE_NONE); /* too soon */
	CHECK(found.share > 100);
	CHECK_INT(feed(3), 0);
	CHECK_INT(found.kind, CHANGE_LARGE);
	CHECK_INT(feed(6), 0);
	CHECK(found.kind == CHANGE_NONE && found.share == 0);
	change_clear(&c);
}

TEST(a_pointer_that_moves_is_no_change)
{
	memset(screen, 250, sizeof screen);
	paint(20, 20, 3, 4, 0);
	CHECK_INT(feed(0), 0);
	paint(20, 20, 3, 4, 250);
	paint(199, 95, 3, 4, 0); /* over the corner of four blocks */
	CHECK_INT(feed(20), 0);
	CHECK(found.kind == CHANGE_NONE && found.share == 0);
	/* A cursor blinks. */
	paint(50, 120, 1, 4, 0);
	CHECK_INT(feed(30), 0);
	CHECK(found.kind == CHANGE_NONE && found.share == 0);
	/* Four places are more than that. */
	paint(104, 16, 8, 8, 0);
	CHECK_INT(feed(40), 0);
	CHECK(found.share > 0);
	change_clear(&c);
}

/* Letters of a screen of 960 pixels have 2 × 3 here. */
static void paint_letters(unsigned x, unsigned y, unsigned n, unsigned text)
{
	for (unsigned i = 0; i < n * 6; i++)
		screen[(y + i / (2 * n)) * WIDTH + x + i % (2 * n)] =
			(uint8_t)(150 + (i * 37 + text * 59 + i * text * 11) % 5 * 25);
}

TEST(a_word_in_place_of_another_is_a_change)
{
	memset(screen, 250, sizeof screen);
	paint_letters(21, 30, 6, 1);
	CHECK_INT(feed(0), 0);
	paint_letters(21, 30, 6, 2);
	CHECK_INT(feed(5), 0);
	CHECK(found.kind == CHANGE_NONE && found.share == rules.floor);
	CHECK_INT(feed(10), 0);
	CHECK_INT(found.kind, CHANGE_SMALL);
	/* Three digits of a price, while the pointer moves. */
	paint_letters(120, 70, 3, 3);
	CHECK_INT(feed(30), 0);
	CHECK_INT(found.kind, CHANGE_SMALL);
	paint_letters(120, 70, 3, 4);
	paint(200, 100, 3, 5, 0);
	CHECK_INT(feed(50), 0);
	CHECK_INT(found.kind, CHANGE_SMALL);
	/* It moves by less than its size, and a single digit has no shape of its own. */
	paint(200, 100, 3, 5, 250);
	paint(203, 102, 3, 5, 0);
	paint_letters(21, 30, 1, 7);
	CHECK_INT(feed(70), 0);
	CHECK(found.kind == CHANGE_NONE && found.share == 0);
	change_clear(&c);
}

TEST(small_changes_are_keyframes_after_a_while)
{
	memset(screen, 250, sizeof screen);
	CHECK_INT(feed(0), 0);
	for (unsigned i = 0; i < 4; i++)
		paint(16 + 40 * i, 16, 8, 8, 150);
	CHECK_INT(feed(5), 0);
	CHECK(found.kind == CHANGE_NONE && found.share >= rules.floor &&
	      found.share < rules.threshold);
	CHECK_INT(feed(10), 0);
	CHECK_INT(found.kind, CHANGE_SMALL);
	change_clear(&c);
}

/* Each pixel changes too little for a block. */
TEST(a_screen_that_darkens_is_a_change)
{
	memset(screen, 200, sizeof screen);
	CHECK_INT(feed(0), 0);
	memset(screen, 197, sizeof screen);
	CHECK_INT(feed(5), 0);
	CHECK_INT(found.kind, CHANGE_LARGE);
	change_clear(&c);
}

TEST(a_picture_of_another_size_is_a_keyframe)
{
	memset(screen, 250, sizeof screen);
	CHECK_INT(feed(0), 0);
	CHECK_INT(change_feed(&c, &rules, &(struct change_picture){screen, HEIGHT, WIDTH, NS_PER_S},
			      &found),
		  0);
	CHECK(found.kind == CHANGE_FIRST && found.share == CHANGE_WHOLE && c.width == HEIGHT);
	change_clear(&c);
}

TEST(notes_keep_twelve_and_show_eight)
{
	struct notes n = {0};
	char text[2048];
	unsigned lines = 0;
	uint32_t first = notes_changed(&n, 900, 1, NS_PER_S);

	for (unsigned i = 1; i <= NOTES_MAX; i++)
		notes_changed(&n, 123, 2 + i, (1 + i) * NS_PER_S);
	CHECK_INT(n.n, NOTES_MAX);
	CHECK(n.v[0].id != first);
	notes_write(&n, 20 * NS_PER_S, text, sizeof text);
	for (const char *p = text; *p; p++)
		lines += *p == '\n';
	CHECK_INT(lines, NOTES_SHOWN);
	CHECK(strstr(text, "7 s ago: 12.3 % of the picture changed\n") == text);
	CHECK(strstr(text, "8 s ago: 12.3 % of the picture changed\n"));
	/* Cut at whole lines. */
	CHECK_INT(notes_write(&n, 20 * NS_PER_S, text, 60), 39);
}

TEST(notes_tell_what_a_model_saw)
{
	struct notes n = {0};
	char text[1024], longest[NOTE_TEXT * 2];

	CHECK(!notes_tell(&n, 1, "too early"));
	CHECK_STR(notes_told(&n), "");
	notes_changed(&n, 900, 3, 10 * NS_PER_S);
	notes_changed(&n, 20, 5, 20 * NS_PER_S);
	/* Of a picture between two keyframes the older note tells. */
	CHECK(notes_tell(&n, 4, "A form with two fields."));
	CHECK(!notes_tell(&n, 2, "older than all"));
	notes_write(&n, 30 * NS_PER_S, text, sizeof text);
	CHECK_STR(text, "10 s ago: 2.0 % of the picture changed\n"
			"20 s ago: A form with two fields.\n");
	CHECK_STR(notes_told(&n), "A form with two fields.");
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	CHECK(notes_tell(&n, 9, longest));
	CHECK_INT(strlen(notes_told(&n)), NOTE_TEXT - 1);
	/* Nothing stays of what was seen, only that it changed. */
	notes_wipe(&n);
	CHECK_STR(notes_told(&n), "");
	notes_write(&n, 30 * NS_PER_S, text, sizeof text);
	CHECK(!strstr(text, "form") && strstr(text, "2.0 %"));
	for (size_t i = 0; i < sizeof n; i++)
		CHECK(((const char *)&n)[i] != 'x');
}

TEST(notes_tell_that_nothing_changes)
{
	struct notes n = {0};
	char text[512];

	CHECK(!notes_unchanged(&n, 30 * NS_PER_S, 100 * NS_PER_S));
	notes_changed(&n, 700, 99, 100 * NS_PER_S);
	CHECK(!notes_unchanged(&n, 30 * NS_PER_S, 129 * NS_PER_S));
	CHECK(notes_unchanged(&n, 30 * NS_PER_S, 130 * NS_PER_S));
	CHECK(!notes_unchanged(&n, 30 * NS_PER_S, 131 * NS_PER_S));
	CHECK(notes_unchanged(&n, 30 * NS_PER_S, 160 * NS_PER_S));
	CHECK_INT(n.n, 2);
	notes_write(&n, 165 * NS_PER_S, text, sizeof text);
	CHECK_STR(text, "5 s ago: nothing large had changed for 60 s\n"
			"65 s ago: most of the picture changed\n");
}
