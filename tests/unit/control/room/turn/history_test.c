/* The history of a room. */
#include "tests/test.h"

#include "control/room/turn/history.h"

TEST(rule_156_history_is_revised_by_whole_words)
{
	static struct room_history h;

	h = (struct room_history){0};
	room_history_add(&h, 1, 1, false, false, "alice", "i know, no");
	CHECK(room_history_revise(&h, "alice", "no", "nine"));
	CHECK_STR(room_history_at(&h, 0)->text, "i know, nine");
	CHECK(!room_history_revise(&h, "alice", "kno", "x"));
	room_history_add(&h, 2, 2, false, false, "alice", "нет, не то");
	CHECK(room_history_revise(&h, "alice", "не", "но"));
	CHECK_STR(room_history_at(&h, 1)->text, "нет, но то");
}
