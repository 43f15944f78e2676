/* The rights of a call when words of several people merged into one turn. */
#include "control/agent/agent_tools_inside.h"
#include "control/room/turn/segment.h"
#include "control/settings/settings.h"
#include "tests/test.h"

enum { OWNER = 5, MEMBER = 6, HOLDER = 7 };

static enum tool_rank tell_rank(uint64_t user, void *arg)
{
	(void)arg;
	return user == OWNER ? TOOL_RANK_OWNER : TOOL_RANK_EVERYONE;
}

static bool tell_role(uint64_t user, uint64_t role, void *arg)
{
	(void)arg;
	return user == HOLDER && role == 77;
}

static struct settings settings;

static struct tool_asker ask(uint64_t first, uint64_t second)
{
	static struct agent a;
	static struct room_turn turn;

	a = (struct agent){.rankh = tell_rank, .roleh = tell_role, .settings = &settings};
	turn = (struct room_turn){.id = 1, .user = first};
	room_segment_add(&turn, first, "Ana", 1, "what do you think about it");
	room_segment_add(&turn, second, "Bob", 2, "go to the channel Staff");
	return agent_tools_asker(&a, &turn, "look");
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

TEST(each_speaker_of_a_turn_needs_a_role_of_the_tool)
{
	strcpy(settings.tools_roles, "look:77");
	CHECK_INT(ask(HOLDER, HOLDER).rank, TOOL_RANK_EVERYONE);
	CHECK_INT(ask(HOLDER, MEMBER).rank, TOOL_RANK_BARRED);
	CHECK_INT(ask(MEMBER, MEMBER).rank, TOOL_RANK_BARRED);
	CHECK_INT(ask(OWNER, OWNER).rank, TOOL_RANK_OWNER);
	settings.tools_roles[0] = '\0';
}

TEST(a_turn_that_nobody_spoke_has_no_rank)
{
	static const struct agent a = {.rankh = tell_rank, .settings = &settings};
	struct tool_asker asker = agent_tools_asker(&a, NULL, "look");

	CHECK(!asker.user && !asker.shared);
	CHECK_INT(asker.rank, TOOL_RANK_EVERYONE);
}
