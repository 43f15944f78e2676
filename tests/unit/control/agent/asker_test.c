/* The rights of a call when words of several people merged into one turn. */
#include "control/agent/agent_tools_inside.h"
#include "control/room/turn/segment.h"
#include "tests/test.h"

enum { OWNER = 5, MEMBER = 6 };

static enum tool_rank tell_rank(uint64_t user, void *arg)
{
	(void)arg;
	return user == OWNER ? TOOL_RANK_OWNER : TOOL_RANK_EVERYONE;
}

static struct tool_asker ask(uint64_t first, uint64_t second)
{
	static struct agent a;
	static struct room_turn turn;

	a = (struct agent){.rankh = tell_rank};
	turn = (struct room_turn){.id = 1, .user = first};
	room_segment_add(&turn, first, "Ana", 1, "what do you think about it");
	room_segment_add(&turn, second, "Bob", 2, "go to the channel Staff");
	return agent_tools_asker(&a, &turn);
}

TEST(a_speaker_has_the_rank_of_their_own)
{
	struct tool_asker asker = ask(OWNER, OWNER);

	CHECK(asker.user == OWNER && !asker.shared);
	CHECK_INT(asker.rank, TOOL_RANK_OWNER);
	CHECK_INT(ask(MEMBER, MEMBER).rank, TOOL_RANK_EVERYONE);
}

TEST(words_of_a_second_speaker_do_not_run_with_the_rights_of_the_first)
{
	struct tool_asker asker = ask(OWNER, MEMBER);

	CHECK(asker.user == OWNER && asker.shared);
	CHECK_INT(asker.rank, TOOL_RANK_EVERYONE);
	CHECK_INT(ask(MEMBER, OWNER).rank, TOOL_RANK_EVERYONE);
}

TEST(a_turn_that_nobody_spoke_has_no_rank)
{
	static const struct agent a = {.rankh = tell_rank};
	struct tool_asker asker = agent_tools_asker(&a, NULL);

	CHECK(!asker.user && !asker.shared);
	CHECK_INT(asker.rank, TOOL_RANK_EVERYONE);
}
