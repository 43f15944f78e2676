/* Disambiguation: one hit, several, whose choice it is, and for how long. */
#include "control/music/choice.h"

#include "control/music/match.h"
#include "control/room/floor/choice.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/control/music/tracks.h"

static const uint64_t start = 1000 * NS_PER_S;

static enum music_decision decide(struct music_choice *c, struct track *tracks,
				  const unsigned *scores, size_t n)
{
	struct music_hit hits[8];

	for (size_t i = 0; i < n; i++)
		hits[i] = (struct music_hit){.track = &tracks[i], .score = scores[i]};
	return music_choice_decide(c, hits, n);
}

TEST(only_near_hits_are_a_question)
{
	struct track t[] = {local_track("one", ALICE), local_track("two", ALICE),
			    local_track("three", ALICE)};
	struct music_choice c = {0};

	CHECK_INT(decide(&c, t, (unsigned[]){900, 780, 700}, 3), MUSIC_ONE_FITS);
	CHECK_STR(c.option[0].title, "one");
	CHECK_INT(decide(&c, t, (unsigned[]){900, 781, 700}, 3), MUSIC_MANY_FIT);
	CHECK_INT(c.n, 2);
	CHECK_INT(decide(&c, t, (unsigned[]){600}, 1), MUSIC_ONE_FITS);
	CHECK_INT(decide(&c, t, (unsigned[]){0}, 0), MUSIC_NONE_FITS);
	/* The same music twice, as mp3 and as flac, is one option. */
	snprintf(t[1].title, sizeof t[1].title, "one");
	CHECK_INT(decide(&c, t, (unsigned[]){900, 900}, 2), MUSIC_ONE_FITS);
}

/* The studio version and the one of a concert. */
TEST(albums_tell_tracks_of_one_name_apart)
{
	struct track t[] = {local_track("one", ALICE), local_track("one", ALICE),
			    local_track("one", ALICE)};
	struct music_choice c = {0};

	snprintf(t[0].album, sizeof t[0].album, "Achtung Baby");
	snprintf(t[1].album, sizeof t[1].album, "Live");
	CHECK_INT(decide(&c, t, (unsigned[]){900, 900}, 2), MUSIC_MANY_FIT);
	CHECK_STR(c.label[0], "one [Achtung Baby]");
	CHECK_STR(c.label[1], "one [Live]");
	CHECK_INT(decide(&c, t, (unsigned[]){900, 900, 900}, 3), MUSIC_MANY_FIT);
	CHECK_STR(c.label[2], "one");
	/* One that is far off says nothing about the other. */
	CHECK_INT(decide(&c, t, (unsigned[]){900, 700}, 2), MUSIC_ONE_FITS);
	CHECK_STR(c.label[0], "one");
}

TEST(rule_103_a_choice_is_the_requesters_for_ten_minutes)
{
	struct track t[] = {local_track("one", ALICE), local_track("two", ALICE)};
	struct music_choice c = {0};
	char selection[TRACK_SELECTION_MAX];
	uint64_t end = start + MUSIC_CHOICE_S * NS_PER_S;

	CHECK_INT(decide(&c, t, (unsigned[]){900, 900}, 2), MUSIC_MANY_FIT);
	CHECK(!music_choice_pick(&c, ALICE, "two", start)); /* not offered yet */
	music_choice_offer(&c, ALICE, MUSIC_CHOOSE_NEXT, start);
	CHECK(music_choice_pick(&c, ALICE, "two", start) == &c.option[1]);
	track_write_selection(selection, &t[1]);
	CHECK(music_choice_pick(&c, ALICE, selection, end - 1) == &c.option[1]);
	CHECK(!music_choice_pick(&c, BOB, "two", start));
	CHECK(!music_choice_pick(&c, ALICE, "three", start));
	CHECK(!music_choice_pick(&c, ALICE, "two", end));
	/* A new request without a hit leaves the offer, one with a hit ends it. */
	CHECK_INT(decide(&c, t, NULL, 0), MUSIC_NONE_FITS);
	CHECK(music_choice_pick(&c, ALICE, "two", start));
	CHECK_INT(decide(&c, t, (unsigned[]){900}, 1), MUSIC_ONE_FITS);
	CHECK(!music_choice_pick(&c, ALICE, "one", start));
}

TEST(the_room_takes_the_offer_and_gives_its_labels_back)
{
	struct track t[6];
	struct music_choice c = {0};
	struct room_choice room;
	char text[MUSIC_CHOICE_TEXT_MAX];

	for (unsigned i = 0; i < 6; i++) {
		t[i] = local_track("x", ALICE);
		memset(t[i].title, 'a' + (int)i, sizeof t[i].title - 1); /* longer than a label */
	}
	CHECK_INT(decide(&c, t, (unsigned[]){900, 900, 900, 900, 900, 900}, 6), MUSIC_MANY_FIT);
	CHECK_INT(c.n, MUSIC_OPTIONS);
	music_choice_offer(&c, ALICE, MUSIC_CHOOSE_ADD, start);
	music_choice_write(text, &c);
	CHECK(strncmp(text, "queue_add\naaa", 13) == 0);
	room_choice_offer(&room, ALICE, text, strlen(text), start);
	CHECK_STR(room.kind, "queue_add");
	CHECK_INT(room_choice_count(&room), MUSIC_OPTIONS);
	CHECK(music_choice_pick(&c, ALICE,
				room_choice_option(&room, room_choice_match(&room, "the last one")),
				start) == &c.option[4]);
}
