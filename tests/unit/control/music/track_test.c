/* Tracks: tags of strangers, labels, names of sources. */
#include "control/music/track.h"

#include "tests/test.h"
#include "tests/unit/control/music/tracks.h"

TEST(tags_become_one_plain_line)
{
	char text[16];

	track_set_text(text, sizeof text, "  two\nlines \t", 13);
	CHECK_STR(text, "two lines");
	track_set_text(text, sizeof text, "a\0b", 3);
	CHECK_STR(text, "a");
	track_set_text(text, sizeof text, "Bj\xf6rk", 5);
	CHECK_STR(text, "Björk");
	track_set_text(text, sizeof text, "0123456789abcdé\xc3\xa9", 18);
	CHECK_STR(text, "0123456789abcd"); /* no half character */
	track_set_text(text, sizeof text, "", 0);
	CHECK_STR(text, "");
}

TEST(a_label_has_the_artist_and_the_title_or_the_file)
{
	struct track t = local_track("Song", ALICE);
	char label[TRACK_LABEL_MAX];

	track_write_label(label, &t);
	CHECK_STR(label, "Song");
	snprintf(t.artist, sizeof t.artist, "Band");
	track_write_label(label, &t);
	CHECK_STR(label, "Band - Song");
	*t.title = *t.artist = '\0';
	snprintf(t.reference, sizeof t.reference, "a/b/song.mp3");
	track_write_label(label, &t);
	CHECK_STR(label, "song.mp3");
	/* What signs an address is for nobody else. */
	t.source = TRACK_URL;
	snprintf(t.reference, sizeof t.reference, "https://a.example/b/song.wav?token=x/y#z");
	track_write_label(label, &t);
	CHECK_STR(label, "song.wav");
	snprintf(t.reference, sizeof t.reference, "https://a.example/?token=x/y");
	track_write_label(label, &t);
	CHECK_STR(label, "a.example");
	t.source = TRACK_LOCAL;
	snprintf(t.reference, sizeof t.reference, "a/b/who is #1?.mp3");
	track_write_label(label, &t);
	CHECK_STR(label, "who is #1?.mp3");
}

/* Stations carry their secrets in folders. */
TEST(the_label_of_an_address_without_a_name_is_its_host)
{
	static const char *const addresses[] = {
		"https://radio.example/",
		"https://radio.example/SECRET/",
		"https://radio.example:443/SECRET/?a/b",
		"https://user:SECRET@radio.example:8000/a/SECRET/",
		"https://radio.example/SECRET/#x",
	};
	struct track t = {.source = TRACK_RADIO};
	char label[TRACK_LABEL_MAX];

	for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
		snprintf(t.reference, sizeof t.reference, "%s", addresses[i]);
		track_write_label(label, &t);
		CHECK_STR(label, "radio.example");
	}
	snprintf(t.reference, sizeof t.reference, "https://[2001:db8::1]:80/SECRET/");
	track_write_label(label, &t);
	CHECK_STR(label, "[2001:db8::1]:80");
}

TEST(a_long_label_leaves_room_for_the_album)
{
	struct track t = local_track("x", ALICE), other = t;
	char edition[TRACK_EDITION_MIN + 1];

	track_write_edition(edition, sizeof edition, &t);
	CHECK_STR(edition, "x");
	snprintf(t.album, sizeof t.album, "Live");
	track_write_edition(edition, sizeof edition, &t);
	CHECK_STR(edition, "x [Live]");
	CHECK(track_is_other_edition(&t, &other) && !track_is_other_edition(&t, &t));
	snprintf(other.artist, sizeof other.artist, "y");
	CHECK(!track_is_other_edition(&t, &other));
	for (size_t k = 0; k + 4 < sizeof t.title; k += 3)
		memcpy(t.title + k, "音", 4);
	track_write_edition(edition, sizeof edition, &t);
	CHECK(strlen(edition) > sizeof edition - 4 && strstr(edition, "音 [Live]"));
	memset(t.album, 'z', sizeof t.album - 1);
	track_write_edition(edition, sizeof edition, &t);
	CHECK(strlen(edition) > sizeof edition - 4 && strstr(edition, "音 [zzz"));
}

TEST(tracks_are_the_same_if_their_source_and_reference_are)
{
	struct track a = local_track("one", ALICE), b = local_track("one", BOB);
	char of_a[TRACK_SELECTION_MAX], of_b[TRACK_SELECTION_MAX];

	track_write_selection(of_a, &a);
	track_write_selection(of_b, &b);
	CHECK_STR(of_a, of_b);
	CHECK(track_is_same(&a, &b));
	b.root = 1;
	track_write_selection(of_b, &b);
	CHECK(strcmp(of_a, of_b) != 0);
	CHECK(!track_is_same(&a, &b));
	b.root = 0;
	b.source = TRACK_URL;
	CHECK(!track_is_same(&a, &b));
}

TEST(sources_have_names)
{
	enum track_source s = TRACK_RADIO;

	CHECK_STR(track_source_name(TRACK_YOUTUBE), "yt");
	CHECK_STR(track_source_name(TRACK_SOURCE_COUNT), "");
	CHECK(track_source_parse(&s, "sc"));
	CHECK_INT(s, TRACK_SOUNDCLOUD);
	CHECK(track_source_parse(&s, "page"));
	CHECK_INT(s, TRACK_PAGE);
	CHECK(track_source_parse(&s, "sc"));
	CHECK(!track_source_parse(&s, "tape"));
	CHECK_INT(s, TRACK_SOUNDCLOUD);
}
