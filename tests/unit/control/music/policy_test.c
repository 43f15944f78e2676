/* Who may do what with the music, and votes. */
#include "control/music/policy.h"

#include "tests/test.h"
#include "tests/unit/control/music/tracks.h"

static const struct music_person alice = {.user = ALICE};

TEST(acts_need_what_the_setting_says)
{
	static const struct {
		enum music_act act;
		uint64_t requester;
		enum music_verdict everyone, requester_mode, dj;
	} rows[] = {
		{MUSIC_ACT_NOW_PLAYING, BOB, MUSIC_ALLOWED, MUSIC_ALLOWED, MUSIC_ALLOWED},
		{MUSIC_ACT_PLAY, 0, MUSIC_ALLOWED, MUSIC_ALLOWED, MUSIC_NEEDS_DJ},
		{MUSIC_ACT_REMOVE, ALICE, MUSIC_ALLOWED, MUSIC_ALLOWED, MUSIC_NEEDS_DJ},
		{MUSIC_ACT_REMOVE, BOB, MUSIC_ALLOWED, MUSIC_NEEDS_DJ, MUSIC_NEEDS_DJ},
		{MUSIC_ACT_SKIP, ALICE, MUSIC_ALLOWED, MUSIC_ALLOWED, MUSIC_NEEDS_DJ},
		{MUSIC_ACT_SKIP, 0, MUSIC_ALLOWED, MUSIC_ALLOWED, MUSIC_NEEDS_DJ},
		{MUSIC_ACT_SKIP, BOB, MUSIC_ALLOWED, MUSIC_NEEDS_VOTE, MUSIC_NEEDS_DJ},
		{MUSIC_ACT_PAUSE, ALICE, MUSIC_ALLOWED, MUSIC_ALLOWED, MUSIC_NEEDS_DJ},
		{MUSIC_ACT_PAUSE, BOB, MUSIC_ALLOWED, MUSIC_NEEDS_DJ, MUSIC_NEEDS_DJ},
		{MUSIC_ACT_STOP, ALICE, MUSIC_ALLOWED, MUSIC_NEEDS_DJ, MUSIC_NEEDS_DJ},
		{MUSIC_ACT_VOLUME, 0, MUSIC_ALLOWED, MUSIC_NEEDS_DJ, MUSIC_NEEDS_DJ},
	};
	static const struct music_person djs[] = {{.user = ALICE, .dj_role = true},
						  {.user = ALICE, .manages_channels = true},
						  {.user = ALICE, .alone = true}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		uint64_t r = rows[i].requester;
		enum music_act act = rows[i].act;

		CHECK_INT(music_policy_judge(MUSIC_CONTROL_EVERYONE, act, &alice, r),
			  rows[i].everyone);
		CHECK_INT(music_policy_judge(MUSIC_CONTROL_REQUESTER, act, &alice, r),
			  rows[i].requester_mode);
		CHECK_INT(music_policy_judge(MUSIC_CONTROL_DJ, act, &alice, r), rows[i].dj);
		for (size_t k = 0; k < 3; k++)
			CHECK_INT(music_policy_judge(MUSIC_CONTROL_DJ, act, &djs[k], r),
				  MUSIC_ALLOWED);
	}
}

TEST(a_skip_needs_fifty_five_percent_of_the_listeners)
{
	static const unsigned needed[] = {0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6};
	uint64_t people[200];
	struct music_votes v = {0};
	struct music_tally t;

	for (unsigned i = 0; i < 200; i++)
		people[i] = i + 1;
	for (size_t n = 1; n <= 10; n++)
		CHECK_INT(music_votes_count(&v, 7, people, n).needed, needed[n]);
	t = music_vote_skip(&v, 7, 1, people, 4);
	CHECK(t.votes == 1 && t.needed == 3 && !t.passed);
	t = music_vote_skip(&v, 7, 1, people, 4); /* a second vote of the same person */
	CHECK_INT(t.votes, 1);
	t = music_vote_skip(&v, 7, 99, people, 4); /* not in the channel */
	CHECK_INT(t.votes, 1);
	t = music_vote_skip(&v, 7, 2, people, 4);
	CHECK(t.votes == 2 && !t.passed);
	/* Two who did not vote have left: two of two. */
	CHECK(music_votes_count(&v, 7, people, 2).passed);
	t = music_vote_skip(&v, 7, 3, people, 4);
	CHECK(t.votes == 3 && t.passed);
	/* The next track begins without votes. */
	CHECK_INT(music_votes_count(&v, 8, people, 4).votes, 0);
	t = music_vote_skip(&v, 8, 3, people, 4);
	CHECK_INT(t.votes, 1);
	CHECK(!music_votes_count(&v, 9, people, 0).passed);
	for (unsigned i = 0; i < 200; i++)
		t = music_vote_skip(&v, 9, people[i], people, 200);
	CHECK_INT(t.votes, MUSIC_VOTES);
	CHECK_INT(t.needed, 110);
	CHECK(t.passed);
}
